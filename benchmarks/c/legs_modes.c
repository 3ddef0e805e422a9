/* Free modal stepping of legs: the C baseline of benchmarks/legs.py.
 *
 * One step multiplies each mode's (displacement, speed) by its 2x2 propagator, adds gap and steady response of the
 * drive, and keeps the integral of the foot's height and its highest point: what exact stepping costs in the air.
 * The drive's angle advances by a rotation. One lane after the other, modes in the inner loop.
 * Build: cc -O3 -march=native -shared -fPIC.
 */
void modal_steps(const double *e, const double *state, const double *steady, const double *turn, double gap,
                 long lanes, long modes, long steps, double *out)
{
    for (long lane = 0; lane < lanes; ++lane) {
        const double *p = e + lane * 4 * modes;
        double x[16], v[16];
        for (long j = 0; j < modes; ++j) { x[j] = state[2 * modes * lane + j]; v[j] = state[2 * modes * lane + modes + j]; }
        double a = steady[2 * lane], b = steady[2 * lane + 1], c = turn[2 * lane], s = turn[2 * lane + 1];
        double sine = 0, cosine = 1, area = 0, peak = -1e300;
        for (long k = 0; k < steps; ++k) {
            double sum = gap;
            for (long j = 0; j < modes; ++j) {
                double y = p[j] * x[j] + p[modes + j] * v[j];
                v[j] = p[2 * modes + j] * x[j] + p[3 * modes + j] * v[j];
                x[j] = y;
                sum += y;
            }
            double next = sine * c + cosine * s;
            cosine = cosine * c - sine * s;
            sine = next;
            double height = sum + a * sine + b * cosine;
            area += height;
            if (height > peak) peak = height;
        }
        out[2 * lane] = area / steps;
        out[2 * lane + 1] = peak;
    }
}

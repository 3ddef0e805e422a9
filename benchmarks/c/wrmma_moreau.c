/* WRMMA by Moreau's time stepping (Nagy 2012, section III): the C baseline of the benchmarks.
 *
 * One step of dt = T/steps, in units of rest gap and period, with s the field and b the friction bound:
 *     g_M = g + dt/2 w,   phi = K (g_M - 1) + D w + M(g_M) (s(t + dt/2) + offset)^2,   w = v2 - v1
 *     v1' = v1 + dt alpha phi + (p_T - p_N),   v2' = v2 - dt phi + p_N / alpha
 *     |p_T| <= b(t + dt/2) dt (sticks when it can);  p_N only if g_M <= 0: w' = -e w, or p_N = 0 when w' is larger
 *     g' = g_M + dt/2 w',   x' = x + dt/2 (v1 + v1')
 * The contact problem has two contacts and is solved exactly by enumeration.
 *
 * Three arrangements, in double (_f64) and float (_f32):
 *     scalar_*  one design at a time, the state in registers, branches at the contacts
 *     lanes_*   BLOCK designs abreast, selects instead of branches, loops that the compiler vectorizes
 *     procedure the paper's: frequencies in sequence, until two period velocities agree (double)
 * Build: cc -O3 -march=native -shared -fPIC. (-ffast-math makes lanes_* slower: approximate reciprocals with Newton steps
 * replace one division.)
 */
#ifndef REAL
#include <math.h>

enum { MASS_RATIO, DEVICE_LENGTH, WIDTH, HEIGHT, DENSITY, REST_GAP, TETHERED_FREQUENCY, DAMPING, RESTITUTION,
       GAP_FIT, GAIN_FIT, DEMAGNETIZATION, FORCE_SCALE, FIELD, FIELD_OFFSET, FREQUENCY_RATIO, LOAD_FACTOR,
       FRICTION, CLAMP_FORCE, CLAMP_PHASE, GRAVITY, PARAMETERS };

enum { ALPHA, STIFFNESS, DRAG, MAGNET, FIT, FIT_GAIN, GAP_SCALE, BOUND, CLAMP_BOUND, BOUNCE, OFFSET, CLAMP_SHIFT,
       SPEED, NUMBERS };

enum { GAP, BODY, HAMMER, DRIFT, STATES };

#define PI 3.14159265358979323846

/* p: the parameters above in SI. n: the nondimensional numbers of the scheme; n[SPEED] = rest gap x frequency. */
void lump(const double *p, double *n) {
    double area = p[WIDTH] * p[HEIGHT], frequency = p[FREQUENCY_RATIO] * p[TETHERED_FREQUENCY];
    double magnetic_length = p[DEVICE_LENGTH] - p[REST_GAP];
    double total = p[DENSITY] * area * magnetic_length, body = total / (1 + p[MASS_RATIO]), hammer = total - body;
    double unit = p[REST_GAP] * frequency * frequency, turn = 2 * PI / p[FREQUENCY_RATIO];
    double pull = p[FORCE_SCALE] * area * p[FIELD] * p[FIELD] / (8 * 4e-7 * PI) * p[GAIN_FIT] * p[GAIN_FIT];
    n[ALPHA] = p[MASS_RATIO];
    n[STIFFNESS] = turn * turn;
    n[DRAG] = p[DAMPING] / (hammer * frequency);
    n[MAGNET] = pull / (hammer * unit);
    n[FIT] = p[GAP_FIT];
    n[FIT_GAIN] = p[GAP_FIT] / p[DEMAGNETIZATION];
    n[GAP_SCALE] = p[REST_GAP] / magnetic_length;
    n[BOUND] = p[FRICTION] * p[LOAD_FACTOR] * total * p[GRAVITY] / (body * unit);
    n[CLAMP_BOUND] = p[FRICTION] * 4 * p[CLAMP_FORCE] / (body * unit);
    n[BOUNCE] = p[RESTITUTION];
    n[OFFSET] = p[FIELD_OFFSET];
    n[CLAMP_SHIFT] = p[CLAMP_PHASE] / (2 * PI) - floor(p[CLAMP_PHASE] / (2 * PI));
    n[SPEED] = p[REST_GAP] * frequency;
}

#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define REAL double
#define NAME(f) CAT(f, _f64)
#define BLOCK 64
#include "wrmma_moreau.c"
#undef REAL
#undef NAME
#undef BLOCK
#define REAL float
#define NAME(f) CAT(f, _f32)
#define BLOCK 128
#include "wrmma_moreau.c"

/* The paper's sweep: p is a design, frequencies are ratios in the order of the sweep. A frequency ends when two
 * consecutive period velocities differ by less than `tolerance` [m/s], or after `first` (the first frequency) or
 * `later` periods. The state is carried from one frequency to the next if `carry`, else each starts at rest.
 * Writes velocities [m/s] and the periods used; returns the number of steps taken. */
long procedure(const double *p, const double *frequencies, int count, int steps, double tolerance, int first,
               int later, int carry, double *velocity, int *periods) {
    double q[PARAMETERS], n[NUMBERS], s[STATES] = {1, 0, 0, 0}, speed = 0;
    long taken = 0;
    for (int i = 0; i < PARAMETERS; i++) q[i] = p[i];
    for (int k = 0; k < count; k++) {
        q[FREQUENCY_RATIO] = frequencies[k];
        lump(q, n);
        if (k && carry) {
            s[BODY] *= speed / n[SPEED];
            s[HAMMER] *= speed / n[SPEED];
        } else {
            s[GAP] = 1, s[BODY] = 0, s[HAMMER] = 0;
        }
        speed = n[SPEED];
        double previous = INFINITY;
        int most = k ? later : first, done = 0;
        while (done < most) {
            s[DRIFT] = 0;
            period_f64(n, s, steps);
            done++;
            velocity[k] = s[DRIFT] * speed;
            if (fabs(velocity[k] - previous) < tolerance) break;
            previous = velocity[k];
        }
        periods[k] = done;
        taken += (long)done * steps;
    }
    return taken;
}

#else /* REAL: the part that exists once per precision */

static inline REAL NAME(limit)(REAL x, REAL b) {
    REAL low = x < -b ? -b : x;
    return low > b ? b : low;
}

/* One period of one design: n holds its NUMBERS, s its STATES. */
static inline void NAME(period)(const REAL *n, REAL *s, int steps) {
    const REAL dt = (REAL)1 / steps, half = dt / 2, share = 1 / (1 + n[ALPHA]);
    REAL gap = s[GAP], v1 = s[BODY], v2 = s[HAMMER], x = s[DRIFT];
    for (int k = 0; k < steps; k++) {
        const REAL at = (k + (REAL)0.5) * dt, shifted = at + n[CLAMP_SHIFT];
        const REAL level = (2 * k + 1 < steps ? 1 : -1) + n[OFFSET];
        const REAL turn = shifted >= 1 ? shifted - 1 : shifted;
        const REAL bound = (n[BOUND] + (turn < (REAL)0.5 ? n[CLAMP_BOUND] : 0)) * dt;
        const REAL rate = v2 - v1, middle = gap + half * rate;
        const REAL reach = n[GAP_SCALE] * middle, low = n[FIT] + reach;
        const REAL phi = n[STIFFNESS] * (middle - 1) + n[DRAG] * rate
                         + n[MAGNET] * level * level * (n[FIT_GAIN] + reach) / (low * low);
        const REAL free1 = v1 + dt * n[ALPHA] * phi, free2 = v2 - dt * phi, old = v1;
        v1 = free1 - NAME(limit)(free1, bound);
        v2 = free2;
        if (middle <= 0 && v2 - v1 < -n[BOUNCE] * rate) {
            const REAL target = -n[BOUNCE] * rate, sum = free1 + n[ALPHA] * (free2 - target);
            v1 = (sum - NAME(limit)(sum, bound)) * share;
            v2 = v1 + target;
        }
        gap = middle + half * (v2 - v1);
        x += half * (old + v1);
    }
    s[GAP] = gap, s[BODY] = v1, s[HAMMER] = v2, s[DRIFT] = x;
}

/* lanes designs one after the other; n is (lanes, NUMBERS), s (lanes, STATES) and carried; velocity of the last period. */
void NAME(scalar)(const REAL *n, REAL *s, long lanes, int periods, int steps, REAL *velocity) {
    for (long i = 0; i < lanes; i++) {
        for (int j = 0; j < periods; j++) {
            s[i * STATES + DRIFT] = 0;
            NAME(period)(n + i * NUMBERS, s + i * STATES, steps);
        }
        velocity[i] = s[i * STATES + DRIFT] * n[i * NUMBERS + SPEED];
    }
}

/* The same with BLOCK lanes abreast. lanes must be a multiple of BLOCK; the layouts are those of scalar. */
void NAME(lanes)(const REAL *numbers, REAL *states, long lanes, int periods, int steps, REAL *velocity) {
    const REAL dt = (REAL)1 / steps, half = dt / 2;
    for (long block = 0; block < lanes; block += BLOCK) {
        REAL n[NUMBERS][BLOCK], s[STATES][BLOCK], share[BLOCK];
        for (int i = 0; i < BLOCK; i++) {
            for (int k = 0; k < NUMBERS; k++) n[k][i] = numbers[(block + i) * NUMBERS + k];
            for (int k = 0; k < STATES; k++) s[k][i] = states[(block + i) * STATES + k];
            share[i] = 1 / (1 + n[ALPHA][i]);
        }
        for (int j = 0; j < periods; j++) {
            for (int i = 0; i < BLOCK; i++) s[DRIFT][i] = 0;
            for (int k = 0; k < steps; k++) {
                const REAL at = (k + (REAL)0.5) * dt, sign = 2 * k + 1 < steps ? 1 : -1;
                for (int i = 0; i < BLOCK; i++) {
                    const REAL shifted = at + n[CLAMP_SHIFT][i], turn = shifted >= 1 ? shifted - 1 : shifted;
                    const REAL level = sign + n[OFFSET][i];
                    const REAL bound = (n[BOUND][i] + (turn < (REAL)0.5 ? n[CLAMP_BOUND][i] : 0)) * dt;
                    const REAL v1 = s[BODY][i], v2 = s[HAMMER][i], rate = v2 - v1, middle = s[GAP][i] + half * rate;
                    const REAL reach = n[GAP_SCALE][i] * middle, low = n[FIT][i] + reach;
                    const REAL phi = n[STIFFNESS][i] * (middle - 1) + n[DRAG][i] * rate
                                     + n[MAGNET][i] * level * level * (n[FIT_GAIN][i] + reach) / (low * low);
                    const REAL free1 = v1 + dt * n[ALPHA][i] * phi, free2 = v2 - dt * phi;
                    const REAL target = -n[BOUNCE][i] * rate, sum = free1 + n[ALPHA][i] * (free2 - target);
                    const REAL open1 = free1 - NAME(limit)(free1, bound);
                    const REAL shut1 = (sum - NAME(limit)(sum, bound)) * share[i];
                    const int hit = (middle <= 0) & (free2 - open1 < target);
                    const REAL new1 = hit ? shut1 : open1, new2 = hit ? shut1 + target : free2;
                    s[GAP][i] = middle + half * (new2 - new1);
                    s[BODY][i] = new1;
                    s[HAMMER][i] = new2;
                    s[DRIFT][i] += half * (v1 + new1);
                }
            }
        }
        for (int i = 0; i < BLOCK; i++) {
            for (int k = 0; k < STATES; k++) states[(block + i) * STATES + k] = s[k][i];
            velocity[block + i] = s[DRIFT][i] * n[SPEED][i];
        }
    }
}
#endif

/* Closing force of the gripper with exact arcs, and its gradient by 10 parameters: scalar C, one design after another.
 *
 * The same equations and order as diffmicro's: Taylor shooting with sensitivities, one Newton on coordinates (9), arc
 * loads (12) and force, with the analytic Jacobian and pivoted LU. The gradient takes one adjoint solve; the
 * residual's derivatives by the parameters are complex steps of the geometry, which costs next to nothing.
 * Natural units: radius and EI of flexure a. */
#include <complex.h>
#include <math.h>
#include <string.h>

enum { ORDER = 8, N = 22, PARAMETERS = 10 };
static const int FIRST[4] = {-1, 0, 1, 2}, SECOND[4] = {0, 1, 2, -1};

/* radius 4, angle 4, start 4, hinge 8, body 6, tip 2, EI_a */
typedef struct { double radius[4], angle[4], start[4], hinge[8], body[6], tip[2], bending; } Design;

static double sum(const double *a, double h) {
    double total = a[ORDER];
    for (int k = ORDER - 1; k >= 0; k--) total = a[k] + h * total;
    return total;
}

static void shoot(const double f[3], double angle, int segments, double pose[3], double jac[3][3]) {
    double h = angle / segments, x = 0, y = 0, c = 1, s = 0, phi = 0, d[3][3] = {{0}};
    for (int seg = 0; seg < segments; seg++) {
        double X[ORDER + 1], Y[ORDER + 1], C[ORDER + 1], S[ORDER + 1], K[ORDER + 1], P[ORDER + 1];
        double U[3][ORDER + 1], V[3][ORDER + 1], W[3][ORDER + 1];
        X[0] = x, Y[0] = y, C[0] = c, S[0] = s, P[0] = phi;
        for (int j = 0; j < 3; j++) U[j][0] = d[0][j], V[j][0] = d[1][j], W[j][0] = d[2][j];
        for (int n = 0; n < ORDER; n++) {
            double part = 1.0 / (n + 1), cs = 0, sn = 0;
            K[n] = f[0] * Y[n] - f[1] * X[n] + (n ? 0 : 1 + f[2]);
            for (int k = 0; k <= n; k++) cs += K[k] * S[n - k], sn += K[k] * C[n - k];
            for (int j = 0; j < 3; j++) {
                double along = 0, across = 0, rate = f[0] * V[j][n] - f[1] * U[j][n];
                rate += j == 0 ? Y[n] : j == 1 ? -X[n] : n == 0;
                for (int k = 0; k <= n; k++) along -= S[k] * W[j][n - k], across += C[k] * W[j][n - k];
                U[j][n + 1] = along * part, V[j][n + 1] = across * part, W[j][n + 1] = rate * part;
            }
            X[n + 1] = C[n] * part, Y[n + 1] = S[n] * part, P[n + 1] = K[n] * part;
            C[n + 1] = -cs * part, S[n + 1] = sn * part;
        }
        x = sum(X, h), y = sum(Y, h), c = sum(C, h), s = sum(S, h), phi = sum(P, h);
        for (int j = 0; j < 3; j++) d[0][j] = sum(U[j], h), d[1][j] = sum(V[j], h), d[2][j] = sum(W[j], h);
    }
    pose[0] = x, pose[1] = y, pose[2] = phi;
    memcpy(jac, d, sizeof d);
}

/* Residual without the shot poses, which enter as given. */
static void geometry(const double complex radius[4], const double complex angle[4], const Design *g, const double z[N],
                     const double complex shot[4][3], double complex out[N]) {
    for (int i = 0; i < N; i++) out[i] = 0;
    for (int f = 0; f < 4; f++) {
        int i = FIRST[f], j = SECOND[f];
        const double none[3] = {0}, *qi = i < 0 ? none : z + 3 * i, *qj = j < 0 ? none : z + 3 * j;
        const double *load = z + 9 + 3 * f, *ci = i < 0 ? none : g->body + 2 * i, *cj = j < 0 ? none : g->body + 2 * j;
        double complex r = radius[f], last = g->start[f] + angle[f];
        double complex ax = g->hinge[2 * f] + r * cos(g->start[f]) - ci[0], ay = g->hinge[2 * f + 1] + r * sin(g->start[f]) - ci[1];
        double complex bx = g->hinge[2 * f] + r * ccos(last) - cj[0], by = g->hinge[2 * f + 1] + r * csin(last) - cj[1];
        double ti = qi[2], tj = qj[2], u = cos(ti), v = sin(ti), p = cos(tj), q = sin(tj);
        double complex sx = ci[0] + qi[0] + u * ax - v * ay, sy = ci[1] + qi[1] + v * ax + u * ay;
        double complex ex = cj[0] + qj[0] + p * bx - q * by - sx, ey = cj[1] + qj[1] + q * bx + p * by - sy;
        double frame = ti + g->start[f] + M_PI / 2, a = cos(frame), b = sin(frame);
        out[9 + 3 * f] = shot[f][0] - (a * ex + b * ey) / r;
        out[10 + 3 * f] = shot[f][1] - (a * ey - b * ex) / r;
        out[11 + 3 * f] = shot[f][2] - (angle[f] + tj - ti);
        double complex gx = (a * load[0] - b * load[1]) / (r * r), gy = (b * load[0] + a * load[1]) / (r * r), m = load[2] / r;
        if (i >= 0) {
            out[3 * i] -= gx, out[3 * i + 1] -= gy;
            out[3 * i + 2] -= m + (sx - ci[0] - qi[0]) * gy - (sy - ci[1] - qi[1]) * gx;
        }
        if (j >= 0) {
            out[3 * j] += gx, out[3 * j + 1] += gy;
            out[3 * j + 2] += m + (sx - cj[0] - qj[0]) * gy - (sy - cj[1] - qj[1]) * gx;
        }
    }
    out[1] -= z[21];
    out[21] = g->body[2] + z[3] + cos(z[5]) * g->tip[0] - sin(z[5]) * g->tip[1];
}

static void jacobian(const Design *g, const double z[N], double shots[4][3][3], double J[N][N]) {
    memset(J, 0, sizeof(double) * N * N);
    for (int f = 0; f < 4; f++) {
        int i = FIRST[f], j = SECOND[f], row = 9 + 3 * f;
        const double none[3] = {0}, *qi = i < 0 ? none : z + 3 * i, *qj = j < 0 ? none : z + 3 * j;
        const double *load = z + 9 + 3 * f, *ci = i < 0 ? none : g->body + 2 * i, *cj = j < 0 ? none : g->body + 2 * j;
        double r = g->radius[f], last = g->start[f] + g->angle[f], u = cos(qi[2]), v = sin(qi[2]), p = cos(qj[2]), q = sin(qj[2]);
        double ax = g->hinge[2 * f] + r * cos(g->start[f]) - ci[0], ay = g->hinge[2 * f + 1] + r * sin(g->start[f]) - ci[1];
        double bx = g->hinge[2 * f] + r * cos(last) - cj[0], by = g->hinge[2 * f + 1] + r * sin(last) - cj[1];
        double lx = u * ax - v * ay, ly = v * ax + u * ay, hx = p * bx - q * by, hy = q * bx + p * by;
        double sx = ci[0] + qi[0] + lx, sy = ci[1] + qi[1] + ly, ex = cj[0] + qj[0] + hx - sx, ey = cj[1] + qj[1] + hy - sy;
        double frame = qi[2] + g->start[f] + M_PI / 2, a = cos(frame), b = sin(frame), w = 1 / (r * r);
        double gx = (a * load[0] - b * load[1]) * w, gy = (b * load[0] + a * load[1]) * w;
        for (int k = 0; k < 3; k++) for (int l = 0; l < 3; l++) J[row + k][row + l] = shots[f][k][l];
        /* shares of the second and the first body in the pose, by (x, y, theta) */
        double of_j[2][3] = {{a, b, -a * hy + b * hx}, {-b, a, b * hy + a * hx}};
        double of_i[2][3] = {{-a, -b, a * ly - b * lx - b * ex + a * ey}, {b, -a, -b * ly - a * lx - a * ex - b * ey}};
        for (int k = 0; k < 2; k++) for (int l = 0; l < 3; l++) {
            if (j >= 0) J[row + k][3 * j + l] -= of_j[k][l] / r;
            if (i >= 0) J[row + k][3 * i + l] -= of_i[k][l] / r;
        }
        if (j >= 0) J[row + 2][3 * j + 2] -= 1;
        if (i >= 0) J[row + 2][3 * i + 2] += 1;
        for (int side = 0; side < 2; side++) {
            int body = side ? j : i;
            double sign = side ? 1 : -1;
            if (body < 0) continue;
            const double *c = side ? cj : ci, *qb = side ? qj : qi;
            double mx = sx - c[0] - qb[0], my = sy - c[1] - qb[1], *R0 = J[3 * body], *R1 = J[3 * body + 1], *R2 = J[3 * body + 2];
            R0[row] += sign * a * w, R0[row + 1] -= sign * b * w, R1[row] += sign * b * w, R1[row + 1] += sign * a * w;
            R2[row] += sign * (mx * b - my * a) * w, R2[row + 1] += sign * (mx * a + my * b) * w, R2[row + 2] += sign / r;
            if (i >= 0) {
                R0[3 * i + 2] -= sign * gy, R1[3 * i + 2] += sign * gx;
                R2[3 * i + 2] += sign * (mx * gx + my * gy - ly * gy - lx * gx);
                R2[3 * i] += sign * gy, R2[3 * i + 1] -= sign * gx;
            }
            R2[3 * body] -= sign * gy, R2[3 * body + 1] += sign * gx;
        }
    }
    J[1][21] = -1;
    J[21][3] = 1, J[21][5] = -sin(z[5]) * g->tip[0] - cos(z[5]) * g->tip[1];
}

static void factor(double A[N][N], int order[N]) {
    for (int k = 0; k < N; k++) {
        int best = k;
        for (int i = k + 1; i < N; i++) if (fabs(A[i][k]) > fabs(A[best][k])) best = i;
        order[k] = best;
        if (best != k) for (int j = 0; j < N; j++) { double t = A[k][j]; A[k][j] = A[best][j], A[best][j] = t; }
        for (int i = k + 1; i < N; i++) {
            double m = A[i][k] /= A[k][k];
            if (m != 0) for (int j = k + 1; j < N; j++) A[i][j] -= m * A[k][j];
        }
    }
}

static void swap(double *a, double *b) { double t = *a; *a = *b, *b = t; }

static void solve(double A[N][N], const int order[N], double b[N]) {
    for (int k = 0; k < N; k++) swap(b + k, b + order[k]);
    for (int k = 0; k < N; k++) for (int i = k + 1; i < N; i++) b[i] -= A[i][k] * b[k];
    for (int k = N - 1; k >= 0; k--) { for (int j = k + 1; j < N; j++) b[k] -= A[k][j] * b[j]; b[k] /= A[k][k]; }
}

static void solve_transposed(double A[N][N], const int order[N], double b[N]) {
    for (int k = 0; k < N; k++) { for (int j = 0; j < k; j++) b[k] -= A[j][k] * b[j]; b[k] /= A[k][k]; }
    for (int k = N - 1; k >= 0; k--) for (int i = k + 1; i < N; i++) b[k] -= A[i][k] * b[i];
    for (int k = N - 1; k >= 0; k--) swap(b + k, b + order[k]);
}

/* parameters: rows of radius 4, angle 4 in SI, section height, Young's modulus; gradient in the same order.
 * Returns Newton iterations in all. */
long closing(long count, const double *parameters, const double *fixed, double width, int segments, double tolerance,
             double *force, double *gradient) {
    long taken = 0;
    for (long lane = 0; lane < count; lane++) {
        const double *x = parameters + PARAMETERS * lane;
        double unit = x[0], height = x[8], young = x[9], bending = young * width * height * height * height / 12;
        Design g;
        for (int f = 0; f < 4; f++) g.radius[f] = x[f] / unit, g.angle[f] = x[4 + f], g.start[f] = fixed[f];
        for (int k = 0; k < 8; k++) g.hinge[k] = fixed[4 + k] / unit;
        for (int k = 0; k < 6; k++) g.body[k] = fixed[12 + k] / unit;
        for (int k = 0; k < 2; k++) g.tip[k] = fixed[18 + k] / unit;
        double z[N] = {0}, J[N][N], shots[4][3][3];
        double complex shot[4][3], radius[4], angle[4], out[N];
        int order[N];
        for (int f = 0; f < 4; f++) radius[f] = g.radius[f], angle[f] = g.angle[f];
        for (int iteration = 0; iteration < 50; iteration++) {
            double pose[3], step[N], size = 0;
            for (int f = 0; f < 4; f++) { shoot(z + 9 + 3 * f, g.angle[f], segments, pose, shots[f]); for (int k = 0; k < 3; k++) shot[f][k] = pose[k]; }
            geometry(radius, angle, &g, z, (const double complex(*)[3])shot, out);
            jacobian(&g, z, shots, J);
            factor(J, order);
            for (int k = 0; k < N; k++) step[k] = -creal(out[k]);
            solve(J, order, step);
            for (int k = 0; k < N; k++) { z[k] += step[k]; if (k < 21) size = fmax(size, fabs(step[k])); }
            taken++;
            if (!(size >= tolerance)) break;
        }
        double scale = bending / (unit * unit), adjoint[N] = {0};
        force[lane] = z[21] * scale;
        adjoint[21] = 1;
        solve_transposed(J, order, adjoint);
        for (int p = 0; p < 8; p++) {
            /* The poses' own change with the angle is along the arc. */
            const double h = 1e-30, *load = z + 9 + 3 * (p - 4);
            double complex r[4], t[4], moved[4][3];
            Design varied = g;
            for (int f = 0; f < 4; f++) { r[f] = radius[f], t[f] = angle[f]; for (int k = 0; k < 3; k++) moved[f][k] = creal(shot[f][k]); }
            if (p < 4) r[p] += I * h;
            else {
                double phi = creal(shot[p - 4][2]), k = 1 + load[2] - creal(shot[p - 4][0]) * load[1] + creal(shot[p - 4][1]) * load[0];
                t[p - 4] += I * h;
                moved[p - 4][0] += I * h * cos(phi), moved[p - 4][1] += I * h * sin(phi), moved[p - 4][2] += I * h * k;
            }
            geometry(r, t, &varied, z, (const double complex(*)[3])moved, out);
            double slope = 0;
            for (int k = 0; k < N; k++) slope -= adjoint[k] * cimag(out[k]) / h;
            gradient[PARAMETERS * lane + p] = slope * scale / (p < 4 ? unit : 1);
        }
        gradient[PARAMETERS * lane + 8] = 3 * force[lane] / height;
        gradient[PARAMETERS * lane + 9] = force[lane] / young;
    }
    return taken;
}

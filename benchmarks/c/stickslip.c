/* The stick-slip drive by brute force: Verlet steps, springs clipped one by one, period after period from rest. */
#include <math.h>
#include <stdlib.h>

/* Advances `periods` periods; returns the mean force over kappa of the last one. share, limits: of both groups. */
double drive(int springs, const double *limits, const double *share, double kappa, double zeta, double slow_time,
             double fast_time, double stroke, int slow_steps, int fast_steps, int periods, double *last_step)
{
    double *z = calloc(2 * (size_t)springs, sizeof *z);
    double x = 0, v = 0, pull = 0, mean = 0;
    for (int period = 0; period < periods; period++) {
        double begin = x;
        mean = 0;
        for (int n = 0; n < slow_steps + fast_steps; n++) {
            int slow = n < slow_steps;
            double h = slow ? slow_time / slow_steps : fast_time / fast_steps;
            double move = slow ? stroke / slow_steps : -stroke / fast_steps;
            double half = v - h / 2 * (kappa * x + 2 * zeta * v + pull);
            double way = h * half, change = way - move;
            mean += h * (x + way / 2);
            x += way;
            pull = 0;
            for (int g = 0; g < 2; g++) {
                double sum = 0;
                for (int i = 0; i < springs; i++) {
                    double y = z[g * springs + i] + change, limit = limits[g * springs + i];
                    y = y > limit ? limit : y;
                    y = y < -limit ? -limit : y;
                    z[g * springs + i] = y;
                    sum += y;
                }
                pull += share[g] * sum / springs;
            }
            v = (half - h / 2 * (kappa * x + pull)) / (1 + h * zeta);
        }
        *last_step = x - begin;
    }
    free(z);
    return mean / (slow_time + fast_time);
}

/* One tumbling robot in MuJoCo: the loop over mj_step with magnetic torque and adhesion by area.
 *
 * Units: mm, ms, mg. The body's axes are x across, y along the length, z thick. In each step the whole
 * torque vector m x B and the adhesion of the face that lies flat are written to xfrc_applied.
 */
#include <math.h>
#include <mujoco/mujoco.h>

enum { TORQUE, OFFSET, LONG_FACE, SHORT_FACE, PRESS, TILT, NUMBERS };

/* A model from a file, or null. */
void *load(const char *path) {
  char error[1000];
  return mj_loadXML(path, 0, error, sizeof error);
}

/* Forward position after each turn of the field; returns the number of steps per turn. */
long tumble(void *loaded, const double *numbers, double period, long turns, double *forward) {
  const mjModel *model = loaded;
  mjData *data = mj_makeData(model);
  long steps = lround(period / model->opt.timestep);
  int body = 1;
  for (long turn = 0; turn < turns; turn++) {
    for (long k = 0; k < steps; k++) {
      const double *r = data->xmat + 9 * body;
      double *load = data->xfrc_applied + 6 * body;
      double phase = numbers[OFFSET] - 2 * mjPI * (k + 0.5) / steps;
      double field[3] = {0, cos(phase), sin(phase)}, magnet[3], torque[3];
      for (int i = 0; i < 3; i++)
        magnet[i] = cos(numbers[OFFSET]) * r[3 * i + 1] + sin(numbers[OFFSET]) * r[3 * i + 2];
      mju_cross(torque, magnet, field);
      double adhesion = 0;
      if (data->ncon > 2) {
        if (fabs(r[8]) > cos(numbers[TILT])) adhesion = numbers[LONG_FACE];
        if (fabs(r[7]) > cos(numbers[TILT])) adhesion = numbers[SHORT_FACE];
      }
      load[2] = -numbers[PRESS] - adhesion;
      for (int i = 0; i < 3; i++) load[3 + i] = numbers[TORQUE] * torque[i];
      mj_step(model, data);
    }
    forward[turn] = data->xpos[3 * body + 1];
  }
  mj_deleteData(data);
  return steps;
}

"""Figures 5, 6 and 8, Tables 1 and 2, and the incline tests of Xie 2019, computed again.

J. Xie, C. Bi, D. J. Cappelleri, N. Chakraborty: Towards dynamic simulation guided optimal design of tumbling
microrobots, ASME IDETC/CIE 2019, DETC2019-97306. Motions are the event method's, the limit of the paper's time
stepping for small steps.
"""

from experiments.outcome import Experiment
from experiments.xie2019 import incline, shapes, steering, stepping, tables, tumbling

EXPERIMENTS = {
    "xie2019_fig5": Experiment("speed and slip on paper", tumbling.figure5, (7.0, 4.5)),
    "xie2019_fig6": Experiment("adhesion at 45 degrees", tumbling.figure6, (7.0, 4.5)),
    "xie2019_fig8": Experiment("shapes at 10 Hz", shapes.figure8, (8.0, 6.0)),
    "xie2019_table1": Experiment("parameters on paper", tables.table1, (7.0, 2.5)),
    "xie2019_table2": Experiment("parameters on aluminum", tables.table2, (7.0, 2.5)),
    "xie2019_paper_incline": Experiment("inclines of paper", incline.paper, (7.0, 4.5)),
    "xie2019_stepping": Experiment("time stepping beside events", stepping.stepping, (8.0, 3.4)),
    "xie2019_steering": Experiment("steered in space", steering.steering, (8.0, 4.0)),
    "xie2019_aluminum_incline": Experiment("inclines of aluminum", incline.aluminum, (7.0, 4.5)),
}
"""Name -> experiment."""

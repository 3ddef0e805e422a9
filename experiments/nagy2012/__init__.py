"""Figures 3 to 11 and Tables I to III of Nagy 2012, computed again.

Z. Nagy, R. I. Leine, D. R. Frutiger, C. Glocker, B. J. Nelson: Modeling the Motion of Microrobots
on Surfaces Using Nonsmooth Multibody Dynamics, IEEE Transactions on Robotics 28 (2012). Motions are
computed as the paper does, by Moreau's stepping with its stopping rule.
"""

from experiments.nagy2012 import clamp, force, linear, mass_ratio, natural, phase, stiction, tables
from experiments.outcome import Experiment

EXPERIMENTS = {
    "nagy2012_fig3": Experiment("normalized magnetic force", force.figure3),
    "nagy2012_fig4": Experiment("frequency range of stiction", stiction.figure4),
    "nagy2012_eq28": Experiment("the linear model followed in time", linear.equation28),
    "nagy2012_fig5": Experiment("velocity, two loads and fields", natural.figure5, (7.0, 6.0)),
    "nagy2012_fig6": Experiment("velocity at 3 mT", natural.figure6),
    "nagy2012_fig7": Experiment("phase plots at both resonances", phase.figure7, (7.0, 7.5)),
    "nagy2012_fig8": Experiment("effect of the mass ratio", mass_ratio.figure8, (7.0, 7.5)),
    "nagy2012_fig9": Experiment("effect of the clamp", clamp.figure9, (7.0, 4.5)),
    "nagy2012_fig10": Experiment("velocity against clamp phase", clamp.figure10),
    "nagy2012_fig11": Experiment("phase plots with clamp", phase.figure11),
    "nagy2012_table1": Experiment("fit of the magnetic force", force.table1, (7.0, 2.5)),
    "nagy2012_table2": Experiment("units", tables.table2, (7.0, 3.5)),
    "nagy2012_table3": Experiment("constant parameters", tables.table3, (7.0, 2.5)),
}
"""Name -> experiment."""

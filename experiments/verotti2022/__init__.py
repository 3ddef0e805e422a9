"""Figures 7 to 13 and Tables 1 to 8 of Verotti 2022, computed again.

M. Verotti et al.: direct kinetostatics of a planar gripper with elastic curved beams, Micromachines 13 (2022)
2172. The published models are calculated as published; where the paper used MSC Adams as the reference, the
geometrically exact, inextensible arc takes its place.
"""

from experiments.outcome import Experiment
from experiments.verotti2022 import convergence, section, tables, workspace

EXPERIMENTS = {
    "verotti2022_fig7": Experiment("workspace, published models", workspace.figure7, (9.0, 4.5)),
    "verotti2022_fig8": Experiment("workspace, exact model", workspace.figure8, (9.0, 4.5)),
    "verotti2022_fig9": Experiment("tip path and force", workspace.figure9, (8.0, 7.0)),
    "verotti2022_fig10": Experiment("section of the flexures", section.figure10, (8.0, 4.0)),
    "verotti2022_fig11": Experiment("constant tangent", convergence.figure11),
    "verotti2022_fig12": Experiment("updated tangents", convergence.figure12),
    "verotti2022_fig13": Experiment("time of updated tangents", convergence.figure13),
    "verotti2022_table1": Experiment("geometry", tables.table1, (6.0, 3.5)),
    "verotti2022_table2": Experiment("tangent, undeformed", tables.table2, (8.0, 3.0)),
    "verotti2022_table3": Experiment("tangent at 50 uN", tables.table3, (9.0, 3.0)),
    "verotti2022_table4": Experiment("change in percent", tables.table4, (9.0, 3.0)),
    "verotti2022_table5": Experiment("first term", tables.table5, (9.0, 3.0)),
    "verotti2022_table6": Experiment("second term", tables.table6, (8.0, 3.0)),
    "verotti2022_table7": Experiment("third term", tables.table7, (9.0, 3.0)),
    "verotti2022_table8": Experiment("time of opening and closing", tables.table8, (6.0, 2.5)),
}
"""Name -> experiment."""

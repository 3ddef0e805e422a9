"""Tables 1 to 3 and Figures 6, 7, 11, 14 and 16 to 20 of Ryou 2014, computed again.

J. H. Ryou, K. R. Oldham: Dynamic characterization of contact interactions of micro-robotic leg structures, Smart
Materials and Structures 23 (2014) 055014. Only resonance frequencies are published; all else of the design
is fitted to Table 3 (see docs/legs.md), so agreement there shows what the model can reach, not that it predicts.
"""

from experiments.outcome import Experiment
from experiments.ryou2014 import circular, contact, nearness, statistics, tables

EXPERIMENTS = {
    "ryou2014_table1": Experiment("resonances in the response", tables.table1),
    "ryou2014_table2": Experiment("range of tested inputs", tables.table2, (7.0, 3.5)),
    "ryou2014_table3": Experiment(
        "bounces and heights, nine numbers", statistics.table3, (6.0, 3.5)
    ),
    "ryou2014_fig6": Experiment("response with and without contact", contact.figure6, (7.0, 4.5)),
    "ryou2014_fig7": Experiment("conventional models of contact", contact.figure7, (7.0, 6.0)),
    "ryou2014_fig11": Experiment("impact follows one mode shape", contact.figure11),
    "ryou2014_fig14": Experiment(
        "foot velocity close to the ground", nearness.figure14, (7.0, 6.0)
    ),
    "ryou2014_fig16": Experiment(
        "amplitude over voltage, pads and gaps", nearness.figure16, (8.0, 3.8)
    ),
    "ryou2014_fig17": Experiment("film and attraction in one response", nearness.figure17),
    "ryou2014_fig18": Experiment("circular plots, quadruped", circular.figure18, (14.0, 3.4)),
    "ryou2014_fig19": Experiment("circular plots, hexapod", circular.figure19, (10.0, 3.8)),
    "ryou2014_fig20": Experiment(
        "bounces with and without small-scale forces", statistics.figure20, (10.0, 3.8)
    ),
}

"""Figures and tables of the thesis on the method of dimensionality reduction, computed again.

Chapter 2 is on contacts, chapter 3 on the stick-slip drive, chapter 4 on friction under ultrasound. Figures
2.2, 3.1 to 3.6, 3.10 to 3.14, 3.26, 3.31 to 3.33 and 3.37 are sketches, photographs or measurements. Measured
curves are in figures alone and are not compared. Tables 4.2 and 4.3 are inputs.
"""

from experiments.mdr_thesis import (
    curves,
    in_plane,
    loops,
    presliding,
    profiles,
    rolling,
    rough_lines,
    steps,
    tribometer,
    variants,
    vibration,
    worn_probe,
)

EXPERIMENTS = {
    **loops.EXPERIMENTS,
    **profiles.EXPERIMENTS,
    **rough_lines.EXPERIMENTS,
    **steps.EXPERIMENTS,
    **curves.EXPERIMENTS,
    **presliding.EXPERIMENTS,
    **variants.EXPERIMENTS,
    **rolling.EXPERIMENTS,
    **vibration.EXPERIMENTS,
    **tribometer.EXPERIMENTS,
    **worn_probe.EXPERIMENTS,
    **in_plane.EXPERIMENTS,
}
"""Name -> experiment."""

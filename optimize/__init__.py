"""Design studies: which variables are free, between which bounds, for which objective. One file
a study.

`python -m optimize list` names them, `python -m optimize <study>` runs one. Each module has a `STUDY`
(`diffmicro.design.Study`) and a docstring that says what limits the optimum.
"""

STUDIES = ("wrmma_speed",)
"""Names of all studies: `optimize.<name>`."""

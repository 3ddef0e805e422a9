"""Design studies: which variables are free, between which bounds, for which objective. One file
a study.

`python -m optimize list` names them, `python -m optimize <study>` runs one. Each module has
`run(seed, out, progress) -> dict`, the object that `--json` prints, and a docstring that says
what limits the optimum.
"""

STUDIES = ("wrmma_speed",)
"""Names of all studies: `optimize.<name>`."""

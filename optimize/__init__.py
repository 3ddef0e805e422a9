"""Design studies: which variables are free, between which bounds, for which objective. One file
a study.

`python -m optimize list` names them, `python -m optimize <study>` runs one. Each module has a `STUDY`
(`diffmicro.design.Study`) and a docstring that says what limits the optimum.
"""

STUDIES = (
    "wrmma_speed",
    "wrmma_pair",
    "tumbler_outline",
    "tumbler_climb",
    "stickslip_force",
    "stickslip_waveform",
    "gripper_rotation",
    "gripper_workspace",
    "gripper_grip",
    "legs_height",
)
"""Names of all studies: `optimize.<name>`."""

PROGRAMS = ("wrmma_buildable", "legs_identify", "controller", "flagship", "fronts")
"""What is not one optimization: modules with `run(seed, out)` and `summary(found)`."""

COMPARED = (*STUDIES, "legs_identify")
"""What `--compare` sets beside CMA-ES."""

"""The operating point of each device that tests of all devices look at, smooth and certified."""

from pathlib import Path

from diffmicro.testing import Case

CAPSULE = str(Path(__file__).parents[1] / "examples" / "capsule" / "capsule.py:CAPSULE")
"""A device of somebody else, made by `hybrid.device`."""

CASES = {
    CAPSULE: Case(
        "velocity", ("gap", "force"), numerics=dict(window=0), single=dict(tolerance=1e-5)
    ),
    "wrmma": Case(
        "velocity",
        ("mass_ratio", "field"),
        setting=dict(load_factor=32.0),
        numerics=dict(window=0),
        single=dict(tolerance=1e-6),
    ),
    "tumbler": Case(
        "speed",
        ("length", "field"),
        setting=dict(field_frequency=10.0),
        single=dict(tolerance=1e-5),
    ),
    "legs": Case("peak_height", ("damping", "voltage"), setting=dict(gap=25e-6, voltage=6.0)),
    "stickslip": Case(
        "force", ("radius", "amplitude"), dict(damping_ratio=0.03), single=dict(tolerance=1e-3)
    ),
    "gripper": Case("tip_x", ("young", "force"), setting=dict(force=5e-5)),
    "tribometer": Case(
        "sliding_velocity", ("probe_mass", "friction"), setting=dict(drag_ratio=0.8)
    ),
}

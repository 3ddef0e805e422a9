"""The mission's four in one table: `python -m optimize flagship`.

Velocity to mass ratio, generated force to hemisphere radius, gripper workspace to beam section, tumbling to
the outline: each study is run from its published design, and the table says what it reached, what holds it
there, how far its gradient can be trusted, and what it cost.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.table import Table

from diffmicro.command.surrounding import surroundings_of
from diffmicro.design import Study, run_study
from diffmicro.design.ending import STATUSES

FOUR = ("wrmma_speed", "stickslip_force", "gripper_workspace", "tumbler_outline")


def run(seed: int = 0, out: Path | None = None, progress: bool = True) -> dict[str, Any]:
    """Run the four; the object that `--json` prints, with one entry a study."""
    found: dict[str, Any] = {}
    for name in FOUR:
        folder = None if out is None else out / name
        found[name] = run_study(_study(name), seed, folder, progress, around=surroundings_of)
    worst = max((one["status"] for one in found.values()), key=STATUSES.index)
    return {"study": "flagship", "status": worst, "studies": found}


def summary(found: Mapping[str, Any]) -> Table:
    """One row a study."""
    columns = ("study", "objective", "published", "optimized", "status")
    table = Table(
        *columns, "what binds (its price)", "gradient", "good parts", "evaluations", "seconds",
        box=None,
    )  # fmt: skip
    for name, one in found["studies"].items():
        of = one["objective"]
        factor, unit = _study(name).show.get(of, (1.0, ""))
        sides = [one[side]["response"][of] for side in ("published", "optimized")]
        numbers = ["-" if v is None else f"{factor * v:.5g} {unit}".strip() for v in sides]
        table.add_row(
            name,
            f"{one['goal']} {of}",
            *numbers,
            one["status"],
            "\n".join(_binding(one)) or "nothing",
            one["certificate"].get("verdict", "-"),
            _parts(one.get("surroundings")),
            str(one["evaluations"]),
            f"{one['seconds']:.0f}",
        )
    return table


def _parts(around: Mapping[str, Any] | None) -> str:
    """The yield by the device's process, and whether the design is fragile."""
    parts = None if around is None else around["parts"]
    if around is None or parts is None:
        return "-"
    return f"{100 * parts['yield']:.3g} %" + (", fragile" if around["fragile"] else "")


def _binding(one: Mapping[str, Any]) -> Sequence[str]:
    """Limits that hold the optimum, with what a unit of each is worth."""
    limits = [
        f"{name} ({known['multiplier']:.3g})"
        for name, known in one["constraints"].items()
        if known["binds"]
    ]
    return limits + [
        f"{name} {known['side']} ({known['multiplier']:.3g})"
        for name, known in one["bounds"].items()
    ]


def _study(name: str) -> Study:
    return import_module(f"optimize.{name}").STUDY

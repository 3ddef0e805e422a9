"""What a motion is declared with: coordinates, and the contacts that act along them.

A contact adds a force, or a compression, that `accelerations` finds under the contact's name; the instants at
which it begins, ends or turns around are found by themselves (`system`).

| part | its name stands for | while | ends by |
|---|---|---|---|
| `Coulomb` | friction force | sticks: the force that keeps it at rest, at most `bound` | release |
| | | slides: -sign(rate) `bound` | reversal: sticks, or slides back |
| `Impact` | contact force, 0 or more | open: 0 | touch-down: rate -> -restitution * rate |
| | | closed: the force that keeps it at the stop, above -`hold` | pull-off |
| `OneSidedSpring` | compression, 0 or more | open: 0; closed: how far beyond the stop | touch-down, lift-off |

Left out: friction that depends on a contact force, and an impulse of friction during an impact; several
contacts on one coordinate that hold it at once.
"""

import dataclasses
from collections.abc import Callable
from typing import Literal

from diffmicro._types import Real
from diffmicro.dynamics import series
from diffmicro.parameters import Fields

Number = float | Callable[..., Real]
"""A number, or a function of design and setting that gives one."""


def number(given: Number, design: Fields, setting: Fields) -> Real:
    """The number that is meant for this design and setting."""
    return given(design, setting) if callable(given) else given


@dataclasses.dataclass(frozen=True)
class Named:
    """Something that takes its name from the attribute of the motion's class that it is assigned to."""

    def __set_name__(self, owner: type, name: str) -> None:
        object.__setattr__(self, "name", name)

    name: str = dataclasses.field(default="", init=False)


@dataclasses.dataclass(frozen=True)
class Coordinate(Named):
    """A place with its rate `<name>_rate`, or, of order 1, a quantity whose rate `accelerations` gives.

    start: where the motion begins, at rest [unit]. scale: a size typical of it, its natural unit [unit]; by
    default what the accelerations at the start amount to within a period. drifts: no force depends on its place,
    which does not repeat; the distance per time is a response (`drift`).
    """

    meaning: str
    unit: str = "m"
    start: Number = 0.0
    scale: Number | None = None
    drifts: bool = False
    order: Literal[1, 2] = 2

    @property
    def rate(self) -> str:
        """The name of its rate."""
        return f"{self.name}_rate"


@dataclasses.dataclass(frozen=True)
class Contact(Named):
    """A contact of a coordinate."""

    of: str


@dataclasses.dataclass(frozen=True)
class Coulomb(Contact):
    """Dry friction with stick. bound: (now, design, setting) -> the largest friction force [N]."""

    bound: Callable[..., series.Number] | None = None


@dataclasses.dataclass(frozen=True)
class _Stop(Contact):
    """A limit `at` of a coordinate [its unit], which lies below it or above it."""

    at: Number = 0.0
    side: Literal["below", "above"] = "below"

    @property
    def sign(self) -> float:
        """The gap is sign * (place - at)."""
        return 1.0 if self.side == "below" else -1.0


@dataclasses.dataclass(frozen=True)
class Impact(_Stop):
    """A rigid stop: Newton's impact, whose chatter ends in lasting contact.

    restitution: rate after over rate before, from 0 to 1 [-]. hold: force that it takes to pull off, adhesion [N].
    """

    restitution: Number = 0.0
    hold: Number = 0.0


@dataclasses.dataclass(frozen=True)
class OneSidedSpring(_Stop):
    """An elastic stop; `accelerations` gives its stiffness."""


def Hold(
    of: str, force: Number, at: Number = 0.0, side: Literal["below", "above"] = "below"
) -> Impact:
    """An adhesive stop: what touches it stays until it is pulled off with this force [N]."""
    return Impact(of, at, side, restitution=0.0, hold=force)

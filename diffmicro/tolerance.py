"""How fabricated parts deviate from the drawing: causes, their sizes, and the fields that each moves; and where a
share of parts lies that was counted."""

import math
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Tolerance:
    """One cause of deviations: by a standard deviation (normal) or at most by a half width (interval).

    variable: the field that deviates, or the name of a common cause that moves several.
    size: in units of the variable, or as a share of its value when `relative`.
    moves: each field that the cause moves, and by how many times the size; by default the variable, once. An
    etch that takes 0.3 um from every edge makes gaps wider and beams thinner by twice that, all at once.
    """

    variable: str
    size: float
    relative: bool = True
    kind: Literal["normal", "interval"] = "normal"
    moves: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        if not (math.isfinite(self.size) and self.size > 0):
            raise ValueError(
                f"tolerance of {self.variable}: {self.size} is not allowed; it has to be above 0, "
                "for instance 0.05 for 5 %."
            )
        if self.kind not in ("normal", "interval"):
            raise ValueError(
                f"tolerance of {self.variable}: kind {self.kind!r} is not normal or interval."
            )
        if not all(math.isfinite(share) and share for _, share in self.moves):
            raise ValueError(
                f"tolerance of {self.variable}: how far it moves a field has to be finite and not 0."
            )
        object.__setattr__(self, "moves", tuple(self.moves) or ((self.variable, 1.0),))

    @property
    def common(self) -> bool:
        """Whether it is a cause that is no field itself."""
        return self.moves != ((self.variable, 1.0),)


LEVEL = 0.95
"""Of every interval."""


def share_interval(hits: int, count: int) -> tuple[float, float]:
    """Where a share lies of which `hits` of `count` were met, at `LEVEL` (Clopper and Pearson 1934)."""
    from scipy import special  # when it is first used: its import adds a filter to `warnings`

    tail = (1 - LEVEL) / 2
    low = special.betaincinv(hits, count - hits + 1, tail) if hits else 0.0
    high = special.betaincinv(hits + 1, count - hits, 1 - tail) if hits < count else 1.0
    return float(low), float(high)

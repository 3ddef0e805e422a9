"""How the parts of a device deviate: by the causes that were given, or else by the device's own process."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from jaxtyping import PyTree

from diffmicro._device import Device
from diffmicro._json import Json, JsonObject
from diffmicro.design.shown import unit_of
from diffmicro.parameters import Fields
from diffmicro.process import Process, etch_tolerances
from diffmicro.tolerance import Tolerance
from diffmicro.units import readable


@dataclass(frozen=True)
class Deviations:
    """A function of the design: what the etch moves depends on it.

    stated: causes that were given. process: rules that were given; the scatter of its etch is one more cause.
    layout: what the drawing has beside the design.
    """

    device: Device
    stated: tuple[Tolerance, ...] = ()
    process: Process | None = None
    layout: Fields | None = None

    @property
    def given(self) -> bool:
        """Whether any cause was given; else it is the device's own process."""
        return bool(self.stated) or self._etched is not None

    @property
    def _etched(self) -> Process | None:
        return self.process if self.process is not None and self.process.scatters else None

    def __call__(self, design: PyTree) -> tuple[Tolerance, ...]:
        """All causes at a design; ValueError where the etch of the process moves nothing that is known."""
        if not self.given:
            return self.device.process
        if self._etched is None:
            return self.stated
        etch = etch_tolerances(self.device, self._etched, design, self.layout)
        return (*self.stated, *etch)

    def where_known(self, design: PyTree) -> "tuple[Deviations, str]":
        """The same without an etch whose effect on the design is not known, and why it was left out."""
        try:
            self(design)
        except ValueError as why:
            return replace(self, process=None), str(why)
        return self, ""

    def text(self, design: PyTree) -> str:
        """Where the causes come from, and each with its size."""
        causes = self(design)
        if not causes:
            return f"Nothing deviates: no tolerances were given, and {self.device.name} has none of its own."
        origin = (
            "by the tolerances that were given"
            if self.given
            else f"by the default tolerances of {self.device.name}, as none were given"
        )
        own = len(self.stated) if self.given else len(causes)
        texts = [cause_text(self.device, cause) for cause in causes[:own]]
        texts += [cause_text(self.device, cause, "m") for cause in causes[own:]]
        return f"Parts deviate {origin}: {'; '.join(texts)}."


def cause_text(device: Device, cause: Tolerance, unit: str = "") -> str:
    """`rest_gap 0.5 um (standard deviation)`; a common cause with the names of what it moves. unit: of its size,
    by default that of what it moves; an etch, which is a length, may move fields of any unit."""
    moved = [name for name, _ in cause.moves]
    unit = unit or unit_of(device, moved[0])
    size = f"{100 * cause.size:.4g} %" if cause.relative else readable(cause.size, unit, 4)
    kind = "standard deviation" if cause.kind == "normal" else "at most"
    return (
        f"{cause.variable} {size} ({kind}{'; moves ' + ', '.join(moved) if cause.common else ''})"
    )


def causes_plain(causes: Sequence[Tolerance]) -> list[JsonObject]:
    """As JSON has them."""
    return [{**asdict(cause), "moves": dict(cause.moves)} for cause in causes]


def causes_from(found: Sequence[Mapping[str, Json]]) -> tuple[Tolerance, ...]:
    """The causes back from JSON."""
    return tuple(Tolerance(**{**one, "moves": tuple(one["moves"].items())}) for one in found)

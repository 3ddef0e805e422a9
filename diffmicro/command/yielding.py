"""`optimize --yield`: a search whose parts are counted, as plain values and in lines."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from diffmicro._device import Device
from diffmicro._json import Json, JsonObject
from diffmicro.command.fabricating import common_of, scatter_of
from diffmicro.command.output import note
from diffmicro.command.surrounding import parts_plain, parts_text
from diffmicro.command.words import BadInput
from diffmicro.parameters import Fields

if TYPE_CHECKING:
    from diffmicro.fabrication.buildable import Buildable
    from diffmicro.fabrication.deviations import Deviations
    from diffmicro.process import Process


class Fabrication(NamedTuple):
    """Words about parts. good: share of them that is wanted, --yield. scatter, common: how they deviate."""

    good: float | None = None
    scatter: Sequence[str] = ()
    common: Sequence[str] = ()

    def deviating(
        self,
        device: Device,
        design: Fields,
        process: "Process | None" = None,
        layout: Fields | None = None,
    ) -> "Deviations":
        """How parts deviate. process: its etch is a cause where it scatters, if what that moves is known at the
        design."""
        from diffmicro.fabrication.deviations import Deviations

        if self.good is not None and not 0 < self.good < 1:
            raise BadInput(f"--yield {self.good:g}: it has to be between 0 and 1, as in 0.95.")
        said = [scatter_of(device, text) for text in self.scatter]
        said += [common_of(device, text) for text in self.common]
        stated = Deviations(device, tuple(said), process, layout)
        known, left_out = stated.where_known(design)
        if left_out and self.good is not None:
            raise BadInput(left_out)
        if left_out:
            note(f"parts are counted without the scatter of the etch: {left_out}")
        if self.good is not None and not known(design):
            raise BadInput(
                f"--yield: {device.name} has no process of its own; give --scatter key=2%."
            )
        return known


DEFAULT = Fabrication()
"""No yield is wanted, and no tolerances are given."""


def yield_plain(found: "Buildable") -> JsonObject:
    """What a result says in place of its last search, which began where the one before ended."""
    rounds = [
        {
            "deviations": one.index,
            "reserves": {
                limit: {"reserve": kept.loss, "by": kept.way}
                for limit, kept in one.reserves.items()
            },
            "status": one.result.status,
            "evaluations": one.result.evaluations,
            "variables": one.result.variables,
            "objective": one.result.optimized.response[one.result.problem.objective.response],
            "parts": parts_plain(one.confirmed or one.counted),
            "confirmed": one.confirmed is not None,
        }
        for one in found.rounds
    ]
    chosen = next(i for i, one in enumerate(found.rounds) if one.result is found.result)
    return {
        "status": found.status,
        "published": found.rounds[0].result.json("")["published"],
        "reason": found.reason,
        "evaluations": found.evaluations,
        "seconds": round(sum(one.result.seconds for one in found.rounds), 3),
        "yield": {
            "wanted": found.wanted,
            **parts_plain(found.parts),
            "limits": [str(limit) for limit in found.limits],
            "round": chosen + 1,
            "rounds": rounds,
        },
    }


def stated_limit(name: str, limits: Sequence[str]) -> str:
    """The limit as it was stated, of a constraint that a search kept with a reserve."""
    response, sense, _ = name.split()
    return next((limit for limit in limits if limit.split()[:2] == [response, sense]), name)


def yield_text(device: Device, found: Mapping[str, Json], objective: str) -> list[str]:
    """The rounds in lines."""
    from diffmicro.design.shown import show, with_units

    lines = []
    for number, one in enumerate(found["rounds"], 1):
        kept = ", ".join(
            f"{with_units(device, limit)} by {show(device, limit.split()[0], known['reserve'], 4)} ({known['by']})"
            for limit, known in one["reserves"].items()
            if known["reserve"]
        )
        mark = "*" if number == found["round"] else " "
        lines.append(
            f"{mark} round {number}: {objective} {show(device, objective, one['objective'], 6)}, good parts "
            f"{parts_text(one['parts'])}" + (f"; kept {kept}" if kept else "")
        )
    return lines

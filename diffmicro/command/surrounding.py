"""What lies around an optimum, for results that are printed: ends, yield, start, and whether it is fragile."""

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from diffmicro._json import Json, JsonObject

if TYPE_CHECKING:
    from diffmicro.design import Constraint, Result
    from diffmicro.design.problem import Place
    from diffmicro.fabrication import Yield
    from diffmicro.fabrication.buildable import Deviating


def surroundings_of(
    result: "Result",
    deviating: "Deviating | None" = None,
    limits: "Sequence[Constraint] | None" = None,
    counted: "Yield | None" = None,
) -> JsonObject | None:
    """The surroundings of a result's design as plain values; None where the result is no design that holds.

    deviating: by default the device's process; may be a function of the design. limits: what parts keep, by
    default the problem's. counted: the yield, where it is known. Of several operating points each has its own,
    under `points`.
    """
    places = result.problem.places(result.variables)
    if not result.feasible or not places:
        return None
    limits = result.problem.constraints if limits is None else limits
    print("looking at ends and tolerances around the optimum ...", file=sys.stderr, flush=True)
    found = {
        place.label: _of_place(place, deviating, _own(place.label, limits), counted)
        for place in places
    }
    if list(found) == [""]:
        return found[""]
    fragile = [f"{label}: {why}" for label, one in found.items() for why in one["fragile"]]
    return {"points": found, "fragile": fragile}


def _own(label: str, limits: "Sequence[Constraint]") -> "list[Constraint]":
    """The limits of the responses of one operating point."""
    start = f"{label}." if label else ""
    own = [limit for limit in limits if limit.response.startswith(start)]
    return [dataclasses.replace(c, response=c.response.removeprefix(start)) for c in own]


def _of_place(
    place: "Place",
    deviating: "Deviating | None",
    limits: "Sequence[Constraint]",
    counted: "Yield | None",
) -> JsonObject:
    from diffmicro.fabrication.surroundings import surroundings

    if callable(deviating):
        deviating = deviating(place.design)
    found = surroundings(
        place.device, place.design, place.setting, place.fields, limits,
        deviating=deviating, allowed=place.allowed, counted=counted,
    )  # fmt: skip
    return {
        "start": found.start,
        "ends": [end._asdict() for end in found.ends],
        "parts": None if found.parts is None else parts_plain(found.parts),
        "fragile": list(found.fragile),
    }


def parts_plain(parts: "Yield") -> JsonObject:
    """A yield as plain values."""
    names = ("low", "high", "parts", "causes")
    return {"yield": parts.share, **{name: getattr(parts, name) for name in names}}


def surroundings_text(found: Mapping[str, Json]) -> list[str]:
    """The same in lines."""
    if "points" in found:
        return [
            f"{label}: {line}"
            for label, one in found["points"].items()
            for line in surroundings_text(one)
        ]
    lines = []
    if found["start"]:
        lines.append(f"it starts by: {found['start']}")
    for end in found["ends"]:
        if end["margin"] is None:
            lines.append(f"along {end['key']}: its end was not found. {end['why']}")
            continue
        far = f"{100 * end['margin']:.3g} %"
        reach = f"{end['kind']} {far} away" if end["kind"] else f"no end within {far}"
        own = f"; parts deviate by {100 * end['tolerance']:.3g} %" if end["tolerance"] else ""
        lines.append(f"along {end['key']}: {reach}{own}")
    if found["parts"]:
        causes = ", ".join(f"{c} {100 * s:.3g} %" for c, s in found["parts"]["causes"].items())
        lines.append(
            f"good parts: {parts_text(found['parts'])}" + (f"; bad by {causes}" if causes else "")
        )
    lines += [f"fragile: {why}" for why in found["fragile"]]
    return lines


def parts_text(parts: Mapping[str, Json]) -> str:
    """`97 % (96.1 to 97.7) of 2000`."""
    share, low, high = (100 * parts[name] for name in ("yield", "low", "high"))
    return f"{share:.4g} % ({low:.4g} to {high:.4g}) of {parts['parts']}"

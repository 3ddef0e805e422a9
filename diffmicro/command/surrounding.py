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
    from diffmicro.fabrication.surroundings import End


MEANT = " (two standard deviations, or a whole interval)"
"""How far parts are said to deviate."""


def surroundings_of(
    result: "Result",
    deviating: "Deviating | None" = None,
    limits: "Sequence[Constraint] | None" = None,
    counted: "Yield | None" = None,
) -> JsonObject | None:
    """The surroundings of a result's design as plain values; None where the result is no design that holds.

    deviating: tolerances that were given, or a function of the design that gives them; the device's own by
    default. limits: what parts keep, by default the problem's. counted: the yield, where it is known. Of several
    operating points each has its own, under `points`.
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
    from diffmicro.fabrication.deviations import Deviations, causes_plain
    from diffmicro.fabrication.surroundings import surroundings

    by = deviating
    if not isinstance(by, Deviations):
        known = by(place.design) if callable(by) else by or ()
        by = Deviations(place.device, tuple(known))
    by, _ = by.where_known(place.design)
    causes = by(place.design)
    found = surroundings(
        place.device, place.design, place.setting, place.fields, limits,
        deviating=causes, allowed=place.allowed, counted=counted,
    )  # fmt: skip
    return {
        "start": found.start,
        "ends": [_end_plain(end) for end in found.ends],
        "parts": None if found.parts is None else parts_plain(found.parts),
        "tolerances": causes_plain(causes),
        "by": by.text(place.design),
        "fragile": list(found.fragile),
    }


def _end_plain(end: "End") -> JsonObject:
    from diffmicro.fabrication.surroundings import places_text

    near = {name: getattr(end, name) for name in ("motion", "kink")}
    near = {name: one and one._asdict() for name, one in near.items()}
    return end._asdict() | near | {"text": places_text(end.places)}


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
        own = (
            f"; parts deviate by {100 * end['tolerance']:.3g} %{MEANT}" if end["tolerance"] else ""
        )
        lines.append(f"along {end['key']}: {end['text']}{own}")
    lines.append(found["by"])
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

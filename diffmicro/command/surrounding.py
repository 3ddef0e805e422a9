"""What lies around an optimum, for results that are printed: ends, yield, start, and whether it is fragile."""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from diffmicro._device import Device

if TYPE_CHECKING:
    from diffmicro.design import Result


def surroundings_of(
    result: "Result", device: Device, design: Any, setting: Any
) -> dict[str, Any] | None:
    """The surroundings of a result's design as plain values; None where the result is no design that holds."""
    from diffmicro.fabrication.surroundings import surroundings

    if not result.feasible:
        return None
    problem = result.problem
    keys = [name.partition("[")[0] for name in problem.names]
    print("looking at ends and tolerances around the optimum ...", file=sys.stderr, flush=True)
    found = surroundings(device, design, setting, keys, problem.constraints)
    parts = None
    if found.parts is not None:
        parts = {
            "yield": found.parts.share,
            "low": found.parts.low,
            "high": found.parts.high,
            "parts": found.parts.parts,
            "causes": found.parts.causes,
        }
    return {
        "start": found.start,
        "ends": [end._asdict() for end in found.ends],
        "parts": parts,
        "fragile": list(found.fragile),
    }


def surroundings_text(found: Mapping[str, Any]) -> list[str]:
    """The same in lines."""
    lines = []
    if found["start"]:
        lines.append(f"it starts by: {found['start']}")
    for end in found["ends"]:
        if end["margin"] is None:
            continue
        far = f"{100 * end['margin']:.3g} %"
        reach = f"{end['kind']} {far} away" if end["kind"] else f"no end within {far}"
        own = f"; parts deviate by {100 * end['tolerance']:.3g} %" if end["tolerance"] else ""
        lines.append(f"along {end['key']}: {reach}{own}")
    if found["parts"]:
        own = found["parts"]
        causes = ", ".join(f"{c} {100 * s:.3g} %" for c, s in own["causes"].items())
        share = f"{100 * own['yield']:.4g} % ({100 * own['low']:.4g} to {100 * own['high']:.4g})"
        lines.append(
            f"good parts by the device's process: {share}"
            + (f"; bad by {causes}" if causes else "")
        )
    lines += [f"fragile: {why}" for why in found["fragile"]]
    return lines

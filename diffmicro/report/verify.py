"""Checks a report: its claims calculated again, and a digest that tells whether anything in it was changed."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from diffmicro._json import Json, JsonObject
from diffmicro.devices import UnknownDevice
from diffmicro.devices import device as known_device
from diffmicro.parameters import Value
from diffmicro.report.claims import SMALL, Claim, Question, claims_of

FORMAT = 2
"""Number of the file's form."""


class Verdict(NamedTuple):
    """A claim, what came out this time, and whether the two agree; why not, in words."""

    claim: Claim
    found: Value
    holds: bool
    why: str = ""


def digest_of(content: Mapping[str, Json]) -> str:
    """Of everything but the digest itself."""
    rest = {key: value for key, value in content.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def read_report(path: Path) -> JsonObject:
    """The content of a report.json; ValueError for a file that is none."""
    try:
        content = json.loads(path.read_text())
        if content["report"] != FORMAT:
            raise ValueError(
                f"{path} has the form {content['report']}; this version reads {FORMAT}."
            )
        Question.of(content["question"])
        [Claim(**claim) for claim in content["claims"]]
        content["digest"]
    except (UnicodeDecodeError, json.JSONDecodeError) as problem:
        raise ValueError(f"{path} is not JSON in UTF-8: {problem}.") from None
    except (KeyError, TypeError, AttributeError):
        raise ValueError(
            f"{path} is no report that `diffmicro report` wrote: it needs report, question, claims and digest."
        ) from None
    return content


def verify(path: Path | str, device: str | None = None) -> tuple[bool, list[Verdict]]:
    """Whether the file is as it was written, and the verdict on each claim.

    device: where the report's device is found on this machine, if it is not what the report says.
    """
    content = read_report(Path(path))
    question = Question.of(content["question"])
    if device is not None:
        question = replace(question, device=device)
    try:
        known_device(question.device)
    except UnknownDevice as unknown:
        where = "" if device else " Say where it is on this machine: --device path/to/file.py:NAME."
        raise ValueError(f"{unknown}{where}") from None
    again = {(c.topic, c.name): c for c in claims_of(question)}
    found = []
    for values in content["claims"]:
        claim = Claim(**values)
        other = again.pop((claim.topic, claim.name), None)
        found.append(_judged(claim, other))
    for other in again.values():
        found.append(Verdict(other, other.value, False, "the report does not have it"))
    return content["digest"] == digest_of(content), found


def _judged(claim: Claim, other: Claim | None) -> Verdict:
    if other is None:
        return Verdict(claim, None, False, "not found when calculated again")
    if claim._replace(value=None, scale=0, low=None, high=None) != other._replace(
        value=None, scale=0, low=None, high=None
    ):
        return Verdict(claim, other.value, False, "its unit or tolerance was changed")
    mine, own = claim.value, other.value
    if not isinstance(mine, int | float) or not isinstance(own, int | float):
        same = mine == own
        return Verdict(claim, own, same, "" if same else f"calculated again: {own}")
    if other.low is not None and other.high is not None:
        kept = other.low <= mine <= other.high and (claim.low, claim.high) != (None, None)
        kept = kept and _close(claim.low, other.low, 0.01) and _close(claim.high, other.high, 0.01)
        text = f"calculated again: {own:.6g}, from {other.low:.4g} to {other.high:.4g}"
        return Verdict(claim, own, kept, "" if kept else text)
    near = abs(mine - own) <= max(claim.tolerance * abs(own), SMALL * abs(other.scale))
    near = near and math.isfinite(mine)
    return Verdict(claim, own, near, "" if near else f"calculated again: {own:.10g}")


def _close(one: float | None, other: float, apart: float) -> bool:
    return one is not None and abs(one - other) <= apart

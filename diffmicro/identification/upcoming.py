"""What to measure next: the value of the swept keys at which one more measurement tells most.

The information of a measurement at x is S^T S, with S(x) the Jacobian of the responses over their standard
errors. The candidate that raises the determinant of the information most is taken (D-optimal): by the factor
det(1 + S C S^T), C the covariance now. To what the data know the ranges of the parameters are added as a prior,
so a direction that is not seen yet counts with its range, and no more. Candidates whose gradient is not
certified are not taken where others are: at a fold or a cliff a gradient without bound would promise
everything."""

import itertools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from diffmicro._json import JsonObject, plain
from diffmicro.identification.data import Data, DataError
from diffmicro.identification.known import IGNORANT
from diffmicro.identification.model import Looks, Model
from diffmicro.identification.result import Identified
from diffmicro.parameters import Value
from diffmicro.reasons import VERDICTS
from diffmicro.sweep.grids import Interval, drawn

CANDIDATES = 41
"""Values of one key that are looked at; of several keys together, three times as many points."""

OTHERS = 8
"""Most combinations of what the candidates do not vary, the most frequent ones."""


class Next(NamedTuple):
    """The next measurement. at: value of each key. gain: factor by which the volume that the parameters lie in
    shrinks.

    errors: standard error of each parameter now and with it; infinite where nothing is known yet but the range.
    certified: whether the gradient there is. refused: candidates without a value. curve: (values of the keys,
    gain)."""

    at: dict[str, Value]
    gain: float
    errors: dict[str, tuple[float, float]]
    certified: bool
    candidates: int
    refused: int
    keys: tuple[str, ...]
    curve: list[tuple[tuple[float, ...], float]]

    def json(self) -> JsonObject:
        """Plain values."""
        errors = {key: {"now": a, "then": b} for key, (a, b) in self.errors.items()}
        return plain({**self._asdict(), "errors": errors, "curve": None} | {"curve": self.curve})


def next_measurement(
    found: Identified, ranges: Mapping[str, tuple[float, float]] | None = None
) -> Next:
    """Which value of the swept keys to measure next. `ranges`: of them; by default from the data's own range.

    Keys that are not varied keep the values that the data have, each combination of them in turn. Standard
    errors are those of the data, in the middle."""
    if found.ended is None:
        raise DataError(
            "next_measurement: nothing was identified, so nothing says what to measure."
        )
    data = found.question.model.data
    ranges = dict(ranges or {key: _span(data, key) for key in data.varied[:1]})
    if not ranges:
        raise DataError("next_measurement: no key has several values; name one with a range.")
    for key, (low, high) in ranges.items():
        if key not in data.keys or data.keys[key].dtype == object:
            known = ", ".join(k for k in data.keys if data.keys[k].dtype != object)
            raise DataError(f"next_measurement: {key} is no column of numbers; these are: {known}.")
        if not (np.isfinite([low, high]).all() and low < high):
            raise DataError(
                f"next_measurement: {key} = {low:g}:{high:g}: low has to be below high."
            )
    places = _places(ranges)
    best, curve, refused = _best(found, ranges, places)
    if len(ranges) == 1 and best is not None:  # once more between the neighbors of the best
        ((key, (low, high)),) = ranges.items()
        step = (high - low) / (CANDIDATES - 1)
        ends = max(low, best[0][0] - step), min(high, best[0][0] + step)
        finer, more, _ = _best(found, ranges, np.linspace(*ends, 9)[:, None])
        curve += more
        best = max((best, finer), key=lambda each: (each[3], each[1])) if finer else best
    if best is None:
        raise DataError(
            f"next_measurement: none of {len(places)} candidates has a value and a gradient."
        )
    values, gain, others, certified, slopes = best
    before = _information(found)
    after = before + slopes.T @ slopes
    return Next(
        at=dict(zip(ranges, map(float, values), strict=True)) | others,
        gain=float(np.sqrt(gain)),
        errors=_errors(found, before, after),
        certified=certified,
        candidates=len(places),
        refused=refused,
        keys=tuple(ranges),
        curve=sorted((tuple(map(float, at)), float(np.sqrt(g))) for at, g in curve),
    )


def _span(data: Data, key: str) -> tuple[float, float]:
    return float(data.keys[key].min()), float(data.keys[key].max())


def _places(ranges: Mapping[str, tuple[float, float]]) -> np.ndarray:
    if len(ranges) == 1:
        ((low, high),) = ranges.values()
        return np.linspace(low, high, CANDIDATES)[:, None]
    boxes = {key: Interval(*ends) for key, ends in ranges.items()}
    return np.stack(list(drawn(boxes, 3 * CANDIDATES, sobol=True).values()), axis=1)


def _information(found: Identified) -> np.ndarray:
    """What the data know and the ranges add, of parameters over their ranges."""
    question, ended = found.question, found.ended
    assert ended is not None
    width = question.box.high - question.box.low
    slopes = (ended.looks.jacobian * width)[ended.used] / ended.sigma[ended.used][:, None]
    return slopes.T @ slopes + np.eye(len(width)) / IGNORANT**2


def _errors(
    found: Identified, before: np.ndarray, after: np.ndarray
) -> dict[str, tuple[float, float]]:
    box = found.question.box
    width = box.high - box.low
    sizes = [np.sqrt(np.diagonal(np.linalg.inv(info))) * width for info in (before, after)]
    return {key: (float(sizes[0][k]), float(sizes[1][k])) for k, key in enumerate(box.names)}


Candidate = tuple[np.ndarray, float, dict[str, Value], bool, np.ndarray]
"""Values, rise of the determinant, what else is set, whether certified, the Jacobian over errors and ranges."""


def _best(
    found: Identified, ranges: Mapping[str, tuple[float, float]], places: np.ndarray
) -> tuple[Candidate | None, list[tuple[np.ndarray, float]], int]:
    """The best candidate, the gain at each place (of its best setting), and how many had no value."""
    data = found.question.model.data
    theta = found.question.box.place(found.ended.u)  # type: ignore[union-attr]
    width = found.question.box.high - found.question.box.low
    sigma = np.median(found.sigma, axis=0)
    now = np.linalg.inv(_information(found))
    best: Candidate | None = None
    gains: dict[int, float] = {}
    refused = 0
    for others in _others(data, tuple(ranges)):
        looks = _looks(found, data, dict(zip(ranges, places.T, strict=True)), others, theta)
        for i, place in enumerate(places):
            if not looks.usable[i].all():
                refused += 1
                continue
            slopes = looks.jacobian[i] * width / sigma[:, None]
            gain = float(np.linalg.det(np.eye(len(sigma)) + slopes @ now @ slopes.T))
            certified = bool((looks.verdict[i] == VERDICTS.index("certified")).all())
            gains[i] = max(gain, gains.get(i, 0.0))
            if best is None or (certified, gain) > (best[3], best[1]):
                best = (place, gain, others, certified, slopes)
    return best, [(places[i], gain) for i, gain in gains.items()], refused


def _others(data: Data, varied: tuple[str, ...]) -> list[dict[str, Value]]:
    """What the data set beside the varied keys: each combination, the most frequent first."""
    rest = [key for key in data.keys if key not in varied]
    counted: dict[tuple, int] = {}
    for row in range(len(data)):
        values = tuple(data.keys[key][row] for key in rest)
        counted[values] = counted.get(values, 0) + 1
    ranked = sorted(counted, key=lambda values: -counted[values])
    return [dict(zip(rest, values, strict=True)) for values in itertools.islice(ranked, OTHERS)]


def _looks(
    found: Identified,
    data: Data,
    varied: Mapping[str, np.ndarray],
    others: Mapping[str, Value],
    theta: np.ndarray,
) -> Looks:
    """The device at candidates instead of rows, each started as the setting says."""
    count = len(next(iter(varied.values())))
    keys = {}
    for key in data.keys:  # noqa: PLC0206
        column = varied[key] if key in varied else np.full(count, others[key], data.keys[key].dtype)
        keys[key] = column
    blank = {name: np.zeros(count) for name in data.values}
    lines = np.arange(1, count + 1)
    rows = Data(keys, blank, dict.fromkeys(blank), np.full(count, "", object), lines)
    model = found.question.model
    return Model(model.device, rows, model.free, *model.base, **dict(model.lane.numerics)).looks(
        theta
    )

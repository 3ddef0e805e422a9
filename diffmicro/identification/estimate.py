"""Parameters of a device from measured points: estimates, intervals, and what the data do not see.

Least squares on certified gradients (`model`, `squares`), from several starts (`optima`), on the motion that
each row lies on (`search`, `motions`); intervals by profile likelihood (`profile`), linearized ones beside them
(`known`).

Left out: errors that are correlated from point to point, errors of the parameters that were set, priors.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from diffmicro._device import Device
from diffmicro.devices import as_device
from diffmicro.identification.data import Data, DataError, data_of, read_data
from diffmicro.identification.known import IGNORANT, blind_directions, covariance_of, singular
from diffmicro.identification.model import Model
from diffmicro.identification.motions import settle
from diffmicro.identification.optima import Seen, explore
from diffmicro.identification.profile import LEVEL, Better, End, profile_end
from diffmicro.identification.result import Chi, Estimate, Identified, Omitted
from diffmicro.identification.search import Ended, Question, first_errors, residuals_at, search
from diffmicro.identification.squares import LOSSES, Loss, box_of, influence, spread
from diffmicro.parameters import Fields, Value, entry_of, get, whole_number
from diffmicro.reasons import VERDICTS
from diffmicro.sweep.cluster import Processes

AT_BOUND = 1e-6
"""Distance from the end of a range, over the range, at which an estimate is held by it."""

TAKEN_UP = 2
"""Times that the search is taken up again where a profile found a better optimum."""


def identify(
    device: Device | str,
    data: Data | Mapping[str, Iterable[Value]] | Path | str,
    free: Mapping[str, tuple[float, float]],
    *,
    design: Fields | None = None,
    setting: Fields | None = None,
    loss: Loss = "linear",
    starts: int | None = None,
    seed: int = 0,
    errors: Mapping[str, float] | None = None,
    ignore: Sequence[str] = (),
    watch: Callable[[int], None] | None = None,
    processes: Processes | None = None,
    **numerics: Value,
) -> Identified:
    """The `free` parameters (key -> range, in SI) that explain the data best, with what is known of each.

    data: a CSV file, columns by their headers, or what `read_data` made of them; see `data` for the headers.
    design, setting: all that no column and no free key says, the published ones by default.
    loss: `linear`, or `huber` or `soft_l1` where single points are far off. starts: of the search, as many as
    are enough by default. errors: a standard error (SI) for a response that has no column of them; without
    either they are estimated from the residuals. ignore: columns that do not count. watch: called with 1 at each
    look at the rows. processes: that share the rows, from `sweep.processes`. `numerics` go to `respond`.
    """
    device = as_device(device)
    if isinstance(data, Path | str):
        data = read_data(device, data, ignore=ignore, errors=errors)
    elif not isinstance(data, Data):
        data = data_of(device, data, ignore=ignore, errors=errors)
    starts = None if starts is None else whole_number("identify: starts", starts, None, 1, 1000)
    seed = whole_number("identify: seed", seed, None, 0)
    if loss not in LOSSES:
        raise DataError(f"identify: loss {loss!r} is none of {', '.join(LOSSES)}.")
    question, first = _question(device, data, free, design, setting, loss, numerics)
    question.model.watch = watch or question.model.watch
    question.model.processes = processes
    try:
        return _answer(question, first, starts, seed)
    finally:
        question.model.processes = None  # they end before what is found does


def _answer(question: Question, first: np.ndarray, starts: int | None, seed: int) -> Identified:
    """The best optimum with what is known of it; taken up again where a profile found a better one."""
    # A point that lies on another motion at first is far off; a robust loss does not follow it.
    loss: Loss = "huber" if question.loss == "linear" else question.loss
    rough = question._replace(loss=loss, rough=True)
    seen = explore(rough, first, first_errors(question.model.data), starts, seed)
    if not seen.optima:
        return _nothing(question, seen.begun)
    best = _polished(question, settle(rough, seen.optima[0].ended))
    for _ in range(TAKEN_UP):
        try:
            return _identified(question, best, seen)
        except Better as better:
            again = search(question, better.u, best.sigma, best.states, best.branch)
            if again is None or again.cost >= best.cost:
                break
            best = again
    return _identified(question, best, seen, profiles=False)


def _polished(question: Question, rough: Ended) -> Ended:
    """The optimum of the loss given, beside that of a robust one."""
    fixed = bool(rough.states) and not question.model.data.ways.any()
    states, branch = (rough.states, rough.branch) if fixed else (None, None)
    found = search(question, rough.u, rough.sigma, states, branch)
    return rough._replace(converged=False) if found is None else found


def _question(
    device: Device,
    data: Data,
    free: Mapping[str, tuple[float, float]],
    design: Fields | None,
    setting: Fields | None,
    loss: Loss,
    numerics: Mapping[str, Value],
) -> tuple[Question, np.ndarray]:
    """The question, checked, and where its first start is."""
    ranges = {key: (float(low), float(high)) for key, (low, high) in free.items()}
    if not ranges:
        raise DataError(
            "identify: nothing is free; name the parameters to find, each with a range."
        )
    count = sum(map(len, data.values.values()))
    if len(ranges) >= count:
        raise DataError(
            f"identify: {len(ranges)} parameters are free, but there are {count} values; there have to be "
            "more values than parameters. Measure more, or free fewer."
        )
    for key, (low, high) in ranges.items():
        _check_free(device, data, key, low, high)
    if data.ways.any():
        try:
            device.check_carries("identify", numerics.get("method"))
        except ValueError as problem:
            raise DataError(
                f"{problem} The data name a direction (sweep), in which a state is carried: leave that column out "
                "(ignore)."
            ) from None
    model = Model(device, data, tuple(ranges), design, setting, **numerics)
    box = box_of(ranges)
    own = _own(model)
    inside = np.all((own > box.low) & (own < box.high))
    first = box.back(own) if inside else np.full(len(own), 0.5)
    for theta in (box.low, box.high, box.place(first)):
        model.check(theta)
    model.shapes()
    return Question(model, box, np.stack(list(data.values.values()), axis=1), loss), first


def _check_free(device: Device, data: Data, key: str, low: float, high: float) -> None:
    name, entry = entry_of(key)
    numbers = [n for n, known in device.parameters.items() if known.differentiable]
    if name not in numbers:
        raise DataError(
            f"identify: {key} is no parameter of {device.name} that is a number; these are: {', '.join(numbers)}."
        )
    if not entry and () not in device.parameters[name].shapes:
        raise DataError(
            f"identify: {name} is several numbers; free {name}[0], from 0 on, or {name}[:]."
        )
    if not (np.isfinite([low, high]).all() and low < high):
        raise DataError(
            f"identify: {key} = {low:g}:{high:g}: the low end has to be below the high one."
        )
    if key in data.keys:
        raise DataError(
            f"identify: {key} is a column of the data, so it is known; it cannot be free."
        )


def _own(model: Model) -> np.ndarray:
    """The design's own values of the free keys, where it has them; else NaN."""
    found = []
    for key in model.free:
        name, entry = entry_of(key)
        value = get(*model.base, name)
        flat = np.ravel(np.asarray(np.nan if value is None else value, float))
        if entry not in ("", ":") and int(entry) >= flat.size:
            raise DataError(f"identify: {key}: {name} has {flat.size} entries, from 0 on.")
        found.append(flat[int(entry)] if entry not in ("", ":") else flat.mean())
    return np.array(found)


def _identified(question: Question, ended: Ended, seen: Seen, profiles: bool = True) -> Identified:
    """All that is said of the best optimum. `Better` where a profile goes below it."""
    model, box, data = question.model, question.box, question.model.data
    count, p = int(ended.used.sum()), len(box.names)
    residuals = residuals_at(question, ended.looks, ended.sigma)
    _, stiffness = influence(residuals[ended.used], question.loss)
    by_theta = ended.looks.jacobian[ended.used] / ended.sigma[ended.used][:, None]
    # A point beyond the bend of a loss weighs in by the mean stiffness, as all do: the sandwich divides it out.
    wide, rise = spread(residuals[ended.used], question.loss, p)
    held = (ended.u < AT_BOUND) | (ended.u > 1 - AT_BOUND)
    width = box.high - box.low
    values, directions = singular(by_theta * width)
    theta = box.place(ended.u)
    blind = blind_directions(values, directions, box.names, theta, width)
    freedom = count - int((values > 0).sum())  # a direction that is not seen takes none
    covariance = _covariance(by_theta * width, held) * np.outer(width, width) * wide
    estimated = any(known is None for known in data.errors.values())
    quantile, p_value = _quantiles(ended.cost, freedom, estimated)
    in_box = _covariance(by_theta * box.slope(ended.u), held)
    estimates = {}
    for k, key in enumerate(box.names):
        ends = [
            profile_end(question, ended, k, side, in_box, quantile, rise) if profiles else None
            for side in (-1, 1)
        ]
        estimates[key] = _estimate(question, ended, k, covariance, quantile, ends)
    return Identified(
        device=model.device.name,
        status="ok" if ended.converged and profiles else "stopped",
        parameters=estimates,
        covariance=covariance,
        residual=float(np.sqrt(np.mean(residuals[ended.used] ** 2))),
        chi=Chi(
            ended.cost,
            freedom,
            None if estimated or question.loss != "linear" else p_value,
        ),
        loss=question.loss,
        singular_values=values,
        blind=blind,
        sigma=ended.sigma,
        estimated={name: known is None for name, known in data.errors.items()},
        residuals=np.where(np.isfinite(ended.looks.value), residuals, np.nan),
        used=ended.used,
        omitted=_omitted(question, ended),
        uncertified=_uncertified(question, ended),
        branch=ended.branch,
        seen=seen,
        evaluations=model.evaluations,
        question=question,
        ended=ended,
    )


def _quantiles(cost: float, freedom: int, estimated: bool) -> tuple[float, float]:
    """The quantile that intervals reach to, and the probability of a larger chi-square."""
    from scipy import stats  # takes half a second to import

    level = 0.5 + LEVEL / 2
    quantile = stats.t.ppf(level, freedom) if estimated else stats.norm.ppf(level)
    return float(quantile), float(stats.chi2.sf(cost, freedom))


def _covariance(jacobian: np.ndarray, held: np.ndarray) -> np.ndarray:
    """(J^T J)^-1 of the parameters that no bound holds; infinite on the diagonal for what is not seen."""
    covariance = np.zeros((len(held), len(held)))
    if not held.all():
        found, errors = covariance_of(*singular(jacobian[:, ~held]))
        np.fill_diagonal(found, errors**2)
        covariance[np.ix_(~held, ~held)] = found
    return covariance


def _estimate(
    question: Question,
    ended: Ended,
    k: int,
    covariance: np.ndarray,
    quantile: float,
    ends: Sequence[End | None],
) -> Estimate:
    box = question.box
    value = float(box.place(ended.u)[k])
    error = float(np.sqrt(covariance[k, k]))
    bound = "low" if ended.u[k] < AT_BOUND else "high" if ended.u[k] > 1 - AT_BOUND else ""
    width = float(box.high[k] - box.low[k])

    def at(u: float) -> float:
        place = ended.u.copy()
        place[k] = u
        return float(box.place(place)[k])

    sides = [value + sign * quantile * error for sign in (-1, 1)]
    places = [side if end is None else at(end.u) for side, end in zip(sides, ends, strict=True)]
    curve = sorted({(at(u), z) for end in ends if end is not None for u, z in end.curve})
    endings = tuple("linear" if end is None else end.ending for end in ends)
    return Estimate(
        value=value,
        error=np.nan if bound else error,
        low=places[0],
        high=places[1],
        endings=(endings[0], endings[1]),
        linear=(np.nan, np.nan) if bound else (sides[0], sides[1]),
        identified=not bound and error < IGNORANT * width and "bound" not in endings,
        bound=bound,
        range=(float(box.low[k]), float(box.high[k])),
        unit=question.model.device.parameters[entry_of(box.names[k])[0]].unit.split(", ")[0],
        curve=curve,
    )


def _omitted(question: Question, ended: Ended) -> list[Omitted]:
    found = []
    for row, column in np.argwhere(~ended.used):
        looks = ended.looks
        why = looks.why(row, column)
        if ended.left[row, column]:
            why = (
                "it has a value here, but none on the way: the best fit lies where its motion ends"
            )
        found.append(_point(question, int(row), int(column), str(looks.status[row]), why))
    return found


def _uncertified(question: Question, ended: Ended) -> list[Omitted]:
    """Points that count although their gradient is not certified."""
    doubted = ended.used & (ended.looks.verdict != VERDICTS.index("certified"))
    return [
        _point(question, int(i), int(j), str(ended.looks.status[i]), ended.looks.why(i, j))
        for i, j in np.argwhere(doubted)
    ]


def _point(question: Question, row: int, column: int, status: str, why: str) -> Omitted:
    data = question.model.data
    return Omitted(int(data.lines[row]), list(data.values)[column], status, why)


def _nothing(question: Question, begun: int) -> Identified:
    """No start had enough points with a value."""
    looks = question.model.looks(question.box.place(np.full(len(question.box.names), 0.5)))
    points = [
        _point(question, int(i), int(j), str(looks.status[i]), looks.why(i, j))
        for i, j in np.argwhere(~looks.usable)
    ]
    return Identified.failed(question, begun, points)

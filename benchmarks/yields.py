"""Yields of devices: how often their intervals hold the truth, and what rare bad parts cost.

Twenty designs of each of three devices, drawn within 10 % of the published one, deviate by the device's process.
The limit of each is set so that between 0.1 and 30 % of its parts are bad. The truth is a count of 100,000 parts
that the estimate has not seen; its own error widens the interval that is asked. Few of them have to be calculated:
a cubic in the deviations is fitted to `FITTED` parts, and its largest error at `TRIED` others, times `SURE`, is
the band beside the limit in which parts are calculated one and all. Where a part has no value all are. The
gripper is that of its linear model.

At one bad part in a thousand, the variance of estimates over seeds is compared with that of a count.
`python -m benchmarks.yields gripper 5` counts the first five grippers.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.timing import table
from diffmicro import Device, device, tolerances
from diffmicro.design import Constraint
from diffmicro.fabrication import Scatter, scatter
from diffmicro.parameters import get, put
from diffmicro.results import RESULTS, code

DESIGNS = 20
SEEDS = 20
PARTS = 2000
WITHIN = 0.1
BAD = (1e-3, 0.3)
CHUNK = 500
TRUTH = 10**5
FITTED, TRIED, SURE = 1500, 500, 2.0
"""Parts that a cubic is fitted to, others that it is tried on, and the factor to its largest error there."""


class Case(NamedTuple):
    """A device, which response has a limit, and what is drawn."""

    device: str
    response: str
    sense: Any
    drawn: tuple[str, ...]
    setting: Mapping[str, Any] = {}


CASES = (
    Case("tribometer", "sliding_velocity", ">=", ("probe_mass", "normal_force", "friction")),
    Case("gripper", "max_stress", "<=", ("section_width", "section_height", "young"),
         dict(force=50e-6, model="linear")),
    Case("tumbler", "speed", ">=", ("length", "magnetization", "field")),
)  # fmt: skip


class Counted(NamedTuple):
    """An estimate and the truth: shares of good parts, and the truth's standard error."""

    share: float
    low: float
    high: float
    method: str
    truth: float
    error: float

    @property
    def held(self) -> bool:
        """Whether the interval holds the truth, as well as that is known."""
        half = 1.96 * self.error
        low = self.share - np.hypot(self.share - self.low, half)
        high = self.share + np.hypot(self.high - self.share, half)
        return bool(low <= self.truth <= high)


def values(of: Device, spread: Scatter, response: str, places: np.ndarray) -> np.ndarray:
    """The response of each part; NaN where its status is not ok."""
    count = len(places)
    places = np.resize(places, (-(-count // CHUNK) * CHUNK, places.shape[1]))
    chunks = (places[i : i + CHUNK] for i in range(0, len(places), CHUNK))
    found = [np.asarray(_values(of, response)(*spread.parts(chunk))) for chunk in chunks]
    return np.concatenate([*found, []])[:count]


@cache
def _values(of: Device, response: str) -> Callable[[Any, Any], Any]:
    """The response of a batch of parts, compiled once for all designs."""

    def one(design: Any, setting: Any) -> Any:
        found = of.respond(design, setting, throw=False)
        ok = code(found.result) == code(RESULTS.successful)
        return jnp.where(ok, getattr(found, response), jnp.nan)

    return jax.jit(jax.vmap(one))


def designs(case: Case, count: int, seed: int = 0) -> Iterator[tuple[Device, Scatter, float]]:
    """Designs within `WITHIN` of the published one, and a share of bad parts for each."""
    of, chance = device(case.device), np.random.default_rng((seed, len(case.device)))
    point = of.published_design(), of.published_setting(**case.setting)
    for _ in range(count):
        scales = chance.uniform(1 - WITHIN, 1 + WITHIN, len(case.drawn))
        moved = {n: get(*point, n) * s for n, s in zip(case.drawn, scales, strict=True)}
        bad = float(np.exp(chance.uniform(*np.log(BAD))))
        yield of, scatter(of, *put(*point, moved), of.process), bad


class Population(NamedTuple):
    """Parts whose values are known to `error`, 0 for those that were calculated."""

    places: np.ndarray
    values: np.ndarray
    error: np.ndarray


def population(case: Case, of: Device, spread: Scatter, seed: int) -> Population:
    """`TRUTH` parts: some calculated, the others by a cubic that was fitted to these."""
    places = np.random.default_rng((seed, 2)).standard_normal((TRUTH, len(spread.causes)))
    first = FITTED + TRIED
    known = values(of, spread, case.response, places[:first])
    if not np.all(np.isfinite(known)):
        known = np.append(known, values(of, spread, case.response, places[first:]))
        return Population(places, known, np.zeros(TRUTH))
    rows = powers(places)
    fit = np.linalg.lstsq(rows[:FITTED], known[:FITTED], rcond=None)[0]
    guessed = rows @ fit
    error = SURE * np.max(np.abs(guessed[FITTED:first] - known[FITTED:]))
    calculated = np.arange(TRUTH) < first
    guessed[:first] = known
    return Population(places, guessed, np.where(calculated, 0.0, error))


def powers(places: np.ndarray) -> np.ndarray:
    """All products of up to two deviations, and the cubes."""
    i, j = np.triu_indices(places.shape[1])
    squares = places[:, i] * places[:, j]
    return np.hstack([np.ones((len(places), 1)), places, squares, places**3])


def limit_for(case: Case, parts: Population, bad: float) -> Constraint:
    """The limit that about this share of parts misses."""
    bound = np.quantile(parts.values, bad if case.sense == ">=" else 1 - bad)
    return Constraint(case.response, case.sense, float(bound))


def true_share(
    case: Case, of: Device, spread: Scatter, parts: Population, limit: Constraint
) -> float:
    """The share of good parts; those that are close to the limit are calculated."""
    slacks = np.asarray(limit.slack(parts.values))
    close = np.abs(slacks) < parts.error
    slacks[close] = limit.slack(values(of, spread, case.response, parts.places[close]))
    return float(np.mean(slacks >= 0))


def counted(case: Case, number: int, of: Device, spread: Scatter, bad: float) -> Counted:
    """One design's estimate and truth."""
    parts = population(case, of, spread, number)
    limit = limit_for(case, parts, bad)
    truth = true_share(case, of, spread, parts, limit)
    found = tolerances(
        of, of.process, [limit], design=spread.design, setting=spread.setting, parts=PARTS,
        seed=number, gradients=False,
    )  # fmt: skip
    error = float(np.sqrt(truth * (1 - truth) / TRUTH))
    return Counted(found.share, found.low, found.high, found.method, truth, error)


def saved(case: Case, bad: float = 1e-3) -> tuple[float, float]:
    """Counted parts that one part of an estimate is worth, at this share of bad parts; and that share."""
    of, spread, _ = next(designs(case, 1, seed=7))
    limit = limit_for(case, population(case, of, spread, 0), bad)
    lost = [
        1 - tolerances(
            of, of.process, [limit], design=spread.design, setting=spread.setting, parts=PARTS,
            seed=seed, gradients=False,
        ).share
        for seed in range(SEEDS)
    ]  # fmt: skip
    share = float(np.mean(lost))
    return share * (1 - share) / PARTS / float(np.var(lost, ddof=1)), share


def row(case: Case, designs_of: int = DESIGNS) -> tuple[list[str], int, int]:
    """A line of the table, how many intervals held the truth, and of how many."""
    found = []
    for i, one in enumerate(designs(case, designs_of)):
        found.append(counted(case, i, *one))
        print(f"{case.device} {i}: {found[-1]}, held: {found[-1].held}", flush=True)
    held = sum(one.held for one in found)
    rare = sum(one.method != "counting" for one in found)
    truths = [100 * one.truth for one in found]
    times, bad = saved(case) if designs_of == DESIGNS else (float("nan"), float("nan"))
    yields = f"{min(truths):.4g} to {max(truths):.4g} %"
    worth = f"{times:.0f} (at {100 * bad:.2g} % bad)"
    return [case.device, f"{held} of {len(found)}", yields, f"{rare}", worth], held, len(found)


HEADS = [
    "device",
    "held",
    "yields",
    "by importance",
    "counted parts one is worth",
]


def run() -> list[str]:
    """The table, and the sum of all devices."""
    lines, held, count = zip(*(row(case) for case in CASES), strict=True)
    return [*table(HEADS, list(lines)), "", f"{sum(held)} of {sum(count)} intervals hold the truth"]


if __name__ == "__main__":
    from diffmicro import configure

    configure(double=True)
    (asked,) = (case for case in CASES if case.device == sys.argv[1])
    print(row(asked, int(sys.argv[2])))

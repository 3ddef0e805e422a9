"""Yields of devices: how often their intervals hold the truth, and what rare bad parts cost.

Twenty designs of each of three devices, drawn within 10 % of the published one, deviate by the device's process.
The limit of each is set so that between 0.1 and 30 % of its parts are bad. The truth is a count of parts that
the estimate has not seen; its own error widens the interval that is asked. The tumbler's parts cost a
millisecond each, so its truth is counted from 10,000 of them, that of the others from 100,000. The gripper is that
of its linear model.

At one bad part in a thousand, the variance of estimates over seeds is compared with that of a count.
"""

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
CHUNK = 2000


class Case(NamedTuple):
    """A device, which response has a limit, and what is drawn. truth: parts that are counted."""

    device: str
    response: str
    sense: Any
    drawn: tuple[str, ...]
    truth: int
    setting: Mapping[str, Any] = {}


CASES = (
    Case("tribometer", "sliding_velocity", ">=", ("probe_mass", "normal_force", "friction"), 10**5),
    Case("gripper", "max_stress", "<=", ("section_width", "section_height", "young"), 10**5,
         dict(force=50e-6, model="linear")),
    Case("tumbler", "speed", ">=", ("length", "magnetization", "field"), 10**4),
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
    chunks = [places[i : i + CHUNK] for i in range(0, len(places), CHUNK)]
    found = [_values(of, response)(*spread.parts(chunk)) for chunk in chunks]
    return np.concatenate([np.asarray(chunk) for chunk in found])


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


def limit_for(case: Case, of: Device, spread: Scatter, bad: float, seed: int) -> Constraint:
    """The limit that about this share of parts misses."""
    chance = np.random.default_rng((seed, 1))
    found = values(
        of, spread, case.response, chance.standard_normal((case.truth // 5, len(spread.causes)))
    )
    bound = np.nanquantile(found, bad if case.sense == ">=" else 1 - bad)
    return Constraint(case.response, case.sense, float(bound))


def counted(case: Case, number: int, of: Device, spread: Scatter, bad: float) -> Counted:
    """One design's estimate and truth."""
    limit = limit_for(case, of, spread, bad, number)
    chance = np.random.default_rng((number, 2))
    places = chance.standard_normal((case.truth, len(spread.causes)))
    good = np.asarray(limit.slack(values(of, spread, case.response, places))) >= 0
    truth = float(np.mean(good))
    found = tolerances(
        of, of.process, [limit], design=spread.design, setting=spread.setting, parts=PARTS,
        seed=number, gradients=False,
    )  # fmt: skip
    error = float(np.sqrt(truth * (1 - truth) / case.truth))
    return Counted(found.share, found.low, found.high, found.method, truth, error)


def saved(case: Case, bad: float = 1e-3) -> tuple[float, float]:
    """Counted parts that one part of an estimate is worth, at this share of bad parts; and that share."""
    of, spread, _ = next(designs(case, 1, seed=7))
    limit = limit_for(case, of, spread, bad, 0)
    lost = [
        1 - tolerances(
            of, of.process, [limit], design=spread.design, setting=spread.setting, parts=PARTS,
            seed=seed, gradients=False,
        ).share
        for seed in range(SEEDS)
    ]  # fmt: skip
    share = float(np.mean(lost))
    return share * (1 - share) / PARTS / float(np.var(lost, ddof=1)), share


def row(case: Case) -> tuple[list[str], int, int]:
    """A line of the table, how many intervals held the truth, and of how many."""
    found = [counted(case, i, *one) for i, one in enumerate(designs(case, DESIGNS))]
    held = sum(one.held for one in found)
    rare = sum(one.method != "counting" for one in found)
    truths = [100 * one.truth for one in found]
    worth = "-"
    if case.truth >= 10**5:
        times, bad = saved(case)
        worth = f"{times:.0f} (at {100 * bad:.2g} % bad)"
    yields = f"{min(truths):.4g} to {max(truths):.4g} %"
    line = [case.device, f"{held} of {len(found)}", yields, f"{rare}", f"{case.truth}", worth]
    return line, held, len(found)


HEADS = [
    "device",
    "held",
    "yields",
    "by importance",
    "parts of the truth",
    "counted parts one is worth",
]


def run() -> list[str]:
    """The table, and the sum of all devices."""
    lines, held, count = zip(*(row(case) for case in CASES), strict=True)
    return [*table(HEADS, list(lines)), "", f"{sum(held)} of {sum(count)} intervals hold the truth"]

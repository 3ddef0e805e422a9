"""Share of good parts with an interval, what the bad ones fail by, and the most probable bad part.

Parts are places in standard-normal space (`scatter`). Where a pilot finds many bad parts, random parts are counted
and the interval is that of Clopper and Pearson. Where bad parts are rare, counting would need thousands for each:
parts are drawn around the bad places nearest to the origin instead and weighted by how probable they are
(importance sampling, Schueller and Stix 1987). The estimate is unbiased wherever these centers lie; they only make
it precise. A share of draws from the plain distribution bounds every weight.

A center is found by the slope of a limit where its gradient is trusted, else by bisection along the rays to
bad parts of an exaggerated scatter, which needs no slope and sees the cliffs that no limit describes. The result
says which.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from diffmicro.tolerance import LEVEL, share_interval

Judge = Callable[[np.ndarray], np.ndarray]
"""Places (N, n) -> what each part fails by; empty where it is good."""

PILOT = 200
"""Parts counted before the way is chosen."""

RARE = 10
"""Bad parts among the pilot's below which they are rare."""

EXAGGERATED = (2.0, 3.0, 4.5)
"""Standard deviations of the scatters in which bad parts are looked for, one after another."""

BISECTIONS = 12
"""Halvings of a ray: its bad end is known to 1/4096 of its length."""

PLAIN = 0.2
"""Share of draws from the plain distribution: no weight is above 1 / PLAIN."""

AROUND, WIDE = 0.15, 2.0
"""Share of draws from a cloud so many times as wide as the plain one: it meets failures in every direction."""

APART = 0.9
"""Cosine between centers above which they stand for one way to fail."""

MOST_CENTERS = 6


class Center(NamedTuple):
    """A bad place near the origin. cause: what it fails by. way: `gradient` or `bisection`."""

    place: np.ndarray
    cause: str
    way: str

    @property
    def distance(self) -> float:
        return float(np.linalg.norm(self.place))


class Yield(NamedTuple):
    """Share of good parts and its interval at 95 %.

    parts: how many were calculated. method: `counting` or `importance sampling`. causes: share of all parts that
    fail by each. nearest: the most probable bad part; None: none was found. note: what was given up, and why.
    sample: parts that decided, as places (parts, causes of deviations), and what each fails by, "" for a good one.
    Of importance sampling they are drawn around failures.
    """

    share: float
    low: float
    high: float
    parts: int
    method: str
    causes: dict[str, float]
    nearest: Center | None
    note: str = ""
    sample: tuple[np.ndarray, np.ndarray] | None = None


def estimate(
    judge: Judge,
    dimension: int,
    *,
    parts: int = 2000,
    seed: int = 0,
    by_gradient: Callable[[], list[Center]] = list,
) -> Yield:
    """The yield from at most `parts` judged parts. by_gradient: centers from slopes, if there are any."""
    chance = np.random.default_rng(seed)
    pilot = chance.standard_normal((min(PILOT, parts), dimension))
    causes = judge(pilot)
    left = parts - len(pilot)
    if np.sum(causes != "") >= RARE or left < 2 * PILOT:
        more = chance.standard_normal((left, dimension))
        every = np.concatenate([pilot, more])
        return counted(every, np.concatenate([causes, judge(more)]) if left else causes)
    centers, used, note = _centers(judge, chance, dimension, left // 2, by_gradient)
    if not centers:
        more = chance.standard_normal((left - used, dimension))
        found = counted(np.concatenate([pilot, more]), np.concatenate([causes, judge(more)]))
        return found._replace(parts=parts, note=note)
    found = _weighted(judge, chance, centers, left - used)
    return found._replace(parts=parts, note=note)


def counted(places: np.ndarray, causes: np.ndarray) -> Yield:
    """The yield of parts drawn at random, by counting."""
    count, bad = len(causes), causes != ""
    hits = int(np.sum(~bad))
    low, high = share_interval(hits, count)
    shares = {c: float(np.mean(causes == c)) for c in _by_share(causes[bad])}
    nearest = _nearest(places[bad], causes[bad])
    sample = (places, causes)
    return Yield(hits / count, low, high, count, "counting", shares, nearest, sample=sample)


class _Mixture(NamedTuple):
    """Where parts are drawn: normal clouds of these means, deviations, and shares of the draws."""

    means: np.ndarray
    wide: np.ndarray
    shares: np.ndarray

    def drawn(self, chance: Generator, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Places, their weights, and the cloud of each. Each cloud has its exact share of the draws, so that the
        difference between clouds is no error."""
        counts = np.floor(self.shares * count).astype(int)
        counts[0] += count - counts.sum()
        cloud = np.repeat(np.arange(len(self.means)), counts)
        places = chance.standard_normal((count, self.means.shape[1]))
        places = self.means[cloud] + self.wide[cloud, None] * places
        scaled = (places[None] - self.means[:, None]) / self.wide[:, None, None]
        each = _log_density(scaled) - places.shape[1] * np.log(self.wide)[:, None]
        density = np.logaddexp.reduce(np.log(counts / count)[:, None] + each, axis=0)
        return places, np.exp(_log_density(places) - density), cloud


def _log_density(places: np.ndarray) -> np.ndarray:
    """Logarithm of the standard-normal density."""
    return -0.5 * (places**2 + np.log(2 * np.pi)).sum(-1)


def _mixture(centers: np.ndarray) -> _Mixture:
    """The plain cloud, a wide one for failures all around, and one around each center."""
    number, dimension = centers.shape
    rest = (1 - PLAIN - AROUND) / number
    return _Mixture(
        np.concatenate([np.zeros((2, dimension)), centers]),
        np.concatenate([[1.0, WIDE], np.ones(number)]),
        np.array([PLAIN, AROUND, *[rest] * number]),
    )


def _weighted(judge: Judge, chance: Generator, centers: list[Center], count: int) -> Yield:
    """The yield by importance sampling: a first round moves the centers to where the probable failures are."""
    at = np.stack([center.place for center in centers])
    first = count // 3
    places, weights, cloud = _mixture(at).drawn(chance, first)
    bad = (causes := judge(places)) != ""
    for k in range(len(at)):
        own = bad & (cloud == k + 2)
        if own.sum() >= RARE:
            at[k] = np.average(places[own], axis=0, weights=weights[own])
    seen = _nearest(places[bad], causes[bad])

    places, weights, cloud = _mixture(at).drawn(chance, count - first)
    bad = (causes := judge(places)) != ""
    terms = weights * bad
    lost = float(np.mean(terms))
    low, high = _interval(terms, _error(terms, cloud))
    shares = {c: float(np.mean(weights * (causes == c))) for c in _by_share(causes[bad])}
    shares = dict(sorted(shares.items(), key=lambda item: -item[1]))
    candidates = [*centers, seen, _nearest(places[bad], causes[bad])]
    nearest = min((c for c in candidates if c), key=lambda center: center.distance)
    ends, sample = (1 - high, 1 - low), (places, causes)
    return Yield(1 - lost, *ends, count, "importance sampling", shares, nearest, sample=sample)


def _error(terms: np.ndarray, cloud: np.ndarray) -> float:
    """Standard error of the mean of terms whose clouds have fixed shares."""
    squares = [
        np.var(own, ddof=1) * len(own) for k in set(cloud) if len(own := terms[cloud == k]) > 1
    ]
    return float(np.sqrt(sum(squares)) / len(terms))


def _interval(terms: np.ndarray, error: float) -> tuple[float, float]:
    """The interval of the mean of the terms: Student's in its logarithm, as the relative error is what is known.
    Few heavy terms count as few."""
    lost = float(np.mean(terms))
    if lost == 0:
        return 0.0, 1.0
    heavy = float(np.sum(terms) ** 2 / np.sum(terms**2))
    half = _special().stdtrit(max(heavy - 1, 1.0), (1 + LEVEL) / 2) * error / lost
    return lost * float(np.exp(-half)), min(lost * float(np.exp(min(half, 700.0))), 1.0)


def _centers(
    judge: Judge,
    chance: Generator,
    dimension: int,
    most: int,
    by_gradient: Callable[[], list[Center]],
) -> tuple[list[Center], int, str]:
    """Bad places near the origin, apart from each other, nearest first; how many parts that took; a remark."""
    found, used = list(by_gradient()), 0
    for wide in EXAGGERATED:
        ask = min(PILOT, (most - used) // 2)
        if ask < 10:
            break
        places = wide * chance.standard_normal((ask, dimension))
        causes = judge(places)
        used += ask
        bad = causes != ""
        if not bad.any():
            continue
        # The nearest bad parts of each cause, so that a frequent way to fail does not hide another.
        rays = _few(places[bad], causes[bad], max((most - used) // BISECTIONS, 1))
        ends, names, asked = _bisected(judge, *rays)
        used += asked
        found += [Center(p, c, "bisection") for p, c in zip(ends, names, strict=True)]
        break
    ways = sorted({center.way for center in found})
    note = (
        f"centers by {' and '.join(ways)}"
        if found
        else (f"no bad part found, {EXAGGERATED[-1]:g} deviations wide")
    )
    return _apart(found), used, note


def _few(places: np.ndarray, causes: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """At most `most` of the places, the nearest of each cause in turn."""
    order = np.argsort(np.linalg.norm(places, axis=1))
    rank: dict[str, int] = {}
    turns = []
    for i in order:
        cause = str(causes[i])
        rank[cause] = rank.get(cause, 0) + 1
        turns.append((rank[cause], i))
    chosen = [i for _, i in sorted(turns)[:most]]
    return places[chosen], causes[chosen]


def _bisected(
    judge: Judge, places: np.ndarray, causes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """The nearest known bad place on the ray to each place, from the good origin."""
    good, bad, names = np.zeros(len(places)), np.ones(len(places)), causes.copy()
    for _ in range(BISECTIONS):
        middle = (good + bad) / 2
        found = judge(middle[:, None] * places)
        fails = found != ""
        bad, good = np.where(fails, middle, bad), np.where(fails, good, middle)
        names = np.where(fails, found, names)
    return bad[:, None] * places, names, BISECTIONS * len(places)


def _apart(centers: list[Center]) -> list[Center]:
    """The nearest center of every direction."""
    kept: list[Center] = []
    for center in sorted(centers, key=lambda c: c.distance):
        way = center.place / max(center.distance, 1e-12)
        if all(way @ k.place / max(k.distance, 1e-12) < APART for k in kept):
            kept.append(center)
    return kept[:MOST_CENTERS]


def _nearest(places: np.ndarray, causes: np.ndarray) -> Center | None:
    if not len(places):
        return None
    i = int(np.argmin(np.linalg.norm(places, axis=1)))
    return Center(places[i], str(causes[i]), "sample")


def _special() -> Any:
    """`scipy.special`, imported when it is first used: its import adds a filter to `warnings`."""
    from scipy import special

    return special


def _by_share(causes: np.ndarray) -> list[str]:
    """The causes, the most frequent first."""
    names, counts = np.unique(causes, return_counts=True)
    return [str(n) for n in names[np.argsort(-counts)]]

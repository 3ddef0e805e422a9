"""Derivatives of boundaries against boundaries located anew, over random robots and drives.

A draw is a WRMMA that settles to a periodic motion. Its boundaries along the frequency ratio are found, and the
derivative along a random direction of relative changes of all parameters is compared with the central
difference, Richardson-extrapolated, of boundaries located anew. No derivative by a parameter takes part in
locating one. `python -m tests.physics.boundary_truth 100` prints the table for 100 folds and half as many of
other kinds."""

import itertools
import sys
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from diffmicro.boundary.find import differentiated, span
from diffmicro.boundary.orbit import Motion, anew, boundary_of, settled, slopes_of, values_on
from diffmicro.certificate import FLOOR
from diffmicro.devices import device
from diffmicro.dynamics.boundaries import Change, walk
from diffmicro.results import NoResult
from tests.physics.gradient_truth import build, random_parameters

STEPS = (4e-4, 2e-4, 1e-4)
"""Relative steps of the differences."""

SURE = 1e-5
"""Largest relative change between two extrapolations of a difference that counts as known."""

RANGE = (0.5, 2.1)


def error(motion: Motion, change: Change, names: tuple[str, ...], way: np.ndarray) -> float:
    """Relative error of the derivative of one boundary along relative changes `way` of all parameters; NaN where a
    neighbor was not located or the differences have not settled."""
    mine, _ = slopes_of(motion, change, names)
    if mine is None:
        return np.nan
    s = motion.course.value(change.at)
    x = values_on(motion.course.line, s, names)
    slopes = []
    for step in STEPS:
        ends = [anew(motion, change, names, x * (1 + sign * step * way)) for sign in (1, -1)]
        if ends[0] is None or ends[1] is None:
            return np.nan
        slopes.append((ends[0] - ends[1]) / (2 * step))
    earlier, truth = (b + (b - a) / 3 for a, b in itertools.pairwise(slopes))
    size = max(abs(truth), FLOOR * abs(s))
    if abs(truth - earlier) > SURE * size:
        return np.nan
    return abs(float(mine @ (x * way)) - truth) / size


class Compared(NamedTuple):
    """One boundary: the error of its derivative, NaN where no neighbor was located, and its verdict."""

    error: float
    verdict: str


def examine(
    wanted: Mapping[str, int], most: int, seed: int = 2012, key: str = "frequency_ratio"
) -> dict[str, list[Compared]]:
    """Boundaries by kind, as many of each as wanted, of `most` draws at most."""
    wrmma = device("wrmma")
    found: dict[str, list[Compared]] = {kind: [] for kind in wanted}
    for i in range(most):
        if all(len(found[kind]) >= number for kind, number in wanted.items()):
            break
        rng = np.random.default_rng((seed, i))
        design, setting = build(random_parameters(rng))
        low, high = span(wrmma, design, setting, key, RANGE)
        names = differentiated(wrmma, design, setting, key, None)
        try:
            motion = settled(wrmma, design, setting, key, low, high, None)
        except NoResult:
            continue
        for change in changes_of(motion):
            if len(found.setdefault(change.kind, [])) >= wanted.get(change.kind, 0):
                continue
            verdict = boundary_of(motion, change, "", names, look=False).certificate.verdict
            way = rng.normal(size=len(names))
            found[change.kind].append(Compared(error(motion, change, names, way), verdict))
    return found


def changes_of(motion: Motion) -> list[Change]:
    """All boundaries on both sides."""
    found = []
    for sign in (1.0, -1.0):
        first = motion.first._replace(
            tangent=sign * motion.first.tangent, side=sign * motion.first.side
        )
        found += list(walk(motion.course, first))
    return found


def table(found: Mapping[str, list[Compared]]) -> str:
    """Numbers and errors by kind, of the certified ones and of all."""
    lines = []
    for kind, boundaries in sorted(found.items()):
        sure = [b.error for b in boundaries if b.verdict == "certified" and np.isfinite(b.error)]
        every = [b.error for b in boundaries if np.isfinite(b.error)]
        line = f"{kind}: {len(boundaries)} found, {len(every)} compared"
        for label, errors in (("certified", sure), ("all", every)):
            if errors:
                line += f"; {label} {len(errors)}: median {np.median(errors):.1e}, largest {max(errors):.1e}"
        lines.append(line)
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    from diffmicro import configure

    configure(double=True)
    folds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    wanted = dict(fold=folds, grazing=folds // 2, corner=folds // 2, stick_onset=folds // 2)
    print(table(examine({**wanted, "period_doubling": folds // 5}, most=20 * folds)))


if __name__ == "__main__":
    main()

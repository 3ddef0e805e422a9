"""Certified gradients against the independent oracle, over random robots and drives.

A draw is a design and setting; the library gives gradient and certificate, the oracle (SciPy's DOP853 with
events, its own Newton, its own differences) the truth along one random direction of relative changes.
`python -m tests.physics.gradient_truth 200` prints the table for 200 draws.
"""

import math
import sys
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import numpy as np

from diffmicro.certificate import FLOOR, value_and_gradient, verdict_word
from diffmicro.devices import wrmma
from diffmicro.parameters import as_arrays, describe
from diffmicro.results import word
from tests.oracles import wrmma as oracle

DESIGN = tuple(n for n in wrmma.Design.__dataclass_fields__)
# The oracle moves a rise that is zero to both sides; it has a test of its own.
SETTING = tuple(
    n
    for n, p in describe(wrmma.Setting).items()
    if p.differentiable and p.default is not None and not p.needs and n != "field_rise"
)
STABLE, AWAY = 0.95, 0.01
"""Orbits with a smaller multiplier, and this share of a period away from mode changes, are well posed."""


@dataclass
class Draw:
    """One random case and what came of it. `error` is NaN where nothing was compared. `followed`: whether the
    oracle could follow the motion."""

    clamped: bool
    impacting: bool
    status: str
    verdict: str
    well_posed: bool
    moving: bool
    error: float
    followed: bool = True


def random_parameters(rng: np.random.Generator) -> dict[str, Any]:
    """The ranges of the issue: half of the draws clamped at any phase."""
    drawn = dict(
        mass_ratio=rng.uniform(0.5, 2.5),
        field=rng.uniform(2e-3, 6e-3),
        load_factor=rng.uniform(5, 60),
        frequency_ratio=rng.uniform(0.5, 2.1),
    )
    if rng.random() < 0.5:
        drawn |= dict(clamp_force=1.0, clamp_phase=rng.uniform(-math.pi, math.pi))
    return drawn


def build(parameters: dict[str, Any]) -> tuple[wrmma.Design, wrmma.Setting]:
    """Design and Setting with these values, as arrays."""
    design = {k: v for k, v in parameters.items() if k in DESIGN}
    setting = {k: v for k, v in parameters.items() if k not in DESIGN}
    return as_arrays((wrmma.Design(**design), wrmma.Setting(**setting)))


certified_velocity = eqx.filter_jit(value_and_gradient(wrmma.respond, DESIGN + SETTING, window=0))
"""One compiled function for all draws: the gradient by every field."""


def examine(parameters: dict[str, float], rng: np.random.Generator) -> Draw:
    """The library's gradient of one draw, judged by the oracle from the library's orbit."""
    value, gradient, certificate, response = certified_velocity(*build(parameters))
    status, verdict = word(response.result), verdict_word(certificate)
    clamped = "clamp_force" in parameters
    start = [
        float(x) for x in (response.state.gap, response.state.body_speed, response.state.gap_rate)
    ]
    if not np.all(np.isfinite(start)):
        return Draw(clamped, False, status, verdict, False, False, math.nan)
    # The library's clamp is the finite force that the parameters say.
    try:
        known = oracle.orbit(parameters, start, clamp="force")
    except RuntimeError:
        return Draw(clamped, False, status, verdict, False, False, math.nan, followed=False)
    impacting = any(e.kind == "impact" for e in known.period.events)
    well_posed = known.converged and known.multiplier < STABLE and known.period.margin > AWAY
    moving = known.period.stick_share < 1 - 1e-9
    error = math.nan
    # The oracle knows period 1 alone.
    if verdict == "certified" and int(response.period_multiple) == 1:
        names = [n for n in (*DESIGN, *SETTING) if n in parameters or n in oracle.PUBLISHED]
        direction = {n: float(rng.normal()) for n in names}
        truth = oracle.derivative(parameters, start, direction, clamp="force")
        if truth.converged and truth.error < 1e-5 * max(abs(truth.value), FLOOR * abs(value)):
            full = {**oracle.PUBLISHED, **parameters}
            mine = sum(float(gradient[n]) * full[n] * d for n, d in direction.items())
            scale = max(abs(truth.value), FLOOR * abs(float(value)))
            error = abs(mine - truth.value) / scale
    return Draw(clamped, impacting, status, verdict, well_posed, moving, error)


def examine_many(count: int, seed: int) -> list[Draw]:
    """`count` draws; each has its own random numbers, so a longer run contains a shorter one."""
    draws = []
    for i in range(count):
        rng = np.random.default_rng((seed, i))
        draws.append(examine(random_parameters(rng), rng))
    return draws


def certified_share(draws: list[Draw], kind: str = "all") -> tuple[int, int]:
    """How many of the well-posed moving draws of a kind are certified, and how many there are."""
    chosen = [d for d in draws if d.well_posed and d.moving]
    if kind != "all":
        chosen = [d for d in chosen if getattr(d, kind)]
    return sum(d.verdict == "certified" for d in chosen), len(chosen)


def table(draws: list[Draw]) -> str:
    """Shares and errors."""
    errors = np.array([d.error for d in draws if math.isfinite(d.error)])
    certified = sum(d.verdict == "certified" for d in draws)
    lines = [
        f"{len(draws)} draws; certified: {certified}, of them compared with the oracle: {errors.size}"
    ]
    if errors.size:
        lines.append(
            f"error: median {np.median(errors):.1e}, 99 % {np.quantile(errors, 0.99):.1e}, "
            f"largest {errors.max():.1e}; above 1e-4: {np.sum(errors > 1e-4)}"
        )
    for kind in ("all", "impacting", "clamped"):
        good, of = certified_share(draws, kind)
        lines.append(f"certified of well-posed, {kind}: {good} of {of}")
    lines.append(f"not followed by the oracle: {sum(not d.followed for d in draws)}")
    for status in sorted({d.status for d in draws}):
        lines.append(f"status {status}: {sum(d.status == status for d in draws)}")
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    jax.config.update("jax_enable_x64", True)
    print(table(examine_many(int(sys.argv[1]) if len(sys.argv) > 1 else 30, seed=2012)))


if __name__ == "__main__":
    main()

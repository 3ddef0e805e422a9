"""Periodic motions of driven hybrid systems: found by guarded Newton shooting, judged, differentiated.

A periodic motion of period n is a fixed point z = P^n(z, q) of the map that carries the state over n drive
periods; displacement is not part of z. Four things make an orbit acceptable:

1. Newton's method ended (residual below `RESIDUAL`), started where the simulation had come to;
2. it is stable, its largest multiplier |lambda| below `STABLE`;
3. the simulation goes there: carried on for `verify` more periods it comes closer by a tenth at least,
   from a distance below `CLOSE_BY`. Residual and multipliers alone accept coexisting orbits that the motion
   from this start never visits;
4. so do its twins, simulations from starts a thousandth of a unit beside: where they part, the start is on
   the edge of basins or the transient is chaotic, and what a robot would do is not known.

A motion that makes no displacement at all while the rest of it rings down is accepted however slow that is.

What is not accepted has no orbit to differentiate, and its derivative is NaN. The derivative of an accepted one is
that of a fixed point, see `fixed_point`.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro import _loops as loops
from diffmicro.dynamics.fixed_point import Orbit, PeriodMap, differentiable
from diffmicro.dynamics.multipliers import spectral_radius
from diffmicro.dynamics.shooting import Plan, Shot, Visits, aim, newton, visit_and_newton

RESIDUAL = 1e-7
"""|P z - z| [natural units] at which one last, linear Newton step ends the search: its error is the
square of this. Single precision stops at 40 eps."""

ROUGH = 1e-4
"""Residual [natural units] down to which the search does with passes that know no parameters: Newton's next
step lands near its square."""

FULL_PASSES = 2
"""Newton iterations kept for passes that know the parameters too."""

STABLE = 0.99
"""Largest multiplier accepted: decay slower than 1 % a period counts as none."""

COARSE_WARMUP = 100.0
"""Tolerance of the warm-up over that of the search: transients decay, so its errors do not matter."""

CLOSE_BY = 0.5
"""Distance [natural units] from which the simulation has to be seen to approach the orbit."""

CLOSER = 0.9
SETTLED = 1e-6
"""Approach over the verifying periods: a tenth closer at least, or this close already."""

RETURNS = 1e-2
"""|P^n z - z| below which period n is looked for."""

TWIN_OFFSET = 1e-3
"""Distance [natural units] between the starts of twins: no robot starts from a state better known."""

MAX_MULTIPLE = 8
"""Longest period looked for, in drive periods."""


class Search(NamedTuple):
    """How orbits are looked for.

    warmup: periods simulated from the start before Newton's method [-]; 0: Newton's method starts at `start`.
    verify: periods simulated on to see that the motion approaches the orbit [-]; 0: not checked.
    newton: most Newton iterations [-].
    multiples: whether longer periods are looked for when period 1 is not accepted.
    twins: how many motions from slightly different starts have to reach the same orbit [-].
    compact: reuse the compiled Newton pass for simulation: slower, but it compiles once.
    """

    warmup: int = 40
    verify: int = 20
    newton: int = 15
    multiples: bool = True
    twins: int = 3
    compact: bool = False


SETTLE = Search()
"""The full search and judgment, for a motion that starts from anywhere."""

FOLLOW = Search(warmup=0, verify=0, newton=8, multiples=False, twins=0)
"""Newton's method alone, from a state known to be close: for a neighbor of an accepted orbit."""


def find_orbit(
    period_map: PeriodMap,
    parameters: Array,
    start: Array,
    search: Search,
    tolerance: Array | float,
    periods: Array | int = 1,
    near: Array | bool = False,
) -> Orbit:
    """The periodic motion that the simulation from `start` settles to, see the module docstring.

    `near`: `start` is close to the orbit, which is looked for as by `FOLLOW`. It may be traced, so that one
    compiled search serves both ways.
    """
    tolerance = jnp.asarray(tolerance, parameters.dtype)
    frozen = jax.lax.stop_gradient((parameters, start, tolerance))
    if near is True:
        search = FOLLOW
    found = _search(period_map, search, *frozen, jnp.asarray(periods, jnp.int32), jnp.asarray(near))
    return differentiable(period_map, parameters, found, tolerance)


def _search(
    period_map: PeriodMap,
    search: Search,
    q: Array,
    start: Array,
    tolerance: Array,
    periods: Array,
    near: Array,
) -> Orbit:
    rough = partial(_rough_pass, period_map, q, tolerance)
    full_pass = partial(_full_pass, period_map, q)
    full = partial(full_pass, tolerance)
    until = _small(q)

    def attempt(carry: tuple[Orbit, Array]) -> tuple[Orbit, Array]:
        """Simulate, shoot, judge; guess the period of the next attempt from the returns."""
        orbit, tried = carry
        n, starts, known = orbit.periods, orbit.arrived, (orbit.observed, orbit.matrix)
        if not search.warmup:
            shot = newton(full, n, aim(starts[0], known), search.newton, until)
            return _concluded(shot, until, n, starts), tried + 1
        phases = [search.warmup, search.verify] if search.verify else [search.warmup]
        last = len(phases) - 1
        returns = jnp.ones(MAX_MULTIPLE if search.multiples else 0, jnp.int32)
        counts = jnp.concatenate([jnp.array(phases, jnp.int32) * n, returns])
        counts = jnp.where(near, 0, counts)
        tolerances = jnp.full(counts.shape, tolerance).at[0].multiply(COARSE_WARMUP)
        if search.compact:
            plan = Plan(jnp.append(counts, n), jnp.append(tolerances, tolerance))
            visits, shot = visit_and_newton(
                full_pass, starts, plan, last, near, aim(starts[0], known), search.newton, until
            )
        else:
            visits = _visits(partial(period_map, q, look=False), starts, Plan(counts, tolerances))
            roughly = jnp.where(near, 0, search.newton - FULL_PASSES)
            shot = newton(rough, n, aim(visits.states[last, 0]), roughly, ROUGH)
            shot = shot._replace(residual=jnp.full_like(shot.residual, jnp.inf), known=known)
            shot = newton(full, n, shot, search.newton, until)
        found, (visited, displaced) = _concluded(shot, until, n, starts), visits
        # Twins may be in another phase of a longer period, so the closest of the last states counts.
        distance = jnp.max(jnp.abs(visited - found.state[None, None, :]), axis=-1)
        before, after = jnp.max(distance[0]), jnp.max(jnp.min(distance[last:], axis=0))
        approached = (after < jnp.maximum(CLOSER * before, SETTLED)) & (before < CLOSE_BY)
        approached = approached | (not search.verify)
        # What rests has one velocity, however slowly the rest of it rings down.
        rests = jnp.all(displaced[last:] == 0) & (found.residual < until)
        rests = rests & (found.multiplier < 1) & (after <= before)
        accepted = jnp.where(near, found.accepted, (found.accepted & approached) | rests)
        found = found._replace(
            accepted=accepted,
            arrived=visited[-1],
            periods=jnp.where(accepted, n, _returning_after(visited[last:, 0])),
        )
        return found, tried + 1

    tries = jnp.where(near, 1, 2) if search.multiples else 1
    return loops.while_loop(
        lambda carry: (carry[1] < tries) & ~carry[0].accepted,
        attempt,
        (_unknown(period_map, q, _twins(start, search.twins), periods), jnp.zeros((), jnp.int32)),
    )[0]


def _rough_pass(
    period_map: PeriodMap, q: Array, tolerance: Array, z: Array, n: Array
) -> tuple[Array, Array, None]:
    """State after n periods and its derivative by the state, nothing else."""

    def after(z: Array) -> tuple[Array, Array]:
        state = period_map(q, z, n, tolerance, look=False)[0]
        return state, state

    by_state, state = jax.jacfwd(after, has_aux=True)(z)
    return state, by_state, None


def _full_pass(
    period_map: PeriodMap, q: Array, tolerance: Array, z: Array, n: Array
) -> tuple[Array, Array, tuple[Array, Array]]:
    """State after n periods, its derivative by the state, what was observed, and the derivative of all by
    state and parameters."""

    def both(zq: Array) -> tuple[Array, tuple[Array, Array]]:
        after, observed = period_map(zq[z.shape[0] :], zq[: z.shape[0]], n, tolerance)
        return jnp.concatenate([after, observed]), (after, observed)

    matrix, (after, observed) = jax.jacfwd(both, has_aux=True)(jnp.concatenate([z, q]))
    return after, matrix[: z.shape[0], : z.shape[0]], (observed, matrix)


def _twins(start: Array, count: int) -> Array:
    """The start and `count` starts beside it: off to one side, the other, twice as far..."""
    offsets = [0] + [(-1) ** i * (1 + i // 2) for i in range(count)]
    return start[None, :] + TWIN_OFFSET * jnp.array(offsets, start.dtype)[:, None]


def _unknown(period_map: PeriodMap, q: Array, starts: Array, periods: Array) -> Orbit:
    """An orbit that has not been found."""
    start = starts[0]
    _, observed = jax.eval_shape(period_map, q, start, periods, q[0])
    nothing = jnp.zeros((), start.dtype)
    return Orbit(
        state=jnp.zeros_like(start),
        observed=jnp.zeros(observed.shape, observed.dtype),
        residual=nothing + jnp.inf,
        multiplier=nothing,
        periods=periods,
        accepted=jnp.zeros((), bool),
        arrived=starts,
        matrix=jnp.zeros((start.size + observed.size, start.size + q.size), q.dtype),
    )


def _visits(simulated: Callable, starts: Array, plan: Plan) -> Visits:
    """Simulate all starts side by side."""

    def on(z: Array, phase: Plan) -> tuple[Array, Visits]:
        count, tolerance = phase

        def one(at: Array) -> tuple[Array, Array]:
            after, observed = simulated(at, count, tolerance)
            return after, observed[0]

        # Without a batch axis branches stay branches.
        after, displacement = jax.lax.map(one, z) if z.shape[0] == 1 else jax.vmap(one)(z)
        return after, Visits(after, displacement)

    return loops.scan(on, starts, plan)[1]


def _concluded(shot: Shot, until: float, n: Array, arrived: Array) -> Orbit:
    """The orbit that Newton's method ended with, accepted by residual, multiplier and displacement alone."""
    observed, matrix = shot.known
    size = shot.point.size
    # The last Newton step is taken on the linear map: its error is the residual squared.
    observed = observed + matrix[size:, :size] @ (shot.onward - shot.point)
    multiplier = spectral_radius(matrix[:size, :size])
    # What rests has one velocity, however slowly the rest of it rings down.
    rests = (observed[0] == 0) & (multiplier < 1)
    good = (shot.residual < until) & (rests | ~unstable(shot.residual, multiplier))
    return Orbit(shot.onward, observed, shot.residual, multiplier, n, good, arrived, matrix)


def unstable(residual: Array, multiplier: Array) -> Array:
    """Whether a periodic motion was found that simulations leave."""
    return (residual < _small(residual)) & ~(multiplier < STABLE)


def _returning_after(visited: Array) -> Array:
    """The smallest n with |z_n - z_0| < RETURNS along simulated states; 1 where none returns."""
    if visited.shape[0] == 1:
        return jnp.ones((), jnp.int32)
    returns = jnp.max(jnp.abs(visited[1:] - visited[:1]), axis=-1) < RETURNS
    return jnp.where(jnp.any(returns), jnp.argmax(returns) + 1, 1).astype(jnp.int32)


def _small(like: Array) -> float:
    return max(RESIDUAL, 40 * float(jnp.finfo(like.dtype).eps))

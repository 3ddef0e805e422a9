"""The steady motion of a declared robot: found, judged, observed in SI units, and its motion over time.

Times are counted in periods and coordinates in their scales, so no tolerance depends on units. Lanes whose numbers
are not allowed run on the defaults and are blanked. Where a motion does not settle, the first response of `drift`
is a mean over a window, with its spread, and has no derivative; a robot without one has no result there.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree
from jaxtyping import PyTree

from diffmicro._types import Real
from diffmicro.autodiff.rules import substitute
from diffmicro.dynamics.fixed_point import Orbit, PeriodMap
from diffmicro.dynamics.hybrid import run, trace
from diffmicro.dynamics.orbits import Search, find_orbit
from diffmicro.dynamics.starts import approached
from diffmicro.dynamics.system import Numerics
from diffmicro.dynamics.window import WindowMean, window_mean
from diffmicro.hybrid.motion import Motion
from diffmicro.hybrid.observers import Drift, Observer, Watched
from diffmicro.parameters import Fields, get
from diffmicro.results import RESULTS, code, from_code
from diffmicro.rules import Rule, legal, spare, where_legal

STEPS, TOLERANCE = 12, 1e-9
"""Fewest steps per period, and tolerance of a step [natural units], where nothing else is given."""

ROOM_FOR_EVENTS = 120
"""Advances per period beside the steps in `simulate`: ends of segments, and events to the end of a chatter."""


class Robot(NamedTuple):
    """A motion with what is observed of it: all that is known of a device before its numbers."""

    motion: Motion
    names: tuple[str, ...]
    observers: tuple[Observer, ...]
    rules: tuple[Rule, ...]
    Response: type

    @property
    def drift(self) -> int | None:
        """Which observer is the first drift."""
        found = [i for i, o in enumerate(self.observers) if isinstance(o, Drift)]
        return found[0] if found else None


class Observed(NamedTuple):
    """Auxiliary output of one pass, in natural units and over all its periods.

    Where nothing drifts, `displacement` is the time that passed: not zero, so that a motion that rings down is not
    taken for one at rest. It is no response.
    """

    displacement: Array
    stick: Array
    margin: Array
    seen: Array


def period_map(
    robot: Robot, unravel: Callable[[Array], tuple[Fields, Fields]], steps: int
) -> PeriodMap:
    """The map of states over periods, as `orbits` wants it. A motion that is cut short is no motion."""
    motion = robot.motion

    def mapped(parameters, state, periods, tolerance, look=True):
        system = motion.system(*unravel(parameters))
        count = len(motion.State._fields) - motion.repeating
        start = motion.State(*state, *(jnp.zeros_like(state[0]) for _ in range(count)))
        numerics = Numerics(steps=steps, tolerance=tolerance)
        watched = Watched(system, motion, robot.observers)
        ended = run(watched, start, periods, numerics, observe=look)
        whole = jnp.where(ended.periods >= periods, 1.0, jnp.nan)
        first = jnp.asarray(periods, state.dtype)
        if robot.drift is not None:
            first = getattr(ended.state, robot.observers[robot.drift].name)
        seen = []
        if look:
            seen = [ended.record.stick, ended.record.margin, *ended.record.seen]
        repeated = jnp.stack(ended.state[: motion.repeating])
        return repeated * whole, jnp.stack([first * whole, *seen])

    return mapped


def lumped(
    design: Fields, setting: Fields
) -> tuple[Array, Callable[[Array], tuple[Fields, Fields]]]:
    """All numbers of design and setting as one vector, and the way back."""
    return ravel_pytree((design, setting))


def lump(design: Fields, setting: Fields) -> Array:
    """All numbers of design and setting as one vector."""
    return lumped(design, setting)[0]


def begin(robot: Robot, design: Fields, setting: Fields) -> dict[str, Real]:
    """The state [SI] from which the robot is left to itself: at rest, or where `setting.start` has led to."""
    design, setting = jax.lax.stop_gradient((design, setting))
    names, rest = robot.motion.names, robot.motion.start(design, setting)
    way = get(design, setting, "start") if robot.motion.starts else "rest"
    if way == "rest":
        return rest
    approach = robot.motion.starts[way]
    parameters, unravel = lumped(design, setting)
    tolerance = jnp.asarray(TOLERANCE, parameters.dtype)

    def on_the_way(progress: Array) -> tuple[Array, Array]:
        way = approach.at(design, setting, progress)
        return lumped(*way)[0], _natural(robot, *way)

    state = jnp.stack([jnp.asarray(rest[name], parameters.dtype) for name in names])
    mapped = period_map(robot, unravel, STEPS)
    state = approached(mapped, on_the_way, state, get(design, setting, "start_periods"), tolerance)
    return dict(zip(names, state, strict=True))


def _natural(robot: Robot, design: Fields, setting: Fields) -> Array:
    """Natural units of the states that a periodic motion repeats [SI]."""
    units = robot.motion.units(design, setting)
    return jnp.stack([jnp.asarray(units[name], float) for name in robot.motion.names])


@eqx.filter_jit
def settle(
    robot: Robot,
    design: Fields,
    setting: Fields,
    start: Mapping[str, Real] | None,
    tolerance: Array,
    multiple: Array,
    near: Array | bool,
    *,
    steps: int,
    search: Search,
    window: int,
) -> PyTree:
    """The response; for the arguments see `device`."""
    allowed = legal(robot.rules, design, setting)
    tame = spare(design), spare(setting)
    design, setting = where_legal(allowed, (design, setting), tame)
    parameters, unravel = lumped(design, setting)
    tolerance = tolerance.astype(parameters.dtype)
    natural = _natural(robot, design, setting).astype(parameters.dtype)
    start = begin(robot, design, setting) if start is None else start
    origin = jnp.stack([jnp.asarray(start[n], parameters.dtype) for n in robot.motion.names])
    mapped = period_map(robot, unravel, steps)
    orbit = find_orbit(mapped, parameters, origin / natural, search, tolerance, multiple, near)
    mean = orbit.observed[0] / orbit.periods
    known, spread = jnp.where(orbit.accepted, mean, jnp.nan), jnp.zeros_like(mean)
    state = orbit.state
    if window and near is not True and robot.drift is not None:
        erratic = ~(orbit.accepted | near)
        average = _averaged(mapped, parameters, tolerance, orbit, window, erratic)
        known = jnp.where(erratic, average.mean, known)
        spread = jnp.where(erratic, average.spread, spread)
        state = jnp.where(erratic, jax.lax.stop_gradient(average.state), state)
    # Where the orbit is refused its derivative, NaN, goes with the number that stands in its place.
    displacement = substitute(jax.lax.stop_gradient(known), mean)
    numbers = _in_si(robot, orbit, displacement, spread, (design, setting))
    shown = jnp.where(allowed, 1.0, jnp.nan)
    outcome = jnp.where(allowed, _outcome(orbit, known), code(RESULTS.out_of_range))
    settled = orbit.accepted & allowed
    return robot.Response(
        **{key: value * shown for key, value in numbers.items()},
        period_multiple=jnp.where(settled, orbit.periods, 0),
        multiplier=orbit.multiplier * shown,
        result=from_code(outcome),
        residual=orbit.residual,
        margin=_observed(orbit).margin * jnp.where(settled, 1.0, jnp.nan),
        state=dict(zip(robot.motion.names, state * natural, strict=True)),
    )


def _averaged(
    mapped, parameters, tolerance, orbit: Orbit, window: int, needed: Array
) -> WindowMean:
    frozen = jax.lax.stop_gradient(parameters)

    def go_on(z: Array, n: Array) -> tuple[Array, Array]:
        z, seen = mapped(frozen, z, n, tolerance, look=False)
        return z, seen[0]

    return window_mean(go_on, orbit.arrived[0], window, needed)


def _observed(orbit: Orbit) -> Observed:
    displacement, stick, margin = orbit.observed[:3]
    return Observed(displacement, stick, margin, orbit.observed[3:])


def _in_si(
    robot: Robot, orbit: Orbit, displacement: Array, spread: Array, given: tuple[Fields, Fields]
) -> dict[str, Array]:
    """The responses; those of a motion that did not settle are NaN, except the first drift."""
    units, period = robot.motion.units(*given), robot.motion.period(*given)
    shown = jnp.where(orbit.accepted, 1.0, jnp.nan)
    numbers = {}
    for i, (key, o) in enumerate(zip(robot.names, robot.observers, strict=True)):
        seen = _observed(orbit).seen[i] / (orbit.periods if o.per_period else 1)
        seen = jnp.minimum(seen, o.high)  # a sum of shares may exceed the whole by a rounding
        size = o.size(units, period)
        numbers[key] = displacement * size if i == robot.drift else seen * size * shown
        if i == robot.drift:
            numbers[f"{key}_spread"] = spread * size
    return numbers


def _outcome(orbit: Orbit, known: Array) -> Array:
    """Result code of a motion: periodic and of what kind, erratic where a mean is known, or no result."""
    rests = _observed(orbit).stick >= orbit.periods * (1 - 1e-6)
    periodic = jnp.where(rests, code(RESULTS.stalled), code(RESULTS.successful))
    other = jnp.where(jnp.isfinite(known), code(RESULTS.erratic), code(RESULTS.no_orbit))
    return jnp.where(orbit.accepted, periodic, other)


@eqx.filter_jit
def traced(
    motion: Motion,
    design: Fields,
    setting: Fields,
    start: Mapping[str, Real] | None,
    *,
    periods: int,
    steps: int,
) -> tuple:
    """The motion over time, in SI units."""
    units, period = motion.units(design, setting), motion.period(design, setting)
    start = motion.start(design, setting) if start is None else start
    at = motion.state_of(start, units)
    system = motion.system(design, setting)
    advances = periods * (steps + ROOM_FOR_EVENTS)
    _, path = trace(system, at, periods, Numerics(steps=steps), advances=advances)
    states = {name: getattr(path.state, name) * units[name] for name in units}
    modes = path.mode._asdict()
    known = {"time": "s"} | motion.units_of
    Trajectory = NamedTuple(
        "Trajectory",
        [(n, Annotated[Array, u]) for n, u in known.items()] + [(n, Array) for n in modes],
    )
    return Trajectory(time=(path.periods + path.time) * period, **states, **modes)

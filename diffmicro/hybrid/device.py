"""A periodic device of a declared motion: `device`.

It gathers what a `Device` needs: `respond` looks for the periodic motion that the robot settles to, judges it,
observes it and differentiates it (`steady`); the class of its responses follows from the observers.
"""

from collections.abc import Callable, Iterator, Mapping
from keyword import iskeyword
from types import new_class

import equinox as eqx
import jax.numpy as jnp
from jax import Array
from jaxtyping import PyTree

from diffmicro._device import Device, Method
from diffmicro._types import Real
from diffmicro.dynamics.branches import AnyBranch
from diffmicro.dynamics.orbits import SETTLE, Search
from diffmicro.dynamics.periodic import Periodic
from diffmicro.hybrid.check import checked, complete
from diffmicro.hybrid.drive import segments_rule
from diffmicro.hybrid.motion import Motion, MotionError, unwritten
from diffmicro.hybrid.observers import Drift, Observer
from diffmicro.hybrid.steady import STEPS, TOLERANCE, Robot, begin, settle, traced
from diffmicro.parameters import Fields, Value, as_arrays, describe, output, whole_number
from diffmicro.reasons import reason_code
from diffmicro.recheck import ByWarmStart
from diffmicro.results import RESULTS, code, raise_failure
from diffmicro.rules import Rule, check_point


def device(
    name: str,
    title: str,
    Design: type,
    Setting: type,
    motion: type[Motion] | Motion,
    *,
    responses: Mapping[str, Observer],
    source: str,
    rules: tuple[Rule, ...] = (),
    **given: Value,
) -> Device:
    """A `Device` that settles to periodic motions of `motion` and reports `responses`.

    `rules`: what numbers of Design and Setting have to keep together. `given`: other fields of `Device`, such
    as `published_setting`, `cautions` or `animation`.
    """
    motion = motion() if isinstance(motion, type) else motion
    names, observers = tuple(responses), tuple(responses.values())
    complete(motion)
    rules = (*rules, *map(segments_rule, motion.segmented))
    _check_starts(name, motion, Setting)
    robot = Robot(motion, names, observers, rules, _response_class(name, motion, responses))
    known = (name, robot, Design, Setting)
    usual: dict[str, Value] = dict(
        methods=(Method("event", steps=STEPS),),
        recheck=ByWarmStart(_nearby, _afresh(robot)),
        objection=_objection(robot),
        quick=dict(search=Search(multiples=False, twins=0), window=0),
        lone=dict(search=Search(compact=True), window=0),
        carries=True,
        walls=motion.walls,
        branches=_branches(robot),
        orbits=_orbits(robot),
    )
    return Device(
        name=name,
        title=title,
        source=source,
        Design=Design,
        Setting=Setting,
        Response=robot.Response,
        respond=_respond(*known),
        simulate=_simulate(*known),
        rules=rules,
        **(usual | given),
    )


def _respond(name: str, robot: Robot, Design: type, Setting: type) -> Callable:
    def respond(
        design: Fields,
        setting: Fields,
        *,
        steps: int | None = None,
        start: Mapping[str, Real] | None = None,
        multiple: Array | int = 1,
        near: Array | bool = False,
        search: Search = SETTLE,
        window: int = 200,
        tolerance: Array | float = TOLERANCE,
        throw: bool = True,
    ) -> PyTree:
        """The periodic motion that the robot settles to from `start`, or else as its Setting gets it going.

        `steps`: fewest per period. `multiple`: period in drive periods that is tried first. `near`: `start` is
        close to the motion. `window`: periods over which a motion that does not settle is averaged, 0: not
        at all. `tolerance`: of steps [natural units]. `throw`: raise an error when there is no result, where
        values are known.
        """
        check_point(f"{name}.respond", robot.rules, design, setting)
        checked(robot.motion, Design, Setting)
        _check_start(f"{name}.respond", robot, start)
        steps = whole_number("steps", steps, STEPS, 4, 10**5)
        window = whole_number("window", window, 200, 0, 10**5)
        design, setting, start = as_arrays((design, setting, start))
        numerics = (jnp.asarray(tolerance, float), jnp.asarray(multiple, jnp.int32), near)
        response = settle(
            robot, design, setting, start, *numerics, steps=steps, search=search, window=window
        )
        if throw:
            raise_failure(f"{name}.respond", response.result)
        return response

    return respond


def _simulate(name: str, robot: Robot, Design: type, Setting: type) -> Callable:
    def simulate(
        design: Fields,
        setting: Fields,
        *,
        periods: int = 1,
        start: Mapping[str, Real] | None = None,
        steps: int = 200,
    ) -> tuple:
        """The motion over `periods` drive periods from rest, or from `start`; each event is one more point."""
        check_point(f"{name}.simulate", robot.rules, design, setting)
        checked(robot.motion, Design, Setting)
        _check_start(f"{name}.simulate", robot, start)
        periods = whole_number("periods", periods, 1, 1, 10**4)
        steps = whole_number("steps", steps, 200, 4, 10**5)
        design, setting, start = as_arrays((design, setting, start))
        return traced(robot.motion, design, setting, start, periods=periods, steps=steps)

    return simulate


def _check_starts(name: str, motion: Motion, Setting: type) -> None:
    known = describe(Setting)
    given = "start" in known and "start_periods" in known
    if motion.starts and not (given and known["start"].words == ("rest", *motion.starts)):
        raise MotionError(
            f"{name}: the motion has starts ({', '.join(motion.starts)}), so its Setting needs two fields: "
            "start: str = hybrid.start_field(STARTS) and start_periods: int = hybrid.periods_field(), with the "
            "motion's own starts."
        )


def _check_start(where: str, robot: Robot, start: Mapping[str, Real] | None) -> None:
    names = robot.motion.names
    if start is not None and set(start) != set(names):
        raise ValueError(
            f"{where}: start has {', '.join(start)}; it has to have {', '.join(names)}, in SI units."
        )


def _afresh(robot: Robot) -> Callable[[Fields, Fields], dict]:
    def afresh(design: Fields, setting: Fields) -> dict:
        start = begin(robot, *as_arrays((design, setting)))
        return dict(start=start, multiple=jnp.ones((), jnp.int32), near=jnp.asarray(False))

    return afresh


def _branches(robot: Robot) -> Callable[..., Iterator[AnyBranch]]:
    def each_branch(
        design: Fields, setting: Fields, key: str, start: float, stop: float, **options: Value
    ):
        """See `hybrid.branches.each_branch`."""
        from diffmicro.hybrid import branches

        return branches.each_branch(robot, design, setting, key, start, stop, **options)

    return each_branch


def _orbits(robot: Robot) -> Callable[..., Periodic]:
    def periodic(design: Fields, setting: Fields, steps: int | None = None) -> Periodic:
        """See `hybrid.orbits.periodic`."""
        from diffmicro.hybrid import orbits

        return orbits.periodic(robot, design, setting, steps)

    return periodic


def _response_class(name: str, motion: Motion, responses: Mapping[str, Observer]) -> type:
    """The class of the responses, with what every device of this kind reports."""
    for key, observer in responses.items():
        what, known = observer.known(motion)
        # A system written by hand has contacts of its own, unknown here: the author's method looks at them.
        if motion.by_hand and observer.method:
            if not motion.writes(observer.method):
                raise unwritten(motion, observer.method)
        elif observer.name not in known:
            there = f"{what.split()[0]}s are {', '.join(known)}" if known else "there is none"
            raise MotionError(f"{name}.{key}: {observer.name!r} is no {what}; {there}.")
    fields: dict[str, Value] = {
        key: output(o.meaning(motion), o.unit(motion), low=o.low, high=o.high)
        for key, o in responses.items()
    }
    drifts = [key for key, o in responses.items() if isinstance(o, Drift)]
    for key in drifts[:1]:
        meaning = f"standard error of {key} when it is a mean over a window, else 0"
        fields[f"{key}_spread"] = output(meaning, responses[key].unit(motion), low=0)
    own = dict(
        period_multiple=output(
            "period of the motion in drive periods; 0 when it is not periodic", "-", low=0
        ),
        multiplier=output("largest modulus of the Floquet multipliers", "-", low=0),
        result=output("how the calculation ended"),
        residual=output("distance after one period of the motion from where it began", "-", low=0),
        margin=output(
            "time to the nearest change of the sequence of modes, over the period", "-", low=0
        ),
        state=output("state at the start of a period, to start a neighboring calculation from"),
    )
    for key in fields:
        if not key.isidentifier() or iskeyword(key):
            raise MotionError(
                f"{name}: the response {key!r} is no name; take letters, digits and _, as in 'mean_velocity'."
            )
    for key in fields.keys() & own.keys():
        raise MotionError(f"{name}: the response {key!r} is there already; choose another name.")
    fields |= own
    hints = {
        key: RESULTS if key == "result" else dict if key == "state" else Array for key in fields
    }
    body = dict(
        fields, __annotations__=hints, __module__=__name__, __doc__=f"Steady motion: {name}."
    )
    return new_class("Response", (eqx.Module,), exec_body=lambda space: space.update(body))


def _nearby(response: PyTree, tolerance: Array | float) -> dict:
    return dict(
        start=response.state,
        multiple=jnp.maximum(response.period_multiple, 1),
        near=True,
        tolerance=tolerance,
        throw=False,
    )


SYMMETRIC = 1e-8
"""Smallest drift in a period [scales] that counts: a symmetric motion has less, by rounding."""


def _objection(robot: Robot) -> Callable[..., Array]:
    def objection(response: PyTree, design: Fields, setting: Fields, of: str, method: str) -> Array:
        against = jnp.asarray(0)
        if of in robot.names and isinstance(robot.observers[robot.names.index(of)], Drift):
            observer = robot.observers[robot.names.index(of)]
            units, period = (
                robot.motion.units(design, setting),
                robot.motion.period(design, setting),
            )
            way = jnp.abs(getattr(response, of) / observer.size(units, period))
            against = jnp.where(way < SYMMETRIC, reason_code("symmetric"), against)
        stalled = code(response.result) == code(RESULTS.stalled)
        return jnp.where(stalled, reason_code("dead"), against)

    return objection

"""The stick-slip drive RaMoNa (MDR thesis, chapters 2 and 3): vibrating hemispheres push a runner.

Two hemispheres above and four below hold a runner and follow a sawtooth. In its slow part they carry the
runner along, in its fast part they slip back under it. The runner presses on a force sensor until it gains
no more: that mean force is the generated force. From the design to that force, differentiable.

| thesis | here | unit |
|---|---|---|
| R, b | `radius`, `tip_radius` | m |
| H, h_rms, L | `hurst`, `roughness`, `roughness_length` | -, m, m |
| m, k_fs | `runner_mass`, `sensor_stiffness` | kg, N/m |
| E, nu | `young_steel`, `young_ruby`, `poisson_steel`, `poisson_ruby` | Pa, - |
| F_p, F_n1 = F_p/sqrt 2, F_n2 = F_n1/2 | `preload`, `normal_force` | N |
| mu_s, mu_d | `friction`, `dynamic_friction` | - |
| A, T, T2 | `amplitude`, `period`, `back_step` | m, s, s |
| u_x,max | `presliding` | m |
| F_gen, A_0 | `force`, `zero_amplitude` | N, m |

Corrections to the thesis: springs are clipped incrementally and on both sides (its Fig. 3.12 has neither).
Where it is silent: the sawtooth's period is 10 ms; damping acts on the runner against ground; a shaped move
is as fast as the back step. Step, back motion and vibration are those of the runner without the sensor.
Left out: rotation of hemispheres and runner, normal vibration.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro._parameters import as_arrays, check, is_traced, parameter, valid, whole_number
from diffmicro._reasons import reason_code
from diffmicro._results import RESULTS, code, from_code, raise_failure
from diffmicro.devices.stickslip_model import COUNTS, LAWS, Lumped, lump, motion, statics
from diffmicro.devices.stickslip_motion import Motion, Pass, Run, State
from diffmicro.devices.stickslip_steady import Steady, approach, differentiable
from diffmicro.dynamics.window import substitute
from diffmicro.mechanics import elastic


def _whole(default: int, symbol: str, source: str, low: int, high: int) -> Any:
    """A static field: it fixes the size of the calculation."""
    known = dict(symbol=symbol, source=source, low=low, high=high, open_low=False, words=())
    return eqx.field(
        default=default, static=True, converter=_counted, metadata={"parameter": known}
    )


def _counted(value: Any) -> Any:
    return int(value) if not is_traced(value) and int(value) == value else value


class Design(eqx.Module):
    """What a fabricator could change.

    radius: radius of the hemispheres [m].
    tip_radius: radius of their worn, flat tips [m].
    hurst: Hurst exponent of the runner's surface [-].
    roughness: rms height of the runner's surface [m].
    roughness_length: length over which roughness was measured [m].
    runner_mass: mass of the runner [kg].
    young_steel: Young's modulus of the runner [Pa].
    young_ruby: Young's modulus of the hemispheres [Pa].
    poisson_steel: Poisson's ratio of the runner [-].
    poisson_ruby: Poisson's ratio of the hemispheres [-].
    sensor_stiffness: stiffness of the force sensor [N/m].
    damping_ratio: damping of the runner over the critical one, of contacts that stick [-].
    """

    radius: Array | float = parameter(1e-3, "R", "Table 3.2", above=0, high=1.0)
    tip_radius: Array | float = parameter(0.0, "b", "section 3.4.4: 0.006 R when worn", low=0)
    hurst: Array | float = parameter(1.7, "H", "section 3.4.5", above=0, high=2)
    roughness: Array | float = parameter(0.0, "h_rms", "section 3.4.5: 0.92 um", low=0)
    roughness_length: Array | float = parameter(383e-6, "L", "section 3.4.5", above=0)
    runner_mass: Array | float = parameter(3e-3, "m", "Table 3.1", above=0)
    young_steel: Array | float = parameter(210e9, "E_steel", "Table 3.1", above=0)
    young_ruby: Array | float = parameter(370e9, "E_ruby", "Table 3.1", above=0)
    poisson_steel: Array | float = parameter(0.3, "nu_steel", "Table 3.1", low=0, high=0.5)
    poisson_ruby: Array | float = parameter(0.3, "nu_ruby", "Table 3.1", low=0, high=0.5)
    sensor_stiffness: Array | float = parameter(25e3, "k_fs", "Table 3.1", low=0)
    damping_ratio: Array | float = parameter(0.0, "", "eq. 3.2 has none", low=0, high=1)


class Setting(eqx.Module):
    """Preload, surface and drive.

    preload: force that presses runner and actuators together [N].
    friction: friction coefficient, the static one if there are two [-].
    dynamic_friction: friction coefficient of what slides [-]; None: as `friction`.
    amplitude: full stroke of the drive [m].
    period: period of the drive [s].
    back_step: duration of the back step [s].
    corner_time: time over which corners of the sawtooth are rounded [s].
    shaping: forward move after the back step, over the presliding of each group [-].
    runner_weight: weight of the runner, off the two contacts and onto the four [N].
    waveform: sawtooth; samples or fourier: signals of any shape, with their coefficients.
    samples: positions of the drive at equal times, over the stroke [-].
    fourier: rows a_k, b_k of the drive's Fourier series, over the stroke [-].
    law: friction: mdr and masing are contacts of finite size, by springs or exact; the others have a single state.
    springs: springs on half a contact, for mdr [-].
    memory: reversals that masing remembers [-].
    """

    preload: Array | float = parameter(0.5, "F_p", "Table 3.2", above=0)
    friction: Array | float = parameter(0.3, "mu_s", "Table 3.1", above=0)
    dynamic_friction: Array | float | None = parameter(None, "mu_d", "Table 3.1: 0.2", above=0)
    amplitude: Array | float = parameter(100e-9, "A", "Fig. 3.15", above=0, high=1e-4)
    period: Array | float = parameter(0.01, "T", "section 3.5.3: 100 Hz", above=0)
    back_step: Array | float = parameter(1e-6, "T2", "Fig. 3.37", above=0)
    corner_time: Array | float = parameter(0.0, "epsilon", "Fig. 3.19", low=0)
    shaping: Array | float = parameter(0.0, "", "section 3.5.3", low=0, high=2)
    runner_weight: Array | float = parameter(0.0, "mg", "section 3.4.3", low=0)
    waveform: str = parameter("sawtooth", "", "", words=("sawtooth", "samples", "fourier"))
    samples: Array | None = parameter(None, "", "", shapes=(("n",),))
    fourier: Array | None = parameter(None, "", "", shapes=(("n", 2),))
    law: str = parameter("mdr", "", "sections 2.1 and 3.3.2", words=LAWS)
    springs: int = _whole(200, "N", "eq. 3.3", 1, 10**5)
    memory: int = _whole(512, "", "", 2, 10**5)


class Response(eqx.Module):
    """Steady state reached from rest. Pairs: the two contacts above, the four below.

    force: mean force on the sensor when the runner gains no more [N].
    net_step: way of the runner without sensor in one period, settled [m].
    back_motion: what it loses of its highest position in each period [m].
    residual_vibration: amplitude of its vibration, root mean square over the period times sqrt 2 [m].
    vibration_left: amplitude of its vibration just before the next back step [m].
    presliding: tangential displacement at which each contact slides, u_x,max [m].
    contact_radius: radius of each contact [m].
    normal_force: normal force of each contact [N].
    peak_pressure: pressure at the center of an upper contact, roughness left out [Pa].
    result: how the calculation ended.
    residual: change of the runner's step from one period to the next, over presliding [-].
    periods: drive periods that were simulated [-].
    zero_amplitude: stroke below which the runner does not move [m].
    """

    force: Array
    net_step: Array
    back_motion: Array
    residual_vibration: Array
    vibration_left: Array
    presliding: Array
    contact_radius: Array
    normal_force: Array
    peak_pressure: Array
    result: RESULTS
    residual: Array
    periods: Array
    zero_amplitude: Array | None = None


ON_REQUEST = ("zero_amplitude",)
METHOD = "periodic"
STEPS = 2000
"""Steps in the slow phase of a period: 18 of each vibration of the contacts at 10 ms."""


def coarser(numerics: dict[str, Any]) -> dict[str, Any]:
    """Numerics of half the resolution, for certificates."""
    steps = numerics.get("steps") or STEPS
    return {**numerics, "steps": max(steps // 2, 4)}


QUIET = 1e-3
"""Vibration before the back step, over presliding, from which the force follows its phase."""


def objection(response: Response, design: Design, setting: Setting, of: str, method: str) -> Array:
    """Reason against a gradient that the device knows of: a dead zone, or vibration that never dies down."""
    del design, setting, method
    if of in ("presliding", "contact_radius", "normal_force", "peak_pressure"):
        return jnp.zeros_like(code(response.result))
    dead = code(response.result) == code(RESULTS.stalled)
    if of == "zero_amplitude":
        dead = jnp.zeros_like(dead)
    rings = response.vibration_left > QUIET * response.presliding[0]
    against = jnp.where(rings, reason_code("vibration"), 0)
    return jnp.where(dead, reason_code("dead_zone"), against)


def published_design(**overrides: Any) -> Design:
    """Table 3.1, and the largest hemispheres of Table 3.2."""
    return Design(**overrides)


def published_setting(**overrides: Any) -> Setting:
    """Preload 0.5 N, stroke 100 nm at 100 Hz."""
    return Setting(**overrides)


def respond(
    design: Design,
    setting: Setting,
    *,
    steps: int | None = None,
    tolerance: Array | float = 1e-6,
    extra: tuple[str, ...] = (),
    throw: bool = True,
) -> Response:
    """The steady state that the drive reaches from rest.

    `steps`: time steps in the slow phase of a period, 2000.
    `tolerance`: distance from the steady state, relative, from which it is extrapolated along a straight line.
    `extra`: responses that are calculated on request: zero_amplitude.
    A motion that does not settle is erratic: its force is that of the place it came to, within its scatter.
    `throw`: raise an error when there is no result, where values are known (not inside transformations).
    """
    check_point("stickslip.respond", design, setting)
    for name in extra:
        if name not in ON_REQUEST:
            raise ValueError(f"stickslip.respond: {name!r} is not one of {', '.join(ON_REQUEST)}.")
    count = whole_number("steps", steps, STEPS, 4, 10**6)
    design, setting = as_arrays((design, setting))
    tolerance = jnp.asarray(tolerance, jnp.result_type(design.radius))
    response = _respond(design, setting, tolerance, steps=count, extra=tuple(extra))
    if throw:
        raise_failure("stickslip.respond", response.result)
    return response


@eqx.filter_jit
def _respond(
    design: Design, setting: Setting, tolerance: Array, *, steps: int, extra: tuple[str, ...]
) -> Response:
    legal = valid(design, setting) & _consistent(design, setting)
    design, setting = _harmless(legal, design, setting)
    contacts = statics(design, setting)
    lumped, loose = _loaded((design, setting)), _unloaded((design, setting))
    length = contacts.presliding[0]

    def advance(numbers: Any, state: Any, place: Array) -> Any:
        return motion(numbers, setting, steps).period(state, place)

    begin = motion(lumped, setting, steps).rest()
    cases = jax.lax.stop_gradient(jax.tree.map(lambda *x: jnp.stack(x), loose, lumped))
    first = -STEEPNESS * jax.lax.stop_gradient(lumped.sensor)

    def find(case: tuple[Lumped, Array]) -> Steady:
        return approach(advance, case[0], begin, first, tolerance, case[1])

    # one after the other, so that the motion is compiled once
    unheld = jax.lax.stop_gradient(lumped.sensor) == 0
    both = jax.lax.map(find, (cases, jnp.stack([jnp.asarray(True), unheld])))
    free, held = (jax.tree.map(lambda x, i=i: x[i], both) for i in (0, 1))
    given = (design, setting)
    alone = Pass(*differentiable(advance, _unloaded, given, free, free=True)[1])
    place, loaded = differentiable(advance, _loaded, given, held, free=False)
    loaded = Pass(*loaded)
    position = place + loaded.mean
    # a runner that has not gained a stroke in all is only carried to and fro
    still = held.stuck & (position < lumped.stroke)
    overflow = _overflowed(motion(lumped, setting, steps), held.state)
    outcome = jnp.where(still, code(RESULTS.stalled), code(RESULTS.successful))
    found = held.found & free.found
    outcome = jnp.where(found, outcome, code(RESULTS.erratic))
    outcome = jnp.where(overflow, code(RESULTS.memory_limit), outcome)
    outcome = jnp.where(legal, outcome, code(RESULTS.out_of_range))
    shown = jnp.where(legal, 1.0, jnp.nan).astype(length.dtype)
    numbers = shown * jnp.where(overflow, jnp.nan, 1.0)
    force = design.sensor_stiffness * length * position * numbers
    # no derivative of a motion that does not settle; in the dead zone zero would say nothing of the way out
    return Response(
        force=substitute(
            jax.lax.stop_gradient(force), jnp.where(still | ~found, jnp.nan, 1) * force
        ),
        net_step=alone.step * length * numbers,
        back_motion=(alone.crest - alone.step - alone.dip) * length * numbers,
        residual_vibration=jnp.sqrt(2 * alone.unrest) * length * numbers,
        vibration_left=alone.left * length * numbers,
        presliding=contacts.presliding * shown,
        contact_radius=contacts.contact_radius * shown,
        normal_force=contacts.normal_force * shown,
        peak_pressure=contacts.peak_pressure * shown,
        result=from_code(outcome),
        residual=held.change * numbers,
        periods=held.periods,
        zero_amplitude=_zero_amplitude(design, setting, steps, tolerance) * shown
        if extra
        else None,
    )


def _loaded(given: tuple[Design, Setting]) -> Lumped:
    """The numbers of the motion against the sensor."""
    return lump(*given, statics(*given))


def _unloaded(given: tuple[Design, Setting]) -> Lumped:
    """The same of a runner without sensor."""
    numbers = _loaded(given)
    return numbers._replace(sensor=jnp.zeros_like(numbers.sensor))


def _zero_amplitude(design: Design, setting: Setting, steps: int, tolerance: Array) -> Array:
    """Stroke at which the runner without sensor begins to gain, from above."""
    length = statics(design, setting).presliding[0]

    def build(given: tuple[Design, Setting]) -> tuple[Lumped, Array]:
        # what shaping adds is a share of presliding, not of the stroke, which is not the given one here
        numbers = _unloaded(given)
        return numbers, numbers.lift * numbers.stroke

    def advance(numbers: Any, state: Any, place: Array) -> Any:
        numbers, lift = numbers
        stroke = HIGHEST - place
        numbers = numbers._replace(stroke=stroke, lift=lift / stroke)
        return motion(numbers, setting, steps).period(state, place)

    held = jax.lax.stop_gradient(build((design, setting)))
    begin = motion(held[0], setting, steps).rest()
    found = approach(
        advance, held, begin, -jnp.ones_like(length), tolerance, jnp.asarray(False), carried=False
    )
    place, _ = differentiable(advance, build, (design, setting), found, free=False)
    return jnp.where(found.found, (HIGHEST - place) * length, jnp.nan)


HIGHEST = 4.0
"""Stroke over presliding from which the stroke of no motion is approached."""


class Trajectory(NamedTuple):
    """A motion from rest, SI units: arrays over time; pairs in the second axis.

    sliding: force of each spring over its friction limit, from the middle of the contact outwards, with its sign
    (time, 2, springs); None unless the law is mdr.
    """

    time: Array
    position: Array
    velocity: Array
    drive: Array
    sensor_force: Array
    contact_force: Array
    sliding: Array | None


def simulate(
    design: Design, setting: Setting, *, periods: int = 3, steps: int | None = None
) -> Trajectory:
    """The motion from rest over some periods of the drive. `steps`: in the slow phase of a period, 2000."""
    check_point("stickslip.simulate", design, setting)
    whole_number("periods", periods, 3, 1, 10**4)
    count = whole_number("steps", steps, STEPS, 4, 10**6)
    design, setting = as_arrays((design, setting))
    return _simulate(design, setting, periods=periods, steps=count)


@eqx.filter_jit
def _simulate(design: Design, setting: Setting, *, periods: int, steps: int) -> Trajectory:
    contacts = statics(design, setting)
    lumped = lump(design, setting, contacts)
    system = motion(lumped, setting, steps)
    length, rate = contacts.presliding[0], lumped.turns / setting.period

    def look(run: Run) -> tuple[Array, ...]:
        seen = [run.position, run.velocity, jnp.stack(run.forces)]
        if setting.law == "mdr":
            pairs = zip(run.contacts, system.laws, strict=True)
            seen.append(jnp.stack([contact / law.limits for contact, law in pairs]))
        return tuple(seen)

    def period(at: tuple[State, Array], _: None) -> tuple[tuple[State, Array], Any]:
        state, place = at
        end, path = system.path(state, place, look)
        after = State(end.velocity, end.lag, end.contacts)
        return (after, place + end.position), (place + path[0], *path[1:])

    begin = (system.rest(), jnp.zeros_like(length))
    _, seen = jax.lax.scan(period, begin, None, length=periods)
    position, velocity, forces, *sliding = (x.reshape(-1, *x.shape[2:]) for x in seen)
    # moves of the drive within a period add up to none
    drive = jnp.tile(jnp.cumsum(system.drive.moves, axis=0), (periods, 1))
    time = jnp.cumsum(jnp.tile(system.drive.durations, periods))
    return Trajectory(
        time=time / rate,
        position=position * length,
        velocity=velocity * length * rate,
        drive=drive * length,
        sensor_force=design.sensor_stiffness * position * length,
        contact_force=-forces * (contacts.stiffness * jnp.asarray(COUNTS) * length)[None, :],
        sliding=sliding[0] if sliding else None,
    )


STEEPNESS = 4.0
"""First estimate of the loss of step per displacement of the contacts; the three-phase model has 3 to 5."""


def _overflowed(system: Motion, state: State) -> Array:
    full = [law.overflowed(c) for law, c in zip(system.laws, state.contacts, strict=True)]
    return full[0] | full[1]


FLATTEST = 1.25
"""Largest flat tip over the contact radius that the whole sphere would have."""


def _consistent(design: Design, setting: Setting) -> Array:
    """Conditions on several values at once; `_contradiction` has their messages."""
    moduli = (design.young_steel, design.poisson_steel, design.young_ruby, design.poisson_ruby)
    force = (setting.preload - setting.runner_weight / 2) / 2**0.5
    lower = (setting.preload + setting.runner_weight / 2) / 8**0.5
    whole = elastic.hertz_contact_radius(
        jnp.minimum(force, lower), design.radius, elastic.effective_modulus(*moduli)
    )
    good = (setting.back_step + setting.corner_time < setting.period) & (
        setting.corner_time <= setting.back_step
    )
    good = good & (setting.runner_weight < 2 * setting.preload)
    good = good & (design.tip_radius <= FLATTEST * whole)
    if setting.dynamic_friction is not None:
        good = good & (setting.dynamic_friction <= setting.friction)
    return jnp.all(good)


def _harmless(legal: Array, design: Design, setting: Setting) -> tuple[Design, Setting]:
    """The values, or in lanes that are not legal the published ones, so that they end."""
    words = {name: getattr(setting, name) for name in ("waveform", "law", "springs", "memory")}
    safe = as_arrays((Design(), Setting(**words)))

    def choose(value: Any, other: Any) -> Any:
        return jnp.where(legal, value, jnp.asarray(other, value.dtype))

    trees = []
    for tree, spare in zip((design, setting), safe, strict=True):
        values = {}
        for name, value in vars(tree).items():
            if isinstance(value, Array):
                other = getattr(spare, name)
                value = choose(value, jnp.zeros_like(value) if other is None else other)
            values[name] = value
        trees.append(type(tree)(**values))
    return trees[0], trees[1]


def check_point(where: str, design: Design, setting: Setting) -> None:
    """Raise ValueError for values that are out of range or contradict each other; traced ones pass."""
    if not is_traced(setting.amplitude) and np.any(np.asarray(setting.amplitude) > 1e-4):
        raise ValueError(
            f"{where}: Setting.amplitude = {setting.amplitude} m is not allowed; it has to be above 0 and at "
            f"most 0.0001. It is in meters: 100 nm is 100e-9. The default is 1e-07."
        )
    check(where, design, setting)
    for name in ("springs", "memory"):
        if not isinstance(getattr(setting, name), int):
            raise ValueError(
                f"{where}: Setting.{name} = {getattr(setting, name)} is not allowed; it has to be a whole "
                f"number, because it fixes the size of the calculation."
            )
    for word in ("samples", "fourier"):
        if (setting.waveform == word) != (getattr(setting, word) is not None):
            raise ValueError(
                f"{where}: Setting.{word} goes with waveform = {word}, and waveform is {setting.waveform}. "
                f"Give both or neither."
            )
    if setting.dynamic_friction is not None and setting.law == "masing":
        raise ValueError(
            f"{where}: law = masing knows one friction coefficient, but dynamic_friction = "
            f"{setting.dynamic_friction}. Use law = mdr, or leave dynamic_friction out."
        )
    given = (design, setting)
    if is_traced(*jax.tree.leaves(given)) or np.all(_consistent(*as_arrays(given))):
        return
    raise ValueError(f"{where}: " + _contradiction(design, setting))


def _contradiction(design: Design, setting: Setting) -> str:
    """What is wrong with values that contradict each other, and the remedy."""
    if np.any(np.asarray(setting.back_step) + setting.corner_time >= setting.period):
        return (
            f"Setting.back_step = {setting.back_step} s with corner_time = {setting.corner_time} s is not "
            f"allowed; it has to be shorter than period = {setting.period} s. Shorten the back step."
        )
    if np.any(np.asarray(setting.corner_time) > setting.back_step):
        return (
            f"Setting.corner_time = {setting.corner_time} s is not allowed; it has to be at most back_step = "
            f"{setting.back_step} s, or the corners meet. Shorten it."
        )
    if np.any(np.asarray(setting.runner_weight) >= 2 * np.asarray(setting.preload)):
        return (
            f"Setting.runner_weight = {setting.runner_weight} N is not allowed; it has to be below twice the "
            f"preload = {setting.preload} N, or the upper contacts open. Raise the preload."
        )
    if setting.dynamic_friction is not None and np.any(
        np.asarray(setting.dynamic_friction) > setting.friction
    ):
        return (
            f"Setting.dynamic_friction = {setting.dynamic_friction} is not allowed; it has to be at most "
            f"friction = {setting.friction}, the static one."
        )
    return (
        f"Design.tip_radius = {design.tip_radius} m is not allowed; it has to be at most {FLATTEST} times the "
        f"contact radius of the whole sphere under this preload. A flatter tip is a punch: raise the preload or "
        f"the radius, or lower tip_radius."
    )

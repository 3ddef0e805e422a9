"""From design and setting of the stick-slip drive to the dimensionless motion.

Length is measured in presliding of the two contacts, time in 1/omega_0, stiffness in that of all contacts.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import PyTree

from diffmicro import signals
from diffmicro._types import Scalar, Vector
from diffmicro.devices.stickslip.design import Design, Setting
from diffmicro.devices.stickslip.motion import Drive, Motion
from diffmicro.devices.stickslip.slip import ContactLaw, Laws
from diffmicro.mechanics import elastic, profiles
from diffmicro.mechanics.loading import Outline, outline_loading
from diffmicro.mechanics.masing import Masing
from diffmicro.mechanics.presliding import fitted_presliding, single_state
from diffmicro.mechanics.rolling import rolling_springs
from diffmicro.mechanics.tangential import Springs, midpoints
from diffmicro.resolution import Steps

Number = TypeVar("Number", int, Array)

EARLY = (0.025, 0.1)
"""Shares of the slow phase, after the back step, that get a sixth of its steps each: contacts slip most there."""

FADING = (1e-3, 2.0)
"""Range of the logarithm by which steps grow from there to the back step.

It is a fifth of that by which vibration fades, as the error of a step goes with its fifth power; at most so
much, as contacts go on slipping with the drive.
"""

FAST = 100
"""Steps of the slow phase for each of the back step, and of the shaped move after it."""

COUNTS = np.array([2.0, 4.0])
"""Contacts of each group."""

FITTED_AT = np.array([1.0, 210e9, 370e9, 0.7, 0.7])
"""Where CEIM's presliding is its scale: normal force [N], both moduli [Pa], both 1 - nu."""


class Statics(NamedTuple):
    """Contacts under the preload: both groups, SI units."""

    normal_force: Array
    contact_radius: Array
    indentation: Array
    presliding: Array
    peak_pressure: Array
    stiffness: Array
    friction_force: Array
    profile: profiles.Profile


def statics(design: Design, setting: Setting) -> Statics:
    """Normal contact, presliding, and tangential stiffness of each contact."""
    lateral = jnp.sqrt(jnp.asarray(2.0, jnp.result_type(design.radius)))
    weight = setting.runner_weight / 2
    force = jnp.stack([setting.preload - weight, setting.preload + weight])
    force = force / lateral / jnp.asarray(COUNTS / 2, force.dtype)
    moduli = (design.young_steel, design.poisson_steel, design.young_ruby, design.poisson_ruby)
    modulus = elastic.effective_modulus(*moduli)
    shear = elastic.effective_shear_modulus(*moduli)
    profile = profiles.rough_sphere(
        design.radius, design.hurst, design.roughness, design.roughness_length, design.tip_radius
    )
    contact = jax.vmap(lambda f: profiles.contact_radius(profile, f, modulus))(force)
    indentation = profile.depth(contact)
    # int g'/x dx of a flattened sphere; roughness is left out
    outside = jnp.sqrt((contact[0] - design.tip_radius) * (contact[0] + design.tip_radius))
    corner = design.tip_radius * jnp.arctan2(outside, design.tip_radius)
    pressure = modulus / jnp.pi * (2 * outside - corner) / design.radius
    found = Statics(
        normal_force=force,
        contact_radius=contact,
        indentation=indentation,
        presliding=jnp.asarray(elastic.presliding(indentation, setting.friction, modulus, shear)),
        peak_pressure=pressure,
        stiffness=jnp.asarray(elastic.contact_stiffness(contact, shear)),
        friction_force=setting.friction * force,
        profile=profile,
    )
    return found if setting.presliding_scale is None else _fitted(found, design, setting)


def _fitted(contacts: Statics, design: Design, setting: Setting) -> Statics:
    """Contacts of the law ceim with its own presliding: x_ss = 2 x_ps, and k_x = F_ss / x_ss."""
    coefficient = _dynamic(setting) * setting.friction
    bodies = (
        design.young_steel, design.young_ruby, 1 - design.poisson_steel, 1 - design.poisson_ruby
    )  # fmt: skip
    given = jnp.stack([jnp.stack([force, *bodies]) for force in contacts.normal_force])
    ratios = given / jnp.asarray(FITTED_AT, given.dtype)[None]
    steady = 2 * fitted_presliding(
        jnp.asarray(setting.presliding_scale), jnp.asarray(setting.presliding_powers), ratios
    )
    return contacts._replace(
        presliding=steady, stiffness=coefficient * contacts.normal_force / steady
    )


def _dynamic(setting: Setting) -> Array:
    """Dynamic over static friction."""
    one = jnp.ones_like(jnp.asarray(setting.friction))
    if setting.dynamic_friction is None:
        return one
    return jnp.asarray(setting.dynamic_friction / setting.friction)


class Lumped(NamedTuple):
    """The numbers that the motion depends on.

    turns: omega_0 T. stroke: A over length. fall, corner: shares of the period. lift: shaped moves over stroke.
    sensor, damping: kappa, zeta. share: of each group in the stiffness. presliding: over length, both groups.
    dynamic: dynamic over static friction. outline: shape of both contacts. signal: coefficients of the waveform.
    stribeck: rate at which friction falls. viscosities: eta_1, eta_2 of both groups, over their stiffness.
    roll: way of the surface through both contacts that turn, in contact radii per length.
    used: how many of its steps the motion takes; None: all.
    """

    turns: Array
    stroke: Array
    fall: Array
    corner: Array
    lift: Array
    sensor: Array
    damping: Array
    share: Array
    presliding: Array
    dynamic: Array
    outline: Outline
    signal: PyTree
    stribeck: Array | None
    viscosities: tuple[Array | None, Array | None]
    roll: Array | None
    used: Array | None


def lump(design: Design, setting: Setting, contacts: Statics, used: Array | None = None) -> Lumped:
    """Dimensionless numbers."""
    stiffness = jnp.asarray(COUNTS, contacts.stiffness.dtype) * contacts.stiffness
    total = jnp.sum(stiffness)
    length = contacts.presliding[0]
    rate = jnp.sqrt(total / design.runner_mass)
    etas = [
        None if eta is None else eta * rate / contacts.stiffness
        for eta in (setting.contact_viscosity, setting.lubricant_viscosity)
    ]
    falls = setting.stribeck_velocity
    sphere = profiles.FlattenedSphere(design.radius, design.tip_radius)
    smooth = sphere.depth(contacts.contact_radius) / contacts.indentation
    outline = Outline(
        flat=design.tip_radius / contacts.contact_radius,
        smooth=jnp.where(design.roughness > 0, smooth, 1),
        hurst=jnp.broadcast_to(design.hurst, smooth.shape),
    )
    return Lumped(
        turns=rate * setting.period,
        stroke=setting.amplitude / length,
        fall=jnp.asarray(setting.back_step / setting.period),
        corner=jnp.asarray(setting.corner_time / setting.period),
        lift=setting.shaping * contacts.presliding / setting.amplitude,
        sensor=design.sensor_stiffness / total,
        damping=jnp.asarray(design.damping_ratio),
        share=stiffness / total,
        presliding=contacts.presliding / length,
        dynamic=_dynamic(setting),
        outline=outline,
        signal=setting.samples if setting.waveform == "samples" else setting.fourier,
        stribeck=None if falls is None else falls / (length * rate),
        viscosities=(etas[0], etas[1]),
        roll=None
        if setting.rolling is None
        else setting.rolling * length / contacts.contact_radius,
        used=used,
    )


def motion(lumped: Lumped, setting: Setting, steps: int) -> Motion:
    """The dimensionless motion. Only words and sizes are read from the setting."""
    drive = _drive(lumped, setting.waveform, Steps(steps, lumped.used))
    return Motion(
        laws=_laws(lumped, setting, drive),
        share=lumped.share,
        sensor=lumped.sensor,
        damping=lumped.damping,
        drive=drive,
    )


def _laws(lumped: Lumped, setting: Setting, drive: Drive) -> Laws:
    both = (lumped.presliding, lumped.outline, lumped.viscosities, lumped.roll)
    groups = [jax.tree.map(lambda x, g=g: x[g], both) for g in (0, 1)]
    if lumped.roll is None:
        return _law(lumped, setting, *groups[0][:3]), _law(lumped, setting, *groups[1][:3])
    farthest = jnp.max(jnp.abs(jnp.cumsum(drive.moves, axis=0)))
    upper, lower = (
        rolling_springs(outline, presliding, roll, farthest, setting.springs)
        for presliding, outline, _, roll in groups
    )
    return upper, lower


def _law(
    lumped: Lumped,
    setting: Setting,
    presliding: Array,
    outline: Outline,
    viscosities: tuple[Array | None, Array | None],
) -> ContactLaw:
    unit = jnp.ones_like(presliding)
    if setting.law == "mdr":
        limits = presliding * (1 - outline.depth(midpoints(setting.springs, presliding.dtype)))
        stiffness = jnp.full_like(limits, 1 / setting.springs)
        return Springs(
            limits, stiffness, None if setting.dynamic_friction is None else lumped.dynamic
        )
    if setting.law == "masing":
        return Masing(outline_loading, outline, unit, presliding, setting.memory)
    fitted = setting.presliding_scale is not None
    limit = presliding / lumped.dynamic if fitted else presliding * (1 - outline.area(unit))
    return single_state(
        setting.law,
        stiffness=unit,
        static=limit,
        dynamic=lumped.dynamic,
        stribeck=jnp.inf if lumped.stribeck is None else lumped.stribeck,
        elastic_damping=viscosities[0],
        viscous=viscosities[1],
    )


def _drive(lumped: Lumped, waveform: str, steps: Steps) -> Drive:
    one = jnp.ones_like(lumped.turns)
    whole = steps.used is None
    if waveform != "sawtooth":
        signal = signals.samples if waveform == "samples" else signals.fourier
        if waveform == "samples":  # a step ends at each corner of the polygon
            steps = steps.multiple_of(lumped.signal.shape[0])
        time, durations = _instants(0 * one, one, steps)
        time = jnp.append(time, one)
        moves = jnp.diff(lumped.stroke * signal(time, lumped.signal))
        corners = np.arange(steps.most) == 0
        moves, durations = jnp.stack([moves, moves], axis=1), lumped.turns * durations
        return Drive(durations, moves, corners, steps.number, whole)
    # A move of no height gets a hundredth of the back step's time, so that no step has length zero.
    longest = jnp.maximum(jnp.maximum(lumped.lift[0], lumped.lift[1]), 0.01)
    times, _ = signals.sawtooth_knots(lumped.fall, lumped.lift[0], longest)
    half = lumped.corner / 2
    crest = times[1] - half
    ends = [half + share * (crest - half) for share in EARLY]
    bounds = [half, *ends, crest, times[2], one + half]
    counts = _counts(steps.most, max)
    used = [None] * len(counts) if steps.used is None else _counts(steps.used, jnp.maximum)
    parts = [Steps(n, u) for n, u in zip(counts, used, strict=True)]
    fading = jax.lax.stop_gradient(jnp.clip(lumped.damping * lumped.turns / 5, *FADING))
    growth = [None, None, fading, None, None]
    pieces = [
        _instants(begin, end, part, grown)
        for begin, end, part, grown in zip(bounds[:-1], bounds[1:], parts, growth, strict=True)
    ]
    time, durations = (list(x) for x in zip(*pieces, strict=True))
    instants = jnp.concatenate([*time, bounds[-1][None]])

    def at(lift: Scalar) -> Array:
        return signals.sawtooth(instants, lumped.fall, lift, longest, lumped.corner)

    moves = lumped.stroke * jnp.diff(jax.vmap(at, out_axes=1)(lumped.lift), axis=0)
    slow, fast = sum(counts[:3]), counts[3]
    corners = np.isin(np.arange(sum(counts)), [0, slow, slow + fast])
    last = sum(counts[:2]) + parts[2].number
    return Drive(lumped.turns * jnp.concatenate(durations), moves, corners, last, whole)


def _counts(steps: Number, larger: Callable[[Number, int], Number]) -> tuple[Number, ...]:
    """Steps of the parts of a sawtooth's period."""
    first, fast = larger(steps // 6, 1), larger(steps // FAST, 4)
    return first, first, larger(steps - 2 * first, 1), fast, fast


def _instants(
    begin: Scalar, end: Scalar, steps: Steps, growth: Scalar | None = None
) -> tuple[Vector, Vector]:
    """Where the steps from begin to end start, and their lengths: equal ones, or each longer than the one before.

    growth: logarithm of the last step's length over the first one's; None: equal.
    """
    index, whole = jnp.arange(steps.most), end - begin
    if growth is None:
        lengths = jnp.broadcast_to(steps.length(index, whole), index.shape)
        return begin + steps.before(index, whole), lengths
    shares = steps.before(jnp.arange(steps.most + 1), jnp.ones_like(whole))
    instants = -jnp.log1p(shares * jnp.expm1(-growth)) / growth
    return begin + whole * instants[:-1], whole * jnp.diff(instants)

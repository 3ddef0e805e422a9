"""What an author can get wrong, found before anything is calculated: messages with the remedy.

When the device is made: methods that are missing, and names (`complete`). Before its first calculation:
`accelerations` is traced with numbers and with series, and calculated once at the defaults of Design and Setting,
for what only numbers show (`checked`).
"""

from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro._types import Real
from diffmicro.dynamics.series import Coefficient, line, series
from diffmicro.dynamics.system import Drive, Mode, State
from diffmicro.hybrid.faults import blaming
from diffmicro.hybrid.motion import Motion, MotionError, unwritten
from diffmicro.hybrid.parts import Coulomb, Impact
from diffmicro.hybrid.system import Assembled
from diffmicro.parameters import Fields, as_arrays


def complete(motion: Motion) -> None:
    """Raise `MotionError` for a motion whose declarations miss something or contradict each other."""
    where = type(motion).__name__
    _check_names(where, motion)
    for name in ("period",) if motion.by_hand else ("period", "accelerations"):
        if not motion.writes(name):
            raise unwritten(motion, name)
    if motion.by_hand and not (motion.writes("scales") or motion.writes("units")):
        for c in motion.coordinates:
            if c.scale is None:
                raise MotionError(
                    f"{where}.{c.name} has no scale, and there are no accelerations to derive it from; write "
                    f"{c.name} = Coordinate({c.meaning!r}, {c.unit!r}, scale=...)."
                )


@cache
def checked(motion: Motion, Design: type, Setting: type) -> None:
    """Raise `MotionError` for a motion that cannot be calculated as its methods are written."""
    where = type(motion).__name__
    if motion.by_hand:
        return
    with jax.ensure_compile_time_eval(), blaming(motion, (Design, Setting)):
        given = as_arrays((Design(), Setting()))
        _check_accelerations(where, motion, given)
        _check_series(motion, given)
        _check_numbers(where, motion, jax.jit(lambda *given: _probe(motion, *given))(*given))


def _check_names(where: str, motion: Motion) -> None:
    names = {c.name: c for c in motion.coordinates}
    if not names:
        raise MotionError(f"{where} has no coordinate; write place = Coordinate('meaning', 'm').")
    for contact in motion.contacts:
        what = f"{where}.{contact.name} acts on {contact.of!r}"
        if contact.of not in names:
            raise MotionError(f"{what}, which is none of its coordinates: {', '.join(names)}.")
        if names[contact.of].order != 2:
            raise MotionError(f"{what}, which is of order 1: a contact needs a place and its rate.")
        if not isinstance(contact, Coulomb) and names[contact.of].drifts:
            raise MotionError(f"{what}, which drifts: no force may depend on its place.")
        if isinstance(contact, Coulomb) and not callable(contact.bound):
            has = "no bound" if contact.bound is None else f"the bound {contact.bound!r}"
            raise MotionError(
                f"{where}.{contact.name} has {has}; write Coulomb({contact.of!r}, bound=lambda now, design, "
                "setting: ...), the largest friction force [N]."
            )


def _check_accelerations(where: str, motion: Motion, given: tuple[Fields, Fields]) -> None:
    """One number for each coordinate, from what a force may depend on; a period that depends on nothing else."""
    period = jax.eval_shape(motion.period, *given)
    if jnp.shape(period) != ():
        raise MotionError(
            f"{where}.period has the shape {period.shape}; it has to be one number [s]."
        )
    rates = jax.eval_shape(motion._at_start, jnp.asarray(0.1, float), *given)
    expected = [c.name for c in motion.coordinates]
    if sorted(expected) != sorted(rates):
        raise MotionError(
            f"{where}.accelerations gives {', '.join(rates)}; it has to give one value for each coordinate: "
            f"{', '.join(expected)}."
        )
    for name, rate in rates.items():
        if rate.shape != ():
            raise MotionError(
                f"{where}.accelerations: {name} has the shape {rate.shape}, not one number."
            )


def _check_series(motion: Motion, given: tuple[Fields, Fields]) -> None:
    """All forces are functions that a Taylor series passes through."""

    def flows(design: Fields, setting: Fields) -> list[list[Coefficient]]:
        system, like = motion.system(design, setting), as_arrays(motion.period(design, setting))
        state, mode, drive = _somewhere(motion, (design, setting), like)
        moving = motion.State(*(line(v, v + 0.3) for v in state))
        along = jax.tree.map(lambda d: line(d, d), drive)
        rates = system.flow(line(state[0], state[0]), moving, mode, along)
        return [series(rate).coefficients(2) for rate in rates]

    jax.eval_shape(flows, *given)


def _somewhere(
    motion: Motion, given: tuple[Fields, Fields], like: Array
) -> tuple[State, Mode, Drive]:
    """A state that is not the start, all contacts open, and values of the drives."""
    start, units, zero = motion.start(*given), motion.units(*given), jnp.zeros_like(like)
    state = [x * 1.1 + 0.07 * (k + 1) for k, x in enumerate(motion.state_of(start, units))]
    mode = (zero if isinstance(p, Coulomb) else zero > 0 for p in motion.contacts)
    return (
        motion.State(*state),
        motion.Mode(*mode),
        motion.Drive(*(zero + 0.3 for _ in motion.segmented)),
    )


class _Numbers(NamedTuple):
    """At the defaults: period, accelerations at the start, units of forces, M at the start and elsewhere."""

    period: Array
    rates: dict[str, Real]
    force_units: tuple[Array, ...]
    mobility: Array
    elsewhere: Array


def _probe(motion: Motion, design: Fields, setting: Fields) -> _Numbers:
    period = as_arrays(motion.period(design, setting))
    rates = motion._at_start(0.1 + 0.0 * period, design, setting)
    system = motion.system(design, setting)
    assert isinstance(system, Assembled)
    elsewhere = system.mobility
    if motion.rigid:
        state, mode, drive = _somewhere(motion, (design, setting), period)
        elsewhere = system.mobility_at(0.3 + 0.0 * period, state, mode, drive, 0.5)
    return _Numbers(period, rates, system.force_units, system.mobility, elsewhere)


def _check_numbers(where: str, motion: Motion, found: _Numbers) -> None:
    if not bool(found.period > 0):
        raise MotionError(f"{where}.period is {found.period} s; it has to be above 0.")
    for name, rate in found.rates.items():
        if not bool(jnp.isfinite(rate)):
            raise MotionError(f"{where}.accelerations: {name} = {rate} at the start.")
    for p, unit in zip(motion.rigid, found.force_units, strict=True):
        if not (bool(unit > 0) and bool(jnp.isfinite(unit))):
            above = isinstance(p, Impact) and p.sign < 0
            raise MotionError(
                f"{where}.accelerations: now.{p.name} has to enter the acceleration of {p.of} over a mass, with "
                f"the sign {'-: the stop above pushes down' if above else '+'}. It does not."
            )
    close = jnp.allclose(found.mobility, found.elsewhere, rtol=1e-6, atol=1e-9)
    if not bool(close):
        forces = ", ".join(f"now.{p.name}" for p in motion.rigid)
        raise MotionError(
            f"{where}.accelerations: what {forces} adds changes with the state or is not in proportion; masses "
            "have to be constant. Choose other coordinates, or override `system` with a HybridSystem of your own."
        )

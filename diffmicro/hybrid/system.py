"""A declared motion as a system for the engine: modes, flow, guards and transitions of its contacts.

Inside, time is in periods T and each coordinate in its scale L, so that an acceleration a becomes a T^2 / L. A
rigid contact i pushes by an unknown force f_i. Accelerations depend on these forces linearly,

    a = a_0 + M f,

and the forces of contacts that hold follow from what they forbid (no acceleration along their coordinate), all
together: a system as small as the number of contacts, whose matrix changes with the modes alone. f_i is counted in
the acceleration of its own coordinate, so that M has ones there and guards are of the order of one.

Signs of the guards, each positive while its mode lasts (v: rate, b: bound of friction, y: gap to the stop):

| contact | mode | guards |
|---|---|---|
| `Coulomb` | sticks | b + f (else it slides up), b - f (else down) |
| | slides, s = +1 or -1 | s v (else reversal), 1 |
| `Impact` | open | y (else touch-down) |
| | closed | f + hold (else pull-off) |
| `OneSidedSpring` | open, closed | y, -y |

What happens at an event, in this order: springs open or close; impacts, each with its impulse M_i (1 + e) v_i, in
the order of the class; what reversed comes to rest. Then accelerations are taken anew, and each contact that could
hold is tested in turn, whether the force that holds it is allowed: touched stops whose rebound is slower than
`CHATTER`, closed stops, then friction at rest. With several contacts that is repeated, as one changes the other.
No impulse of friction acts during an impact.
"""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import PyTree

from diffmicro.dynamics.series import Number
from diffmicro.dynamics.system import Drive, HybridSystem, Mode, Schedule, State, Step
from diffmicro.hybrid.drive import schedule
from diffmicro.hybrid.motion import Motion, Now
from diffmicro.hybrid.parts import Contact, Coulomb, Impact, OneSidedSpring, number
from diffmicro.nonsmooth.elimination import solve
from diffmicro.parameters import Fields, as_arrays

CHATTER = 1e-6
"""Rebounds slower than this [scales per period] end in lasting contact."""

AT_STOP = 64
"""Distance from a stop, and rate, in roundings, at which a motion that starts there may be in contact."""


class Free(NamedTuple):
    """What acts without the rigid contacts: accelerations by coordinate, bounds of friction by contact."""

    rates: tuple[Number, ...]
    bounds: tuple[Number, ...]


class System(HybridSystem):
    """A system that keeps no record of its own (see `observers`); its motion and events are the author's."""

    def blank_record(self, state: State) -> PyTree:
        """Nothing."""
        return None

    def observe(self, record: PyTree, step: Step, state: State) -> PyTree:
        """Nothing."""
        return record


class Assembled(System):
    """A `Motion` with its design and setting.

    scales: of the coordinates. mobility (coordinates, rigid contacts): M. force_units: of the rigid contacts.
    stops, restitutions, holds: by contact, in natural units; 0 for those that have none.
    """

    design: Fields
    setting: Fields
    period: Array
    scales: tuple[Array, ...]
    mobility: Array
    force_units: tuple[Array, ...]
    stops: dict[str, Array]
    restitutions: dict[str, Array]
    holds: dict[str, Array]
    motion: Motion = eqx.field(static=True)

    def schedule(self) -> Schedule:
        """The segmented drives."""
        m = self.motion
        return schedule(m.segmented, m.Drive, self.design, self.setting, self.period)

    def _now(
        self, time: Number, state: State, mode: Mode, drive: Drive, forces: tuple | None
    ) -> Now:
        m = self.motion
        angle = time * (2 * jnp.pi)
        values: dict[str, Number] = {"time": time * self.period, "phase": angle}
        for c, scale in zip(m.coordinates, self.scales, strict=True):
            if not c.drifts:
                values[c.name] = getattr(state, c.name) * scale
            if c.order == 2:
                values[c.rate] = getattr(state, c.rate) * (scale / self.period)
        for h in m.harmonics:
            values[h.name] = h.value(angle, self.design, self.setting)
        values |= {d.name: getattr(drive, d.name) for d in m.segmented}
        for p in m.springs:
            closed = jnp.where(getattr(mode, p.name), 1.0, 0.0)
            scale = self.scales[m.coordinates.index(m.coordinate_named(p.of))]
            values[p.name] = self._gap(p, state) * (-scale * closed)
            values[f"{p.name}_closed"] = closed
        if forces is not None:
            values |= {p.name: f for p, f in zip(m.rigid, forces, strict=True)}
        return Now(**values)

    def _gap(self, stop: Impact | OneSidedSpring, state: State) -> Number:
        return (getattr(state, stop.of) - self.stops[stop.name]) * stop.sign

    def _rates(self, now: Now) -> tuple[Number, ...]:
        """The author's accelerations in natural units."""
        given = self.motion.accelerations(now, self.design, self.setting)
        return tuple(
            given[c.name] * (self.period**c.order / scale)
            for c, scale in zip(self.motion.coordinates, self.scales, strict=True)
        )

    def _free(self, time: Number, state: State, mode: Mode, drive: Drive) -> Free:
        now = self._now(time, state, mode, drive, tuple(0.0 for _ in self.motion.rigid))
        bounds = []
        for p, unit in zip(self.motion.rigid, self.force_units, strict=True):
            bound: Number = 0.0
            if isinstance(p, Coulomb) and p.bound is not None:
                bound = p.bound(now, self.design, self.setting)
            bounds.append(bound * (1.0 / unit))
        return Free(self._rates(now), tuple(bounds))

    def _along(self, contact: Contact) -> int:
        return self.motion.coordinates.index(self.motion.coordinate_named(contact.of))

    def mobility_at(
        self, time: Number, state: State, mode: Mode, drive: Drive, force: float
    ) -> Array:
        """How accelerations change with the rigid contacts' forces, here and at this force, in `force_units`."""

        def rates(forces: Array) -> Array:
            given = tuple(f * unit for f, unit in zip(forces, self.force_units, strict=True))
            return jnp.stack(self._rates(self._now(time, state, mode, drive, given)))

        return jax.jacfwd(rates)(jnp.full(len(self.force_units), force, self.period.dtype))

    def _forces(self, free: Free, mode: Mode) -> list[Number]:
        """f of all rigid contacts in these modes."""
        rigid, along = self.motion.rigid, [self._along(p) for p in self.motion.rigid]
        signs = [getattr(p, "sign", 1.0) for p in rigid]
        holds, known = [], []
        for p, j, sign, bound in zip(rigid, along, signs, free.bounds, strict=True):
            state = getattr(mode, p.name)
            held = jnp.where(state == 0 if isinstance(p, Coulomb) else state, 1.0, 0.0)
            holds.append(held)
            known.append(free.rates[j] * (-sign * held))
            if isinstance(p, Coulomb):
                known[-1] = known[-1] + bound * (-state)
        if len(rigid) == 1:
            return known
        # Row i: how the forces accelerate the coordinate of contact i, if it holds.
        pushed = [
            [self.mobility[j, k] * (sign * held) for k in range(len(rigid))]
            for j, sign, held in zip(along, signs, holds, strict=True)
        ]
        if len(rigid) == 2:  # by hand: it is taken many times a step
            (_, right), (left, _) = pushed
            share = 1.0 / (1.0 - right * left)
            first, second = known
            return [(first - second * right) * share, (second - first * left) * share]
        size = range(len(rigid))
        ones = [[1.0 if i == k else pushed[i][k] for k in size] for i in size]
        matrix = jnp.stack(
            [jnp.stack([jnp.asarray(x, self.period.dtype) for x in r]) for r in ones]
        )
        inverse = solve(matrix, jnp.eye(len(rigid), dtype=matrix.dtype))
        return [
            sum((known[k] * inverse[i, k] for k in size[1:]), known[0] * inverse[i, 0])
            for i in size
        ]

    def laws(
        self, time: Number, state: State, mode: Mode, drive: Drive
    ) -> tuple[State, Callable[[], tuple[Number, ...]]]:
        """Rates of change, and a function that gives the guards of the table above."""
        m = self.motion
        free = self._free(time, state, mode, drive)
        forces = self._forces(free, mode) if m.rigid else []
        rates: dict[str, Number] = {}
        for j, c in enumerate(m.coordinates):
            rate = free.rates[j]
            for i, force in enumerate(forces):
                rate = force * self.mobility[j, i] + rate
            for p in m.rigid:  # exactly at rest, whatever the elimination rounds
                if p.of == c.name:
                    rate = rate * jnp.where(m.holds(p.name, mode), 0.0, 1.0)
            if c.order == 2:
                rates |= {c.name: getattr(state, c.rate), c.rate: rate}
            else:
                rates[c.name] = rate
        flow, held = m.State(**rates), dict(zip(m.rigid, forces, strict=True))
        return flow, lambda: self._guards(state, mode, held, free.bounds)

    def flow(self, time: Number, state: State, mode: Mode, drive: Drive) -> State:
        """See `laws`."""
        return self.laws(time, state, mode, drive)[0]

    def guards(self, time: Number, state: State, mode: Mode, drive: Drive) -> tuple[Number, ...]:
        """See `laws`."""
        return self.laws(time, state, mode, drive)[1]()

    def _guards(self, state: State, mode: Mode, forces: dict, bounds: tuple) -> tuple[Number, ...]:
        m = self.motion
        guards: list[Number] = []
        for p in m.contacts:
            at = getattr(mode, p.name)
            if isinstance(p, Coulomb):
                stuck = jnp.where(at == 0, 1.0, 0.0)
                bound, force = bounds[m.rigid.index(p)] * stuck, forces[p] * stuck
                onward = getattr(state, m.coordinate_named(p.of).rate) * at
                guards += [bound + force + onward, bound - force + (1.0 - stuck)]
                continue
            closed = jnp.where(at, 1.0, 0.0)
            gap = self._gap(p, state)
            if isinstance(p, Impact):
                guards.append(gap * (1.0 - closed) + (forces[p] + self.holds[p.name]) * closed)
            else:
                guards.append(gap * (1.0 - 2.0 * closed))
        return tuple(guards) or (jnp.ones_like(self.period),)

    def enter(self, time: Number, state: State, drive: Drive) -> tuple[State, Mode]:
        """Contact where a motion begins at a stop at rest, sliding from the rate, else from the forces."""
        m = self.motion
        mode, near = {}, {}
        for p in m.contacts:
            rate = getattr(state, m.coordinate_named(p.of).rate)
            if isinstance(p, Coulomb):
                mode[p.name] = jnp.sign(rate)
                continue
            gap = self._gap(p, state)
            if isinstance(p, Impact):
                # A guess of Newton's method may lie beyond a stop; the motion cannot.
                state = state._replace(
                    **{p.of: jnp.where(gap < 0, self.stops[p.name], getattr(state, p.of))}
                )
                close = AT_STOP * jnp.finfo(gap.dtype).eps
                near[p.name] = (gap <= close) & (jnp.abs(rate) <= close)
                mode[p.name] = jnp.zeros_like(near[p.name])
            else:
                mode[p.name] = (gap < 0) | ((gap == 0) & (p.sign * rate < 0))
        rests = {p.name: mode[p.name] == 0 for p in m.rigid if isinstance(p, Coulomb)}
        return self._decided(time, state, m.Mode(**mode), drive, near, rests)

    def transition(
        self,
        time: Number,
        state: State,
        mode: Mode,
        drive: Drive,
        fired: tuple[Array, ...],
        switched: Array,
    ) -> tuple[State, Mode]:
        """What happens at an event, see the module docstring."""
        m = self.motion
        if not m.contacts:
            return state, mode
        by_contact = fired_of(m, fired)
        event, hit = switched, jnp.zeros_like(switched)
        for flag in fired:
            event = event | flag
        new, near, rests = mode._asdict(), {}, {}
        for p in m.springs:
            new[p.name] = mode._asdict()[p.name] ^ by_contact[p.name][0]
        for p in m.rigid:
            if not isinstance(p, Impact):
                continue
            (flag,), closed = by_contact[p.name], getattr(mode, p.name)
            rate = getattr(state, m.coordinate_named(p.of).rate) * p.sign
            struck = (flag & ~closed) | (closed & hit & (rate < 0))
            at = jnp.where(struck | closed, self.stops[p.name], getattr(state, p.of))
            state = state._replace(**{p.of: at})
            impulse = -(1.0 + self.restitutions[p.name]) * rate
            state = self._kicked(p, state, jnp.where(struck, impulse, 0.0))
            hit = hit | struck
            near[p.name] = struck | (closed & ~flag)
        for p in m.rigid:
            if isinstance(p, Coulomb):
                up, down = by_contact[p.name]
                slip, name = getattr(mode, p.name), m.coordinate_named(p.of).rate
                reversed_ = up & (slip != 0)
                rate = jnp.where(reversed_, 0.0, getattr(state, name))
                state = state._replace(**{name: rate})
                released = (up | down) & (slip == 0)
                slip = jnp.where(released, jnp.where(up, 1.0, -1.0), slip)
                slip = jnp.where(hit & (rate != 0), jnp.sign(rate), slip)
                rests[p.name] = ((slip == 0) | reversed_ | (hit & (rate == 0))) & ~released
                new[p.name] = jnp.where(rests[p.name], 0.0, slip)
        for name, flag in near.items():
            rate = getattr(state, m.coordinate_named(m.contact_named(name).of).rate)
            near[name] = flag & (jnp.abs(rate) < CHATTER)
        after, decided = self._decided(time, state, m.Mode(**new), drive, near, rests)
        return jax.tree.map(lambda a, b: jnp.where(event, a, b), (after, decided), (state, mode))

    def _kicked(self, contact: Impact, state: State, impulse: Array) -> State:
        """The state after an impulse of a contact, in the rate of its gap."""
        i = self.motion.rigid.index(contact)
        rates = {
            c.rate: getattr(state, c.rate) + self.mobility[j, i] * impulse
            for j, c in enumerate(self.motion.coordinates)
            if c.order == 2
        }
        return state._replace(**rates)

    def _decided(
        self, time: Number, state: State, mode: Mode, drive: Drive, near: dict, rests: dict
    ) -> tuple[State, Mode]:
        """State and modes after deciding which of the contacts that are `near`, or rest (`rests`), hold."""
        m = self.motion
        free = self._free(time, state, mode, drive)
        rounds = 1 if len(m.rigid) < 2 else len(m.rigid)
        for _ in range(rounds):
            for i, p in enumerate(m.rigid):
                if isinstance(p, Impact):
                    force = self._forces(free, mode._replace(**{p.name: near[p.name]}))[i]
                    held = near[p.name] & (force + self.holds[p.name] > 0)
                    mode = mode._replace(**{p.name: held})
            for i, p in enumerate(m.rigid):
                if isinstance(p, Coulomb):
                    slip = getattr(mode, p.name)
                    tried = mode._replace(**{p.name: jnp.where(rests[p.name], 0.0, slip)})
                    force = self._forces(free, tried)[i]
                    picked = jnp.where(jnp.abs(force) <= free.bounds[i], 0.0, -jnp.sign(force))
                    mode = mode._replace(**{p.name: jnp.where(rests[p.name], picked, slip)})
        # What holds is at rest exactly, whatever nudges it; so its derivative is lost here.
        for p in m.rigid:
            if isinstance(p, Impact):
                held = getattr(mode, p.name)
                left = getattr(state, m.coordinate_named(p.of).rate) * p.sign
                state = self._kicked(p, state, jnp.where(held, -left, 0.0))
                place = jnp.where(held, self.stops[p.name], getattr(state, p.of))
                state = state._replace(**{p.of: place})
        for p in m.rigid:
            rate = m.coordinate_named(p.of).rate
            still = jnp.where(m.holds(p.name, mode), 0.0, getattr(state, rate))
            state = state._replace(**{rate: still})
        return state, mode


def fired_of(motion: Motion, fired: tuple[Array, ...]) -> dict[str, tuple[Array, ...]]:
    """The guards that fired, by contact: two of friction, one of the others."""
    left, found = list(fired), {}
    for p in motion.contacts:
        count = 2 if isinstance(p, Coulomb) else 1
        found[p.name], left = tuple(left[:count]), left[count:]
    return found


def assembled(
    motion: Motion, design: Fields, setting: Fields, kind: type[Assembled] = Assembled
) -> Assembled:
    """The system of a motion, with all that does not change during it in natural units."""
    period = as_arrays(motion.period(design, setting))
    scales = {n: jnp.asarray(s, period.dtype) for n, s in motion.scales(design, setting).items()}

    def numbers(name: str, parts: tuple) -> dict[str, Array]:
        return {
            p.name: jnp.asarray(number(getattr(p, name), design, setting), period.dtype)
            for p in parts
        }

    impacts = tuple(p for p in motion.rigid if isinstance(p, Impact))
    stops = numbers("at", (*motion.springs, *impacts))
    system = kind(
        design=design,
        setting=setting,
        period=period,
        scales=tuple(scales[c.name] for c in motion.coordinates),
        mobility=jnp.zeros((len(motion.coordinates), len(motion.rigid)), period.dtype),
        force_units=tuple(jnp.ones_like(period) for _ in motion.rigid),
        stops={name: at / scales[motion.contact_named(name).of] for name, at in stops.items()},
        restitutions=numbers("restitution", impacts),
        holds={},
        motion=motion,
    )
    system = _with_mobility(system) if motion.rigid else system
    units = dict(zip(motion.rigid, system.force_units, strict=True))
    holds = numbers("hold", impacts)
    return dataclasses.replace(system, holds={p.name: holds[p.name] / units[p] for p in impacts})


def _with_mobility(system: Assembled) -> Assembled:
    """M and the units of forces as they are at the start; `check` refuses a motion where they change."""
    m, like = system.motion, system.period
    start = m.start(system.design, system.setting)
    units = m.units(system.design, system.setting)
    state = m.state_of(start, units)
    mode = m.Mode(*(jnp.zeros((), bool) for _ in m.contacts))
    drive = m.Drive(*(jnp.ones_like(like) for _ in m.segmented))
    by_force = system.mobility_at(jnp.zeros_like(like), state, mode, drive, 0.0)
    own = [getattr(p, "sign", 1.0) * by_force[system._along(p), i] for i, p in enumerate(m.rigid)]
    units = tuple(1.0 / x for x in own)
    return dataclasses.replace(
        system, mobility=by_force * jnp.stack(units)[None, :], force_units=units
    )

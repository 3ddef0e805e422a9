"""The tumbler's planar motion between touches, slips and lift-offs, in natural units.

Length in l (mean radius of the hull), mass in the robot's mass, time in half turns of the field; velocities in
l times `rate` per half turn, so that forces and velocities are of order one however slow the field is.
A contact of the hull at height h(a) under the center and h'(a) ahead of it (`outlines`), of radius r, with
roll a, spin w = a' and sliding velocity u of the body's material at the contact, obeys

    normal force      n = N + h' w' + (r - h) w^2
    tangential force  t = S + h w' + h' w^2 + u'
    I w' = T - h t - h' n,     T = torque sin(pi time + phase - a)          (Xie 2019, eqs. 1, 2, 10, 12)

On its piece of the hull the roll is counted from the face before: h(roll) = r + ahead sin + below cos, so that
a body that rocks on a face is that far from it.

with N what presses (weight, electrostatic force, adhesion of the contact) and S the weight along the slope.

| mode | while | ends by |
|---|---|---|
| flight | gap > 0 | touch-down: plastic impact |
| piece (corner, arc), stick: u = 0 | n > 0, t within mu (n + load) | slide against t; lift-off; a face lands |
| piece, slide `slip` | n > 0, slip u > 0 | stick, reversal; lift-off; landing on a face |
| face, stick or slide: w = 0, with adhesion | both ends pressed | tips over the end that stays; stick |
| held at the front or rear end: w = 0 | n there between N and N + adhesion | tips, or a face again |

The last mode is a face of which friction lifts one end only while adhesion acts: let go, it falls back, so the
adhesion takes the value in between (Filippov). A landing is one impact of all touching corners with Coulomb
impulses: 0 <= p_i, v_i+ >= 0 complementary, one tangential impulse |p_t| <= mu sum p against the sliding
velocity after it. The friction impulse takes no part of the adhesion. Rocking slower than `CHATTER` ends.

In a fluid the weight is less the buoyancy, N grows by drag z', S by drag x' and T falls by brake w, with x' and z'
the velocity of the center; impacts are too short for the fluid to matter.

Left out: rebound, presliding, rolling resistance, inertia of a fluid, and everything out of the plane.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from diffmicro.devices.tumbler.impact import Body, Velocity, either, plastic_impact
from diffmicro.devices.tumbler.state import (
    FACE,
    FLIGHT,
    FRONT,
    PIECE,
    REAR,
    Drive,
    Mode,
    Record,
    State,
    flags,
    mode_of,
)
from diffmicro.dynamics.series import Number, sin_cos
from diffmicro.dynamics.system import HybridSystem, Schedule, Step

CHATTER = 1e-7
"""Rocking that is slower ends: its swing is below 1e-12, and roundoff in the roll would stop it anyway."""


ROUNDING = 256
"""Force on one end of a face, in roundings of what presses, below which it is none."""


class _Passage(NamedTuple):
    """What an event did to the roll: the state after it; whether the roll passes to another piece, a body in
    flight touches, it comes to rest on a face; that face, and the piece that is lowest then."""

    state: State
    passes: Array
    touches: Array
    rests: Array
    face: Array
    piece: Array


class TumblerMotion(HybridSystem):
    """The lumped numbers of the module docstring. Arrays by piece as in `outlines`, `normal` its face's."""

    ahead: Array
    below: Array
    radius: Array
    normal: Array
    span: Array
    edge: Array
    face_pull: Array
    face_load: Array
    count: Array
    line_pull: Array
    line_load: Array
    inertia: Array
    press: Array
    slope: Array
    torque: Array
    friction: Array
    phase: Array
    rate: Array
    drag: Array | None = None
    brake: Array | None = None

    def schedule(self) -> Schedule:
        """One segment: half a turn of the field."""
        return Schedule((jnp.ones_like(self.rate),), (Drive(),), (Drive(),))

    def previous(self, piece: Number) -> Number:
        """The piece before."""
        return jnp.where(piece == 0, self.count - 1, piece - 1)

    def following(self, piece: Number) -> Number:
        """The piece after."""
        return jnp.where(piece == self.count - 1, 0, piece + 1)

    def lever(self, piece: Number, roll: Number) -> tuple[Number, Number]:
        """h and h' on a piece."""
        sine, cosine = sin_cos(roll)
        ahead, below = self.ahead[piece], self.below[piece]
        return sine * ahead + cosine * below + self.radius[piece], cosine * ahead - sine * below

    def _turning(self, time: Number, piece: Number, roll: Number) -> Number:
        """T."""
        sine, _ = sin_cos(time * jnp.pi - roll + (self.phase - self.normal[piece]))
        return sine * self.torque

    def _on_piece(
        self, time: Number, state: State, mode: Mode, touching: Number, sticks: Number
    ) -> tuple:
        """w', n, t, and the accelerations up and along that a point at the lowest contact lacks to be free.

        `touching` and `sticks` are 1 or 0.
        """
        piece, spin = mode.piece, state.spin
        h, ahead = self.lever(piece, state.roll)
        grip = self.friction * mode.slip * touching
        load = self.line_load * touching
        arm = ahead - h * grip
        squared = spin * spin
        press = (self.radius[piece] - h) * squared + (self.press + self.line_pull * touching)
        drag = ahead * squared + self.slope
        turning = self._turning(time, piece, state.roll) + h * (grip * load)
        if self.drag is not None:
            press = press + self.drag * (state.rate + ahead * spin)
            drag = drag + self.drag * (state.slide + h * spin)
            turning = turning - self.brake * spin
        turning = turning - arm * press * touching - h * drag * sticks
        spin_rate = turning / (arm * ahead * touching + h * h * sticks + self.inertia)
        press = press + ahead * spin_rate
        drag = drag + h * spin_rate
        normal = press * touching
        return spin_rate, normal, drag * sticks - (normal + load) * grip, press, drag

    def _held(self, time: Number, mode: Mode) -> tuple:
        """Normal force of a body that does not turn, the most it can be, t, forces on both ends of the face."""
        face = mode.piece
        front = self.ahead[face]
        width = jnp.where(self.edge[face] > 0, self.edge[face], 1.0)
        rear = front - self.edge[face]
        h = self.below[face] + self.radius[face]
        whole, load = self.press + self.face_pull[face], self.face_load[face]
        grip = self.friction * mode.slip
        drag = jnp.where(mode.slip == 0, self.slope, 0.0)
        # Moments about the center: T - h t = front p + rear (n - p), or arm n on one end alone.
        turning = self._turning(time, face, 0.0 * time) + h * (grip * load - drag)
        arm = jnp.where(mode.kind == FRONT, front, rear) - h * grip
        alone = turning * (1.0 / jnp.where(arm == 0, 1.0, arm))
        on_face = jnp.where(mode.kind == FACE, 1.0, 0.0)
        normal = alone * (1.0 - on_face) + whole * on_face
        forward = (turning + (h * grip - rear) * whole) * (1.0 / width)
        return normal, whole, drag - (normal + load) * grip, whole - forward, forward

    def laws(
        self, time: Number, state: State, mode: Mode, drive: Drive
    ) -> tuple[State, Callable[[], tuple[Number, ...]]]:
        """Rates of the state, and the guards from the same forces: contact, ends of the piece, friction."""
        del drive
        touching, sticks, flying, held = flags(mode)
        spin_rate, normal, along, press, drag = self._on_piece(time, state, mode, touching, sticks)
        normal_held, whole, along_held, behind, forward = self._held(time, mode)
        moves = jnp.where((mode.slip == 0) & (mode.kind != FLIGHT), 0.0, 1.0)
        turns = self.rate * (1.0 - held)
        slide_rate = (along - drag) * (moves * turns)
        on_face = along_held - self.slope
        if self.drag is not None:
            on_face = on_face - self.drag * state.slide
        slide_rate = slide_rate + on_face * (moves * held * self.rate)
        rates = State(
            state.rate * (self.rate * flying),
            press * (-self.rate * flying),
            state.spin * turns,
            spin_rate * turns,
            slide_rate,
            state.slide * (self.rate * moves),
            0.0,
        )

        def guards() -> tuple[Number, ...]:
            # What may fail on two sides is a product; its factors tell the side.
            face = jnp.where(mode.kind == FACE, 1.0, 0.0)
            partly, free = held - face, 1.0 - held
            contact = normal + state.gap * flying + held
            one = state.roll * free + behind * face + (normal_held - self.press) * partly
            other = (self.span[mode.piece] - state.roll) * free
            other = other + forward * face + (whole - normal_held) * partly
            bound = (normal + self.line_load) * (self.friction * sticks)
            slides = moves * (1.0 - flying)
            left = bound - along * sticks + state.slide * (mode.slip * slides)
            friction = (left + flying + (1.0 - moves) * held) * (
                bound + along * sticks + (1.0 - sticks)
            )
            return contact, one * other, friction

        return rates, guards

    def flow(self, time: Number, state: State, mode: Mode, drive: Drive) -> State:
        """Rates of the state."""
        return self.laws(time, state, mode, drive)[0]

    def guards(self, time: Number, state: State, mode: Mode, drive: Drive) -> tuple[Number, ...]:
        """Quantities that are positive as long as the mode lasts."""
        return self.laws(time, state, mode, drive)[1]()

    def _choose_on_piece(
        self, time: Number, state: State, piece: Number
    ) -> tuple[Number, Number, Number]:
        """Direction of sliding, whether the body stays on the ground, and its w'."""
        rests = state.slide == 0
        still = Mode(PIECE, piece, 0.0)
        rate, normal, along, _, _ = self._on_piece(time, state, still, 1.0, 1.0)
        sticks = rests & (normal > 0)
        sticks = sticks & (jnp.abs(along) <= self.friction * (normal + self.line_load))
        slip = jnp.where(rests, -jnp.sign(along), jnp.sign(state.slide))
        slid_rate, slid, _, _, _ = self._on_piece(time, state, Mode(PIECE, piece, slip), 1.0, 0.0)
        slip = jnp.where(sticks, 0.0, slip)
        return slip, sticks | (slid > 0), jnp.where(sticks, rate, slid_rate)

    def _choose(
        self,
        time: Number,
        state: State,
        piece: Number,
        on_face: Number,
        released: Number,
        breaks: Number,
    ) -> tuple[State, Mode]:
        """State and mode of a body on a piece, or at rest `on_face`: it lies, tips over an end, or is held there.

        `released`: FRONT or REAR where the adhesion that held this end is used up, else FACE.
        `breaks`: direction of sliding that starts here, else 0.
        """
        rests = state.slide == 0
        bound = self.friction * (self.press + self.face_pull[piece] + self.face_load[piece])
        face_slip = jnp.where(rests, -jnp.sign(self.slope), jnp.sign(state.slide))
        face_slip = jnp.where(rests & (jnp.abs(self.slope) <= bound), 0.0, face_slip)
        _, _, _, behind, forward = self._held(time, Mode(FACE, piece, face_slip))
        # A force of nothing, give or take rounding, is what is left when the event is its zero.
        little = ROUNDING * jnp.finfo(self.press.dtype).eps * self.press
        over_front = ((behind < little) & (released != REAR)) | (released == FRONT)
        over_rear = (forward < little) & ~over_front
        end = jnp.where(on_face & ~over_front, self.previous(piece), piece)
        roll = jnp.where(on_face, jnp.where(over_front, 0.0, self.span[end]), state.roll)
        at_end = state._replace(roll=roll, spin=jnp.where(on_face, 0.0, state.spin))
        slip, grounded, rate = self._choose_on_piece(time, at_end, end)
        slip = jnp.where(breaks == 0, slip, breaks)
        tips = (over_front & (rate > 0)) | (over_rear & (rate < 0)) | (released > FACE)
        lies = on_face & ~tips
        held = jnp.where(over_front, FRONT, jnp.where(over_rear, REAR, FACE))
        mode = Mode(
            jnp.where(lies, held, jnp.where(grounded, PIECE, FLIGHT)),
            jnp.where(lies, piece, end),
            jnp.where(lies, face_slip, slip),
        )
        return at_end, mode

    def enter(self, time: Number, state: State, drive: Drive) -> tuple[State, Mode]:
        """Mode from exact zeros: a gap of zero is contact, a face's roll without spin a face.

        The roll that comes in is counted from the body's frame, in [normal[0], normal[0] + 2 pi).
        """
        present = jnp.arange(self.normal.size) < self.count
        piece = jnp.sum(present & (self.normal <= state.roll)) - 1
        roll = state.roll - self.normal[piece]
        contact = (state.gap <= 0) & (state.rate <= 0)
        face = contact & (state.spin == 0) & (roll == 0) & (self.edge[piece] > 0)
        blank = jnp.zeros_like(state.gap)
        state = state._replace(
            gap=jnp.where(contact, blank, state.gap),
            rate=jnp.where(contact, blank, state.rate),
            roll=jnp.where(face, blank, roll),
            spin=jnp.where(face, blank, state.spin),
        )
        state, mode = self._choose(time, state, piece, face, FACE, 0.0)
        mode = mode_of(mode._replace(kind=jnp.where(contact, mode.kind, FLIGHT)), state)
        return self._settled(state, mode), mode

    def _settled(self, state: State, mode: Mode) -> State:
        """The state with what the mode holds fixed, without derivatives."""
        blank = jnp.zeros_like(state.gap)
        held, grounded = mode.kind >= FACE, mode.kind != FLIGHT
        return state._replace(
            gap=jnp.where(grounded, blank, state.gap),
            rate=jnp.where(grounded, blank, state.rate),
            roll=jnp.where(held, blank, state.roll),
            spin=jnp.where(held, blank, state.spin),
            slide=jnp.where(grounded & (mode.slip == 0), blank, state.slide),
        )

    def place(self, state: State, mode: Mode) -> Array:
        """The roll counted from the body's frame."""
        return state.roll + self.normal[mode.piece]

    def transition(
        self,
        time: Number,
        state: State,
        mode: Mode,
        drive: Drive,
        fired: tuple[Array, ...],
        switched: Array,
    ) -> tuple[State, Mode]:
        """The right column of the table above."""
        passage = self._passage(state, mode, fired)
        state, chosen = self._after(time, mode, fired, passage)
        state, chosen = self._turned(state, mode, chosen, switched)
        return self._settled(state, chosen), chosen

    def _passage(self, state: State, mode: Mode, fired: tuple[Array, ...]) -> "_Passage":
        """Roll leaves the piece forward or backward, to a neighbor; a flat face between them lands."""
        contact, ends, friction = fired
        kind, piece, slip = mode
        flying, touching, held = kind == FLIGHT, kind == PIECE, kind >= FACE
        passes = ends & ~held
        forward = passes & (state.roll > 0.5 * self.span[piece])
        neighbor = jnp.where(forward, self.following(piece), self.previous(piece))
        face = jnp.where(forward, neighbor, piece)
        lands = passes & touching & (self.edge[face] > 0)
        touches = flying & contact
        h, ahead = self.lever(piece, state.roll)
        spin = state.spin
        center = Velocity(state.rate + ahead * spin, state.slide + h * spin, spin)
        rear = jnp.where(lands, self.ahead[face] - self.edge[face], ahead)
        front = jnp.where(lands, self.ahead[face], ahead)
        body = Body(self.friction, self.inertia, h, rear, front)
        after, rests, at_front, sticks = plastic_impact(body, center)
        hits = lands | (touches & (state.rate < 0))
        rests = lands & (rests | (jnp.abs(after.spin) < CHATTER))

        to_front = jnp.where(lands, at_front, forward)
        next_piece = jnp.where(passes, jnp.where(to_front, face, self.previous(face)), piece)
        next_roll = jnp.where(to_front, 0.0, self.span[next_piece])
        # In flight the gap to the lowest point keeps, its rate is that of another point.
        moved = jnp.where(forward, -1.0, 1.0) * self.edge[face] * spin
        rate = jnp.where(passes & flying, state.rate + moved, state.rate)
        slide = jnp.where(sticks, 0.0, after.along - h * after.spin)
        slide = jnp.where(hits, slide, state.slide)
        state = state._replace(
            gap=jnp.where(touches, 0.0, state.gap),
            rate=jnp.where(touches, 0.0, rate),
            roll=jnp.where(passes, next_roll, state.roll),
            spin=jnp.where(hits, after.spin, spin),
            slide=jnp.where(friction & (slip != 0), 0.0, slide),
        )
        return _Passage(state, passes, touches, rests, face, next_piece)

    def _after(
        self, time: Number, mode: Mode, fired: tuple[Array, ...], passage: "_Passage"
    ) -> tuple[State, Mode]:
        """The mode after what landed on a face, or ended on one, or broke loose."""
        contact, ends, friction = fired
        kind, _, slip = mode
        touching, held, state = kind == PIECE, kind >= FACE, passage.state
        # What held an end by adhesion lets go or lies again.
        normal_held, whole, _, _, _ = self._held(time, mode)
        partly = held & (kind != FACE) & ends
        lies_again = partly & (normal_held > self.press + 0.5 * (whole - self.press))
        released = jnp.where(partly & ~lies_again, kind, FACE)
        on_face = passage.rests | (held & (ends | friction))
        here = jnp.where(passage.rests, passage.face, passage.piece)
        _, _, along, _, _ = self._on_piece(time, state, mode, 1.0, 1.0)
        breaks = jnp.where(touching & friction & (slip == 0), -jnp.sign(along), 0.0)
        chosen_state, chosen = self._choose(time, state, here, on_face, released, breaks)
        chosen = chosen._replace(kind=jnp.where(lies_again, FACE, chosen.kind))
        lifts = touching & contact
        again = passage.touches | on_face | (touching & (passage.passes | friction))
        chosen = either(again, chosen, Mode(kind, passage.piece, slip))
        state = either(again, chosen_state, state)
        return state, chosen._replace(kind=jnp.where(lifts, FLIGHT, chosen.kind))

    def _turned(
        self, state: State, mode: Mode, chosen: Mode, switched: Array
    ) -> tuple[State, Mode]:
        """After half a turn of the field the body, symmetric, is where it was; laps are counted."""
        half, last = self.count // 2, self.count - 1
        early = chosen.piece < half
        turned = jnp.where(early, chosen.piece + half, chosen.piece - half)
        seam = jnp.where((mode.piece == last) & (chosen.piece == 0), 2.0, 0.0)
        seam = jnp.where((mode.piece == 0) & (chosen.piece == last), -2.0, seam)
        seam = seam + jnp.where(switched, jnp.where(early, -1.0, 1.0), 0.0)
        state = state._replace(lap=state.lap + seam)
        return state, mode_of(
            chosen._replace(piece=jnp.where(switched, turned, chosen.piece)), state
        )

    def blank_record(self, state: State) -> Record:
        """Nothing seen yet."""
        zero = jnp.zeros_like(state.gap)
        return Record(zero, zero, zero, zero, zero, zero, zero + 1.0)

    def observe(self, record: Record, step: Step, state: State) -> Record:
        """Shares of time, and the largest adhesion, which only a face or an edge band has."""
        kind, piece, slip = step.mode
        spent = step.duration * step.length
        on_ground = kind != FLIGHT
        pull = jnp.where(kind == FACE, self.face_pull[piece] + self.face_load[piece], 0.0)
        pull = jnp.where(kind == PIECE, self.line_pull + self.line_load, pull)
        event = step.fired[0] | step.fired[2]
        smooth = (kind == FLIGHT) | ((kind == PIECE) & (self.edge[piece] == 0))
        event = event | (step.fired[1] & ~smooth)
        return Record(
            contact_time=record.contact_time + jnp.where(on_ground, spent, 0.0),
            face_time=record.face_time + jnp.where(kind >= FACE, spent, 0.0),
            slip_time=record.slip_time + jnp.where(on_ground & (slip != 0), spent, 0.0),
            hops=record.hops + jnp.where((kind == FLIGHT) & step.fired[0], 1.0, 0.0),
            events=record.events + jnp.where(event, 1.0, 0.0),
            pull=jnp.maximum(record.pull, pull),
            margin=jnp.minimum(record.margin, _judged(step).margin()),
        )


def _judged(step: Step) -> Step:
    """The step with what counts for the margin: neither guards that start from their own zero (sliding that
    begins) nor landings, which however slow come at every rocking of a body that settles."""
    guards, fired = [], []
    for number, (guard, event) in enumerate(zip(step.guards, step.fired, strict=True)):
        lands = event & (number == 1)
        idle = ((guard[0] == 0) & ~event) | lands
        guards.append([jnp.where(idle, 1.0 if k == 0 else 0.0, c) for k, c in enumerate(guard)])
        fired.append(event & ~lands)
    return step._replace(guards=tuple(guards), fired=tuple(fired))

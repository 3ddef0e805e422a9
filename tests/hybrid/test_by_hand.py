"""A system written by hand in the place of the parts: the same device comes out."""

from collections import namedtuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro import hybrid
from tests.hybrid.robots import BLOCK, Block, Setting

Slip = namedtuple("Slip", ["slip"])
Nothing = namedtuple("Nothing", [])


class ByHand(hybrid.System):
    """The block of `robots`, in units of its scale and the period: v' = force - slip bound."""

    amplitude: Array
    bias: Array
    bound: Array

    def schedule(self):
        return hybrid.Schedule((jnp.ones_like(self.bias),), (Nothing(),), (Nothing(),))

    def force(self, time):
        return hybrid.cos(time * (2 * jnp.pi)) * self.amplitude + self.bias

    def flow(self, time, state, mode, drive):
        rate = self.force(time) * jnp.abs(mode.slip) - mode.slip * self.bound
        return type(state)(place_rate=rate, place=state.place_rate)

    def guards(self, time, state, mode, drive):
        stuck = 1.0 - jnp.abs(mode.slip)
        demand = self.force(time) * stuck
        onward = state.place_rate * mode.slip
        return onward + self.bound * stuck - demand, demand + self.bound * stuck + (1.0 - stuck)

    def picked(self, time):
        force = self.force(time)
        return jnp.where(jnp.abs(force) <= self.bound, 0.0, jnp.sign(force))

    def enter(self, time, state, drive):
        rests = state.place_rate == 0
        return state, Slip(jnp.where(rests, self.picked(time), jnp.sign(state.place_rate)))

    def transition(self, time, state, mode, drive, fired, switched):
        up, down = fired
        stops = up & (mode.slip != 0)
        slip = jnp.where(up & ~stops, 1.0, jnp.where(down, -1.0, mode.slip))
        slip = jnp.where(stops, self.picked(time), slip)
        return state._replace(place_rate=jnp.where(stops, 0.0, state.place_rate)), Slip(slip)


class Motion(hybrid.Motion):
    """One coordinate, no contact: what acts is the system's business."""

    place = hybrid.Coordinate("place of the block", drifts=True, scale=1e-5)

    def period(self, design, setting):
        return 1 / setting.frequency

    def system(self, design, setting):
        unit = design.mass * self.units(design, setting)["place_rate"] * setting.frequency
        return ByHand(setting.amplitude / unit, design.bias / unit, design.bound / unit)

    def event(self, name, step):
        return step.fired[0] | step.fired[1]

    def holds(self, name, mode):
        return mode.slip == 0


def test_a_system_by_hand_is_the_one_of_the_parts():
    responses = {
        "velocity": hybrid.drift("place"),
        "stick": hybrid.share("ground"),
        "turns": hybrid.count("ground"),
    }
    made = hybrid.device("b", "b", Block, Setting, Motion, source="-", responses=responses)
    numerics = dict(start={"place_rate": 2e-3}, near=True, window=0)
    setting = Setting(amplitude=4e-6)
    found, expected = (d.respond(Block(), setting, **numerics) for d in (made, BLOCK))
    for name in responses:
        np.testing.assert_allclose(
            getattr(found, name), getattr(expected, name), rtol=1e-7, err_msg=name
        )

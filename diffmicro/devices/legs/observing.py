"""What is recorded of a foot on modes over a step that is taken: heights, bounces, contact, the nearest miss."""

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro.devices.legs import ground
from diffmicro.devices.legs.curves import cubic, stationary
from diffmicro.devices.legs.flight import Flight
from diffmicro.devices.legs.motion import Foot, LegsMotion, Record


def observed(
    system: LegsMotion,
    flight: Flight,
    end: Foot,
    duration: Array,
    impact: Array,
    lost: Array,
) -> Record:
    """The record after one taken step."""
    still = jax.lax.stop_gradient
    seen, begin, closed = flight.record, flight.foot, flight.closed
    turns = begin.speed * end.speed < 0
    if not system.compliant:
        turns = turns & ~closed
    # Where the foot does not turn, a curve that does, whose derivatives are finite.
    curve = (
        jnp.where(turns, begin.height, 1.0),
        jnp.where(turns, begin.speed, 1.0),
        jnp.where(turns, end.height, 1.0),
        jnp.where(turns, end.speed, -1.0),
    )
    extreme = cubic(*curve, duration, stationary(*curve, duration))
    top = jnp.where(turns & (begin.speed > 0), extreme, jnp.maximum(begin.height, end.height))
    bottom = jnp.where(turns & (begin.speed < 0), extreme, jnp.minimum(begin.height, end.height))
    touches, deepest = closed | impact, jnp.zeros_like(bottom)
    lowest_point = bottom
    top, bottom = jnp.where(closed, 0.0, top), jnp.where(touches, 0.0, bottom)
    area = 0.5 * duration * (begin.height + end.height)
    area = area + duration * duration * (begin.speed - end.speed) / 12.0
    if system.compliant:
        deepest = jnp.where(closed, jnp.maximum(-lowest_point, 0.0), 0.0)
        top, bottom = jnp.maximum(top, 0.0), jnp.maximum(bottom, 0.0)
        area = ground.above(begin, end, area)
    highest = jnp.maximum(seen.flight, top)
    opening = touches & (seen.first < 0)
    counts = impact & (highest > system.threshold) & ~opening
    bend = jnp.abs(end.acceleration)
    rate = jnp.where(counts, jnp.abs(end.speed), jnp.sqrt(2 * bend * jnp.maximum(bottom, 0.0)))
    dips = turns & (begin.speed < 0) & ~closed
    miss = jnp.where(counts | dips, still(rate / jnp.where(bend > 0, bend, 1.0)), 1.0)
    return Record(
        height=seen.height + jnp.where(closed, 0.0, area),
        peak=jnp.maximum(seen.peak, top),
        low=jnp.minimum(seen.low, bottom),
        flight=jnp.where(touches, 0.0, highest),
        bounces=seen.bounces + jnp.where(counts, 1.0, 0.0),
        heights=seen.heights + jnp.where(counts, highest, 0.0),
        contact=seen.contact + jnp.where(closed, duration, 0.0),
        loss=seen.loss + lost,
        margin=jnp.minimum(seen.margin, miss),
        impacts=seen.impacts + jnp.where(impact, 1.0, 0.0),
        first=jnp.where(opening, highest, seen.first),
        depth=jnp.maximum(seen.depth, deepest),
    )

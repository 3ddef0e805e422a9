"""A device that answers at once: velocity = length * drive; a cheap search misses some points.

Its upper branch (velocity 10 times larger) is reached above drive 2 and left below drive 1, so a
carried state shows hysteresis. Asked for, it kills its process at one drive.
"""

import os
import signal

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from diffmicro._device import Device
from diffmicro.dynamics.orbits import Search
from diffmicro.parameters import check, output, parameter, valid
from diffmicro.results import RESULTS, code, from_code


class Design(eqx.Module):
    """What is made."""

    length: Array | float = parameter(1.0, "length", "m", above=0)
    share: Array | float | None = parameter(
        0.5, "share, or None: its square root of a quarter", "-", low=0, high=1
    )


class Setting(eqx.Module):
    """How it is driven."""

    drive: Array | float = parameter(0.5, "drive", "Hz", low=0)
    waveform: str = parameter("square", "square or sine", words=("square", "sine"))


class Response(eqx.Module):
    """What comes out."""

    velocity: Array = output("velocity", "m/s")
    seen: Array = output("whether the full search was used", "-")
    result: RESULTS = output("")
    state: Array = output("")


FULL = Search()


def respond(
    design, setting, *, start=None, search=FULL, window=200, offset=0.0, deadly=None, throw=True
):
    if isinstance(offset, str):
        raise ValueError(f"offset = {offset} is not allowed; it has to be a number.")
    check("toy.respond", design, setting)
    legal = valid(design, setting)
    drive = jnp.asarray(setting.drive)
    if deadly is not None:
        jax.debug.callback(_die_at, drive, deadly)
    was_up = jnp.asarray(False) if start is None else start > 0
    up = (drive > 2) | (was_up & (drive > 1))
    sign = -1.0 if setting.waveform == "sine" else 1.0
    velocity = sign * design.length * drive * jnp.where(up, 10.0, 1.0) + offset
    hard = (drive > 5) & (drive < 7)
    outcome = jnp.where(
        hard, code(RESULTS.erratic if window else RESULTS.no_orbit), code(RESULTS.successful)
    )
    outcome = jnp.where(legal, outcome, code(RESULTS.out_of_range))
    known = legal & (outcome != code(RESULTS.no_orbit))
    return Response(
        velocity=velocity * jnp.where(known, 1.0, jnp.nan),
        seen=jnp.asarray(float(search.multiples)),
        result=from_code(outcome),
        state=jnp.where(known, jnp.where(up, 1.0, -1.0), jnp.nan),
    )


def _die_at(drive, deadly):
    if drive == deadly:
        os.kill(os.getpid(), signal.SIGKILL)


TOY = Device(
    name="toy",
    title="a device that answers at once",
    source="these tests",
    Design=Design,
    Setting=Setting,
    Response=Response,
    respond=respond,
    quick=dict(search=Search(multiples=False, twins=0), window=0),
    lone=dict(search=Search(compact=True), window=0),
    carries=True,
)

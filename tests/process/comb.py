"""A device of one's own with rules: fingers of a comb in closed form.

The more of them, the narrower they and their gaps are: at the most fingers both the smallest width and the
smallest gap bind, at a price of 1 / pitch^2 each.
"""

import dataclasses

import equinox as eqx
import jax.numpy as jnp

from diffmicro import Device, output, parameter
from diffmicro.results import RESULTS
from diffmicro.shapes import Feature, Geometry, Layer, Length, Plate, point, rectangle

SILICON = Layer(7, "silicon")


class Design(eqx.Module):
    pitch: float = parameter(20e-6, "from finger to finger", "m", above=0)
    finger: float = parameter(8e-6, "width of a finger", "m", above=0)


class Setting(eqx.Module):
    length: float = parameter(1e-3, "of the comb", "m", above=0)


class Layout(eqx.Module):
    reach: float = parameter(50e-6, "length of a finger", "m", above=0)


class Response(eqx.Module):
    density: jnp.ndarray = output("fingers per length", "1/m")
    result: RESULTS = output("how it ended")


def respond(design, setting, *, throw=True):
    del setting, throw
    return Response(density=1 / jnp.asarray(design.pitch, float), result=RESULTS.successful)  # pyright: ignore[reportArgumentType]


def geometry(design, layout):
    fingers = (
        Plate(name, SILICON, rectangle(x, 0.0, x + design.finger, layout.reach), 0.0, 5e-6)
        for name, x in (("first", 0.0), ("second", design.pitch))
    )
    gap = Length("pitch", point(0.0, 0.0), point(design.pitch, 0.0))
    return Geometry(tuple(fingers), (gap,))


def features(design, layout):
    return (
        Feature("finger", "width", SILICON, design.finger),
        Feature("between_fingers", "gap", SILICON, design.pitch - design.finger),
        Feature("reach", "width", SILICON, layout.reach),
    )


def etched(design, layout, taken):
    del layout
    return dataclasses.replace(design, finger=design.finger - 2 * taken["silicon"])


COMB = Device(
    name="comb",
    title="fingers in a row",
    source="this file",
    Design=Design,
    Setting=Setting,
    Response=Response,
    respond=respond,
    geometry=geometry,
    Layout=Layout,
    features=features,
    etched=etched,
)

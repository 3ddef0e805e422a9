"""What is stored: for each device, law, model, outline and method five points, and what they answer.

A case is one of the contract test's (`tests.cases.CASES`), with other words. Its points lie within 5 % of it
along its two parameters, moved by checksums of names, so they are the same on every machine. Of each point there
are the case's response, its two derivatives by relative changes, and the other responses that are numbers.
"""

import dataclasses
import zlib
from typing import Any

import jax
import numpy as np

from diffmicro.devices import OWN
from diffmicro.results import words
from diffmicro.testing import Trial
from tests.cases import CASES

USUAL = OWN
"""Cases that the contract test compiles anyway; the others are slow."""

SPREAD, LANES = 0.05, 5

ORDERS = np.arange(1, 13)
FOURIER = np.stack([0.0 * ORDERS, -1 / (np.pi * ORDERS)], axis=1)
"""Of a sawtooth that rises slowly."""

OTHER: dict[str, dict[str, Any]] = {
    "wrmma method=moreau": dict(numerics=dict(method="moreau", steps=200)),
    "wrmma clamped": dict(setting=dict(clamp_force=1.0, clamp_phase=0.7)),
    **{
        f"tribometer {way} {law}": dict(setting=dict(direction=way, law=law))
        for way, law in (("oop", "mdr"), ("ipi", "dynamic"), ("ipi", "quasistatic"), ("ipp", "quasistatic"))
    },
    **{
        f"gripper {model}": dict(setting=dict(model=model, force=1e-6))
        for model in ("linear", "partial", "consistent")
    },
    "gripper extensible": dict(setting=dict(beam="extensible")),
    **{
        f"stickslip {law}": dict(setting=dict(law=law))
        for law in ("masing", "dahl", "lugre", "elastoplastic", "ceim")
    },
    "stickslip fourier": dict(
        setting=dict(waveform="fourier", fourier=FOURIER, period=1e-3, amplitude=2e-7)
    ),
    **{f"legs {law}": dict(setting=dict(law=law)) for law in ("dominant", "point")},
    "legs square": dict(setting=dict(waveform="square")),
    "tumbler method=implicit": dict(numerics=dict(method="implicit", steps=4000)),
    "tumbler friction": dict(setting=dict(adhesion_law="friction")),
    "tumbler superellipse": dict(design=dict(outline="superellipse")),
    "tumbler spiked": dict(
        design=dict(outline="spiked", length=4e-4, width=2e-4, thickness=3.25e-4, spike_base=1.25e-4)
    ),
    "tumbler spiked_ends": dict(design=dict(outline="spiked_ends", thickness=4e-4)),
    "tumbler support": dict(design=dict(outline="support", outline_radii=np.full(12, 2e-4))),
}  # fmt: skip
"""By label, of which the first word is the device: what differs from the device's usual case."""


def trial(label: str) -> Trial:
    """The case of this label."""
    name = label.partition(" ")[0]
    case, changes = CASES[name], OTHER.get(label, {})
    merged = {kind: {**getattr(case, kind), **value} for kind, value in changes.items()}
    return Trial(name, dataclasses.replace(case, **merged))


def places(label: str) -> np.ndarray:
    """Relative changes of the two parameters, a row a point."""
    sums = [[zlib.crc32(f"{label}/{i}/{j}".encode()) for j in range(2)] for i in range(LANES)]
    return 1 + SPREAD * (np.array(sums) % 20001 / 10000 - 1)


def answers(of: Trial, lanes: Any, at: np.ndarray) -> dict[str, Any]:
    """Statuses and numbers by name, a list of points each; `d of / d key` are the derivatives."""
    value, slope, response = jax.tree.map(np.asarray, lanes(at))
    found: dict[str, Any] = {"status": list(words(response.result))}
    found[of.case.of] = value
    for j, key in enumerate(of.case.wrt):
        found[f"d {of.case.of} / d {key}"] = slope[:, j]
    for name in of.device.usual_responses:
        number = np.asarray(getattr(response, name))
        if number.ndim == 1 and number.dtype.kind == "f":
            found[name] = number
    return found


def optimized(of: Trial) -> Any:
    """`Trial.lanes` by a program that LLVM optimizes."""
    return jax.jit(jax.vmap(of.lane))

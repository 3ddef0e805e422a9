"""Points of the stick-slip drive in batches of one shape, so that all figures share one compilation."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.axes import Axes

from diffmicro.devices import stickslip
from diffmicro.parameters import as_arrays
from diffmicro.results import words
from experiments.progress import counted

LANES = 16
RADII = (1e-3, 0.5e-3, 0.25e-3)
PRELOADS = {1e-3: (0.1, 0.5, 1.0), 0.5e-3: (0.1, 0.4, 0.7, 1.0), 0.25e-3: (0.1, 0.3, 0.5)}
"""Of Figs. 3.15 to 3.17."""
LARGEST = {1e-3: 202e-9, 0.5e-3: 160e-9, 0.25e-3: 96e-9}
"""Largest strokes of the measurements (sections 3.4.1 and 3.4.6)."""

MEASURED = {1e-3: (0.5, 202e-9, 0.2), 0.5e-3: (0.1, 62e-9, 0.04)}
"""Preload [N], stroke [m] and measured force [N] that the text gives (sections 3.4.1 and 3.2.2)."""

DESIGN = {f.name for f in fields(stickslip.Design)}


@cache
def _batched(extra: tuple[str, ...]) -> Any:
    def one(design: Any, setting: Any) -> Any:
        return stickslip.respond(design, setting, extra=extra, throw=False)

    return eqx.filter_jit(jax.vmap(one))


def points(
    cases: Sequence[Mapping[str, Any]], extra: tuple[str, ...] = ()
) -> dict[str, np.ndarray]:
    """Responses at many points, each a dict of design and setting parameters of the same words."""
    parts = []
    for first in counted(range(0, len(cases), LANES), "batches"):
        chunk = list(cases[first : first + LANES])
        padded = chunk + [chunk[-1]] * (LANES - len(chunk))
        pairs = [as_arrays(_pair(case)) for case in padded]
        response = _batched(extra)(*jax.tree.map(lambda *x: jnp.stack(x), *pairs))
        parts.append(_columns(response, len(chunk)))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _pair(case: Mapping[str, Any]) -> tuple[Any, Any]:
    design = {name: value for name, value in case.items() if name in DESIGN}
    setting = {name: value for name, value in case.items() if name not in DESIGN}
    return stickslip.published_design(**design), stickslip.published_setting(**setting)


def _columns(response: Any, count: int) -> dict[str, np.ndarray]:
    columns = {
        f.name: np.asarray(getattr(response, f.name))[:count]
        for f in fields(response)
        if f.name != "result" and getattr(response, f.name) is not None
    }
    return columns | {"status": words(response.result).astype(str)[:count]}


def curves(strokes: np.ndarray, preloads: Sequence[float], **case: Any) -> dict[float, np.ndarray]:
    """Generated force over strokes of several preloads [N], all in the same batches."""
    cases = [dict(case, preload=p, amplitude=float(a)) for p in preloads for a in strokes]
    force = points(cases)["force"].reshape(len(preloads), len(strokes))
    return dict(zip(preloads, force, strict=True))


def force_axes(axes: Axes) -> None:
    """Stroke in nm over force in mN."""
    axes.set(xlabel="stroke [nm]", ylabel="generated force [mN]")
    axes.axhline(0, color="0.7", linewidth=0.8)
    axes.legend(frameon=False, fontsize=8)


def draw_curve(
    axes: Axes, strokes: np.ndarray, force: np.ndarray, label: str, style: str = "-"
) -> None:
    """One force curve."""
    axes.plot(1e9 * strokes, 1e3 * force, style, marker=".", label=label)

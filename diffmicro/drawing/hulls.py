"""The outline of a rolling body from a file: the convex hull of what is drawn, fitted by outlines of the model.

Only the hull touches the ground. With h(a) the support function of the hull, its farthest reach in the direction
a from a center, two convex shapes are nowhere farther apart than the largest difference of their support functions
(Hausdorff distance): that is the error. Models are symmetric under half a turn, so the center is the one that
makes the hull most symmetric, and what is left of the asymmetry is part of the error. Tried are a box, a
superellipse, and a smooth outline by its radii of curvature; the first within a tenth of the best is taken.
"""

import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import PyTree

from diffmicro.drawing.overlaps import outline, self_crossing
from diffmicro.drawing.reading import read_shapes
from diffmicro.mechanics import outlines
from diffmicro.parameters import Value
from diffmicro.shapes import Contour
from diffmicro.units import readable

DIRECTIONS = 360
"""Of support functions: an even number, so that each has its opposite."""

RADII = 16
"""Of a smooth outline over half a turn."""

NEARLY = 1.1
"""A simpler outline is taken where its error is below that of the best times this."""

EXACT = 1e-6
"""Share of the length below which an error is none."""

SMALLEST, LARGEST = 1e-6, 0.1
"""Lengths of bodies [m]; beyond them the file has other units than it says."""


class Hull(NamedTuple):
    """values: of the design's fields. error: largest distance of the hull from them [m]. filled: share of its area
    that the file leaves hollow."""

    values: dict[str, Value]
    error: float
    filled: float

    def text(self, name: str) -> str:
        """What was made of the file."""
        length, thickness = self.values["length"], self.values["thickness"]
        size = f"{readable(length, 'm', 4)} long and {readable(thickness, 'm', 4)} thick"
        far = f"{readable(self.error, 'm', 3)} ({100 * self.error / length:.2g} % of the length)"
        away = f"nowhere farther than {far} from it" if self.error > EXACT * length else "the same"
        own = f"{name} is taken as the outline {self.values['outline']}, {size}; its hull is {away}"
        hollow = f"; {100 * self.filled:.2g} % of the hull is hollow in the file"
        return own + (hollow if self.filled > 1e-3 else "")


def hull_of_file(path: Path | str) -> Hull:
    """The hull of the largest outline of a file .dxf, .gds or .csv; ValueError for a file without one."""
    stamp = os.stat(path) if os.path.exists(path) else None
    return _fitted(str(path), stamp and (stamp.st_mtime_ns, stamp.st_size))


@cache
def _fitted(path: str, stamp: object) -> Hull:
    del stamp  # a changed file is another one
    every = [shape.contour for shape in read_shapes(path)]
    contour = max(every, key=lambda c: abs(float(c.area())))
    points = _corners(path, contour)
    return fit_hull(points, abs(float(contour.area())))


def fit_hull(points: np.ndarray, area: float) -> Hull:
    """The outline that is nearest to the convex hull of these points [m]; area: of what they surround."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(points)
    angles = np.arange(DIRECTIONS) * (2 * np.pi / DIRECTIONS)
    normals = np.stack([np.sin(angles), -np.cos(angles)], axis=1)
    reach = np.max(points[hull.vertices] @ normals.T, axis=0)
    half = DIRECTIONS // 2
    odd = (reach - np.roll(reach, -half)) / 2
    center = np.linalg.lstsq(normals, odd, rcond=None)[0]
    reach = reach - normals @ center
    even = (reach + np.roll(reach, -half)) / 2
    length, thickness = 2 * even[DIRECTIONS // 4], 2 * even[0]
    tried = []
    for fit in (_box, _superellipse, _smooth):
        values, support = fit(length, thickness, angles, even)
        tried.append((values, float(np.max(np.abs(support - reach)))))
        if tried[-1][1] < EXACT * length:
            break
    best = max(min(error for _, error in tried) * NEARLY, EXACT * length)
    values, error = next(one for one in tried if one[1] <= best)
    sizes = dict(length=float(length), thickness=float(thickness))
    return Hull({**values, **sizes}, error, max(0.0, 1 - area / float(hull.volume)))


Fitted = tuple[dict[str, Value], np.ndarray]


def _box(length: float, thickness: float, angles: np.ndarray, even: np.ndarray) -> Fitted:
    del even
    support = (length * np.abs(np.sin(angles)) + thickness * np.abs(np.cos(angles))) / 2
    return {"outline": "box"}, support


def _superellipse(length: float, thickness: float, angles: np.ndarray, even: np.ndarray) -> Fitted:
    """By golden section on the exponent; the support function is the dual norm."""
    from scipy.optimize import minimize_scalar

    def support(exponent: float) -> np.ndarray:
        q = exponent / (exponent - 1)
        wide, tall = length / 2 * np.abs(np.sin(angles)), thickness / 2 * np.abs(np.cos(angles))
        largest = np.maximum(wide, tall)
        return largest * ((wide / largest) ** q + (tall / largest) ** q) ** (1 / q)

    found = minimize_scalar(
        lambda log: np.max(np.abs(support(1 + np.exp(log)) - even)),
        bounds=(np.log(0.05), np.log(63.0)),
        method="bounded",
        options={"xatol": 1e-9},
    )
    exponent = float(1 + np.exp(found.x))
    return {"outline": "superellipse", "exponent": exponent}, support(exponent)


def _smooth(length: float, thickness: float, angles: np.ndarray, even: np.ndarray) -> Fitted:
    """By least squares on the logarithms of the radii."""
    from scipy.optimize import least_squares

    support = _support_of_radii()
    size = (length / length, thickness / length)
    half = slice(0, DIRECTIONS // 2)
    found = least_squares(
        lambda logs: np.asarray(support(logs, *size, angles[half])[0]) - even[half] / length,
        np.zeros(RADII),
        jac=lambda logs: np.asarray(support(logs, *size, angles[half])[1]),  # pyright: ignore[reportArgumentType]  # pyright: ignore[reportArgumentType]
        bounds=(-8.0, 8.0),
    )
    radii = np.exp(found.x)
    values = {"outline": "support", "outline_radii": tuple((radii / radii.max()).tolist())}
    return values, length * np.asarray(support(found.x, *size, angles)[0])


@cache
def _support_of_radii() -> Callable[..., tuple[Array, PyTree]]:
    def heights(logs: Array, length: Array, thickness: Array, angles: Array) -> tuple[Array, Array]:
        found = outlines.from_radii(length, thickness, jnp.exp(logs))
        own = jax.vmap(found.support)(angles)
        return own, own

    def both(*given: Array) -> tuple[Array, PyTree]:
        slopes, own = jax.jacfwd(heights, has_aux=True)(*given)
        return own, slopes

    return jax.jit(both)


def _corners(path: str, contour: Contour) -> np.ndarray:
    """Points along a contour; ValueError where it surrounds nothing that can roll."""
    corners = np.asarray(contour.points)
    extent = float(np.ptp(corners, axis=0).max())
    if not SMALLEST <= extent <= LARGEST:
        raise ValueError(
            f"{path}: its outline is {readable(extent, 'm', 3)} long; bodies are from {readable(SMALLEST, 'm')} "
            f"to {readable(LARGEST, 'm')}. Look at the units of the file: plain numbers of a CSV are meters."
        )
    points = outline(contour)
    at = self_crossing(points)
    if at is not None:
        raise ValueError(
            f"{path}: its outline crosses itself near x = {1e6 * at[0]:.6g} um, y = {1e6 * at[1]:.6g} um. "
            "Draw it as one closed line without crossings."
        )
    if abs(float(contour.area())) < 1e-6 * extent**2:
        raise ValueError(f"{path}: its outline surrounds no area.")
    return contour.polygon(1e-5 * extent)


def outline_from_file(path: Path | str) -> tuple[Mapping[str, Value], str]:
    """Fields of the design for the outline of a file, and what was made of it, in words."""
    found = hull_of_file(path)
    return found.values, found.text(str(path))

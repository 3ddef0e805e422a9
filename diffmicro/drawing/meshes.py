"""Solids as triangles in STL: parts that touch are united, the mesh is closed, lengths are in millimeters.

Arcs are polygons of the same area, and turned bodies are scaled to their exact volume, so that the mesh has the
volume of the geometry where parts do not overlap.
"""

import math
from pathlib import Path
from types import ModuleType

import numpy as np

from diffmicro._extras import Foreign
from diffmicro.drawing.extra import package
from diffmicro.shapes import Geometry, Plate, Turned

MILLIMETER = 1e-3

MICROMETER = 1e-6

FACET = np.dtype([("numbers", "<f4", (4, 3)), ("attribute", "<u2")])
"""A triangle in the file: normal, three corners, two bytes that nobody uses."""


def solid(geometry: Geometry, tolerance: float) -> Foreign:
    """The united solid as a `manifold3d.Manifold` in micrometers. tolerance: of arcs [m]."""
    kernel = package("manifold3d", "STL")
    parts = [
        _plate(kernel, body, tolerance)
        if isinstance(body, Plate)
        else _turned(kernel, body, tolerance)
        for body in geometry.bodies
    ]
    return kernel.Manifold.batch_boolean(parts, kernel.OpType.Add)


def write_stl(geometry: Geometry, path: Path, *, tolerance: float) -> None:
    """Write the mesh."""
    mesh = solid(geometry, tolerance).to_mesh()
    corners = np.asarray(mesh.vert_properties, float)[:, :3] * (MICROMETER / MILLIMETER)
    faces = corners[np.asarray(mesh.tri_verts)]
    normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    rows = np.zeros(len(faces), FACET)
    rows["numbers"][:, 0] = normals / np.where(lengths > 0, lengths, 1.0)
    rows["numbers"][:, 1:] = faces
    header = b"diffmicro, millimeters".ljust(80)
    path.write_bytes(header + np.uint32(len(rows)).tobytes() + rows.tobytes())


def _plate(kernel: ModuleType, body: Plate, tolerance: float) -> Foreign:
    rings = [c.polygon(tolerance) / MICROMETER for c in (body.outline, *body.holes)]
    rings = [rings[0], *(hole[::-1] for hole in rings[1:])]
    section = kernel.CrossSection(rings, kernel.FillRule.Positive)
    low, high = float(body.bottom) / MICROMETER, float(body.top) / MICROMETER
    # Both faces exactly at their heights, so that parts on each other touch.
    return section.extrude(1.0).warp_batch(
        lambda v: np.column_stack([v[:, :2], np.where(v[:, 2] > 0.5, high, low)])
    )


def _turned(kernel: ModuleType, body: Turned, tolerance: float) -> Foreign:
    profile = body.profile.polygon(tolerance) / MICROMETER
    keep = np.any(np.abs(profile - np.roll(profile, 1, axis=0)) > 1e-9, axis=1)
    profile = profile[keep]
    radius = float(profile[:, 0].max())
    sagitta = min(tolerance / MICROMETER / radius, 0.3)
    segments = 4 * math.ceil(math.pi / math.acos(1 - sagitta) / 4)
    made = kernel.CrossSection([profile]).revolve(segments)
    stretch = math.sqrt(float(body.volume()) / MICROMETER**3 / made.volume())
    x, y = np.asarray(body.center, float) / MICROMETER
    return made.scale((stretch, stretch, 1.0)).translate((float(x), float(y), 0.0))

"""Outlines from files: GDS, DXF, or CSV with two columns x and y. All come as contours in meters, with their names
where the file has been written here."""

import csv
from pathlib import Path
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from diffmicro.drawing.masks import read_gds
from diffmicro.drawing.polylines import read_dxf
from diffmicro.shapes import Contour
from diffmicro.units import UnitError, in_si


class Shape(NamedTuple):
    """A contour of a file. exact: its arcs are arcs, not polygons."""

    name: str
    contour: Contour
    exact: bool


def read_shapes(path: Path | str) -> list[Shape]:
    """All closed contours of a file .gds, .dxf or .csv; ValueError for a file without any."""
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in (".gds", ".dxf", ".csv"):
        raise ValueError(f"{path}: the ending has to be .gds, .dxf or .csv.")
    if not path.is_file():
        raise ValueError(f"There is no file {path}.")
    if ending == ".dxf":
        found = [Shape(name, contour, True) for name, _, contour in read_dxf(path)]
    elif ending == ".gds":
        found = [Shape(name, _straight(points), False) for name, _, points in read_gds(path)]
    else:
        found = [Shape("", _straight(_corners_of_csv(path)), False)]
    if not found:
        raise ValueError(f"{path} has no closed outline.")
    return found


def _straight(points: np.ndarray) -> Contour:
    return Contour(jnp.asarray(points), jnp.zeros(len(points)))


def _corners_of_csv(path: Path) -> np.ndarray:
    """Corners from rows `x, y`; a header may give units, as in `x [um], y [um]`; plain numbers are in meters."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise ValueError(f"{path} is not UTF-8: {problem}.") from None
    rows = [(n, row) for n, row in enumerate(csv.reader(text.splitlines()), 1) if any(row)]
    units, corners = ("m", "m"), []
    for number, row in rows:
        if len(row) != 2:
            raise ValueError(
                f"{path}, line {number}: {len(row)} columns; it has to be two, x and y."
            )
        if number == rows[0][0] and "[" in row[0]:
            units = tuple(cell.partition("[")[2].rstrip("] ") or "m" for cell in row)
            continue
        try:
            corners.append([in_si(f"{c.strip()}{u}", "m") for c, u in zip(row, units, strict=True)])
        except (UnitError, ValueError):
            raise ValueError(
                f"{path}, line {number}: {','.join(row)} is no pair of lengths in {units[0]}."
            ) from None
    if len(corners) < 3:
        raise ValueError(f"{path} has {len(corners)} corners; an outline needs three at least.")
    return np.array(corners)

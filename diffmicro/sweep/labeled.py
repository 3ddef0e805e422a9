"""Sweeps as NetCDF files (`.nc`), which xarray opens with names, units and provenance. Needs the extra `io`.

The points of a grid are a cube with a dimension for each key, and `direction` for walks; drawn points, and parts
that are no cube, have the one dimension `point`. Words, as the status, are strings. `row` is the place in the
table that the other formats have. The scalar `about` is JSON: the words of the command, the columns, and all that
the numbers depend on: device, parameters, numerics, precision, versions, flags, machine.

A slash may not stand in a name of NetCDF: the derivative `da/db` is the variable `da_db`; `long_name` keeps what
it is called elsewhere. The bytes depend on the table alone.
"""

import json
import math
from collections.abc import Hashable
from pathlib import Path

import numpy as np

from diffmicro._extras import Foreign, package
from diffmicro._files import replace
from diffmicro._json import JsonObject
from diffmicro.sweep.table import Table

POINT, ROW, ABOUT = "point", "row", "about"

MOST_TEXT = 30_000
"""Letters of an attribute, which HDF5 limits to 64 kB; `about` has all of them."""


def check_installed() -> None:
    """`MissingPackage` where what it takes is not there."""
    for name in ("h5py", "h5netcdf", "xarray"):
        package(name, "A file .nc", "io", "Files .csv, .npz and .jsonl do not.")


def write_nc(table: Table, path: Path) -> None:
    """The table as a labeled cube, or as a list of points."""
    dataset = as_dataset(table)
    # As arrays of characters words pack well; a word of any length a point takes 40 bytes.
    words = {
        name: {"dtype": "S1", "zlib": True}
        for name, variable in dataset.variables.items()
        if variable.dtype.kind == "U" and variable.ndim
    }
    replace(path, bytes(dataset.to_netcdf(engine="h5netcdf", encoding=words)))


def read_nc(path: Path) -> dict[str, np.ndarray]:
    """The columns of a file that `write_nc` wrote, in the order of the sweep."""
    xarray = package("xarray", f"Reading {path}", "io")
    with xarray.open_dataset(path, engine="h5netcdf") as file:
        dataset = file.load()
    order = np.argsort(dataset[ROW].values, axis=None)
    columns = json.loads(dataset[ABOUT].item())["columns"]
    wide = {name: dataset[_variable(name)].broadcast_like(dataset[ROW]) for name in columns}
    dims = dataset[ROW].dims
    return {name: array.transpose(*dims).values.ravel()[order] for name, array in wide.items()}


def as_dataset(table: Table) -> Foreign:
    """The table as an `xarray.Dataset`."""
    xarray = package("xarray", "A labeled table", "io")
    places = {key: _places(table[key]) for key in _axes(table)}
    sizes = [len(values) for values, _ in places.values()]
    flat = np.zeros(len(table), int)
    for (_, index), size in zip(places.values(), sizes, strict=True):
        flat = flat * size + index
    cube = math.prod(sizes) == len(table) == len(np.unique(flat)) and not table.about.get("paired")
    dims = tuple(places) if cube else (POINT,)
    shape, order = (sizes, np.argsort(flat)) if cube else ([len(table)], np.arange(len(table)))
    variables, coordinates = {}, {}
    for name, column in table.columns.items():
        own = {"long_name": name} | (
            {"units": _unit(table.units[name])} if name in table.units else {}
        )
        if cube and name in places:
            coordinates[_variable(name)] = (name, _plain(places[name][0]), own)
            continue
        home = coordinates if name in places else variables
        home[_variable(name)] = (dims, _plain(column)[order].reshape(shape), own)
    coordinates[ROW] = (dims, table.rows[order].reshape(shape), {"long_name": "place in the table"})
    about = {"columns": list(table.columns), "keys": list(table.keys), **_provenance(table)}
    variables[ABOUT] = ((), json.dumps(about, sort_keys=True), {"long_name": "provenance, as JSON"})
    return xarray.Dataset(variables, coordinates, _attributes(table))


def _axes(table: Table) -> list[str]:
    """The dimensions of a cube, slowest first: so the rows of a grid stay in their order."""
    directed = ["direction"] if "direction" in table.columns else []
    return [*directed, *reversed(table.keys)]


def _places(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different values in the order of their first appearance, and which of them each entry is.

    What is no number is None, as NaN is not equal to itself."""
    seen: dict[Hashable, int] = {}
    known = [value if value == value else None for value in column.tolist()]
    index = np.array([seen.setdefault(value, len(seen)) for value in known], int)
    values = np.empty(len(seen), object)
    values[:] = list(seen)
    return values, index


def _plain(column: np.ndarray) -> np.ndarray:
    """Numbers as numbers, None among them as NaN; anything else as words, as wide as the longest."""
    if column.dtype.kind not in "OU":
        return column
    if all(value is None or isinstance(value, int | float) for value in column):
        return np.array([math.nan if value is None else value for value in column], float)
    return np.array([str(value) for value in column])


def _variable(name: str) -> str:
    return name.replace(" of ", "_").replace("/", "_").replace(" ", "_")


def _unit(unit: str) -> str:
    return "1" if unit == "-" else unit


def _provenance(table: Table) -> JsonObject:
    """What is known of the sweep; the values on its axes are coordinates already."""
    return {name: value for name, value in table.about.items() if name not in table.keys}


def _attributes(table: Table) -> JsonObject:
    """What a reader wants to see first."""
    known = {"title": "device", "precision": "precision", "history": "words"}
    found = {name: table.about[key] for name, key in known.items() if key in table.about}
    if "history" in found:
        found["history"] = found["history"][:MOST_TEXT]
    version = table.about.get("version of diffmicro")
    return found | ({"source": f"diffmicro {version}"} if version else {})

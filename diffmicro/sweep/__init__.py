"""Sweeps over grids of parameters: `sweep`, its pieces joined to one `Table`, and files of it."""

from diffmicro.sweep.grids import grid
from diffmicro.sweep.run import size, sweep
from diffmicro.sweep.table import Table, join, write_csv, write_npz, writer

__all__ = ["Table", "grid", "join", "size", "sweep", "write_csv", "write_npz", "writer"]

"""Sweeps over grids of parameters: `sweep`, its pieces joined to one `Table`, and files of it."""

from diffmicro.sweep.grids import Interval, drawn, grid
from diffmicro.sweep.plan import Shard
from diffmicro.sweep.run import check_size, size, sweep
from diffmicro.sweep.store import Store, StoreError, beside
from diffmicro.sweep.table import Table, join, write_csv, write_jsonl, write_npz, writer
from diffmicro.sweep.workers import WorkerDied

__all__ = [
    "Interval",
    "Shard",
    "Store",
    "StoreError",
    "Table",
    "WorkerDied",
    "beside",
    "check_size",
    "drawn",
    "grid",
    "join",
    "size",
    "sweep",
    "write_csv",
    "write_jsonl",
    "write_npz",
    "writer",
]

"""Sweeps over grids of parameters: `sweep`, its pieces joined to one `Table`, and files of it."""

from diffmicro.sweep.cluster import WorkerDied, processes
from diffmicro.sweep.grids import Interval, drawn, grid
from diffmicro.sweep.plan import Shard
from diffmicro.sweep.remote import ClusterError
from diffmicro.sweep.run import check_size, size, sweep
from diffmicro.sweep.store import Store, StoreError, beside
from diffmicro.sweep.table import Table, join, write_csv, write_jsonl, write_npz, writer

__all__ = [
    "ClusterError",
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
    "processes",
    "size",
    "sweep",
    "write_csv",
    "write_jsonl",
    "write_npz",
    "writer",
]

"""How cost grows with lanes, for each device: time a lane, temporary memory, compilation, one core and two.

A lane is a published point with one parameter moved by up to 1 %. Up to `CHUNK` lanes are one `vmap`, more are
chunks of that one after the other, as in a sweep. Each device runs in a process of its own for one core and for
two, where lanes are sharded over two devices of JAX. With no names every device takes its turn:

    python -m benchmarks scaling
    python -m benchmarks.scaling tribometer --cores 2     # one process's JSON
"""

import argparse
import json
import os
import subprocess
import sys
import time
from functools import partial
from typing import Any

from benchmarks.timing import table, window

LANES = (1, 16, 256, 4096, 16384)
CHUNK = 256
LONGEST = 60.0
"""Seconds that a call may take; what would take longer is left out of the table."""

SPREAD = 0.01
POINTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "tribometer": ("vibration_velocity", "sliding_velocity", {}),
    "wrmma": ("mass_ratio", "velocity", {}),
    "gripper": ("young", "tip_x", {"force": 20e-6}),
    "tumbler": ("length", "speed", {}),
    "legs": ("drive_frequency", "mean_height", {}),
    "stickslip": ("radius", "force", {}),
}
"""Of each device what is moved, what is asked for, and what differs from the published point."""


def measure(name: str, cores: int, lanes: tuple[int, ...] = LANES) -> list[dict[str, float]]:
    """For each count of lanes: seconds a call by the processor's clock and by the wall's, compilation, bytes."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, PartitionSpec

    from diffmicro.devices import device
    from diffmicro.parameters import as_arrays, get, put

    robot, (key, of, changed) = device(name), POINTS[name]
    design, setting = as_arrays((robot.published_design(), robot.published_setting()))
    design, setting = put(design, setting, changed)
    value = get(design, setting, key)
    numerics = robot.asking_for((of,), {})

    def one(x: Any) -> Any:
        point = put(design, setting, {key: x})
        return getattr(robot.respond(*point, throw=False, **numerics), of)

    found, slowest = [], 0.0
    for count in lanes:
        if found and slowest * count / found[-1]["lanes"] > LONGEST:
            break
        # Widths of a chunk are multiples of the cores, so a single lane has one core.
        parts = cores if count >= cores else 1
        many = partial(jax.lax.map, one, batch_size=min(CHUNK, max(count // parts, 1)))
        given = value * jnp.linspace(1 - SPREAD, 1 + SPREAD, count) if count > 1 else value[None]
        if parts > 1:
            mesh = Mesh(np.asarray(jax.devices()[:parts]), ("lanes",))
            spec = PartitionSpec("lanes")
            many = jax.shard_map(many, mesh=mesh, in_specs=spec, out_specs=spec)
            given = jax.device_put(given, jax.sharding.NamedSharding(mesh, spec))
        began, wall = time.process_time(), time.perf_counter()
        program = jax.jit(many).lower(given).compile()
        compiling, wall = time.process_time() - began, time.perf_counter() - wall
        call = partial(lambda p, x: jax.block_until_ready(p(x)), program, given)
        call()
        sizes: Any = program.memory_analysis()
        row = {
            "lanes": count,
            "compile": compiling,
            "bytes": sizes.temp_size_in_bytes / count,
            "processor": min(window(call, time.process_time) for _ in range(3)),
            "wall": min(window(call, time.perf_counter) for _ in range(3)),
        }
        found.append(row)
        slowest = row["wall"]
    return found


def apart(name: str, cores: int) -> list[dict[str, float]]:
    """`measure` in a process of its own that keeps to so many cores; nothing where the machine has fewer."""
    if len(_able()) < cores:
        return []
    words = [sys.executable, "-m", "benchmarks.scaling", name, "--cores", str(cores)]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def rows_of(name: str, one: list[dict], two: list[dict]) -> list[list[str]]:
    """Rows of the table: a batch of 256 is to beat 256 single calls where lanes do not wait for springs."""
    rows, single = [], one[0]["processor"]
    wall = {row["lanes"]: row["wall"] for row in two}
    for row in one:
        count = row["lanes"]
        gain = single * count / row["processor"]
        goal = "at least 4" if count == CHUNK and name != "stickslip" else ""
        cores = f"{row['wall'] / wall[count]:.2f}" if count in wall and count > 1 else ""
        each = 1e6 * row["processor"] / count
        sizes = [f"{row['compile']:.1f}", f"{row['bytes']:.0f}"]
        rows.append([f"{name}, lanes: {count}", f"{each:.3g}", f"{gain:.2f}", goal, cores, *sizes])
    return rows


HEADS = [
    "device", "us a lane", "times faster than alone", "goal", "two cores over one", "s to compile", "bytes a lane",
]  # fmt: skip


def run() -> list[str]:
    """Lines of the table."""
    rows = []
    for name in POINTS:
        rows += rows_of(name, apart(name, 1), apart(name, 2))
    return table(HEADS, rows)


def _able() -> set[int]:
    """The processors of this machine; the benchmarks' program keeps to one of them."""
    return set(range(os.cpu_count() or 1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=POINTS)
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--lanes", type=int, nargs="*", default=LANES)
    asked = parser.parse_args()
    os.sched_setaffinity(0, set(sorted(_able())[-asked.cores :]))
    import diffmicro

    diffmicro.configure(double=True, devices=asked.cores)
    print(json.dumps(measure(asked.name, asked.cores, tuple(asked.lanes))))

"""What a compiled GPU program launches, from XLA's text of it: kernels, branches and loops.

The host launches each kernel. For a branch, and for each pass of a loop whose length it does not know, it
waits for the GPU's answer first. So a time loop is as fast as its passes have few kernels, no branch, and
inner loops of known length.
"""

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

LAUNCH = 5e-6
"""Launching a kernel [s], about, whatever it does."""

ROUND_TRIP = 8e-6
"""Waiting for the GPU's answer to a condition [s], about."""

FREE = {
    "parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all", "partition-id",
    "replica-id", "opt-barrier", "domain", "add-dependency",
}  # fmt: skip
"""Instructions that launch nothing."""

BYTES = {"pred": 1, "s8": 1, "u8": 1, "s16": 2, "u16": 2, "f16": 2, "bf16": 2, "s32": 4, "u32": 4}
BYTES |= {"f32": 4, "s64": 8, "u64": 8, "f64": 8, "c64": 8, "c128": 16}

_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%\S+ = (.+?) ([a-z][\w-]*)\((.*)$")
_SHAPE = re.compile(r"\b([a-z]+\d*)\[([\d,]*)\]")


class Loop(NamedTuple):
    """One pass of a loop; the whole program is a loop with one pass.

    trips: passes, None where only the GPU knows. kernels: launched by the pass itself. branches: conditions that
    the host waits for. calls: of libraries. written: bytes that its kernels write. inner: loops in it.
    """

    trips: int | None
    kernels: int
    branches: int
    calls: tuple[str, ...]
    written: int
    inner: tuple["Loop", ...]

    def launches(self) -> int:
        """Kernels of a pass with those of its inner loops of known length."""
        return self.kernels + sum((i.trips or 1) * i.launches() for i in self.inner)

    def waits(self) -> int:
        """Round trips of a pass: its own condition, branches, and those of inner loops."""
        inner = sum((i.trips or 1) * i.waits() for i in self.inner)
        return (self.trips is None) + self.branches + inner

    def bytes_written(self) -> int:
        """Bytes that a pass writes with those of its inner loops."""
        return self.written + sum((i.trips or 1) * i.bytes_written() for i in self.inner)

    def least_time(self, bandwidth: float) -> float:
        """Seconds that a pass takes at least: for launches and round trips, or for what it writes."""
        waiting = self.launches() * LAUNCH + self.waits() * ROUND_TRIP
        return max(waiting, self.bytes_written() / bandwidth)

    def all(self) -> Iterator["Loop"]:
        """This loop and all within."""
        yield self
        for inner in self.inner:
            yield from inner.all()

    def time_loops(self) -> list["Loop"]:
        """The innermost loops of unknown length: those over the steps of a motion, or of Newton's method."""
        unknown = [loop for loop in self.all() if loop.trips is None]
        return [u for u in unknown if sum(loop.trips is None for loop in u.all()) == 1]


def read(text: str) -> Loop:
    """The program of XLA's text after optimization (`compiled.as_text()`)."""
    blocks: dict[str, list[str]] = {}
    entry, name = "", ""
    for line in text.splitlines():
        start = re.match(r"^(ENTRY )?%(\S+) .*\{$", line)
        if start:
            name = start[2]
            entry = name if start[1] else entry
            blocks[name] = []
        elif name:
            blocks[name].append(line)
    if not entry:
        raise ValueError("This text has no ENTRY: give `compiled.as_text()`.")
    return _loop(blocks, entry, 1)


def _loop(blocks: dict[str, list[str]], name: str, trips: int | None) -> Loop:
    kernels = branches = written = 0
    calls, inner = [], []
    for line in blocks[name]:
        found = _INSTRUCTION.match(line)
        if not found or found[2] in FREE:
            continue
        shape, kind, rest = found.groups()
        if kind == "while":
            inner.append(_while(blocks, rest))
        elif kind == "conditional":
            branches += 1
            # Either side may run; the one that launches more counts.
            sides = [_loop(blocks, side, 1) for side in _sides(rest)]
            inner.append(max(sides, key=Loop.launches))
        elif kind == "call":
            inner.append(_loop(blocks, _named(rest, "to_apply"), 1))
        else:
            kernels += 1
            written += _size(shape)
            if kind == "custom-call":
                calls.append(re.findall(r'custom_call_target="([^"]+)"', rest)[0])
    return Loop(trips, kernels, branches, tuple(calls), written, tuple(inner))


def _while(blocks: dict[str, list[str]], rest: str) -> Loop:
    known = re.search(r'known_trip_count":\{"n":"(\d+)"', rest)
    body = _loop(blocks, _named(rest, "body"), int(known[1]) if known else None)
    condition = _loop(blocks, _named(rest, "condition"), 1)
    # With a known length the condition is not evaluated.
    return body if known else body._replace(kernels=body.kernels + condition.kernels)


def _named(rest: str, role: str) -> str:
    return re.findall(rf"{role}=%([^\s,]+)", rest)[0]


def _sides(rest: str) -> list[str]:
    several = re.search(r"branch_computations=\{([^}]*)\}", rest)
    if several:
        return re.findall(r"%([^\s,]+)", several[1])
    return [_named(rest, "true_computation"), _named(rest, "false_computation")]


def _size(shape: str) -> int:
    return sum(
        BYTES.get(kind, 4) * math.prod(int(n) for n in sizes.split(",") if n)
        for kind, sizes in _SHAPE.findall(shape)
    )

"""`python -m tests.fuzz [DEVICE ...] --count 1000`: random inputs, and which laws their answers break.

Seeds are fixed: the same words give the same inputs. A line a device: inputs, how they ended, seconds, and what
is broken, with the line of input that shows it. A calculation that takes longer than `--patience` seconds ends the
program with its place.
"""

import argparse
import faulthandler
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from diffmicro import configure
from diffmicro.devices import OWN
from diffmicro.devices import device as named_device
from tests.fuzz import inputs, laws


class Found(NamedTuple):
    """Of one device: how the inputs ended, what they broke, seconds, and the slowest file of points [s a line]."""

    ended: Counter[str]
    broken: list[laws.Broken]
    seconds: float
    slowest: float


def files(name: str, count: int, skins: int, seed: int, size: int) -> Iterator[list[inputs.Line]]:
    """The lines, `size` of one skin at a time; half of all have the usual skin."""
    device, rng = named_device(name), np.random.default_rng((seed, len(name)))
    contradictions = list(islice(inputs.contradictions(device, rng), 4000)) if skins > 1 else []
    yield from [contradictions] if contradictions else []
    chosen = list(islice(inputs.skins(device, rng), skins))
    shares = [1.0] if len(chosen) == 1 else [0.5] + [0.5 / (len(chosen) - 1)] * (len(chosen) - 1)
    for skin, share in zip(chosen, shares, strict=True):
        left = max(1, round(count * share))
        while left > 0:
            yield inputs.lines(device, skin, min(size, left), rng)
            left -= size


def fuzz(
    name: str,
    count: int,
    *,
    skins: int = 1,
    seed: int = 0,
    size: int = 250,
    patience: float = 900.0,
    most: float = float("inf"),
) -> Found:
    """So many inputs of a device in `most` seconds, each file of them judged as it comes."""
    ended, broken, slowest, begin = Counter(), [], 0.0, time.monotonic()
    device = named_device(name)
    with tempfile.TemporaryDirectory() as folder:
        for lines in files(name, count, skins, seed, size):
            started = time.monotonic()
            faulthandler.dump_traceback_later(patience, exit=True)
            for answer, complaints in laws.answered(device, lines, Path(folder)):
                ended[answer.status if answer else "error"] += 1
                broken += complaints
            faulthandler.cancel_dump_traceback_later()
            slowest = max(slowest, (time.monotonic() - started) / len(lines))
            if time.monotonic() - begin > most:
                break
    return Found(ended, broken, time.monotonic() - begin, slowest)


def main() -> int:
    """Print what was found; 1 if a law is broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("devices", nargs="*", default=list(OWN), metavar="DEVICE")
    parser.add_argument("--count", type=int, default=1000, help="inputs a device")
    parser.add_argument("--skins", type=int, default=4, help="combinations of words a device")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="most a device")
    parser.add_argument("--patience", type=float, default=900.0)
    given = parser.parse_args()
    configure(double=True)
    failed = False
    for name in given.devices:
        found = fuzz(
            name, given.count, skins=given.skins, seed=given.seed, patience=given.patience,
            most=given.seconds,
        )  # fmt: skip
        total = sum(found.ended.values())
        print(
            f"{name}: {total} inputs in {found.seconds:.0f} s, {total / found.seconds:.0f} a second, slowest file "
            f"{found.slowest:.2g} s a line; "
            + ", ".join(f"{word} {n}" for word, n in found.ended.most_common()),
            flush=True,
        )
        for law, count in Counter(b.law.split(" = ")[0] for b in found.broken).most_common(20):
            shown = next(b for b in found.broken if b.law.startswith(law))
            print(f"  {count} times: {shown.law}\n    {shown.line}", flush=True)
        failed |= bool(found.broken)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

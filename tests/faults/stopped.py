"""Commands stopped at random moments by kill -9, SIGTERM and Ctrl-C; what goes on has to end in the same bytes.

`python -m tests.faults [JOB ...] --count 50 --seed 1` stops each job so many times. A moment is drawn evenly from
the states that the job's files go through while it runs undisturbed, then some milliseconds more; one that keeps
no files while it runs is stopped at any time of it. After every second stop it is let go on to its end.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).parents[2]
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
THROUGH = "came to its end first"
LONGEST = 600.0
"""Seconds after which a command counts as hung."""

TOY = f"{ROOT / 'tests' / 'sweep' / 'toy.py'}:TOY"

POINTS = "\n".join(f'{{"friction": {0.1 + 0.02 * i}, "drag_ratio": 0.8}}' for i in range(40))
TABLE = "sliding_velocity [m/s],friction_ratio\n" + "".join(
    f"{v:.3g},{0.9 * v / (v + 0.01):.6g}\n" for v in np.linspace(0.002, 0.04, 8)
)


class Job(NamedTuple):
    """A command. words: with `{out}` for the file or folder that it writes. resume: what is added to go on.

    compared: bytes of its files that have to be the same, by name. prefix: whatever a stopped one wrote
    is the beginning of the whole, line by line, and it begins anew.
    """

    words: tuple[str, ...]
    resume: tuple[str, ...] = ()
    compared: tuple[str, ...] = ("out",)
    prefix: bool = False


SEARCHED = ("optimize", "tribometer", "--maximize", "sliding_velocity", "drag_ratio=0.8")
FREE = ("--free", "friction=0.2:0.8", "--free", "probe_mass=1e-3:4e-3")


def optimized(method: str) -> Job:
    """A search of two parameters by this method."""
    words = (
        *SEARCHED,
        *FREE,
        "--method",
        method,
        "--budget",
        "60",
        "--seed",
        "3",
        "--out",
        "{out}",
    )
    return Job(words, ("--resume",), ("out/history.csv",))


CSV, ON = ("out.csv",), ("--resume",)
SWEPT = ("sweep", "tribometer", "friction=0.1:0.9:240", "--out", "{out}.csv")
CARRIED = ("sweep", TOY, "drive=0:3:330", "length=1,2", "--carry", "both", "--out", "{out}.csv")
ASKED = ("evaluate", "tribometer", "--points", "{folder}/points.jsonl", "--json")
FITTED = (
    "identify", "tribometer", "{folder}/data.csv", "direction=ipp", "--free", "vibration_velocity=1mm/s:100mm/s",
    "--out", "{out}",
)  # fmt: skip
NEAR = ("wrmma", "frequency_ratio=1.5:1.6", "load_factor=32")
CHART = ("map", *NEAR, "field=4.9e-3:5.1e-3", "--starts", "1", "--out", "{out}.csv")

JOBS: dict[str, Job] = {
    "sweep": Job(SWEPT, ON, CSV),
    "sweep carried": Job(CARRIED, ON, CSV),
    "sweep in processes": Job((*SWEPT, "--workers", "2"), ON, CSV),
    **{f"optimize {m}": optimized(m) for m in ("sqp", "slsqp", "optax", "climb", "cma")},
    "evaluate": Job(ASKED, (), ("stdout",), prefix=True),
    "identify": Job(FITTED, (), ("out/result.json",)),
    "branches": Job(("branches", *NEAR, "--out", "{out}.csv"), (), CSV),
    "map": Job(CHART, (), CSV),
}

SLOW_JOBS = ("branches", "map")
"""Minutes a run."""


class Broken(AssertionError):
    """A stopped command left something that it should not."""


def start(job: Job, folder: Path, again: bool) -> subprocess.Popen:
    """The command in a process group of its own, as a terminal starts it."""
    places = {"out": folder / "out", "folder": folder}
    words = [word.format(**places) for word in (*job.words, *(job.resume if again else ()))]
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        return subprocess.Popen(
            [sys.executable, "-m", "diffmicro", *words], stdout=out, stderr=err, cwd=ROOT,
            start_new_session=True, preexec_fn=_hears_ctrl_c,
        )  # fmt: skip


def _hears_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a background job of a shell ignores it


def files(folder: Path) -> tuple:
    """What the files of a job look like now; changes whenever one is written."""
    found = []
    for path in sorted(folder.rglob("*")):
        try:
            found.append((path.name, path.stat().st_size, path.stat().st_mtime_ns))
        except OSError:
            continue
    return tuple(found)


def watched(process: subprocess.Popen, folder: Path, ends: Callable[[int, float], bool]) -> int:
    """Wait until the process ends, or `ends` of the number of changes and the seconds says so; the changes."""
    seen, changes, begin = files(folder), 0, time.monotonic()
    while process.poll() is None and not ends(changes, time.monotonic() - begin):
        now = files(folder)
        changes, seen = changes + (now != seen), now
        time.sleep(0.002)
        if time.monotonic() - begin > LONGEST:
            process.kill()
            raise Broken(f"it hangs: no end after {LONGEST:.0f} s")
    return changes


def prepared(folder: Path) -> Path:
    """A new folder with the inputs of all jobs."""
    folder.mkdir(parents=True)
    (folder / "points.jsonl").write_text(POINTS + "\n")
    (folder / "data.csv").write_text(TABLE)
    return folder


def results(job: Job, folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in job.compared}


def complaint(process: subprocess.Popen, how: signal.Signals, folder: Path) -> str:
    """What is wrong with the end of a stopped command; empty where nothing is."""
    told = (folder / "stderr").read_text(errors="replace")
    code = process.returncode
    if how == signal.SIGINT:
        # Before the command has begun, Python ends by the signal itself.
        early = "in main" not in told and "diffmicro: interrupted" not in told
        if code != 130 and not (code == -signal.SIGINT and early):
            return f"Ctrl-C ends with {code}: {told[-400:]}"
        if code == 130 and "Traceback" in told:
            return f"Ctrl-C shows a traceback: {told[-400:]}"
    elif code != -how:
        return f"{how.name} ends with {code}: {told[-400:]}"
    return ""


def finished(job: Job, known: "Whole", folder: Path) -> bool:
    """Whether a stopped command had written all that it had to, of one that cannot be asked to go on."""
    there = all((folder / name).exists() for name in job.compared)
    return not job.resume and there and results(job, folder) == known.results


class Whole(NamedTuple):
    """An undisturbed run: its files, how often they changed, how long it took."""

    results: dict[str, bytes]
    changes: int
    seconds: float


def whole(name: str, folder: Path) -> Whole:
    """Run a job to its end."""
    job, begin = JOBS[name], time.monotonic()
    process = start(job, prepared(folder), False)
    changes = watched(process, folder, lambda *_: False)
    if process.returncode:
        raise Broken(f"{name} ends with {process.returncode}: {(folder / 'stderr').read_text()}")
    return Whole(results(job, folder), changes, time.monotonic() - begin)


def stop(name: str, known: Whole, folder: Path, rng: np.random.Generator, again: bool) -> str:
    """Start a job or go on with it, stop it at a random moment, and look at what it left. How it was stopped."""
    job, how = JOBS[name], SIGNALS[rng.integers(len(SIGNALS))]
    steady = known.changes > 8
    moment = float(rng.integers(1, known.changes) if steady else rng.uniform(0, known.seconds))
    process = start(job, folder, again)
    if steady:
        watched(process, folder, lambda changes, seconds: changes >= moment)
        time.sleep(rng.uniform(0, 0.02))
    else:
        watched(process, folder, lambda changes, seconds: seconds > moment)
    # Ctrl-C of a terminal goes to all processes of the job.
    with suppress(ProcessLookupError):
        (os.killpg if how == signal.SIGINT else os.kill)(process.pid, how)
    process.wait(timeout=LONGEST)
    if process.returncode == 0 or finished(job, known, folder):
        return THROUGH
    problem = complaint(process, how, folder)
    if problem:
        raise Broken(f"{name}: {problem}")
    if job.prefix:
        lines = (folder / "stdout").read_bytes().split(b"\n")[:-1]
        if lines != known.results["stdout"].split(b"\n")[: len(lines)]:
            raise Broken(f"{name}: what a stopped one wrote is not the beginning of the whole")
    return how.name


def stops(name: str, count: int, seed: int, folder: Path) -> Iterator[str]:
    """Stop a job so many times, let it end after every second stop, and compare; a word for each stop."""
    known, rng = whole(name, folder / "whole"), np.random.default_rng((seed, len(name)))
    job, number = JOBS[name], 0
    while number < count:
        here = prepared(folder / f"{number}")
        began = False
        for _ in range(min(2, count - number)):
            how = stop(name, known, here, rng, began)
            yield how
            number += 1
            began = bool(job.resume) and resumable(job, here)
            if how == THROUGH:
                break
        else:
            process = start(job, here, began)
            watched(process, here, lambda *_: False)
            told = (here / "stderr").read_text(errors="replace")
            if process.returncode:
                raise Broken(f"{name}: goes on and ends with {process.returncode}: {told[-600:]}")
        if results(job, here) != known.results:
            raise Broken(f"{name}: seed {seed}, stop {number}: other bytes than an undisturbed run")


def resumable(job: Job, folder: Path) -> bool:
    """Whether something is there to go on from: optimize refuses to resume nothing, a sweep says so."""
    return job.words[0] != "optimize" or (folder / "out" / "config.json").exists()

"""One run of an optimization: it evaluates, counts, remembers, shows progress, and survives.

Every method of this package is a deterministic function of the samples that it is given. So the
samples are the whole state of a run: a checkpoint holds them, and resuming runs the method again with
the remembered samples, which takes no time, until they are used up. Nothing else has to be saved, and
the continued run is the uninterrupted one bit for bit.

A checkpoint is written to another name and renamed, so that a reader sees the old or the new one; its
digest tells a torn one.
"""

import csv
import io
import json
import platform
from collections.abc import Callable, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from zipfile import BadZipFile

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from diffmicro._files import Claim, Taken, replace, sealed, unsealed
from diffmicro._json import Json
from diffmicro.design.problem import Numbers, Problem, Sample, Step
from diffmicro.design.shown import said_of
from diffmicro.parameters import Value
from diffmicro.sweep.cluster import Processes

EVERY = 10
"""Evaluations between two checkpoints."""

ANEW = "Delete it, and the resumed run starts with its first evaluation."

PACKAGES = ("diffmicro", "jax", "jaxlib", "equinox", "optax", "optimistix", "numpy")


class Spent(Exception):
    """The budget of evaluations is used."""


class FolderRefused(ValueError):
    """What is in the folder of a run is not what it should be; nothing there was changed."""


class Folder:
    """Where a run is kept: config.json, environment.json, history.csv, result.json, checkpoint.bin."""

    def __init__(self, path: Path, config: Mapping[str, Json], resume: bool):
        self.path = path
        known = path / "config.json"
        text = json.dumps(config, indent=1, sort_keys=True, default=plain) + "\n"
        _check_free(path, text, resume)
        path.mkdir(parents=True, exist_ok=True)
        try:
            self._claim = Claim(path)
        except Taken as complaint:
            raise FolderRefused(str(complaint)) from None
        replace(known, text.encode())
        replace(path / "environment.json", (json.dumps(environment(), indent=1) + "\n").encode())

    def save(self, arrays: Mapping[str, np.ndarray], history: list[Step]) -> None:
        replace(self.path / "checkpoint.bin", sealed(arrays))
        replace(self.path / "history.csv", history_csv(history).encode())

    def load(self, problem: Problem) -> dict[str, np.ndarray]:
        """The samples of the last checkpoint; none if the run was stopped before the first one."""
        file = self.path / "checkpoint.bin"
        if not file.exists():
            return {}
        try:
            kept = unsealed(file.read_bytes())
        except (ValueError, OSError, EOFError, AttributeError, TypeError, BadZipFile) as fault:
            raise FolderRefused(f"The checkpoint {file} cannot be read: {fault}. {ANEW}") from None
        if kept is None:
            raise FolderRefused(f"The checkpoint {file} is torn: its digest does not match. {ANEW}")
        wrong = _misfits(kept, problem)
        if wrong:
            raise FolderRefused(
                f"The checkpoint {file} is not one of this problem: {', '.join(wrong)} missing or "
                f"of another shape. {ANEW}"
            )
        return kept


def _check_free(path: Path, text: str, resume: bool) -> None:
    """Refuse a folder in which something would be lost. `text`: what the run is about."""
    if path.exists() and not path.is_dir():
        raise FolderRefused(f"{path} is a file. Choose a folder for the run.")
    # A run that was killed while it began leaves no more than a partial file.
    found = sorted(p.name for p in path.iterdir()) if path.is_dir() else []
    found = [name for name in found if name != "config.json.partial"]
    own = "config.json" in found and (path / "config.json").read_bytes() == text.encode()
    if resume and "config.json" not in found:
        raise FolderRefused(f"There is no run to resume in {path}. Start it without resume.")
    if resume and not own:
        raise FolderRefused(
            f"The run in {path} is about another problem; compare its config.json. "
            "Resume with the same words, or choose another folder."
        )
    if found and not own:
        raise FolderRefused(
            f"The folder {path} is not empty and not of this run: it has {', '.join(found[:3])}"
            f"{' and more' if len(found) > 3 else ''}. Choose another folder, or empty this one."
        )
    if not resume and {"checkpoint.bin", "result.json"} & set(found):
        raise FolderRefused(
            f"The folder {path} has this run already. Go on with it by resume (--resume), choose "
            "another folder, or delete this one to start anew."
        )


def _misfits(kept: Mapping[str, np.ndarray], problem: Problem) -> list[str]:
    """Names of arrays that a checkpoint of this problem has, and this one has not."""
    n, m = len(problem.variables), len(problem.constraints)
    count = len(kept["trials"]) if kept.get("trials", np.zeros(())).ndim else 0
    shapes = {
        "trials": (n,),
        "objective": (),
        "gradient": (n,),
        "slacks": (m,),
        "slack_gradients": (m, n),
        "usable": (),
        "verdict": (),
    }
    return [
        name
        for name, shape in shapes.items()
        if name not in kept
        or kept[name].shape != (count, *shape)
        or kept[name].dtype.kind not in "fbiu"
    ]


class Run:
    """Evaluations of a problem within a budget, as the methods see them."""

    def __init__(
        self,
        problem: Problem,
        budget: int,
        progress: bool = False,
        folder: Folder | None = None,
        watch: Callable[[int], object] | None = None,
        processes: Processes | None = None,
    ):
        self.watch = watch
        self.problem, self.budget, self.folder = problem, budget, folder
        self.trials: list[np.ndarray] = []
        self.samples: list[Sample] = []
        self.history: list[Step] = []
        self._remembered = folder.load(problem) if folder else {}
        self._saved = len(self._remembered.get("trials", ()))
        self._processes = processes
        self._display = display(progress)
        self._task = self._display.add_task("compiling", total=budget)

    def __enter__(self) -> "Run":
        self._display.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._display.stop()
        self.save()

    @property
    def used(self) -> int:
        return len(self.samples)

    def ask(self, trials: np.ndarray, gradients: bool = True) -> list[Sample]:
        """One sample for each row; `Spent` when the budget does not cover them.

        Without gradients those of the samples are NaN, and a sample is cheaper.
        """
        if self.used + len(trials) > self.budget:
            raise Spent
        if self.watch is not None:
            self.watch(self.used)
        kept = self._remembered.get("trials", np.zeros((0, 0)))
        if self.used + len(trials) <= len(kept):
            rows = slice(self.used, self.used + len(trials))
            if not np.array_equal(kept[rows], trials):
                raise ValueError(
                    "resume: the remembered run went elsewhere, so this is another program or "
                    "problem. Start it without resume."
                )
            batch = Sample(*(self._remembered[name][rows] for name in Sample._fields))
        else:
            evaluate = self._evaluate if gradients else compiled_values(self.problem)
            batch = jax.tree.map(np.asarray, evaluate(trials))
        samples = [Sample(*(field[i] for field in batch)) for i in range(len(trials))]
        self.trials += [np.array(trial) for trial in trials]
        self.samples += samples
        if self.folder and self.used - self._saved >= EVERY:
            self.save()
        self._display.update(self._task, completed=self.used)
        return samples

    def _evaluate(self, trials: np.ndarray) -> Sample:
        """The samples of some trials, stacked; of those that are no batch processes share what they take."""
        if self.problem.batched:
            return compiled(self.problem)(trials)
        samples = self.problem.samples([jnp.asarray(u) for u in trials], self._processes)
        return jax.tree.map(lambda *x: np.stack([np.asarray(each) for each in x]), *samples)

    def known(self, u: np.ndarray) -> Sample | None:
        """What was evaluated at this design."""
        at = (s for t, s in zip(self.trials, self.samples, strict=True) if np.array_equal(t, u))
        return next(at, None)

    def tell(self, step: Step) -> None:
        """One iteration is done: for the history and for who watches."""
        self.history.append(step)
        worst = min(step.constraints.values(), default=None)
        objective = self.problem.objective
        value = float(objective.shown(step.objective))
        text = f"{objective.response} {said_of(self.problem, objective.response, value, 5)}"
        text += "" if worst is None else f"  slack {worst:.2g}"
        text += f"  step {step.reach:.1e}  certified {100 * self.certified:.0f} %"
        self._display.update(self._task, description=text)

    @property
    def certified(self) -> float:
        """Share of the samples with a certificate whose gradient is certified."""
        verdicts = np.array([int(sample.verdict) for sample in self.samples])
        judged = verdicts >= 0
        return float(np.mean(verdicts[judged] == 0)) if judged.any() else float("nan")

    def save(self) -> None:
        """A checkpoint of all that was evaluated."""
        if self.folder and self.samples and self.used >= self._saved:
            stacked = {n: np.stack([getattr(s, n) for s in self.samples]) for n in Sample._fields}
            self.folder.save({"trials": np.stack(self.trials), **stacked}, self.history)
            self._saved = self.used


@cache
def compiled(problem: Problem) -> Callable[[np.ndarray], Sample]:
    """The evaluation of some trials as a batch, compiled once for a problem."""
    return jax.jit(jax.vmap(problem.sample))


@cache
def compiled_values(problem: Problem) -> Callable[[np.ndarray], Sample]:
    """The values of some trials without gradients, compiled once for a problem."""

    def sample(u: Numbers) -> Sample:
        x = dict(zip(problem.names, problem.point(u), strict=True))
        values, usable = problem.values(x)
        slacks = [c.slack(values[1 + i]) for i, c in enumerate(problem.constraints)]
        unknown = jnp.full_like(u, jnp.nan)
        return Sample(
            objective=problem.objective.gain(values[0]),
            gradient=unknown,
            slacks=jnp.array(slacks, u.dtype),
            slack_gradients=jnp.broadcast_to(unknown[None, :], (len(slacks), u.shape[0])),
            usable=usable,
            verdict=jnp.asarray(-1),
        )

    return jax.jit(jax.vmap(sample))


def history_csv(history: list[Step]) -> str:
    """One line an iteration, numbers with all their digits."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    if history:
        first = history[0]
        lines.writerow(
            ["evaluations", *first.design, "objective", *first.constraints, "gradient_norm",
             "verdict", "accepted", "reach"]
        )  # fmt: skip
    for step in history:
        numbers = [*step.design.values(), step.objective, *step.constraints.values()]
        numbers = [repr(float(x)) for x in (*numbers, step.gradient_norm)]
        row = [step.evaluations, *numbers, step.verdict, step.accepted, repr(float(step.reach))]
        lines.writerow(row)
    return text.getvalue()


def plain(value: Value) -> Json:
    """What JSON has for a value of a configuration: lists for arrays, the name for what is neither."""
    return np.asarray(value).tolist() if isinstance(value, np.ndarray | jax.Array) else str(value)


def environment() -> dict[str, str]:
    """Versions and machine, for whoever repeats the run."""
    versions = {name: metadata.version(name) for name in PACKAGES}
    return versions | {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "system": platform.system(),
        "backend": jax.default_backend(),
        "double_precision": str(jnp.zeros(()).dtype == jnp.float64),
    }


def display(progress: bool) -> Progress:
    """A bar on stderr, with the time that is left."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:g}/{task.total:g}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        refresh_per_second=4,
        disable=not progress,
    )

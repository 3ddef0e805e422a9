"""Runs that survive: killed without warning, they go on as if nothing had happened."""

import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from diffmicro.design import (
    Objective,
    Tolerance,
    Variable,
    device_problem,
    function_problem,
    optimize_design,
    robust_problem,
)
from diffmicro.design.loop import _config
from diffmicro.design.run import Folder
from diffmicro.devices import tribometer

SCRIPT = Path(__file__).with_name("interrupted.py")


def start(folder, method, resume):
    words = [sys.executable, str(SCRIPT), str(folder), method, "resume" if resume else "new"]
    paths = {"PYTHONPATH": str(SCRIPT.parents[2])}
    return subprocess.Popen(words, env=os.environ | paths, stderr=subprocess.PIPE)


def finished(folder, method, resume):
    run = start(folder, method, resume)
    _, told = run.communicate(timeout=300)
    assert run.returncode == 0, told.decode()
    return (folder / "history.csv").read_text()


def killed(folder, method, seconds):
    """Kill -9 some time after the first checkpoint is there."""
    run = start(folder, method, (folder / "checkpoint.bin").exists())
    while not (folder / "checkpoint.bin").exists() and run.poll() is None:
        time.sleep(0.01)
    time.sleep(seconds)
    run.send_signal(signal.SIGKILL)
    run.communicate()


@pytest.mark.slow
def test_a_killed_run_resumes_to_the_same_history(tmp_path, rng):
    whole = finished(tmp_path / "whole", "sqp", resume=False)
    killed(tmp_path / "cut", "sqp", rng.uniform(0, 0.6))
    before = (tmp_path / "cut" / "history.csv").read_text()
    assert finished(tmp_path / "cut", "sqp", resume=True) == whole
    assert whole.startswith(before)
    results = [json.loads((tmp_path / n / "result.json").read_text()) for n in ("whole", "cut")]
    told = [{k: v for k, v in r.items() if k not in ("seconds", "study")} for r in results]
    assert told[0] == told[1]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["sqp", "slsqp", "optax", "climb", "cma"])
def test_twenty_kills_at_random_times(tmp_path, rng, method):
    whole = finished(tmp_path / "whole", method, resume=False)
    for number in range(10):
        folder = tmp_path / str(number)
        for seconds in rng.uniform(0, 1.5, 2):
            killed(folder, method, seconds)
        assert finished(folder, method, resume=True) == whole


@pytest.fixture
def problem():
    def loss(at):
        return {"loss": (at["x"] - 0.3) ** 2}

    return function_problem(loss, [Variable("x", 0.0, 1.0, 0.9)], Objective("loss", "minimize"))


def test_a_torn_checkpoint_is_never_loaded(tmp_path, problem):
    optimize_design(problem, method="climb", budget=40, out=tmp_path, progress=False)
    file = tmp_path / "checkpoint.bin"
    content = file.read_bytes()
    for torn in (content[:-1], content[: len(content) // 2], content[:-9] + bytes(9)):
        file.write_bytes(torn)
        with pytest.raises(ValueError, match="torn"):
            optimize_design(
                problem, method="climb", budget=40, out=tmp_path, resume=True, progress=False
            )


def test_resuming_something_else_is_refused(tmp_path, problem):
    with pytest.raises(ValueError, match="no run to resume"):
        optimize_design(problem, budget=20, out=tmp_path / "none", resume=True, progress=False)
    optimize_design(problem, method="sqp", budget=20, out=tmp_path, progress=False)
    with pytest.raises(ValueError, match="another problem"):
        optimize_design(problem, method="sqp", budget=30, out=tmp_path, resume=True, progress=False)


@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_with_other_things_is_refused_and_left_alone(tmp_path, problem, resume):
    mine = {"config.json": '{"my": 1}', "history.csv": "mine", "notes.txt": "mine"}
    for name, text in mine.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=r"[Cc]hoose another folder"):
        optimize_design(problem, budget=20, out=tmp_path, resume=resume, progress=False)
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == mine


def test_a_run_that_is_repeated_keeps_its_checkpoint(tmp_path, problem):
    folder = tmp_path / "run"
    once = optimize_design(problem, method="sqp", budget=20, out=folder, progress=False)
    kept = {p.name: p.read_bytes() for p in folder.iterdir()}
    with pytest.raises(ValueError, match="resume"):
        optimize_design(problem, method="sqp", budget=20, out=folder, progress=False)
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == kept
    again = optimize_design(
        problem, method="sqp", budget=20, out=folder, resume=True, progress=False
    )
    assert (again.variables, again.history) == (once.variables, once.history)
    assert (folder / "checkpoint.bin").read_bytes()[32:] != b""


def test_a_run_that_was_killed_while_it_began_may_begin_again(tmp_path, problem):
    (tmp_path / "config.json.partial").write_text("{")
    assert optimize_design(problem, budget=20, out=tmp_path, progress=False).status == "ok"


def test_what_is_held_makes_another_run(tmp_path):
    """Two problems that differ in nothing but a value that is not free, or in a tolerance."""

    def made(force, share):
        problem = device_problem(
            tribometer.DEVICE,
            {"radius": (2e-3, 5e-3)},
            Objective("sliding_velocity"),
            setting=tribometer.published_setting(normal_force=force),
        )
        problem = robust_problem(problem, [Tolerance("radius", share)])
        return _config(problem, "sqp", 20, 0, {})

    for first, second in (((9.5, 0.02), (9.0, 0.02)), ((9.5, 0.02), (9.5, 0.03))):
        folder = tmp_path / str(second)
        Folder(folder, made(*first), resume=False)
        Folder(folder, made(*first), resume=True)
        with pytest.raises(ValueError, match="another problem"):
            Folder(folder, made(*second), resume=True)


@pytest.mark.parametrize("spoil", ["empty", "no archive", "missing", "short", "words"])
def test_a_checkpoint_with_a_valid_digest_and_other_content_is_refused(tmp_path, problem, spoil):
    optimize_design(problem, method="climb", budget=40, out=tmp_path, progress=False)
    file = tmp_path / "checkpoint.bin"
    with np.load(io.BytesIO(file.read_bytes()[32:])) as arrays:
        kept = dict(arrays)
    if spoil == "missing":
        del kept["slacks"]
    elif spoil == "short":
        kept["gradient"] = kept["gradient"][:-1]
    elif spoil == "words":
        kept["objective"] = kept["objective"].astype(str)
    packed = io.BytesIO()
    np.savez(packed, allow_pickle=False, **kept)
    content = {"empty": b"", "no archive": b"no archive"}.get(spoil, packed.getvalue())
    spoiled = hashlib.sha256(content).digest() + content
    file.write_bytes(spoiled)
    with pytest.raises(ValueError, match=r"checkpoint .*Delete it"):
        optimize_design(
            problem, method="climb", budget=40, out=tmp_path, resume=True, progress=False
        )
    assert file.read_bytes() == spoiled


def test_the_folder_tells_what_the_run_was(tmp_path, problem):
    result = optimize_design(problem, method="sqp", budget=30, out=tmp_path, progress=False)
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["method"] == "sqp" and config["variables"][0]["high"] == 1.0
    assert "jax" in json.loads((tmp_path / "environment.json").read_text())
    assert json.loads((tmp_path / "result.json").read_text())["status"] == result.status == "ok"
    lines = (tmp_path / "history.csv").read_text().splitlines()
    assert len(lines) == 1 + len(result.history)
    kept = Folder(tmp_path, config, resume=True).load(problem)
    assert len(kept["trials"]) == result.evaluations - 2  # the report evaluates both designs again
    assert np.isfinite(kept["gradient"]).all()


def test_an_interrupted_run_returns_its_best(tmp_path, problem, monkeypatch):
    """Ctrl-C in the middle: the status says so, and the folder can be resumed."""
    from diffmicro.design import run as runs

    asked = runs.Run.ask

    def impatient(self, trials):
        if self.used >= 12:
            raise KeyboardInterrupt
        return asked(self, trials)

    monkeypatch.setattr(runs.Run, "ask", impatient)
    result = optimize_design(problem, method="climb", budget=60, out=tmp_path, progress=False)
    assert result.status == "interrupted"
    assert result.optimized.response["loss"] <= (0.9 - 0.3) ** 2
    monkeypatch.undo()
    again = optimize_design(
        problem, method="climb", budget=60, out=tmp_path, resume=True, progress=False
    )
    assert again.status == "stopped"
    assert again.history[: len(result.history)] == result.history

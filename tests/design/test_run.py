"""Runs that survive: killed without warning, they go on as if nothing had happened."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from diffmicro.design import Objective, Variable, function_problem, optimize_design
from diffmicro.design.run import Folder

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


def test_a_killed_run_resumes_to_the_same_history(tmp_path, rng):
    whole = finished(tmp_path / "whole", "climb", resume=False)
    killed(tmp_path / "cut", "climb", rng.uniform(0, 0.6))
    before = (tmp_path / "cut" / "history.csv").read_text()
    assert finished(tmp_path / "cut", "climb", resume=True) == whole
    assert whole.startswith(before)
    results = [json.loads((tmp_path / n / "result.json").read_text()) for n in ("whole", "cut")]
    told = [{k: v for k, v in r.items() if k not in ("seconds", "study")} for r in results]
    assert told[0] == told[1]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["climb", "lagrangian"])
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


def test_the_folder_tells_what_the_run_was(tmp_path, problem):
    result = optimize_design(problem, method="sqp", budget=30, out=tmp_path, progress=False)
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["method"] == "sqp" and config["variables"][0]["high"] == 1.0
    assert "jax" in json.loads((tmp_path / "environment.json").read_text())
    assert json.loads((tmp_path / "result.json").read_text())["status"] == result.status == "ok"
    lines = (tmp_path / "history.csv").read_text().splitlines()
    assert len(lines) == 1 + len(result.history)
    kept = Folder(tmp_path, config, resume=True).load()
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
    assert again.status == "ok"
    assert again.history[: len(result.history)] == result.history

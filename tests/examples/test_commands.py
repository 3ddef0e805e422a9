"""The commands of examples/capsule/README.md, by the device's file."""

import csv
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from diffmicro.command.app import app

CAPSULE = f"{Path(__file__).parents[2]}/examples/capsule/capsule.py:CAPSULE"


def run(*words):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.slow
def test_sweep_branches_optimize_and_animate(tmp_path):
    out, line, plot = (tmp_path / name for name in ("sweep.csv", "branches.csv", "plot.png"))
    run("sweep", CAPSULE, "frequency=105:120:4", "--carry", "both", "--out", out, "--plot", plot)
    run("branches", CAPSULE, "frequency=105:120", "--seeds", "2", "--out", line, "--plot", plot)
    swept, followed = (list(csv.DictReader(path.read_text().splitlines())) for path in (out, line))
    assert {row["status"] for row in swept} == {"ok"} and plot.stat().st_size > 1000
    # Both find the same motions: the sweep's velocities lie on the branch.
    at, velocity = (
        np.array([float(row[key]) for row in followed]) for key in ("frequency", "velocity")
    )
    order = np.argsort(at)
    for row in swept:
        expected = np.interp(float(row["frequency"]), at[order], velocity[order])
        np.testing.assert_allclose(float(row["velocity"]), expected, rtol=2e-3)
    told = run(
        "optimize", CAPSULE, "--maximize", "velocity", "--free", "gap=8e-6:12e-6", "--budget", 20
    )
    assert "status: ok" in told
    run("animate", CAPSULE, "--out", plot, "--frames", 4)

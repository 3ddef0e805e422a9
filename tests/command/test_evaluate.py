"""`diffmicro evaluate`: answers in JSON and tables, gradients, many points, bad input, exit code."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from diffmicro.command import evaluation
from diffmicro.devices import wrmma

CERTIFICATE = {
    "verdict", "reason", "method", "residual", "margin", "multiplier", "discrepancy",
    "error_estimate",
}  # fmt: skip
GRADIENT = ("--grad", "mass_ratio,field", "--of", "velocity")
CHAOTIC = {
    "mass_ratio": 1.4, "field": 0.0046, "load_factor": 12, "frequency_ratio": 1.3,
    "clamp_force": 1.0, "clamp_phase": -0.7853981633974483,
}  # fmt: skip


def strict_json(text):
    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture
def points(tmp_path):
    """Writes points, JSON objects or lines of text, to a file."""

    def write(*lines):
        file = tmp_path / "points.jsonl"
        file.write_text("".join((x if isinstance(x, str) else json.dumps(x)) + "\n" for x in lines))
        return file

    return write


def test_one_point_as_json_with_gradient(run):
    done = run("evaluate", "wrmma", "load_factor=32", "--json", *GRADIENT, "--response", "velocity")
    assert (done.code, done.err) == (0, "")
    (line,) = done.out.splitlines()
    answer = strict_json(line)
    assert list(answer) == ["response", "status", "message", "grad", "certificate"]
    assert (answer["status"], answer["message"]) == ("ok", "")
    # Reference point "slide f1 b32", from an independent event-driven program.
    assert answer["response"] == {"velocity": pytest.approx(0.004717411184167364, rel=2e-5)}
    assert answer["grad"]["velocity"] == {
        "mass_ratio": pytest.approx(0.002404901252005705, rel=1e-4),
        "field": pytest.approx(2.709080765243925, rel=1e-4),
    }
    certificate = answer["certificate"]["velocity"]
    assert set(certificate) == CERTIFICATE
    assert (certificate["verdict"], certificate["method"]) == ("certified", "event")


def test_many_points_each_for_itself_in_the_order_asked(run, points):
    """Bad points between good ones; the good ones answer as they do alone."""
    file = points(
        {"load_factor": 32},
        {"mass_ratio": -1},
        "not json",
        {"load_factor": [1, 2]},
        {"field": "nan"},
        '{"field": NaN}',
        {"feild": 1},
        {"steps": 10**9},
        {"method": "magic"},
        CHAOTIC,
        {"load_factor": 32},
    )
    done = run("evaluate", "wrmma", "--points", file, "--json", *GRADIENT)
    assert done.code == 0
    answers = [strict_json(line) for line in done.out.splitlines()]
    invalid = "invalid_input"
    assert [answer["status"] for answer in answers] == [
        "ok", "out_of_range", invalid, invalid, invalid, invalid, invalid, invalid, invalid,
        "erratic", "ok",
    ]  # fmt: skip
    assert answers[0] == answers[-1]
    assert answers[0]["response"]["velocity"] == pytest.approx(0.004717411184167364, rel=2e-5)
    for answer in answers[1:-1]:
        assert answer["message"]
        assert answer["grad"] == {"velocity": {"mass_ratio": None, "field": None}}
        assert answer["certificate"]["velocity"]["verdict"] == "refused"
        assert set(answer["certificate"]["velocity"]) == CERTIFICATE
        assert list(answer["response"]) == list(answers[0]["response"])
    for answer in answers[1:-2]:
        assert set(answer["response"].values()) == {None}
    assert np.isfinite(answers[-2]["response"]["velocity"])  # erratic: a mean over a window
    assert "did you mean field?" in answers[6]["message"]


def test_without_gradient_there_is_none(run):
    done = run("evaluate", "wrmma", "load_factor=32", "--json")
    answer = strict_json(done.out)
    assert (answer["grad"], answer["certificate"]) == ({}, {})
    assert answer["response"]["velocity"] == pytest.approx(0.004717411184167364, rel=2e-5)
    assert answer["response"]["period_multiple"] == 1


def test_a_table_for_people(run):
    done = run("evaluate", "wrmma", "load_factor=32", "mass_ratio=1.5", *GRADIENT)
    assert done.code == 0
    for part in (
        "velocity", "m/s", "status: ok", "dvelocity/dmass_ratio", "certified",
        f"{0.002404901252 * 1.5 / 0.004717411184:.4g}",  # the elasticity
    ):  # fmt: skip
        assert part in done.out


def test_a_gap_that_collapses_is_a_status(run):
    """100 mT pull 400 times harder than the drive of the paper; the spring cannot open the gap."""
    done = run(
        "evaluate", "wrmma", "field=0.1", "frequency_ratio=0.2", "load_factor=1000", "--json"
    )
    assert strict_json(done.out)["status"] == "gap_collapsed"
    assert done.code == 0


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["mass_ratio=-1"], ["mass_ratio", "-1", "above 0"]),
        (["rest_gap=0"], ["rest_gap", "0", "above 0", "m"]),
        (["field=nan"], ["field", "nan", "at least 0"]),
        (["mass_ratoi=1"], ["mass_ratoi", "did you mean mass_ratio?"]),
        (["mass_ratio=1,2"], ["mass_ratio", "1,2", "not a vector"]),
        (["--steps", "1e9"], ["steps", "1000000000", "100000"]),
        (["--method", "evnt"], ["method", "evnt", "event"]),
        (["--grad", "mas_ratio"], ["mas_ratio", "did you mean mass_ratio?"]),
        (["--grad", "mass_ratio", "--of", "velocty"], ["velocty", "did you mean velocity?"]),
        (["--grad", "demagnetization", "demagnetization=None"], ["demagnetization", "None"]),
        (["--response", "speed"], ["speed", "response"]),
        (["--precision", "16"], ["16", "32 or 64"]),
        (["--points", "no_such_file.jsonl"], ["no_such_file.jsonl"]),
    ],
)
def test_bad_input_is_exit_code_2_and_a_message(run, arguments, told):
    done = run("evaluate", "wrmma", *arguments)
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1
    for part in told:
        assert part in done.err


def test_unknown_devices_options_and_commands(run):
    assert run("evaluate", "wrma").code == 2
    assert run("evaluate", "wrmma", "--jason").code == 2
    assert run("evalute", "wrmma").code == 2


def test_no_convergence_is_exit_code_3(run, monkeypatch):
    """A search cut off after one period finds no orbit; without a window there is no mean."""
    from diffmicro.dynamics.orbits import FOLLOW

    def hopeless(design, setting, *, throw=True):
        return wrmma.respond(
            design, setting, throw=throw, window=0, search=FOLLOW._replace(newton=1)
        )

    monkeypatch.setattr(
        evaluation, "_calculated", _with_respond(evaluation._calculated, hopeless), raising=True
    )
    done = run("evaluate", "wrmma", "load_factor=32", "--json")
    answer = strict_json(done.out)
    assert (done.code, answer["status"]) == (3, "no_orbit")
    assert answer["response"]["velocity"] is None and answer["message"]


def _with_respond(calculated, respond):
    class Device:
        pass

    def replaced(request, points):
        device = Device()
        device.respond = respond
        return calculated(request._replace(device=device), points)

    return replaced


@pytest.mark.parametrize("bits", [32, 64])
def test_the_program_alone_in_both_precisions(bits, tmp_path):
    """`python -m diffmicro` somewhere else, with no settings of ours in the environment."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("XLA", "JAX"))}
    words = ["evaluate", "wrmma", "load_factor=32", "--json", "--precision", str(bits)]
    done = subprocess.run(
        [sys.executable, "-m", "diffmicro", *words],
        capture_output=True, text=True, timeout=120, cwd=tmp_path, env=environment,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    velocity = strict_json(done.stdout)["response"]["velocity"]
    assert velocity == pytest.approx(0.004717411184167364, rel=2e-5 if bits == 64 else 1e-3)
    assert (float(np.float32(velocity)) == velocity) == (bits == 32)

"""`diffmicro evaluate`: answers in JSON and tables, gradients, many points, bad input, exits."""

import json
import os
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest

from diffmicro.command import words
from tests.sweep import toy

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
    assert "does not settle" in answers[-2]["message"]
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


def test_a_field_that_closes_the_gap_for_good_is_a_status(run):
    """2 T pull 160000 times harder than the 5 mT of the paper."""
    done = run("evaluate", "wrmma", "field=2", "--json")
    answer = strict_json(done.out)
    assert answer["status"] == "gap_collapsed"
    assert done.code == 0
    assert answer["message"].endswith(".")


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
        (["--of", "velocity"], ["--of velocity", "--grad"]),
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
    """A device whose cheap search finds nothing at drive 6, and which has no other."""
    module = ModuleType("devices.hopeless")
    vars(module).update(vars(toy) | {"__name__": "devices.hopeless"})
    vars(module)["respond"] = lambda design, setting, throw: toy.respond(
        design, setting, window=0, throw=throw
    )
    monkeypatch.setattr(words, "device", lambda name: module)
    done = run("evaluate", "toy", "drive=6", "--json")
    answer = strict_json(done.out)
    assert (done.code, answer["status"]) == (3, "no_orbit")
    assert answer["response"]["velocity"] is None
    assert "No periodic motion" in answer["message"]
    assert strict_json(run("evaluate", "toy", "drive=1", "--json").out)["status"] == "ok"


def alone(folder, *arguments):
    """`python -m diffmicro` in a process of its own, with no settings of ours around it."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("XLA", "JAX"))}
    return subprocess.run(
        [sys.executable, "-m", "diffmicro", *arguments],
        capture_output=True, text=True, timeout=120, cwd=folder, env=environment,
    )  # fmt: skip


def test_the_program_alone_in_single_precision(tmp_path):
    words = ("evaluate", "wrmma", "load_factor=32", "--json", "--precision", "32")
    done = alone(tmp_path, *words)
    assert (done.returncode, done.stderr) == (0, "")
    velocity = strict_json(done.stdout)["response"]["velocity"]
    assert velocity == pytest.approx(0.004717411184167364, rel=1e-3)
    assert float(np.float32(velocity)) == velocity


def test_the_program_alone_ends_with_its_exit_code(tmp_path):
    done = alone(tmp_path, "evaluate", "wrmma", "mass_ratio=-1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "mass_ratio" in done.stderr

"""`diffmicro evaluate`: answers in JSON and tables, gradients, many points, bad input, exits."""

import dataclasses
import json
import locale
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from diffmicro._device import Alias
from diffmicro.command import evaluation, main, words
from tests.sweep import toy

CERTIFICATE = {
    "verdict", "reason", "method", "residual", "margin", "multiplier", "discrepancy",
    "mismatch", "error_estimate", "reach", "entries", "checks",
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
    assert list(certificate["entries"]) == ["field", "mass_ratio"]
    for entry in certificate["entries"].values():
        assert set(entry) == {"verdict", "reason", "discrepancy", "mismatch", "reach"}
        assert (entry["verdict"], entry["reason"]) == ("certified", certificate["reason"])
        assert entry["mismatch"] < 1e-4 and entry["reach"] >= 1e-3
    assert certificate["reach"] == min(e["reach"] for e in certificate["entries"].values())


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
        assert set(answer["certificate"]["velocity"]["entries"]) == {"mass_ratio", "field"}
        assert list(answer["response"]) == list(answers[0]["response"])
    for answer in answers[1:-2]:
        assert set(answer["response"].values()) == {None}
    assert np.isfinite(answers[-2]["response"]["velocity"])  # erratic: a mean over a window
    assert "does not settle" in answers[-2]["message"]
    assert "did you mean field?" in answers[6]["message"]


def test_lines_that_are_no_points_spoil_nothing(run, points):
    """Each of these took all answers with it."""
    file = points(
        {"friction": 0.2},
        "[" * 100_000,
        '{"friction": ' + "9" * 5001 + "}",
        '{"friction": 0.1, "friction": 0.2}',
        {"law": "[/x]"},
        '{"friction": ' + "[" * 60 + "1" + "]" * 60 + "}",
        {"friction": 0.2},
    )
    done = run("evaluate", "tribometer", "--points", file, "--json")
    answers = [strict_json(line) for line in done.out.splitlines()]
    assert done.code == 0
    assert [answer["status"] for answer in answers] == ["ok", *["invalid_input"] * 5, "ok"]
    for answer, part in zip(
        answers[1:-1],
        ("brackets", "digits", "friction is given twice", "[/x]", "one number"),
        strict=True,
    ):
        assert part in answer["message"]
    shown = run("evaluate", "tribometer", "--points", file)
    assert shown.code == 0 and "law=[/x]" in shown.out and shown.out.count("status: ok") == 2


def test_what_a_device_refuses_is_a_message(run, points):
    told = "tip_travel needs a limit to end at"
    done = run("evaluate", "gripper", "--response", "tip_travel")
    assert (done.code, done.out) == (2, "") and told in done.err
    done = run("evaluate", "gripper", "--json", "--response", "tip_travel,tip_x", "--points",
               points({}, {"force": -1}, {"force": "x"}))  # fmt: skip
    answers = [strict_json(line) for line in done.out.splitlines()]
    assert done.code == 0
    assert [answer["status"] for answer in answers] == ["invalid_input"] * 3
    assert all(told in answer["message"] for answer in answers[:2])


def test_points_are_utf8_and_end_at_newlines_only(run, tmp_path, monkeypatch):
    """A line separator of Unicode in a text is none in the file; the locale is not looked at."""
    monkeypatch.setattr(locale, "getpreferredencoding", lambda *_: "ascii")
    file = tmp_path / "points.jsonl"
    file.write_bytes(
        '\ufeff{"friction": 0.2}\r\n{"größe": "a\u2028b"}\n\n{"friction": 0.2}'.encode()
    )
    done = run("evaluate", "tribometer", "--points", file, "--json")
    answers = [strict_json(line) for line in done.out.splitlines()]
    assert [answer["status"] for answer in answers] == ["ok", "invalid_input", "ok"]
    assert "größe" in answers[1]["message"]


@pytest.fixture
def watched(monkeypatch):
    """Answers of the toy; `stop(error, at)` makes a point fail, all others are calculated."""

    def stop(error, at):
        whole = evaluation.calculate_lanes

        def failing(build, batch, lanes, width, **options):
            for piece in whole(build, batch, lanes, width, **options):
                if np.asarray(batch.setting.drive)[lanes[0]] == at:
                    raise error
                yield piece

        monkeypatch.setattr(evaluation, "calculate_lanes", failing)

    return stop


def test_answers_leave_as_they_are_finished(watched):
    """In order, whatever their words; what follows the one that fails is not waited for."""
    given = [{"drive": 0.1 * n, "waveform": ("square", "sine")[n % 2]} for n in range(8)]
    watched(KeyboardInterrupt(), given[5]["drive"])
    answers = evaluation.answer_points(evaluation.Request(toy.TOY, ("velocity",)), given)
    seen = []
    with pytest.raises(KeyboardInterrupt):
        for answer in answers:
            seen.append(answer)
    assert [answer.status for answer in seen] == ["ok"] * 5
    assert seen[3].response["velocity"] == pytest.approx(-0.3)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("a fault")], ids=repr)
def test_what_is_finished_behind_an_unfinished_point_leaves_too(watched, monkeypatch, error):
    monkeypatch.setattr(evaluation, "cut", lambda count: [np.arange(count)[::-1]])
    original = evaluation.calculate_lanes

    def one_by_one(build, batch, lanes, width, **options):
        for n in range(len(lanes)):
            if n == 3:
                raise error
            yield from original(build, batch, lanes[n : n + 1], 1, **options)

    monkeypatch.setattr(evaluation, "calculate_lanes", one_by_one)
    seen = []
    with pytest.raises(type(error)):
        for answer in evaluation.answer_points(
            evaluation.Request(toy.TOY, ("velocity",)), [{"drive": 0.1 * n} for n in range(6)]
        ):
            seen.append(answer)
    assert [answer.status for answer in seen] == ["interrupted"] * 3 + ["ok"] * 3
    assert seen[4].response["velocity"] == pytest.approx(0.4)
    json.dumps(seen[0])


def test_a_reader_that_has_enough_ends_the_program_quietly(points, tmp_path):
    file = points(*[{"friction": 0.1 + 1e-4 * n} for n in range(200)])
    command = f"{sys.executable} -m diffmicro evaluate tribometer --points {file} --json | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert strict_json(done.stdout)["status"] == "ok"


def test_steps_are_given_once_and_seeds_are_not_negative(run):
    done = run("evaluate", "wrmma", "steps=5", "--steps", "6")
    assert done.code == 2 and "steps is given twice, as steps=5 and as --steps 6" in done.err
    done = run("optimize", "gripper", "--seed", "-1")
    assert done.code == 2 and "--seed" in done.err


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


def test_elasticities_are_those_of_the_point_where_an_alias_gave_the_parameter(
    run, points, monkeypatch
):
    """velocity = share * length * drive, so that one percent of share is one percent of velocity everywhere."""

    def respond(design, setting, **numerics):
        found = toy.respond(design, setting, **numerics)
        return dataclasses.replace(found, velocity=design.share * found.velocity)

    aliases = {"part": Alias("share", "length", "part of the length")}
    device = dataclasses.replace(toy.TOY, respond=respond, aliases=aliases)
    monkeypatch.setattr(words, "device", lambda name: device)
    asked = ("--grad", "share,drive", "--of", "velocity")
    alone = run("evaluate", "toy", "part=20cm", "length=2m", *asked)
    several = run("evaluate", "toy", "--points", points({"part": 0.2, "length": 2}, "no"), *asked)
    for done in (alone, several):
        rows = [re.split(" {2,}", line) for line in done.out.splitlines() if "dvelocity/d" in line]
        assert [row[3] for row in rows[:2]] == ["1", "1"], done.out


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
        (
            ["--grad", "demagnetization", "demagnetization=None"],
            ["demagnetization", "no value of its own"],
        ),
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

    def respond(design, setting, throw):
        return toy.respond(design, setting, window=0, throw=throw)

    hopeless = dataclasses.replace(toy.TOY, respond=respond, quick={}, lone={})
    monkeypatch.setattr(words, "device", lambda name: hopeless)
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


@pytest.mark.parametrize(
    "words, told",
    [
        (("legs", "leg_length=1e-2", "leg_thickness=3e-4", "leg_width=1e-3", "leg_young=6e10",
          "leg_density=7700", "--grad", "frequency"), "frequency is not used where leg_length is given"),
        (("legs", "--grad", "leg_width"), "leg_width has no value of its own here"),
        (("legs", "--grad", "leg_piezo"), "leg_piezo is used only where leg_length is given"),
        (("tumbler", "density=1000", "--grad", "mass"), "mass is not used where density is given"),
        (("tumbler", "magnetic_share=0.5", "--grad", "magnetic_volume"), "magnetic_share is given"),
    ],
)  # fmt: skip
def test_what_has_no_part_in_a_point_has_no_gradient(run, words, told):
    done = run("evaluate", *words)
    assert (done.code, done.out) == (2, "") and told in done.err


def test_ctrl_c_before_a_command_began_is_an_interruption_too(monkeypatch, capsys):
    """While JAX was imported: it ended with a traceback, and as if it had been killed."""

    def imported(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("diffmicro.command.app.run", imported)
    assert main(["list"]) == 130
    assert capsys.readouterr().err == "diffmicro: interrupted.\n"

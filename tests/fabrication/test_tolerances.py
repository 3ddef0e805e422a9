"""Tolerances of devices: what deviates, what fails, and the command."""

import json

import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro import Tolerance, device, tolerances
from diffmicro.command import words
from diffmicro.command.app import run
from diffmicro.command.fabricating import common_of, limit_of, scatter_of
from diffmicro.design import Constraint
from diffmicro.devices import OWN
from diffmicro.fabrication import scatter

TRIBOMETER = device("tribometer")
LIMIT = Constraint("sliding_velocity", ">=", 0.88e-3)


def test_counting_and_importance_sampling_agree():
    rare = tolerances(TRIBOMETER, TRIBOMETER.process, [LIMIT], parts=3000)
    assert rare.method == "importance sampling" and "gradient" in rare.note
    judge_all = tolerances(TRIBOMETER, TRIBOMETER.process, [LIMIT], parts=3000, gradients=False)
    assert rare.low < judge_all.share < rare.high
    assert rare.nearest and judge_all.nearest
    # Without slopes it is a bad part that was met, so it lies a little beyond the border.
    assert 1 - 1e-5 <= judge_all.nearest.distance / rare.nearest.distance < 1.1


def test_a_common_cause_moves_its_fields_together():
    gripper = device("gripper")
    design, setting = gripper.published_design(), gripper.published_setting()
    etch = Tolerance("etch", 0.1e-6, False, moves=(("section_height", -2.0), ("beam_radius", 0.5)))
    parts = scatter(gripper, design, setting, [etch])
    assert parts.causes == ("etch",)
    moved, _ = parts.parts(np.array([[0.0], [1.0], [-2.0]]))
    np.testing.assert_allclose(moved.section_height - 5e-6, [0, -0.2e-6, 0.4e-6], atol=1e-18)
    np.testing.assert_allclose(moved.beam_radius[1], 2e-4 + 0.05e-6, rtol=1e-12)


def test_an_interval_is_filled_evenly_and_never_left():
    design, setting = TRIBOMETER.published_design(), TRIBOMETER.published_setting()
    own = Tolerance("probe_mass", 0.05, kind="interval")
    parts = scatter(TRIBOMETER, design, setting, [own])
    draws = np.random.default_rng(0).standard_normal((20000, 1))
    ratio = parts.parts(draws)[0].probe_mass / design.probe_mass
    assert np.abs(ratio - 1).max() <= 0.05
    assert np.var(ratio) == pytest.approx(0.05**2 / 3, rel=0.03)


def test_entries_of_a_vector_deviate_each_or_together():
    gripper = device("gripper")
    point = gripper.published_design(), gripper.published_setting()
    each = scatter(gripper, *point, [Tolerance("beam_radius", 0.01)])
    assert each.causes == tuple(f"beam_radius[{i}]" for i in range(4))
    together = scatter(gripper, *point, [Tolerance("beam_radius[:]", 0.01)])
    assert together.causes == ("beam_radius[:]",)
    moved, _ = together.part(jnp.array([1.0]))
    np.testing.assert_allclose(moved.beam_radius, 1.01 * point[0].beam_radius)


@pytest.mark.parametrize("name", OWN)
def test_every_device_has_a_process_that_its_design_can_deviate_by(name):
    own = device(name)
    parts = scatter(own, own.published_design(), own.published_setting(), own.process)
    design, setting = parts.part(jnp.zeros(len(parts.causes)))
    own.check(name, design, setting)
    assert len(parts.causes) >= 3


def test_words():
    wrmma = device("wrmma")
    assert scatter_of(wrmma, "rest_gap=1um") == Tolerance("rest_gap", 1e-6, False)
    assert scatter_of(wrmma, "mass_ratio=+-2%") == Tolerance("mass_ratio", 0.02, True, "interval")
    found = common_of(wrmma, "etch=0.3um:rest_gap+2,width-")
    assert found.moves == (("rest_gap", 2.0), ("width", -1.0)) and found.size == pytest.approx(3e-7)
    assert limit_of(wrmma, "velocity>8mm/s") == Constraint("velocity", ">=", 8e-3)


@pytest.mark.parametrize(
    ("make", "text", "message"),
    [
        (scatter_of, "rest_gap=1kg", "has to be in m"),
        (scatter_of, "gap=1um", "did you mean"),
        (scatter_of, "rest_gap=-1um", "above 0"),
        (scatter_of, "waveform=2%", "takes words"),
        (common_of, "etch=1um", "write cause=size"),
        (common_of, "etch=1um:rest_gap+2,field-1", "different units"),
        (common_of, "field=1um:rest_gap+2", "a name of its own"),
        (limit_of, "speed>1", "did you mean"),
        (limit_of, "velocity=1", "write response>value"),
    ],
)
def test_words_that_mean_nothing(make, text, message):
    with pytest.raises(words.BadInput, match=message):
        make(device("wrmma"), text)


def test_the_command(capsys, tmp_path):
    figure = tmp_path / "yield.png"
    limit = "sliding_velocity>0.88mm/s"
    code = run(["tolerances", "tribometer", "--subject", limit, "--json", "--plot", str(figure)])
    found = json.loads(capsys.readouterr().out)
    assert code == 0 and figure.stat().st_size > 10_000
    assert found["low"] < found["yield"] < found["high"] < 1
    assert (
        found["nearest"]["values"]["normal_force"]
        < 0.97 * TRIBOMETER.published_setting().normal_force
    )


def test_a_nominal_part_that_is_bad_is_said(capsys):
    assert (
        run(["tolerances", "tribometer", "--subject", "sliding_velocity>1", "--parts", "50"]) == 0
    )
    assert "the nominal part is bad itself" in capsys.readouterr().out


@pytest.mark.slow
def test_a_run_brings_its_design_and_limits(tmp_path, capsys):
    folder = tmp_path / "run"
    problem = "--maximize critical_velocity --free probe_mass=0.001:0.003 --budget 20".split()
    limit = ["--subject", "sliding_velocity>0.5e-3"]
    assert run(["optimize", "tribometer", *problem, *limit, "--out", str(folder)]) == 0
    capsys.readouterr()
    assert run(["tolerances", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["limits"] == ["sliding_velocity >= 0.0005"]

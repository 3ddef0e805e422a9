"""The tumbler's studies with a reduced budget, and the trivial bounds beside them."""

import math

import equinox as eqx
import numpy as np
import pytest

from diffmicro.design import run_study
from diffmicro.devices import tumbler
from diffmicro.devices.tumbler.body import outline_of
from diffmicro.parameters import as_arrays
from optimize import tumbler_climb, tumbler_outline


def test_the_bound_of_an_outline_is_the_perimeter_of_its_rectangle():
    perimeter = eqx.filter_jit(lambda design: outline_of(design).perimeter())
    design = as_arrays(tumbler_outline.DESIGN())
    rectangle = perimeter(as_arrays(tumbler.published_design()))
    bound = tumbler_outline.bound(design.length, design.thickness, 5.0)
    assert bound == pytest.approx(5.0 * float(rectangle), rel=1e-12)
    assert 5.0 * float(perimeter(design)) < bound


def test_at_the_bound_of_the_climb_friction_just_holds_an_edge():
    mass, friction, pressing, gravity = 1.3e-7, 0.3, 3.2e-6, 9.81
    angle = tumbler_climb.bound(mass, friction, pressing, gravity)
    weight = mass * gravity
    slope, normal = weight * math.sin(angle), weight * math.cos(angle) + pressing
    assert slope == pytest.approx(friction * normal, rel=1e-12)


@pytest.mark.slow
def test_a_reduced_search_for_the_fastest_outline(tmp_path):
    found = run_study(
        tumbler_outline.STUDY, out=tmp_path, progress=False, lanes=2, budget=24, random_designs=16
    )
    before, after = (found[side]["response"] for side in ("published", "optimized"))
    assert before["speed"] == pytest.approx(1.63725e-3, rel=1e-5)
    assert after["speed"] > 1.3 * before["speed"]
    assert after["mass"] <= tumbler_outline.MASS * (1 + 1e-6)
    best = found["optimized"]["variables"]
    assert after["speed"] < tumbler_outline.bound(best["length"], best["thickness"], 1.0)
    assert (tmp_path / "tumbler_outline.png").stat().st_size > 10_000
    # All variables end at their bounds or at the mass: a corner, where the conditions of an optimum hold.
    assert found["status"] == "ok" and found["remainder"] < 1e-6


@pytest.mark.slow
def test_the_steepest_cuboid_from_one_start(tmp_path):
    found = run_study(
        tumbler_climb.STUDY, out=tmp_path, progress=False, lanes=1, budget=20, random_designs=0
    )
    assert found["status"] == "ok"
    assert found["certificate"]["verdict"] == "certified"
    before, after = (found[side]["response"] for side in ("published", "optimized"))
    assert np.degrees(before["climb_margin"]) == pytest.approx(51.524, abs=1e-2)
    assert np.degrees(after["climb_margin"]) == pytest.approx(60.629, abs=1e-2)
    assert found["optimized"]["variables"]["length"] == pytest.approx(820e-6, rel=1e-4)
    assert found["optimized"]["variables"]["thickness"] == pytest.approx(80e-6, rel=1e-6)
    bound = tumbler_climb.bound(after["mass"], 0.3, 3.2022e-6, 9.81)
    assert 0.95 * bound < after["climb_margin"] < bound
    assert (tmp_path / "tumbler_climb.png").stat().st_size > 10_000

"""Rules between fields: what is a message for numbers is a mask for traced values, for every device."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro import Rule
from diffmicro.devices import device
from diffmicro.parameters import as_arrays, put
from diffmicro.rules import check_point, legal, spare, where_legal

BROKEN = [
    ("wrmma", dict(rest_gap=4e-4), "rest_gap = 0.0004 m"),
    ("gripper", dict(hinge=((0.0, 0.0),) * 4), "two hinges coincide"),
    ("tumbler", dict(outline="spiked", spike_height=1e-4), "do not fit into Design.thickness"),
    (
        "tumbler",
        dict(outline="spiked", spike_base=1e-3, spike_height=1e-5),
        "longer than two spike bases",
    ),
    ("stickslip", dict(back_step=0.02), "shorter than period"),
    ("stickslip", dict(corner_time=5e-6), "at most back_step"),
    ("stickslip", dict(runner_weight=2.0), "upper contacts open"),
    ("stickslip", dict(dynamic_friction=0.4), "at most friction"),
    ("stickslip", dict(tip_radius=50e-6), "flatter tip is a punch"),
    ("legs", dict(dominant_mode=7.0), "whole number from 1 to 6"),
    ("legs", dict(mobility=(0.0,) * 6), "at least one mode has to move"),
]


@pytest.mark.parametrize(("name", "given", "message"), BROKEN)
def test_a_breach_is_a_message_for_numbers_and_a_mask_for_lanes(name, given, message):
    robot = device(name)
    point = put(robot.published_design(), robot.published_setting(), given)
    with pytest.raises(ValueError, match=message):
        robot.check(f"{name}.respond", *point)
    with pytest.raises(
        ValueError, match=message
    ):  # numbers that are known while something is traced
        jax.jit(lambda x: (robot.check("here", *point), x))(1.0)
    allowed = jax.jit(lambda point: legal(robot.rules, *point))
    assert not allowed(as_arrays(point))
    good = put(*point, {key: getattr_of(robot, key) for key in given if key != "outline"})
    assert allowed(as_arrays(good))


def getattr_of(robot, key):
    """The published value, or one that fits where there is none."""
    value = {**vars(robot.published_design()), **vars(robot.published_setting())}[key]
    fitting = {"dynamic_friction": 0.1, "dominant_mode": 1.0, "spike_height": 1e-5}
    fitting |= {"spike_base": 1e-5}
    return fitting.get(key, value)


@pytest.mark.parametrize("name", ["wrmma", "gripper", "tumbler", "stickslip", "legs", "tribometer"])
def test_traced_values_pass_and_lanes_that_are_not_legal_get_spare_numbers(name):
    robot = device(name)
    given = as_arrays((robot.published_design(), robot.published_setting()))
    jax.jit(lambda point: (robot.check("here", *point), point)[1])(given)
    bad = jax.tree.map(lambda x: x * jnp.nan, given)
    assert legal(robot.rules, *given) and not legal(robot.rules, *bad)
    tame = where_legal(legal(robot.rules, *bad), bad, (spare(bad[0]), spare(bad[1])))
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(tame))
    assert jax.tree.structure(tame) == jax.tree.structure(given)


def test_rules_of_a_robot_of_ones_own():
    wrmma = device("wrmma")
    rule = Rule(
        lambda design, setting: design.mass_ratio * setting.load_factor < 100,
        lambda design, _: f"Design.mass_ratio = {design.mass_ratio} is too much. Take less.",
    )
    robot = dataclasses.replace(wrmma, rules=(rule,))
    heavy = wrmma.published_design(mass_ratio=2.0), wrmma.published_setting(load_factor=60.0)
    wrmma.check("here", *heavy)
    with pytest.raises(ValueError, match="here: Design.mass_ratio = 2.0 is too much"):
        robot.check("here", *heavy)
    with pytest.raises(ValueError, match="field"):  # ranges come first
        check_point("here", (rule,), heavy[0], wrmma.published_setting(field=-1.0))


def test_a_rule_sees_numbers_that_overflow_instead_of_raising_an_error():
    """Python's own numbers raise ZeroDivisionError and OverflowError."""
    rule = Rule(lambda d, s: 1 / d.young < 1e300, lambda d, s: f"1 / young = {1 / d.young}")
    robot = device("tribometer")
    tiny = robot.published_design(young=5e-324)
    with pytest.raises(ValueError, match="1 / young = inf"):
        check_point("there", (rule,), tiny, robot.published_setting())
    point = tiny, robot.published_setting(vibration_length=1e-7)
    with pytest.raises(ValueError, match="vibration_length = 1e-07 m is not allowed"):
        robot.check("there", *point)

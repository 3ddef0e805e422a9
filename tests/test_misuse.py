"""Python calls with the wrong things: each device says which argument or field, and what it has to be."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.design import (
    Objective,
    Tolerance,
    Variable,
    function_problem,
    optimize_design,
    pareto_front,
    random_search,
    yield_estimate,
)
from diffmicro.devices import OWN, device
from diffmicro.devices.legs.feet import Robot, simulate_feet
from diffmicro.devices.legs.measured import starts
from diffmicro.devices.legs.walker import WALKER
from diffmicro.devices.tumbler.implicit import respond_implicit, simulate_implicit
from diffmicro.devices.wrmma.branches import each_branch
from diffmicro.identification import fit, smoothed
from diffmicro.parameters import describe, whole_number
from diffmicro.plot.film import animate
from diffmicro.sweep import sweep

KINDS = ("published_design", "published_setting")


@pytest.mark.parametrize("name", OWN)
def test_things_of_the_wrong_kind_are_named(name):
    module = device(name)
    design, setting = (getattr(module, kind)() for kind in KINDS)
    for arguments, told in (
        ((setting, design), "design and setting are swapped"),
        ((design, design), "design and setting are both of type Design"),
        (({"field": 1.0}, setting), "design is .*of type dict; it has to be a Design"),
        ((design, None), "setting is None, of type NoneType"),
        ((module.Design, setting), "it has to be a Design"),
    ):
        with pytest.raises(ValueError, match=f"^{name}.respond: .*{told}"):
            module.respond(*arguments)


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("value", ["0.5", {"a": 1}, object()], ids=["text", "dict", "object"])
def test_what_is_no_number_is_named_with_its_field(name, value):
    module = device(name)
    published = [getattr(module, kind)() for kind in KINDS]
    for place, tree in enumerate(published):
        for known in describe(type(tree)).values():
            if known.words:
                continue
            wrong = type(tree)(**{**vars(tree), known.name: value})
            arguments = [*published[:place], wrong, *published[place + 1 :]]
            with pytest.raises(ValueError, match=f"{type(tree).__name__}.{known.name} = .*number"):
                module.respond(*arguments)


@pytest.mark.parametrize("name", OWN)
def test_what_is_given_as_none_is_none(name):
    """A published value does not take its place."""
    module = device(name)
    for kind in KINDS:
        optional = [
            known.name
            for known in describe(type(getattr(module, kind)())).values()
            if known.optional
        ]
        for key in optional:
            assert getattr(getattr(module, kind)(**{key: None}), key) is None


def test_a_tribometer_that_nothing_drags_is_a_contradiction():
    module = device("tribometer")
    for absent in (("drag_ratio",), ("drag_ratio", "sliding_velocity")):
        setting = module.published_setting(**dict.fromkeys(absent))
        with pytest.raises(ValueError, match="exactly one of .* neither is"):
            module.respond(module.published_design(), setting)
    assert module.published_setting(sliding_velocity=1e-3).drag_ratio is None
    assert module.published_setting(sliding_velocity=None).drag_ratio == 0.75


PROBLEM = function_problem(
    lambda x: {"loss": x["x"] ** 2},
    [Variable("x", -1.0, 1.0, 0.5)],
    Objective("loss", "minimize"),
)


def of(name, function="simulate"):
    """A function of a device, at its published design and setting."""
    module = device(name)
    published = [getattr(module, kind)() for kind in KINDS]
    return lambda **given: getattr(module, function)(*published, **given)


def search(**given):
    return optimize_design(PROBLEM, progress=False, **given)


COUNTED = [
    (search, "budget"),
    (search, "seed"),
    (search, "lanes"),
    (lambda **given: random_search(PROBLEM, **{"count": 3, **given}), "count"),
    (lambda **given: random_search(PROBLEM, 3, **given), "seed"),
    (
        lambda **given: pareto_front(
            lambda *_: PROBLEM, PROBLEM.objective, PROBLEM.objective, **given
        ),
        "points",
    ),
    (
        lambda **given: pareto_front(
            lambda *_: PROBLEM, PROBLEM.objective, PROBLEM.objective, **given
        ),
        "budget",
    ),
    (lambda **given: yield_estimate(PROBLEM, {"x": 0.1}, [Tolerance("x", 0.1)], **given), "count"),
    (lambda **given: yield_estimate(PROBLEM, {"x": 0.1}, [Tolerance("x", 0.1)], **given), "seed"),
    (lambda **given: smoothed(jnp.sum, 2, 0.1, **{"pairs": 4, "seed": 0, **given}), "seed"),
    (lambda **given: smoothed(jnp.sum, 2, 0.1, **{"pairs": 4, "seed": 0, **given}), "pairs"),
    (lambda **given: fit(lambda p: p["a"] - 1.0, {"a": 2.0}, **given), "max_steps"),
    (lambda **given: next(sweep("gripper", {"force": [0.0, 1e-6]}, **given)), "workers"),
    (lambda **given: animate("wrmma", None, None, Path("a.gif"), **given), "frames"),
    (lambda **given: starts(**{"seed": 0, "count": 3, **given}), "seed"),
    (lambda **given: starts(**{"seed": 0, "count": 3, **given}), "count"),
    (lambda **given: simulate_feet(Robot(), 10.0, 86.0, **given), "periods"),
    (lambda **given: simulate_feet(Robot(), 10.0, 86.0, **given), "steps"),
    *((of(name), "periods") for name in ("wrmma", "legs", "stickslip")),
    *((of(name), "steps") for name in OWN),
    (of("legs"), "advances"),
    *((of(name, "respond"), "window") for name in ("tumbler", "wrmma")),
    (partial(WALKER.respond, *WALKER.point(None, None)), "window"),
    (partial(cast(Callable, WALKER.simulate), *WALKER.point(None, None)), "periods"),
    (of("gripper"), "points"),
    (of("tribometer"), "points"),
    *((of(name, "respond"), "steps") for name in OWN),
]
for more in ("turns", "every"):
    COUNTED.append(
        (lambda **given: simulate_implicit(*_published("tumbler"), 40000, **given), more)
    )
for more in ("settle", "window"):
    COUNTED.append((lambda **given: respond_implicit(*_published("tumbler"), 40000, **given), more))
COUNTED.append(
    (lambda **given: next(each_branch(*_published("wrmma"), "field", 4e-3, 5e-3, **given)), "seeds")
)


def _published(name) -> tuple[Any, Any]:
    module = device(name)
    return module.published_design(), module.published_setting()


@pytest.mark.parametrize("wrong", ["2", -1, 2.3, [3], True, float("nan")], ids=repr)
@pytest.mark.parametrize("call, name", COUNTED, ids=lambda given: getattr(given, "__name__", given))
def test_a_count_that_is_none_is_named_with_its_range(call, name, wrong):
    """Text, negative numbers, shares, lists, truths: each with the argument and what it has to be."""
    with pytest.raises(
        ValueError, match=rf"{name}\b.* is not allowed; it has to be a whole number"
    ):
        call(**{name: wrong})


@pytest.mark.parametrize("wrong", ["2", -1, [3], float("nan"), float("inf")], ids=repr)
def test_half_turns_are_counted_too(wrong):
    with pytest.raises(ValueError, match=r"turns \* 2 = .* is not allowed; .* from 1 to 10000"):
        of("tumbler")(turns=wrong)


def test_whole_numbers_of_any_kind_are_taken():
    for value in (7, 7.0, np.int64(7), np.float32(7), np.array([7]), jnp.asarray(7)):
        found = whole_number("count", value, None, 1, 9)
        assert found == 7 and type(found) is int
    assert whole_number("count", None, 3, 1) == 3
    for value in (0, 10, None):
        with pytest.raises(ValueError, match=f"count = {value} .* from 1 to 9"):
            whole_number("count", value, None, 1, 9)


def test_a_budget_is_enough_for_the_lanes_and_what_confirms():
    with pytest.raises(ValueError, match="budget = 0 .* at least 8. The default is 148"):
        search(budget=0)
    with pytest.raises(ValueError, match="budget = 20 .* at least 34"):
        search(budget=20, lanes=30)


@pytest.mark.parametrize("method", ["cma"])
def test_an_option_that_the_method_does_not_have_is_named(method):
    with pytest.raises(ValueError, match=f"lanes is no option of the method {method}, which has"):
        search(method=method, lanes=2)

"""Parts of a yield and starts of a basin, shared by processes: the same bits as in one."""

import json

import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro import device, tolerances
from diffmicro.attraction import basins
from diffmicro.design import (
    Constraint,
    Objective,
    Quantity,
    Tolerance,
    Variable,
    optimize_design,
    robust_problem,
)
from diffmicro.design.points import Point, points_problem
from diffmicro.identification import identify
from diffmicro.sweep import WorkerDied, processes
from diffmicro.sweep.chunks import Recipe
from diffmicro.sweep.lanes import CHUNK
from diffmicro.sweep.shared import calculated
from tests.sweep import toy

TOY = device("tests.sweep.toy:TOY")
FILE = f"{toy.__file__}:TOY"
COUNT = 2 * CHUNK + 40
OF = "sliding_velocity"


def lanes(drive=0.5):
    design = toy.Design(jnp.linspace(1, 2, COUNT), jnp.full(COUNT, 0.5))
    return design, toy.Setting(jnp.full(COUNT, drive))


@pytest.mark.parametrize("starts", [None, np.linspace(-1, 1, COUNT)], ids=["rest", "states"])
def test_lanes_are_the_same_to_the_bit(workers, starts):
    recipe = Recipe(TOY, ("velocity", "seen"), {})
    points = lanes(drive=1.5)
    with processes(cluster=workers) as shared:
        found = calculated(recipe, points, starts, shared)
    alone = calculated(recipe, points, starts)
    assert all(found[name].tobytes() == alone[name].tobytes() for name in alone)
    # From a state above zero the upper branch is kept.
    up = np.zeros(COUNT, bool) if starts is None else starts > 0
    np.testing.assert_allclose(alone["velocity"], np.where(up, 10, 1) * 1.5 * points[0].length)


def test_a_yield_and_a_basin_are_the_same(workers):
    robot = device("tribometer")
    slow = Constraint("sliding_velocity", ">=", 0.9e-3)
    with processes(cluster=workers) as shared:
        for others in (None, shared):
            found = tolerances(robot, robot.process, [slow], parts=900, processes=others)
            basin = basins(
                TOY,
                setting=toy.Setting(drive=1.5),
                box={"state": (-1.0, 1.0)},
                starts=COUNT,
                processes=others,
            )
            if others is None:
                alone, alone_basin = found, basin
    assert repr(found) == repr(alone)
    assert basin.motions == alone_basin.motions and basin.kicks == alone_basin.kicks
    np.testing.assert_array_equal(basin.ends, alone_basin.ends)
    assert sorted(m.share for m in basin.motions) == pytest.approx([0.5, 0.5], abs=0.02)


def test_the_commands_take_processes(workers, run):
    words = ("basins", FILE, "drive=1.5", "--box", "state=-1:1", "--starts", COUNT, "--json")
    alone, shared = (json.loads(run(*words, *more)) for more in ((), ("--cluster", workers)))
    assert alone == shared
    told = run("tolerances", "tribometer", "--workers", 2, "--cluster", workers, code=2)
    assert "give one" in told
    told = run("tolerances", "tribometer", "--cluster", "nowhere", code=2)
    assert "is no address of a dask scheduler" in told
    run("basins", FILE, "--workers", 0, code=2)


def test_processes_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="workers"), processes(workers=0):
        pass
    with pytest.raises(ValueError, match="give one"), processes(workers=2, cluster="tcp://a:1"):
        pass
    with processes() as shared:
        assert shared is None


def robust_gain():
    """A search over parts that deviate, of two operating points: 8 evaluations of a device at each place."""
    robot = device("tribometer")
    points = [
        Point(robot, robot.published_design(), robot.published_setting(drag_ratio=drag), dict, name)
        for name, drag in (("fast", 0.95), ("slow", 0.85))
    ]
    variables = [Variable("force_ratio", 0.3, 0.9, 0.4), Variable("frequency", 1e4, 5e4, 2e4)]
    names = tuple(f"{point.label}.{OF}" for point in points)
    both = {"both": Quantity(names, lambda fast, slow: fast - 2 * slow)}
    problem = points_problem(variables, points, Objective("both", "minimize"), (), both)
    return robust_problem(problem, [Tolerance("force_ratio", 0.02, relative=True)], nodes=4)


@pytest.mark.slow
def test_a_search_and_its_parts_are_the_same(workers):
    problem = robust_gain()
    found = []
    with processes(cluster=workers) as shared:
        for others in (None, shared):
            result = optimize_design(
                problem, method="climb", lanes=2, budget=14, progress=False, processes=others
            )
            found.append((result.variables, result.history, result.reason))
    assert repr(found[0]) == repr(found[1]) and len(found[0][1]) > 1


def test_an_identification_is_the_same(workers):
    robot = device("tribometer")
    drag = np.linspace(0.8, 0.95, 5)
    data = {"drag_ratio": drag, OF: 2e-3 * (1 - drag)}
    found = []
    with processes(cluster=workers) as shared:
        for others in (None, shared):
            one = identify(robot, data, {"force_ratio": (0.2, 0.9)}, starts=1, processes=others)
            found.append((repr(one.parameters), one.evaluations, one.residuals.tobytes()))
    assert found[0] == found[1]


@pytest.mark.slow
def test_lanes_that_end_their_processes_are_named():
    recipe = Recipe(TOY, ("velocity",), {"deadly": 0.25})
    with (
        processes(workers=2) as shared,
        pytest.raises(WorkerDied, match=r"The lanes \d+ to \d+ of 552 ended \d+ processes"),
    ):
        calculated(recipe, lanes(drive=0.25), processes=shared)

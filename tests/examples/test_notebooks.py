"""The notebooks of examples/notebooks run as scripts, and come to what they say."""

import re
import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "notebooks"


def run(name):
    return runpy.run_path(str(FOLDER / f"{name}.py"))


@pytest.mark.parametrize("name", ["design", "own_device", "identification"])
def test_a_notebook_is_cells_of_code_and_text(name):
    text = (FOLDER / f"{name}.py").read_text()
    header, *cells = re.split(r"^# %%", text, flags=re.M)
    assert "format_name: percent" in header
    assert sum(cell.startswith(" [markdown]") for cell in cells) >= 4
    assert sum(not cell.startswith(" [markdown]") for cell in cells) >= 4


def test_the_page_includes_each_notebook():
    page = (FOLDER.parents[1] / "docs" / "notebooks.md").read_text()
    included = re.findall(r'^--8<-- "examples/notebooks/(\w+)\.py:8:"$', page, re.M)
    assert sorted(included) == sorted(path.stem for path in FOLDER.glob("*.py"))
    assert all(
        (FOLDER / f"{name}.py").read_text().splitlines()[7] == "# %% [markdown]"
        for name in included
    )


def test_the_friction_of_the_bench_is_within_its_interval():
    left = run("identification")
    friction, both = left["friction"], left["both"].parameters
    assert friction.identified and friction.low < left["FRICTION"] < friction.high
    assert not both["friction"].identified and not both["probe_mass"].identified
    assert left["ratio"] == pytest.approx(left["FRICTION"] / left["MASS"], rel=0.01)


@pytest.mark.slow
def test_the_sled_is_certified_and_odd():
    left = run("own_device")
    assert all(int(entry.verdict) == 0 for entry in left["certificate"].entries.values())
    assert abs(left["found"] + left["found"][:, ::-1]).max() < 1e-9


@pytest.mark.slow
def test_the_faster_microactuator_keeps_its_distance():
    left = run("design")
    assert left["reached"] > float(left["velocity"])
    assert left["ends"] and 0.5 < left["good"].share <= 1

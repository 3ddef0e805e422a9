"""The studies run, with a reduced budget, and print the object that they promise."""

import json
from pathlib import Path

import numpy as np
import pytest

from diffmicro.design import run_study, summary
from optimize import PROGRAMS, STUDIES, wrmma_pair, wrmma_speed
from optimize.__main__ import _folder, main


@pytest.fixture(scope="module")
def reduced(tmp_path_factory) -> dict:
    out = tmp_path_factory.mktemp("wrmma_speed")
    found = run_study(
        wrmma_speed.STUDY, seed=1, out=out, budget=24, random_designs=16, progress=False
    )
    assert (out / "wrmma_speed.png").stat().st_size > 10_000
    return found


def test_list_names_the_studies(capsys):
    assert main(["list"]) == 0
    assert capsys.readouterr().out.split() == [*STUDIES, *PROGRAMS]


@pytest.mark.parametrize("words", [["wrmma_sped"], ["--compare", "flagship"]])
def test_unknown_study_is_bad_input(words):
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2


@pytest.mark.slow
def test_even_a_small_budget_improves_and_keeps_the_constraint(reduced):
    assert reduced["status"] == "stopped"
    assert reduced["evaluations"] <= 24
    before, after = (reduced[k]["response"] for k in ("published", "optimized"))
    assert before["velocity"] == pytest.approx(1.14526e-3, rel=1e-4)
    assert after["velocity"] > 1.5 * before["velocity"]
    assert after["min_gap"] >= 1e-6
    for name, (low, high) in wrmma_speed.FREE.items():
        home = "design" if name in reduced["optimized"]["design"] else "setting"
        assert low <= reduced["optimized"][home][name] <= high


@pytest.mark.slow
def test_the_object_has_its_keys_and_is_json(reduced):
    keys = {"study", "published", "optimized", "constraints", "status", "certificate"}
    assert keys | {"evaluations", "seconds", "random"} <= reduced.keys()
    for side in ("published", "optimized"):
        assert {"design", "setting", "response"} <= reduced[side].keys()
    assert json.loads(json.dumps(reduced, allow_nan=False)) == reduced
    assert "velocity" in summary(wrmma_speed.STUDY, reduced)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_gradient_beats_ten_times_as_many_random_designs(seed):
    found = run_study(wrmma_speed.STUDY, seed=seed, progress=False)
    assert found["status"] == "stopped"  # at the edge of pull-in, where the gradient points over it
    assert found["certificate"]["verdict"] != "refused"
    assert 10 * found["evaluations"] <= found["random"]["evaluations"]
    assert found["optimized"]["response"]["velocity"] >= found["random"]["value"]


@pytest.mark.slow
def test_each_of_two_robots_drives_while_the_other_stays():
    """The paper's multi-agent question, at 3 and at 5 mT."""
    found = run_study(wrmma_pair.STUDY, progress=False)
    assert found["certificate"]["verdict"] == "certified"
    response = found["optimized"]["response"]
    assert response["slowest drive"] > 1e-3
    idle = [v for name, v in response.items() if name.startswith("speed of")]
    assert len(idle) == 4 and max(idle) <= wrmma_pair.STILL
    assert found["status"] == "stopped"


def test_what_is_called_the_slowest_is_a_little_less(rng):
    speeds = rng.uniform(1e-4, 1e-2, (100, 4))
    smooth = np.array([wrmma_pair._slowest(s) for s in speeds])
    assert np.all(smooth <= speeds.min(axis=1)) and np.all(smooth > 0.84 * speeds.min(axis=1))


def test_a_study_never_takes_a_folder_in_use(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = _folder("wrmma_speed", resume=False)
    assert (first, _folder("wrmma_speed", resume=True)) == (Path("runs/wrmma_speed"),) * 2
    first.mkdir(parents=True)
    assert _folder("wrmma_speed", resume=False) == first
    (first / "config.json").write_text("{}")
    second = Path("runs/wrmma_speed-2")
    assert _folder("wrmma_speed", resume=False) == second
    assert _folder("wrmma_speed", resume=True) == first
    second.mkdir()
    (second / "config.json").write_text("{}")
    assert _folder("wrmma_speed", resume=True) == second


def test_a_folder_with_other_things_is_bad_input(tmp_path, capsys):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(SystemExit) as end:
        main(["wrmma_speed", "--out", str(tmp_path)])
    assert end.value.code == 2
    assert "Choose another folder" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["config.json"]

"""The code of docs/extending.md runs, and its robots do what the page says."""

import re
from pathlib import Path

import numpy as np
import pytest

from diffmicro import device
from diffmicro.command.app import run
from diffmicro.results import word
from diffmicro.testing import CHECKS, Case, Trial

PAGE = Path(__file__).parents[1] / "docs" / "extending.md"


@pytest.fixture(scope="module")
def blocks():
    """The page's files by their name; what is no file by its number."""
    found = re.findall(r'```python(?: title="([^"\n]*)")?\n(.*?)```', PAGE.read_text(), re.DOTALL)
    return {title or number: text for number, (title, text) in enumerate(found)}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_the_sled_creeps_with_a_certified_gradient(blocks, here, capsys):
    (here / "sled.py").write_text(blocks["sled.py"])
    exec(blocks[1], {})
    velocity, verdict, stick = capsys.readouterr().out.split()
    assert float(velocity) > 1e-4 and verdict == "certified" and 0 < float(stick) < 1


@pytest.mark.slow
def test_the_film_of_the_sled(blocks, here):
    for name in ("sled.py", "sled_film.py"):
        (here / name).write_text(blocks[name])
    assert run(["animate", "sled_film.py:FILMED", "--out", "film.gif", "--frames", "4"]) == 0
    assert (here / "film.gif").stat().st_size > 2000


@pytest.mark.slow
def test_the_ball_leaves_with_the_rebound_of_its_landing(blocks, here):
    (here / "ball.py").write_text(blocks["ball.py"])
    ball = device("ball.py:BALL")
    response = ball.respond(ball.Design(), ball.Setting())
    assert word(response.result) == "ok"
    landing = -float(response.lands)
    rebound = landing / (1 + landing / ball.Design().fading)
    np.testing.assert_allclose(float(response.leaves), rebound, rtol=1e-8)


@pytest.mark.slow
def test_the_swimmer_keeps_the_contract_without_a_second_calculation(blocks, here):
    (here / "swimmer.py").write_text(blocks["swimmer.py"])
    swimmer = device("swimmer.py:SWIMMER")
    trial = Trial(swimmer, Case("velocity", ("radius", "frequency")))
    for check in CHECKS:
        check(trial)
    step_out = float(swimmer.respond(swimmer.Design(), swimmer.Setting()).step_out)
    full, slow = (
        swimmer.respond(swimmer.Design(), swimmer.Setting(frequency=x * step_out)).velocity
        for x in (0.5, 100.0)
    )
    np.testing.assert_allclose(float(slow / full), 2 / 200, rtol=1e-4)  # critical^2 / 2 rate

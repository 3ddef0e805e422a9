"""The code of docs/extending.md runs, and its robots do what the page says."""

import re
from pathlib import Path

import numpy as np
import pytest

from diffmicro import device
from diffmicro.results import word

PAGE = Path(__file__).parents[1] / "docs" / "extending.md"


@pytest.fixture(scope="module")
def blocks():
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_sled_creeps_with_a_certified_gradient(blocks, here, capsys):
    (here / "sled.py").write_text(blocks[0])
    exec(blocks[1], {})
    velocity, verdict, stick = capsys.readouterr().out.split()
    assert float(velocity) > 1e-4 and verdict == "certified" and 0 < float(stick) < 1


def test_commands_of_the_page_are_commands(blocks):
    from typer.testing import CliRunner

    from diffmicro.command.app import app

    commands = re.findall(r"^diffmicro (\w+) ", PAGE.read_text(), re.MULTILINE)
    assert set(commands) == {"show", "evaluate", "sweep", "branches", "optimize", "animate"}
    for command in commands:
        assert CliRunner().invoke(app, [command, "--help"]).exit_code == 0


@pytest.mark.slow
def test_the_ball_leaves_with_the_rebound_of_its_landing(blocks, here):
    (here / "ball.py").write_text(blocks[2])
    ball = device("ball.py:BALL")
    response = ball.respond(ball.Design(), ball.Setting())
    assert word(response.result) == "ok"
    landing = -float(response.lands)
    rebound = landing / (1 + landing / ball.Design().fading)
    np.testing.assert_allclose(float(response.leaves), rebound, rtol=1e-8)

"""Basins of a device whose edge is known: shares, kicks, words of the start, and the command's refusals."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro import Device, basins, hybrid, output, parameter
from diffmicro.command.app import run
from diffmicro.dynamics.starts import Approach
from diffmicro.plot.basins import basins_figure
from diffmicro.results import RESULTS, code, from_code

STARTS = {"ramp": Approach("drive", 0.0)}


class Design(eqx.Module):
    edge: float = parameter(0.3, "what lies above it goes up", "m", low=-5, high=5)


class Setting(eqx.Module):
    drive: float = parameter(1.0, "where both motions are", "m", above=0)
    start: str = hybrid.start_field(STARTS)


class Response(eqx.Module):
    place: jnp.ndarray = output("where it ends", "m")
    residual: jnp.ndarray = output("of the search", "-")
    state: dict = output("place and idle speed")
    result: RESULTS = output("how it ended")


def respond(design, setting, *, start=None, throw=False):
    """Above the edge it ends at +drive, below at -drive; beyond a speed of 3 it is lost."""
    begin = 1.0 if setting.start == "rest" else -1.0
    start = {"x": jnp.asarray(begin), "v": jnp.asarray(0.0)} if start is None else start
    lost = jnp.abs(start["v"]) > 3
    place = jnp.where(start["x"] > design.edge, setting.drive, -setting.drive)
    return Response(
        place=jnp.where(lost, jnp.nan, place),
        residual=jnp.abs(start["x"]),
        state={"x": place, "v": jnp.asarray(0.0)},
        result=from_code(jnp.where(lost, code(RESULTS.no_orbit), code(RESULTS.successful))),
    )


TWO = Device(
    name="two",
    title="two motions and an edge",
    source="closed form",
    Design=Design,
    Setting=Setting,
    Response=Response,
    respond=respond,
    carries=True,
    walls=lambda design, setting: {"x": (-3.0, 2.5)},
)
BOX = {"x": (-2.0, 2.0), "v": (-4.0, 4.0)}


@pytest.fixture(scope="module")
def found():
    return basins(TWO, box=BOX, starts=2000)


def test_shares_are_those_of_the_box(found):
    shares = {
        (m.status, np.sign(m.response["place"])): m for m in found.motions if m.status == "ok"
    }
    assert len(found.motions) == 3
    up, down = shares["ok", 1.0], shares["ok", -1.0]
    assert up.low < 0.75 * (2 - 0.3) / 4 < up.high and down.low < 0.75 * (2 + 0.3) / 4 < down.high
    (lost,) = (m for m in found.motions if m.status != "ok")
    assert lost.low < 0.25 < lost.high
    assert sum(m.share for m in found.motions) == pytest.approx(1)


def test_no_start_lies_behind_a_stop():
    """From +4 the box would reach to 8, where nothing can be."""
    wide = basins(TWO, setting=Setting(drive=2.0), box={"v": BOX["v"]}, starts=10)
    assert wide.box["x"][1] == 2.5 and wide.states[:, -1].max() <= 2.5


def test_the_wanted_motion_and_which_word_reaches_each(found):
    wanted = found.motions[found.wanted]
    assert wanted.response["place"] == 1 and wanted.starts == ("rest",)
    assert [m.starts for m in found.motions if m.response["place"] == -1] == [("ramp",)]


def test_kicks_are_bracketed(found):
    *speeds, down, up = found.kicks
    assert down.state == "x" and -0.7 - 1e-3 < down.lost <= -0.7 <= down.kept < -0.699
    assert up.lost is None and up.kept == pytest.approx(1.0)
    for kick in speeds:
        assert kick.state == "v" and abs(kick.kept) <= 3 < abs(kick.lost) < 3.001


def test_the_figure_shows_every_motion(found, tmp_path):
    file = tmp_path / "basins.png"
    figure = basins_figure(found, "two")
    figure.savefig(file)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(labels) == 4 and file.stat().st_size > 10_000


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (dict(box={"y": (0, 1)}), "y is not a state; these are: v, x"),
        (dict(box={"x": (1, 0)}), "the first end has to be the lower"),
        (dict(starts=3), "starts"),
        (dict(box={"x": (-2.0, 3.0)}), "x=-2:3 reaches behind a stop; from -3 to 2.5 it is free"),
    ],
)
def test_what_makes_no_sense_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        basins(TWO, **given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["gripper"], "takes no state to start from"),
        (["wrmma", "--box", "gap=1"], "write state=low:high"),
        (["wrmma", "steps=12"], "chooses its own numerics"),
    ],
)
def test_the_command_refuses(given, message, capsys):
    assert run(["basins", *given]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
def test_the_wrmma_has_two_motions_and_a_ramp_reaches_the_fast_one(capsys):
    fast = "mass_ratio=1.605457 rest_gap=33.61216um tethered_frequency=1006.0008Hz".split()
    assert (
        run(["basins", "wrmma", *fast, "frequency_ratio=0.91", "start=ramp", "--starts", "300"])
        == 0
    )
    shown = capsys.readouterr().out
    assert "gap_collapsed" in shown and "ramp, sweep_up" in shown

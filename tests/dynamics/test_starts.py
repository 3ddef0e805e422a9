"""How a robot gets going decides which of its motions it ends in."""

import pytest

from diffmicro import hybrid, parameter, value_and_gradient
from diffmicro.certificate import verdict_word
from diffmicro.devices import wrmma
from diffmicro.dynamics.starts import Approach
from diffmicro.results import word
from tests.hybrid import robots

DESIGN = wrmma.published_design(
    mass_ratio=1.605457, rest_gap=33.61216e-6, tethered_frequency=1006.0008
)
"""Above a frequency ratio of 0.906 its motion without impacts is not reached from rest."""


def _at(ratio, **how):
    setting = wrmma.published_setting(load_factor=8.0, frequency_ratio=ratio, **how)
    return wrmma.respond(DESIGN, setting, throw=False)


@pytest.mark.slow
@pytest.mark.parametrize("start", ["rest", "ramp"])
def test_a_ramp_reaches_the_motion_that_rest_misses(start):
    reached, lost = _at(0.90, start=start), _at(0.91, start=start)
    assert word(reached.result) == "ok"
    if start == "rest":
        assert word(lost.result) == "gap_collapsed"
    else:
        assert word(lost.result) == "ok" and float(lost.impacts) == 0
        # The same motion as one that is carried there from 0.90, in one step.
        setting = wrmma.published_setting(load_factor=8.0, frequency_ratio=0.91)
        carried = wrmma.respond(DESIGN, setting, start=reached.state, throw=False)
        assert float(lost.velocity) == pytest.approx(float(carried.velocity), rel=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(("start", "status"), [("sweep_up", "ok"), ("sweep_down", "gap_collapsed")])
def test_a_sweep_depends_on_where_it_comes_from(start, status):
    assert word(_at(0.93, start=start).result) == status


@pytest.mark.slow
def test_the_gradient_of_a_motion_that_a_ramp_reached_is_certified():
    setting = wrmma.published_setting(load_factor=8.0, frequency_ratio=0.91, start="ramp")
    _, gradient, certificate, _ = value_and_gradient(wrmma.DEVICE, ["mass_ratio", "field"])(
        DESIGN, setting
    )
    assert verdict_word(certificate) == "certified"
    step = 1e-5
    sides = [
        wrmma.respond(
            DESIGN,
            wrmma.published_setting(
                field=5e-3 * (1 + k * step), load_factor=8.0, frequency_ratio=0.91, start="ramp"
            ),
            throw=False,
        ).velocity
        for k in (1, -1)
    ]
    slope = float(sides[0] - sides[1]) / (2 * step * 5e-3)
    assert float(gradient["field"]) == pytest.approx(slope, rel=1e-4)


STARTS = {"ramp": Approach("amplitude", 0.0)}


class Driven(hybrid.Setting):
    frequency: float = parameter(50.0, "frequency of the drive", "Hz", above=0)
    amplitude: float = parameter(6e-6, "amplitude of the drive", "N", low=0)
    start: str = hybrid.start_field(STARTS)
    start_periods: int = hybrid.periods_field(30)


class Slowly(robots.OnGround):
    starts = STARTS


def _block(Setting):
    responses = {"velocity": hybrid.drift("place")}
    return hybrid.device(
        "block", "a block", robots.Block, Setting, Slowly, source="-", responses=responses
    )


@pytest.mark.slow
def test_a_motion_of_ones_own_may_have_starts():
    block = _block(Driven)
    rest, ramp = (block.respond(block.Design(), Driven(start=s)) for s in ("rest", "ramp"))
    assert float(ramp.velocity) == pytest.approx(float(rest.velocity), rel=1e-6)


def test_starts_without_their_field_are_refused():
    with pytest.raises(hybrid.MotionError, match="hybrid.start_field"):
        _block(robots.Setting)

"""What an author gets wrong is answered with the remedy, before anything is calculated."""

import jax.numpy as jnp
import pytest

from diffmicro import hybrid, parameter
from diffmicro.hybrid.check import checked


class Design(hybrid.Design):
    mass: float = parameter(1e-6, "mass", "kg", above=0)


class Setting(hybrid.Setting):
    frequency: float = parameter(100.0, "frequency", "Hz", above=0)


class Right(hybrid.Motion):
    """A block that is right; the others differ from it."""

    x = hybrid.Coordinate("place")
    ground = hybrid.Coulomb("x", bound=lambda now, d, s: 1e-6)
    push = hybrid.Harmonic()

    def period(self, design, setting):
        return 1 / setting.frequency

    def accelerations(self, now, design, setting):
        return {"x": (1e-6 * now.push + now.ground) / design.mass}


def told(change, message):
    """The message about a motion with one thing changed."""
    with pytest.raises(hybrid.MotionError, match=message):
        checked(type("Wrong", (Right,), change)(), Design, Setting)


def test_what_is_right_passes():
    checked(Right(), Design, Setting)


@pytest.mark.parametrize(
    ("force", "message"),
    [
        (lambda now: jnp.sign(now.x_rate), "Coulomb"),
        (lambda now: abs(now.x_rate), "Coulomb"),
        (lambda now: jnp.where(now.x > 0, now.x, 0.0), "OneSidedSpring"),
        (lambda now: max(now.x, 0.0), "OneSidedSpring"),
        (lambda now: jnp.cos(now.x), "cos .* from diffmicro.hybrid"),
        (lambda now: now.y, "there is no 'y' here; .* time, phase, x, x_rate, push, ground"),
    ],
)
def test_a_force_that_is_no_series_names_the_part_that_is_meant(force, message):
    def accelerations(self, now, design, setting):
        return {"x": force(now) + now.ground / design.mass}

    told({"accelerations": accelerations}, message)


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        (lambda now: {"y": now.ground}, "gives y; .* one value for each coordinate: x"),
        (lambda now: {"x": now.push}, "now.ground has to enter the acceleration of x"),
        (lambda now: {"x": -now.ground}, r"with the sign \+"),
        (lambda now: {"x": now.ground * (2 + now.x)}, "now.ground adds changes with the state"),
        (lambda now: {"x": now.ground + now.push * jnp.nan}, "x = nan at the start"),
        (lambda now: {"x": now.ground * jnp.ones(2)}, "shape"),
    ],
)
def test_accelerations(rates, message):
    told({"accelerations": lambda self, now, design, setting: rates(now)}, message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ground": hybrid.Coulomb("y", bound=lambda now, d, s: 1.0)}, "'y', which is none of its"),
        ({"ground": hybrid.Coulomb("x")}, "ground has no bound; write Coulomb"),
        ({"x": hybrid.Coordinate("current", "A", order=1)}, "is of order 1"),
        (
            {"x": hybrid.Coordinate("place", drifts=True), "stop": hybrid.Impact("x")},
            "stop acts on 'x', which drifts",
        ),
        ({"period": lambda self, design, setting: 0.0 * setting.frequency}, "it has to be above 0"),
    ],
)
def test_declarations(change, message):
    told(change, message)


def test_a_name_that_the_motion_needs_itself():
    with pytest.raises(TypeError, match="'period' is taken"):
        type("Wrong", (Right,), {"period": hybrid.Coordinate("place")})


def test_a_response_that_nothing_observes():
    with pytest.raises(
        TypeError, match="velocity: 'z' is no coordinate that drifts; there is none"
    ):
        hybrid.device(
            "b", "b", Design, Setting, Right, source="-", responses={"velocity": hybrid.drift("z")}
        )
    with pytest.raises(TypeError, match="the response 'margin' is there already"):
        hybrid.device(
            "b", "b", Design, Setting, Right, source="-", responses={"margin": hybrid.largest("x")}
        )
    with pytest.raises(TypeError, match="peak: 'z' is no state; states are x, x_rate"):
        hybrid.device(
            "b", "b", Design, Setting, Right, source="-", responses={"peak": hybrid.largest("z")}
        )
    with pytest.raises(TypeError, match="hits: 'z' is no contact; contacts are ground"):
        hybrid.device(
            "b", "b", Design, Setting, Right, source="-", responses={"hits": hybrid.count("z")}
        )


def test_a_start_that_is_no_state_of_the_motion():
    right = hybrid.device(
        "b", "b", Design, Setting, Right, source="-", responses={"peak": hybrid.largest("x")}
    )
    with pytest.raises(ValueError, match="start has y; it has to have x, x_rate, in SI units"):
        right.respond(Design(), Setting(), start={"y": 0.0})

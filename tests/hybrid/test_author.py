"""What an author gets wrong is answered with the remedy, before anything is calculated."""

from pathlib import Path

import jax.numpy as jnp
import pytest

from diffmicro import hybrid, parameter
from diffmicro.command.app import run


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


def made(motion, **responses):
    """A device of a motion."""
    responses = responses or {"peak": hybrid.largest("x")}
    return hybrid.device("b", "b", Design, Setting, motion, source="-", responses=responses)


def refused(motion, message, **responses):
    """The message about a motion of which no device can be made."""
    with pytest.raises(hybrid.MotionError, match=message):
        made(motion, **responses)


def told(change, message):
    """The message about a motion with one thing changed, at the first calculation."""
    device = made(type("Wrong", (Right,), change))
    with pytest.raises(hybrid.MotionError, match=message):
        device.respond(Design(), Setting())


class Slider(hybrid.Motion):
    """A block with no method at all."""

    x = hybrid.Coordinate("place", scale=1e-6)


def _period(self, design, setting):
    return 1 / setting.frequency


def _system(self, design, setting):
    return hybrid.assembled(self, design, setting)


def test_what_is_right_passes():
    made(Right)


def test_a_method_that_is_missing_is_noticed_when_the_device_is_made():
    period = (
        r"Slider has no period; write def period\(self, design, setting\): return 1 / setting.freq"
    )
    refused(Slider, period)
    refused(Slider(), period)
    accelerations = r"has no accelerations; write def accelerations\(.*\): return {\"x\": ...}"
    refused(type("Slider", (Slider,), {"period": _period}), "Slider " + accelerations)
    # The contacts of a system of one's own are not declared; those of the parts act by accelerations.
    ground = hybrid.Coulomb("x", bound=lambda now, d, s: 1e-6)
    own = {"period": _period, "system": _system}
    refused(type("Slider", (Slider,), {**own, "ground": ground}), "Slider " + accelerations)


def test_what_a_system_of_ones_own_has_to_bring():
    own = type("Own", (Slider,), {"period": _period, "system": _system})
    made(own)
    unscaled = type("Own", (own,), {"x": hybrid.Coordinate("place", "m")})
    refused(unscaled, r"x has no scale, .*; write x = Coordinate\('place', 'm', scale=\.\.\.\)")
    made(type("Own", (unscaled,), {"scales": lambda self, design, setting: {"x": 1e-6}}))
    refused(own, "Own has no event; write def event", hits=hybrid.count("ground"))
    refused(own, "Own has no holds; write def holds", stick=hybrid.share("ground"))
    refused(own, "velocity: 'z' is no coordinate that drifts", velocity=hybrid.drift("z"))
    with pytest.raises(hybrid.MotionError, match="Own has no accelerations; write def"):
        made(own).respond(Design(), Setting())  # `assembled` needs them


@pytest.mark.parametrize(
    ("force", "message"),
    [
        (lambda now: jnp.sign(now.x_rate), "Coulomb"),
        (lambda now: abs(now.x_rate), "Coulomb"),
        (lambda now: jnp.where(now.x > 0, now.x, 0.0), "OneSidedSpring"),
        (lambda now: max(now.x, 0.0), "OneSidedSpring"),
        (lambda now: jnp.cos(now.x), "cos .* from diffmicro.hybrid"),
        (lambda now: now.y, "there is no 'y' here; .* time, phase, x, x_rate, push, ground"),
        (lambda now: now.x if now.x > 0 else 0.0, "line .*, in <lambda>: a number decides here"),
        (lambda now: float(now.time), "a number decides here what Python does next"),
        (lambda now: now.x + None, "line .*, in <lambda>: TypeError: unsupported operand"),
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
        (lambda now: None, "accelerations returns None; it has to return .* by its name: x"),
    ],
)
def test_accelerations(rates, message):
    told({"accelerations": lambda self, now, design, setting: rates(now)}, message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ground": hybrid.Coulomb("y", bound=lambda now, d, s: 1.0)}, "'y', which is none of its"),
        ({"ground": hybrid.Coulomb("x")}, "ground has no bound; write Coulomb"),
        ({"ground": hybrid.Coulomb("x", 0.3)}, "ground has the bound 0.3; write"),  # type: ignore[arg-type]
        ({"x": hybrid.Coordinate("current", "A", order=1)}, "is of order 1"),
        (
            {"x": hybrid.Coordinate("place", drifts=True), "stop": hybrid.Impact("x")},
            "stop acts on 'x', which drifts",
        ),
    ],
)
def test_declarations(change, message):
    refused(type("Wrong", (Right,), change), message)


def test_a_parameter_that_is_not_there():
    def accelerations(self, now, design, setting):
        return {"x": now.ground / design.weight}

    told(
        {"accelerations": accelerations},
        "test_author.py, line .*, in accelerations: .* no attribute 'weight'. Design has mass",
    )


def test_a_period_that_is_not_above_0():
    told({"period": lambda self, design, setting: 0.0 * setting.frequency}, "has to be above 0")


def test_a_name_that_the_motion_needs_itself():
    with pytest.raises(TypeError, match="'period' is taken"):
        type("Wrong", (Right,), {"period": hybrid.Coordinate("place")})


def test_a_response_that_nothing_observes():
    refused(Right, "velocity: 'z' is no coordinate that drifts; there", velocity=hybrid.drift("z"))
    refused(Right, "the response 'margin' is there already", margin=hybrid.largest("x"))
    refused(Right, "'mean x' is no name; take letters", **{"mean x": hybrid.largest("x")})
    refused(Right, "peak: 'z' is no state; states are x, x_rate", peak=hybrid.largest("z"))
    refused(Right, "hits: 'z' is no contact; contacts are ground", hits=hybrid.count("z"))


def test_a_start_that_is_no_state_of_the_motion():
    with pytest.raises(ValueError, match="start has y; it has to have x, x_rate, in SI units"):
        made(Right).respond(Design(), Setting(), start={"y": 0.0})


SLED = (Path(__file__).parents[2] / "docs" / "extending.md").read_text().partition('"sled.py"\n')[2]


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("design.shaken *", "design.shake *", "line 31, in accelerations: 'Design' object has no"),
        ('source="this page"', 'source="this page", rules=(RULE,)', "line 18, in <lambda>: Attr"),
    ],
)
def test_a_fault_in_a_file_is_one_line_of_the_command(right, wrong, message, tmp_path, capsys):
    """With the number of the line in the author's file."""
    text = SLED.partition("```")[0]
    rule = "from diffmicro import Rule\nRULE = Rule(lambda d, s: s.strok > 0, lambda d, s: '')"
    file = tmp_path / "sled.py"
    assert text.count(right) == 1
    file.write_text(
        text.replace(right, wrong).replace("\n\n\nclass Sled", f"\n\n{rule}\nclass Sled")
    )
    assert run(["evaluate", f"{file}:SLED"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and f"{file}, {message}" in told

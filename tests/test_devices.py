"""How a device is found, and what the certificate makes of functions that are no device's `respond`."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro import reason_text, value_and_gradient, verdict_word
from diffmicro.devices import OWN, UnknownDevice, as_device, device, origins, reference_of
from diffmicro.parameters import as_arrays
from tests.sweep.toy import TOY, Design, Setting, respond

TOY_FILE = """
from tests.sweep.toy import TOY
OTHER = 3.0
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "robot.py"
    path.write_text(TOY_FILE)
    return path


def test_own_devices_by_name():
    assert [device(name).name for name in OWN] == list(OWN)
    assert device("wrmma") is device("wrmma")
    assert origins() | dict.fromkeys(OWN, "diffmicro") == origins()


def test_anybodys_device_by_its_module_or_file(file):
    assert device("tests.sweep.toy:TOY") is TOY
    assert device(f"{file}:TOY") is TOY
    assert as_device(f"{file}:TOY") is as_device(TOY)


def test_other_processes_find_what_was_called_by_its_place(file):
    assert reference_of(device("gripper")) == "gripper"
    nameless = dataclasses.replace(TOY, name="nameless")
    with pytest.raises(ValueError, match="other processes cannot find this device"):
        reference_of(nameless)


@pytest.mark.parametrize(
    "reference, told",
    [
        ("wrma", "did you mean wrmma"),
        ("no.such.module:ROBOT", "no.such.module cannot be imported"),
        ("nowhere.py:ROBOT", "There is no file"),
        ("robot.py", "needs the name of its Device behind it"),
        ("{file}:ROBOT", "there is no ROBOT in .*its devices are TOY"),
        ("{file}:OTHER", "is a float, not a diffmicro.Device"),
        ("{broken}:ROBOT", "fails when it is imported: ZeroDivisionError"),
    ],
)
def test_what_is_no_device(file, tmp_path, reference, told):
    broken = tmp_path / "broken.py"
    broken.write_text("1 / 0\n")
    with pytest.raises(UnknownDevice, match=told):
        device(reference.format(file=file, broken=broken))


def test_a_module_in_place_of_its_device_says_which_it_has():
    from diffmicro.devices import wrmma

    with pytest.raises(
        UnknownDevice, match=r"is a module; its Device is diffmicro.devices.wrmma.DEVICE"
    ):
        as_device(wrmma)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "given",
    [TOY, "tests.sweep.toy:TOY", respond, partial(respond, offset=0.0), jax.jit(respond)],
    ids=["device", "name", "respond", "partial", "jitted"],
)
def test_value_and_gradient_of_a_device_in_every_dress(given):
    """The default response is the device's first. The toy has no second resolution."""
    value, gradient, certificate, _ = value_and_gradient(given, ("length",))(Design(), Setting())
    assert float(value) == 0.5 and float(gradient["length"]) == 0.5
    assert verdict_word(certificate) == "uncertified"
    assert reason_text(certificate).startswith("differences of values agree, but there is no")


def test_value_and_gradient_of_any_function_is_never_certified():
    tribometer = device("tribometer")
    setting = as_arrays(tribometer.published_setting())

    def twice(design, setting, **numerics):
        found = tribometer.respond(design, setting, **numerics)
        return dataclasses.replace(found, sliding_velocity=2 * found.sliding_velocity)

    known = value_and_gradient(tribometer, ("radius",), "sliding_velocity")
    other = value_and_gradient(twice, ("radius",), "sliding_velocity")
    design = tribometer.published_design()
    value, gradient, certificate, _ = known(design, setting)
    doubled, steeper, uncertain, _ = other(design, setting)
    np.testing.assert_allclose(doubled, 2 * value)
    np.testing.assert_allclose(steeper["radius"], 2 * gradient["radius"], rtol=1e-12, atol=0)
    assert reason_text(certificate) == "resolution, differences of values and stability agree"
    assert verdict_word(uncertain) == "uncertified"
    with pytest.raises(ValueError, match="say which response"):
        value_and_gradient(twice, ("radius",))


def test_a_planted_factor_is_seen_in_any_function():
    @jax.custom_jvp
    def off(x):
        return x

    off.defjvp(lambda x, dx: (off(*x), 1.1 * dx[0]))

    def planted(design, setting, **numerics):
        found = TOY.respond(design, setting, **numerics)
        return dataclasses.replace(found, velocity=off(jnp.asarray(found.velocity)))

    _, _, certificate, _ = value_and_gradient(planted, ("length",), "velocity")(Design(), Setting())
    assert reason_text(certificate).startswith("the value's differences disagree")

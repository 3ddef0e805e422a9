"""The capsule of examples/capsule against SciPy: values, and gradients against extrapolated differences of it."""

import sys
from pathlib import Path

import jax
import numpy as np
import pytest

from diffmicro import device, value_and_gradient
from diffmicro.certificate import verdict_word
from diffmicro.parameters import as_arrays, get
from diffmicro.results import word
from tests.examples.capsule_oracle import Capsule, derivative, settled

FILE = Path(__file__).parents[2] / "examples" / "capsule" / "capsule.py"
FREE = ("inner_mass", "stiffness", "damping", "gap", "force", "frequency", "friction")


@pytest.mark.slow
@pytest.mark.parametrize("rigid", [False, True], ids=["elastic", "rigid"])
def test_velocity_and_gradient_equal_scipys(rigid):
    capsule = device(f"{FILE}:{'RIGID' if rigid else 'CAPSULE'}")
    design, setting = as_arrays((capsule.Design(), capsule.Setting()))
    free = (*FREE, "restitution" if rigid else "stop_stiffness")
    function = jax.jit(value_and_gradient(capsule, free, "velocity"))
    velocity, gradient, certificate, response = function(design, setting)
    assert word(response.result) == "ok" and float(response.hits) >= 1
    assert verdict_word(certificate) == "certified"
    given = {n: float(get(design, setting, n)) for n in capsule.parameters}
    guess = settled(given, rigid, 300)
    truth, orbit = Capsule(rigid, **given).velocity(guess)
    np.testing.assert_allclose(velocity, truth, rtol=1e-8)
    for name in free:
        expected = derivative(given, rigid, name, orbit)
        floor = 1e-6 * abs(truth / given[name])
        np.testing.assert_allclose(gradient[name], expected, rtol=1e-5, atol=floor, err_msg=name)


def test_it_is_short_and_imports_only_public_names():
    text = FILE.read_text()
    assert len(text.splitlines()) <= 110
    imports = [line for line in text.splitlines() if line.startswith(("import ", "from "))]
    assert imports == ["from diffmicro import hybrid, parameter"]
    assert str(FILE.parent) not in sys.path

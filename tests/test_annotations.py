"""Arguments and results are what their annotations say, axes by their names: jaxtyping with beartype, while the
program of each device and of its derivative is traced. Nothing is compiled."""

import subprocess
import sys

import pytest

from diffmicro.devices import OWN
from tests.cases import CAPSULE

TRACED = """
import sys
from jaxtyping import install_import_hook
install_import_hook("diffmicro", "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))")
from diffmicro import configure
configure(double=True)
import equinox as eqx
import jax
from diffmicro.devices import device
from diffmicro.parameters import as_arrays

robot = device(sys.argv[1])
numbers, rest = eqx.partition(
    as_arrays((robot.published_design(), robot.published_setting())), eqx.is_inexact_array
)

def response(numbers):
    found = robot.respond(*eqx.combine(numbers, rest), throw=False)
    return [getattr(found, name) for name in robot.usual_responses]

shapes = jax.eval_shape(lambda x: jax.jvp(response, (x,), (x,)), numbers)
print(len(jax.tree.leaves(shapes)))
"""

WRONG = """
from jaxtyping import install_import_hook
install_import_hook("diffmicro", "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))")
import jax.numpy as jnp
from diffmicro.mechanics.linkage import turn
turn(jnp.asarray(0.1), jnp.ones(3))
"""


def run(program, *words):
    command = [sys.executable, "-c", program, *words]
    return subprocess.run(command, capture_output=True, text=True)


QUICK = ("stickslip", "tribometer", "wrmma")


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in (*OWN, CAPSULE)]
)
def test_a_device_and_its_derivative(name):
    ended = run(TRACED, name)
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert int(ended.stdout) > 6


def test_a_wrong_axis_is_found():
    ended = run(WRONG)
    assert ended.returncode != 0 and "Float[jaxlib._jax.Array, '2']" in ended.stderr

"""The tumbler against MuJoCo's C loop: cost of one turn of the field, one robot and a batch of 256.

MuJoCo (package `mujoco`, as in the tests) runs the same robot in mm, ms and mg at h = 1e-5 s with the whole
torque vector and with adhesion by area from user code (`benchmarks/c/tumbler_mujoco.c`). The event method runs
at a tolerance at which its speed is nearer to that of a fine tolerance than MuJoCo's. Times of the batch are
per robot. The goals are those of the event method: 20 times below MuJoCo for one robot, 200 times in a batch.
"""

import ctypes
import tempfile
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.compiled import FLAGS, compiled
from benchmarks.timing import in_turn, table
from diffmicro.devices.tumbler import published_design, published_setting
from diffmicro.devices.tumbler.body import lump
from diffmicro.devices.tumbler.implicit import respond_implicit
from diffmicro.devices.tumbler.state import State
from diffmicro.dynamics.hybrid import run as run_hybrid
from diffmicro.dynamics.system import Numerics
from diffmicro.parameters import as_arrays

STEP = 1e-5
"""MuJoCo's time step [s]."""

FLAT = 1e-3
"""Tilt of a face that still counts as flat in MuJoCo, whose contacts are soft [rad]."""

BATCH = 256
FREQUENCY = 10.0
TURNS = 8
TOLERANCE, FINE = 1e-4, 1e-10
"""Of the event method's steps: in the race, and for the speed that both are compared with."""

MODEL = """
<mujoco>
  <option timestep="{step}" gravity="0 {along} {down}" cone="elliptic" impratio="10"/>
  <default>
    <geom friction="{friction} 0.1 0.001" condim="4" solref="{stiff} 1" solimp="0.9 0.95 0.001"/>
  </default>
  <worldbody>
    <geom type="plane" size="100 100 1"/>
    <body pos="0 0 {height}">
      <freejoint/>
      <inertial pos="0 0 0" mass="{mass}" diaginertia="{inertia}"/>
      <geom type="box" size="{size}"/>
    </body>
  </worldbody>
</mujoco>
"""


@cache
def library() -> ctypes.CDLL:
    """The loop over MuJoCo's steps, compiled against the installed package."""
    home = Path(str(import_module("mujoco").__file__)).parent
    found = next(home.glob("libmujoco.so*")).name
    places = (f"-L{home}", f"-l:{found}", f"-Wl,-rpath,{home}", "-lm")
    loaded = compiled("tumbler_mujoco", (*FLAGS, f"-I{home / 'include'}"), places)
    loaded.load.restype = ctypes.c_void_p
    loaded.tumble.restype = ctypes.c_long
    return loaded


def model_text(design: Any, setting: Any, step: float = STEP) -> str:
    """A box on a plane in mm, ms and mg, gravity along the incline."""
    mass = 1e6 * float(design.mass)
    size = 1e3 * np.array([design.width, design.length, design.thickness], float)
    squares = size**2
    inertia = mass / 12 * (np.sum(squares) - squares)
    gravity, incline = 1e-3 * float(setting.gravity), float(setting.incline)

    def words(values: np.ndarray) -> str:
        return " ".join(f"{value:.17g}" for value in values)

    return MODEL.format(
        step=1e3 * step,
        along=-gravity * np.sin(incline),
        down=-gravity * np.cos(incline),
        friction=float(setting.friction),
        stiff=2e3 * step,
        height=size[2] / 2,
        mass=mass,
        inertia=words(inertia),
        size=words(size / 2),
    )


def mujoco_loop(design: Any, setting: Any, turns: int) -> Callable[[], np.ndarray]:
    """A call that returns the forward position after each turn of the field [m]."""
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(model_text(design, setting))
        file.flush()
        model = library().load(file.name.encode())
    if not model:
        raise RuntimeError("MuJoCo did not load the model of a tumbling robot.")
    pull = float(setting.adhesion * design.width) * 1e3
    numbers = np.array(
        [
            1e6 * float(design.magnetic_volume * design.magnetization * setting.field),
            float(design.offset_angle),
            pull * float(design.length),
            pull * float(design.thickness),
            1e3 * float(setting.electrostatic_force),
            FLAT,
        ]
    )

    def loop() -> np.ndarray:
        forward = np.zeros(turns)
        library().tumble(
            ctypes.c_void_p(model),
            numbers.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_double(1e3 / float(setting.field_frequency)),
            ctypes.c_long(turns),
            forward.ctypes.data_as(ctypes.c_void_p),
        )
        return 1e-3 * forward

    return loop


def mujoco_speed(design: Any, setting: Any, turns: int = 6, settle: int = 3) -> float:
    """Mean speed over the turns after the first ones [m/s]."""
    forward = mujoco_loop(design, setting, turns)()
    mean = (forward[-1] - forward[settle - 1]) / (turns - settle)
    return float(mean * setting.field_frequency)


def event_map(tolerance: float, turns: int = TURNS) -> Callable[[Any, Any], jax.Array]:
    """Mean speed of the event method over `turns` from rest, without looking for the steady state [m/s]."""

    def speed(design: Any, setting: Any) -> jax.Array:
        motion, units = lump(design, setting)
        zero = jnp.zeros_like(motion.friction)
        start = State(*[zero] * 7)
        numerics = Numerics(4, 8, 30000, zero + tolerance)
        end = run_hybrid(motion, start, jnp.asarray(2 * turns), numerics)
        rolled = jnp.pi * end.state.lap + end.state.slipped
        return rolled * units.length / units.time / (2 * turns)

    return speed


def run() -> list[str]:
    """Lines of the table."""
    design, setting = as_arrays((published_design(), published_setting(field_frequency=FREQUENCY)))
    lengths = float(design.length) * (1 + 0.02 * (np.arange(BATCH) / BATCH - 0.5))

    def of_length(speed: Callable) -> Callable:
        def changed(length: jax.Array) -> jax.Array:
            return speed(as_arrays(published_design(length=length)), setting)

        return changed

    quick, exact = of_length(event_map(TOLERANCE)), of_length(event_map(FINE))
    one, many = jax.jit(quick), jax.jit(jax.vmap(quick))
    single, batch = jnp.asarray(float(design.length)), jnp.asarray(lengths)
    peer = mujoco_loop(design, setting, TURNS)
    implicit = of_length(lambda d, s: respond_implicit(d, s, 10000, settle=0, window=TURNS).speed)
    implicit = jax.jit(implicit)
    seconds = in_turn(
        {
            "MuJoCo, C loop": peer,
            "implicit, one robot": lambda: jax.block_until_ready(implicit(single)),
            "event, one robot": lambda: jax.block_until_ready(one(single)),
            f"event, {BATCH} robots": lambda: jax.block_until_ready(many(batch)),
        },
        rounds=5,
    )
    reference = float(exact(single))
    speeds = {
        "MuJoCo, C loop": float(peer()[-1]) * FREQUENCY / TURNS,
        "implicit, one robot": float(implicit(single)),
        "event, one robot": float(one(single)),
        f"event, {BATCH} robots": float(many(batch)[BATCH // 2]),
    }
    goals = {"event, one robot": 20, f"event, {BATCH} robots": 200}
    rows = []
    for name, each in seconds.items():
        per_turn = each / TURNS / (BATCH if str(BATCH) in name else 1)
        ratio = seconds["MuJoCo, C loop"] / TURNS / per_turn
        goal = f"at least {goals[name]}" if name in goals else ""
        error = abs(speeds[name] / reference - 1)
        rows.append([name, f"{1e3 * per_turn:.4f}", f"{ratio:.1f}", goal, f"{error:.1e}"])
    heads = ["program", "ms per turn", "MuJoCo over it", "goal", "error of the speed"]
    return table(heads, rows)

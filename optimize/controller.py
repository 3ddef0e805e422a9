"""A neural controller trained through the simulator: `python -m optimize controller`.

diffmicro as a layer of an Equinox network. The controller gets a wanted velocity and sets the clamp's phase
and the drive frequency of a clamped WRMMA; the loss is the relative error of the velocity that the simulated
robot then has, and its gradient goes through the periodic motion back into the weights.

The drive stays below the clamped resonance and the phase within 1.7 rad: there the robot has one motion for each
setting, without a jump, up to 24 mm/s either way. Nearer to the resonance it has several, and training gets
stuck where one of them is lost. A lane whose motion is not periodic has NaN for a derivative, so the robot's
slopes are taken lane by lane and those that are not there count as zero: one bad lane must not spoil the batch.
"""

from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from diffmicro.devices import wrmma

WANTED = np.array([-15, -12, -9, -7, -5, -3, 3, 5, 7, 9, 12, 15]) * 1e-3
"""Velocities to reach, m/s."""

UNIT = 5e-3
"""Velocity that the network sees as one, m/s: small, as phases change much around standstill."""

PHASE, RATIO = 0.55 * np.pi, (0.98, 0.06)
"""Largest phase of the clamp, rad; middle and half width of the drive over the tethered frequency."""

STEPS, RATE, END = 1500, 2e-2, 0.02
"""Steps of Adam, its rate, and the share of it that is left at the end."""


class Controller(eqx.Module):
    """Wanted velocity [m/s] to clamp phase [rad] and drive over tethered frequency."""

    network: eqx.nn.MLP

    def __init__(self, key: Array):
        self.network = eqx.nn.MLP(1, 2, width_size=16, depth=2, activation=jnp.tanh, key=key)

    def __call__(self, wanted: Array) -> tuple[Array, Array]:
        phase, ratio = self.network(jnp.atleast_1d(wanted / UNIT))
        middle, width = RATIO
        return PHASE * jnp.tanh(phase), middle + width * jnp.tanh(ratio)


class Trained(NamedTuple):
    """Controllers before and after, the velocities that each reaches, and the losses on the way."""

    before: Controller
    after: Controller
    reached_before: np.ndarray
    reached_after: np.ndarray
    losses: list[float]


@eqx.filter_jit
def velocity(phase: Array, ratio: Array) -> Array:
    """Velocity of the clamped robot, a layer with its own linear map backward."""

    def simulated(x: Array) -> Array:
        setting = wrmma.published_setting(
            load_factor=8.0, clamp_force=1.0, clamp_phase=x[0], frequency_ratio=x[1]
        )
        return wrmma.respond(wrmma.published_design(), setting, window=0, throw=False).velocity

    x = jnp.stack([phase, ratio])
    at = jax.lax.stop_gradient(x)
    value, slope = simulated(at), jax.jacfwd(simulated)(at)
    moved = jnp.nan_to_num(jax.lax.stop_gradient(slope)) @ (x - at)
    return jnp.nan_to_num(jax.lax.stop_gradient(value)) + moved


@eqx.filter_jit
def loss(controller: Controller, wanted: Array) -> Array:
    """Mean squared relative error of the velocities reached."""
    reached = jax.vmap(velocity)(*jax.vmap(controller)(wanted))
    return jnp.mean(((reached - wanted) / wanted) ** 2)


def train(seed: int = 0, steps: int = STEPS) -> Trained:
    """Adam on the loss; the best controller seen."""
    controller = first = best = Controller(jax.random.key(seed))
    optimizer = optax.adam(optax.cosine_decay_schedule(RATE, steps, END))
    state = optimizer.init(eqx.filter(controller, eqx.is_array))
    wanted, losses = jnp.asarray(WANTED), []

    @eqx.filter_jit
    def step(controller: Controller, state: Any) -> tuple[Array, Controller, Any]:
        value, slopes = eqx.filter_value_and_grad(loss)(controller, wanted)
        updates, state = optimizer.update(slopes, state)
        return value, eqx.apply_updates(controller, updates), state

    for _ in range(steps):
        value, moved, state = step(controller, state)
        if not losses or value < min(losses):
            best = controller
        losses.append(float(value))
        controller = moved
    return Trained(first, best, reached(first), reached(best), losses)


def reached(controller: Controller) -> np.ndarray:
    """Velocities that the simulated robot has under the controller, by the full search for motions."""
    found = []
    for wanted in WANTED:
        phase, ratio = controller(jnp.asarray(wanted))
        setting = wrmma.published_setting(
            load_factor=8.0, clamp_force=1.0, clamp_phase=phase, frequency_ratio=ratio
        )
        response = wrmma.respond(wrmma.published_design(), setting, throw=False)
        found.append(float(response.velocity))
    return np.array(found)


def draw(trained: Trained, path: Path) -> None:
    """Reached against wanted velocities, and the loss."""
    figure = Figure(figsize=(9, 4), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    left.plot(1e3 * WANTED, 1e3 * WANTED, color="0.6", label="wanted")
    left.plot(1e3 * WANTED, 1e3 * trained.reached_before, "o", color="#7a7a7a", label="untrained")
    left.plot(1e3 * WANTED, 1e3 * trained.reached_after, "o", color="#c44e00", label="trained")
    left.set(xlabel="wanted velocity [mm/s]", ylabel="velocity [mm/s]")
    left.legend(frameon=False)
    right.semilogy(trained.losses)
    right.set(xlabel="step", ylabel="mean squared relative error")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


def run(seed: int = 0, out: Path | None = None, progress: bool = True) -> dict[str, Any]:
    """Train, compare, draw; the object that `--json` prints."""
    trained = train(seed)
    errors = {
        "untrained": np.abs(trained.reached_before / WANTED - 1),
        "trained": np.abs(trained.reached_after / WANTED - 1),
    }
    found: dict[str, Any] = {
        "study": "controller",
        "status": "ok" if np.max(errors["trained"]) < 0.05 else "not_converged",
        "wanted": WANTED.tolist(),
        "reached": trained.reached_after.tolist(),
        "largest_error": {name: float(np.max(error)) for name, error in errors.items()},
        "steps": len(trained.losses),
    }
    if out is not None:
        draw(trained, out / "controller.png")
        found["figure"] = str(out / "controller.png")
    return found


def summary(found: dict[str, Any]) -> str:
    """The result in a few lines."""
    rows = [f"{'wanted [mm/s]':>14}{'reached [mm/s]':>16}"]
    for wanted, got in zip(found["wanted"], found["reached"], strict=True):
        rows.append(f"{1e3 * wanted:>14.1f}{1e3 * got:>16.2f}")
    worst = found["largest_error"]
    rows.append(
        f"largest relative error {worst['trained']:.3f}, untrained {worst['untrained']:.2f}; "
        f"{found['steps']} steps"
    )
    return "\n".join(rows)

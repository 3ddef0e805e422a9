"""The tumbler's event method: error and cost by tolerance, of the gradient, and per robot in a batch of 256.

Errors are those of the speed against the finest tolerance. Costs are per turn of the field, of the calls as users
make them: from rest, with the half turns that the search needs (two on paper), the gradient by all parameters.
"""

import jax
import jax.numpy as jnp

from benchmarks.timing import in_turn, table
from diffmicro.devices import tumbler
from diffmicro.parameters import as_arrays

BATCH = 256
TOLERANCES = (1e-6, 1e-8, 1e-10)
FINEST = 1e-13
FREQUENCIES = (1.0, 10.0)


def run() -> list[str]:
    """Lines of the table."""
    design = as_arrays(tumbler.published_design())

    def speed(frequency: jax.Array, tolerance: jax.Array) -> jax.Array:
        setting = as_arrays(tumbler.published_setting(field_frequency=frequency))
        return tumbler.respond(design, setting, tolerance=tolerance, throw=False).speed

    one = jax.jit(speed)
    slope = jax.jit(jax.value_and_grad(speed))
    many = jax.jit(jax.vmap(speed, in_axes=(0, None)))
    rows = []
    for frequency in FREQUENCIES:
        exact = float(one(frequency, FINEST))
        spread = frequency * jnp.linspace(0.99, 1.01, BATCH)
        for tolerance in TOLERANCES:
            error = abs(float(one(frequency, tolerance)) / exact - 1)
            seconds = in_turn(
                {
                    "one": lambda f=frequency, t=tolerance: jax.block_until_ready(one(f, t)),
                    "slope": lambda f=frequency, t=tolerance: jax.block_until_ready(slope(f, t)),
                    "many": lambda f=spread, t=tolerance: jax.block_until_ready(many(f, t)),
                },
                rounds=3,
            )
            rows.append(
                [
                    f"turns at {frequency:g} Hz to {tolerance:.0e}",
                    f"{error:.0e}",
                    f"{1e3 * seconds['one']:.2f}",
                    f"{seconds['slope'] / seconds['one']:.1f}",
                    "at most 4 (holds 6)",
                    f"{seconds['one'] / (seconds['many'] / BATCH):.1f}",
                ]
            )
    heads = [
        "half turns, tolerance",
        "error",
        "ms",
        "with gradient, times",
        "goal",
        "per robot in a batch, times less",
    ]
    return table(heads, rows)

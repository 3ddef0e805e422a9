"""A run to be killed: `python interrupted.py FOLDER METHOD RESUME`, half a minute at most."""

import dataclasses
import sys
import time
from pathlib import Path

import jax.numpy as jnp

from diffmicro import configure
from diffmicro.design import Constraint, Objective, Variable, function_problem, optimize_design


def rosenbrock(at):
    x, y = at["x"], at["y"]
    return {"loss": (1 - x) ** 2 + 100 * (y - x**2) ** 2, "radius": x**2 + jnp.sin(y) ** 2}


def main(folder: str, method: str, resume: str) -> None:
    configure(double=True)
    variables = (Variable("x", -2.0, 2.0, -1.0), Variable("y", -2.0, 2.0, 0.5))
    objective = Objective("loss", "minimize")
    constraints = [] if method == "optax" else [Constraint("radius", "<=", 1.0)]
    quick = function_problem(rosenbrock, variables, objective, constraints)

    def slow(x):
        time.sleep(0.01)
        return quick.evaluate(x)

    def in_turn(xs, processes):
        return [slow(x) for x in xs]

    problem = dataclasses.replace(quick, evaluate=slow, several=in_turn)
    optimize_design(
        problem,
        method=method,
        budget=120,
        seed=3,
        progress=False,
        out=Path(folder),
        resume=resume == "resume",
    )


if __name__ == "__main__":
    main(*sys.argv[1:])

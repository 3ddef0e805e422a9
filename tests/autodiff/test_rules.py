"""Every derivative rule of the library against known truths: all orders of the modes, inside every transformation.

A rule by `jax.custom_jvp` alone fails here: reverse mode drops it inside compiled pieces, see `autodiff.rules`.
"""

from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diffmicro
from diffmicro.autodiff.rules import explicit, known, substitute
from diffmicro.devices.legs.motion import once_differentiable
from diffmicro.devices.tumbler.drift import _level_rule
from diffmicro.devices.tumbler.steady import Steady, differentiable
from diffmicro.dynamics.hybrid import trace
from diffmicro.dynamics.orbits import FOLLOW, find_orbit
from diffmicro.dynamics.roots import root
from diffmicro.dynamics.system import Numerics
from diffmicro.mechanics.arcs import end_pose
from diffmicro.mechanics.dots import dots
from diffmicro.mechanics.modes import short_propagator, table
from diffmicro.mechanics.tangential import _clipped
from diffmicro.nonsmooth.elimination import solve
from diffmicro.nonsmooth.implicit import with_implicit_derivative
from diffmicro.resolution import Steps
from tests.dynamics.systems import Ball, Moving

X = 1.1
stop = jax.lax.stop_gradient


def root_of_a_guard(x):
    """t with t^2 (1 + x t) = 2 x: t^3 x + t^2 - 2 x = 0, which Newton's method finds."""

    def guard(x, t):
        return 2 * x - t * t * (1.0 + x * t)

    def closer(_, t):
        return t + guard(stop(x), t) / (2 * t + 3 * stop(x) * t * t)

    return root(guard, x, jax.lax.fori_loop(0, 30, closer, stop(x)))


def root_by_iteration(x):
    """The same, each iteration differentiated."""
    t = x
    for _ in range(30):
        t = t - (t * t * (1.0 + x * t) - 2 * x) / (2 * t + 3 * x * t * t)
    return t


def root_of_a_condition(x):
    return with_implicit_derivative(lambda z, x: z * z - x, jnp.sqrt(x)[None], x[None])[0]


def repeated(q, z, periods, tolerance, look=True):
    """z' = z / 2 + sin q; has forward derivatives only. Its fixed point is 2 sin q."""
    del tolerance, look

    def body(carry):
        n, z, total = carry
        after = z / 2 + jnp.sin(q)
        return n + 1, after, total + after**2

    start = (jnp.zeros_like(periods), z, jnp.zeros_like(z))
    return jax.lax.while_loop(lambda carry: carry[0] < periods, body, start)[1:]


def periodic_motion(x):
    found = find_orbit(repeated, x[None], 2 * jnp.sin(stop(x))[None], FOLLOW, 1e-9)
    return found.state[0] + found.observed[0]


def tumbling_motion(x):
    z, one, zero = 2 * jnp.sin(stop(x))[None], jnp.ones((), jnp.int32), jnp.zeros(())
    yes, no = one > 0, one < 0
    found = Steady(z, z**2, one, zero, zero, yes, no, no, yes, zero, zero, zero)
    found = differentiable(repeated, x[None], found, jnp.asarray(1e-9))
    return found.state[0] + found.observed[0]


def level_of_a_parameter(x):
    """The first entry of q at which q0^3 = q1^2."""

    def speed(q, steady, tolerance):
        del steady, tolerance
        return q[0] ** 3 - q[1] ** 2

    nothing = jnp.zeros(())
    given = (jnp.stack([x, x]), jnp.array([1.0, 0.0]), nothing, nothing)
    return known(partial(_level_rule, speed), jnp.cbrt(x * x), given)


def forward_only(x):
    """x^4 by a loop that has no reverse mode of its own."""

    def power(x, times):
        return jax.lax.fori_loop(0, times[0], lambda _, y: y * x, x)

    return explicit(power)(x[None], (jnp.asarray(3),))[0]


def bouncing_ball(x):
    """Height of a ball, dropped from x, after three bounces."""
    ball = Ball(jnp.asarray(20.0), jnp.asarray(0.6), jnp.asarray(0.0))
    return trace(ball, Moving(x, 0.0 * x), 1, Numerics(), advances=24)[0].state.place


def bounced(x):
    time = 1.0 - (1 + 2 * 0.6 + 2 * 0.6**2) * jnp.sqrt(2 * x / 20.0)
    return 0.6**3 * jnp.sqrt(2 * 20.0 * x) * time - 20.0 * time**2 / 2


def linear_system(x):
    matrix = jnp.stack([x, 0.5 * x, x * x, 3.0 + 0 * x]).reshape(2, 2)
    return solve(matrix, jnp.stack([x, jnp.sin(x)]))[0]


def determinants(x):
    return (3.0 * x - 0.5 * x * jnp.sin(x)) / (3.0 * x - 0.5 * x**3)


def short_pass(x):
    """Displacement of a mode of frequency x, damping 0.1, 0.3 x after a unit impulse, by its series."""
    return short_propagator(x, 0.1, table(0.1), 0.3 * x).gain


def rung(x):
    w = x * jnp.sqrt(1 - 0.1**2)
    return jnp.exp(-0.1 * x * 0.3 * x) * jnp.sin(w * 0.3 * x) / w


def end_of_a_straight_beam(x):
    """Angle of an arc under a moment alone: (1 + M) angle."""
    load = jnp.zeros(3).at[2].set(x)
    return end_pose(load, 0.5 * x, segments=Steps(1))[2]


def sums_of_rows(x):
    """Weights 1, x and x^2 on the rows (x, x, x) and (1, x, 2), multiplied."""
    first, second = dots(
        x ** jnp.arange(3), (jnp.stack([x, x, x]), jnp.stack([1 + 0 * x, x, 2 + 0 * x]))
    )
    return first * second


LIGHT = {
    "root": (root_of_a_guard, root_by_iteration),
    "implicit": (root_of_a_condition, jnp.sqrt),
    "substitute": (lambda x: substitute(stop(x**2), x**2), jnp.square),
    "level": (level_of_a_parameter, lambda x: x ** (2 / 3)),
    "explicit": (forward_only, lambda x: x**4),
    "solve": (linear_system, determinants),
    "short": (short_pass, rung),
    "dots": (sums_of_rows, lambda x: (x + x**2 + x**3) * (1 + 3 * x**2)),
    "clipped": (lambda x: _clipped(x**2, 5.0) + _clipped(-(x**2), x), lambda x: x**2 - x),
}
HEAVY = {
    "orbit": (periodic_motion, lambda x: 2 * jnp.sin(x) + 4 * jnp.sin(x) ** 2),
    "tumbler": (tumbling_motion, lambda x: 2 * jnp.sin(x) + 4 * jnp.sin(x) ** 2),
    "trace": (bouncing_ball, bounced),
    "arc": (end_of_a_straight_beam, lambda x: 0.5 * x * (1 + x)),
}
F, R = jax.jacfwd, jax.jacrev
ORDERS = [lambda f, a=a, b=b: a(b(f)) for a in (F, R) for b in (F, R)]
INSIDE = {
    "nothing": lambda f: f,
    "jit": jax.jit,
    "scan": lambda f: lambda x: jax.lax.scan(lambda c, _: (f(c), None), x, None, length=1)[0],
    "vmap": lambda f: lambda x: jax.vmap(f)(jnp.stack([x, 0.9 * x]))[0],
    "checkpoint": jax.checkpoint,
}


def in_a_while_loop(f):
    def inside(x):
        return jax.lax.while_loop(lambda c: c[1] < 1, lambda c: (f(c[0]), c[1] + 1), (x, 0))[0]

    return inside


def all_second_derivatives(name, around):
    """Of the cube, so that a first derivative's change counts: found, and true."""
    function, truth = (LIGHT | HEAVY)[name]

    def found(x):
        inside = [around(lambda x: function(x) ** 3)] * len(ORDERS)
        return jnp.stack([order(f)(x) for order, f in zip(ORDERS, inside, strict=True)])

    expected = jax.jit(F(F(lambda x: truth(x) ** 3)))(X)
    return np.asarray(jax.jit(found)(jnp.asarray(X))), float(expected)


@pytest.mark.parametrize("name", LIGHT)
def test_second_derivatives_in_any_order_inside_anything(name):
    for around in INSIDE.values():
        found, expected = all_second_derivatives(name, around)
        np.testing.assert_allclose(found, expected, rtol=1e-9)


QUICK = [(name, "scan") for name in HEAVY if name != "arc"]
ALL = [(name, inside) for name in HEAVY for inside in INSIDE]


@pytest.mark.parametrize(
    "name, inside",
    [*QUICK, *[pytest.param(*x, marks=pytest.mark.slow) for x in ALL if x not in QUICK]],
)
def test_second_derivatives_of_motions_and_beams(name, inside):
    found, expected = all_second_derivatives(name, INSIDE[inside])
    np.testing.assert_allclose(found, expected, rtol=1e-7)


@pytest.mark.parametrize("name", [*LIGHT, "orbit"])
def test_forward_over_forward_inside_a_while_loop(name):
    function, truth = (LIGHT | HEAVY)[name]
    found = jax.jit(F(F(in_a_while_loop(lambda x: function(x) ** 3))))(X)
    np.testing.assert_allclose(found, F(F(lambda x: truth(x) ** 3))(X), rtol=1e-9)


@pytest.mark.parametrize("inside", INSIDE)
def test_what_has_one_derivative_only_says_so(inside):
    """The second one is NaN where told so, whatever the mode; elsewhere it is right."""

    def sine(x, where):
        return INSIDE[inside](lambda x: jnp.sin(once_differentiable(x, where)))(x)

    x = jnp.asarray(X)
    for where in (True, False):
        of = partial(sine, where=jnp.asarray(where))
        np.testing.assert_allclose([F(of)(x), R(of)(x)], np.cos(X), rtol=1e-12)
        twice = np.array([order(of)(x) for order in ORDERS])
        expected = np.nan if where else -np.sin(X)
        np.testing.assert_allclose(twice, expected, rtol=1e-12)


def test_lanes_with_values_or_parameters_of_their_own():
    """A batch of values at one parameter, a batch of parameters, and both."""

    def third(x, guess):
        return root(lambda x, t: x - t**3, x, stop(guess))

    x = jnp.array([1.0, 8.0])
    t = jnp.cbrt(x)
    slopes = jax.vmap(jax.grad(third))(x, t)
    np.testing.assert_allclose(slopes, 1 / (3 * t**2), rtol=1e-12)
    one = jax.grad(lambda x: jnp.sum(jax.vmap(third, in_axes=(None, 0))(x, t[:1])))(x[0])
    np.testing.assert_allclose(one, 1 / 3, rtol=1e-12)
    twice = jax.hessian(lambda x: jnp.sum(jax.vmap(jax.vmap(third))(x[None], t[None])))(x)
    np.testing.assert_allclose(twice, np.diag(-2 / (9 * t**5)), rtol=1e-12)


PLAIN_IS_RIGHT = {
    "nonsmooth/elimination.py",
    "mechanics/modes.py",
    "mechanics/tangential.py",
    "mechanics/arcs.py",
}
"""Where the plain function has the rule's derivative too, so that dropping the rule changes nothing."""


def test_no_rule_that_reverse_mode_drops():
    library = Path(diffmicro.__file__).parent
    users = {
        str(file.relative_to(library))
        for file in library.rglob("*.py")
        if "custom_jvp" in file.read_text()
    }
    # The home of rules, what reads compiled programs, and one whose second derivatives are NaN on purpose.
    others = {"autodiff/rules.py", "sweep/patience.py", "devices/stickslip/steady.py"}
    assert users - others == PLAIN_IS_RIGHT

"""The contract of a device as a test that anybody runs on their own: `check_device(DEVICE, case)`.

A case is an operating point where the response is smooth. Each check is a function of a `Trial` that raises
`AssertionError` with what is wrong and what to change; `CHECKS` lists them, so that a test program can run them
one by one, as the tests of this library do. Numbers are compared in double precision: call
`diffmicro.configure(double=True)` first.

Left out: whether the physics is right.
"""

import dataclasses
from collections.abc import Callable, Mapping
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from jax.sharding import PartitionSpec
from jaxtyping import PyTree

from diffmicro._device import Device, contract_breaches
from diffmicro._types import Tree
from diffmicro.certificate import reason_text, value_and_gradient, verdict_word
from diffmicro.devices import as_device
from diffmicro.differences import FLOOR
from diffmicro.parameters import Fields, Value, as_arrays, get, put, range_text, within
from diffmicro.reasons import REASONS
from diffmicro.recheck import Unchecked
from diffmicro.results import word, words
from diffmicro.sweep.lanes import HASTY

WIDE = 1e-4
"""Relative step of differences: far above the resolution of a calculation, far below its curvature."""

SLOPE = 1e-5
"""Largest relative disagreement of a gradient with wide differences of the value (see `mean_slope`)."""


def mean_slope(here: Array, ahead: Array, behind: Array) -> Array:
    """What a difference over both steps is, by the derivative: its mean by Simpson's rule, off by WIDE to the
    fourth power. The derivative here alone would be off by WIDE squared times the bend, 3e-5 on stiff ground.
    """
    return (ahead + 4 * here + behind) / 6


@dataclasses.dataclass(frozen=True)
class Case:
    """An operating point: a response, and parameters that move it.

    of: a response. wrt: a field of Design and one of Setting, both numbers that are not zero.
    design, setting: values beside the published ones. numerics: arguments of `respond`.
    single: numerics of single precision, and single_rtol: how well it agrees with double precision.
    slopes: derivatives known from an independent calculation, by name, and slopes_rtol.
    """

    of: str
    wrt: tuple[str, str]
    design: Mapping[str, Value] = dataclasses.field(default_factory=dict)
    setting: Mapping[str, Value] = dataclasses.field(default_factory=dict)
    numerics: Mapping[str, Value] = dataclasses.field(default_factory=dict)
    single: Mapping[str, Value] = dataclasses.field(default_factory=dict)
    single_rtol: float = 2e-3
    slopes: Mapping[str, float] = dataclasses.field(default_factory=dict)
    slopes_rtol: float = 1e-5


class Trial:
    """A device at the point of a case, with what several checks share compiled once."""

    def __init__(self, device: Device | str, case: Case):
        self.device, self.case = as_device(device), case
        self.design = as_arrays(self.device.published_design(**case.design))
        self.setting = as_arrays(self.device.published_setting(**case.setting))
        self.numerics = self.device.asking_for((case.of,), case.numerics)

    def respond(self, x: Array) -> PyTree:
        """The response after relative changes x of the two parameters."""
        return self.device.respond(*self.point(x), **{**self.numerics, "throw": False})

    def end(self, x: Array) -> tuple[list[Array], list[Array]]:
        """After relative changes x the sum of each quantity of the motion at its end, which is no event, and its
        size: the largest that it has been."""
        assert self.device.simulate is not None
        path = self.device.simulate(*self.point(x))
        numbers = [
            leaf for leaf in jax.tree.leaves(path) if jnp.issubdtype(leaf.dtype, jnp.floating)
        ]
        return [jnp.sum(leaf[-1]) for leaf in numbers], [jnp.max(jnp.abs(leaf)) for leaf in numbers]

    def value(self, x: Array) -> Array:
        """The case's response after relative changes x."""
        return getattr(self.respond(x), self.case.of)

    def point(self, x: Array) -> tuple[Fields, Fields]:
        """Design and setting after relative changes x of the two parameters."""
        changed = {
            name: get(self.design, self.setting, name) * x[i]
            for i, name in enumerate(self.case.wrt)
        }
        return put(self.design, self.setting, changed)

    def lane(self, x: Array) -> tuple[Array, Array, PyTree]:
        """Value, its forward derivatives and the whole response."""

        def value_and_rest(x: Array) -> tuple[Array, tuple[Array, PyTree]]:
            response = self.respond(x)
            value = getattr(response, self.case.of)
            return value, (value, response)

        slope, (value, response) = jax.jacfwd(value_and_rest, has_aux=True)(x)
        return value, slope, response

    @cached_property
    def lanes(self) -> Callable[[Array], tuple[Array, Array, PyTree]]:
        """The same of five points at once, by a program that is soon there."""
        return self.soon(jax.vmap(self.lane))

    def soon(self, function: Callable[..., Tree]) -> Callable[..., Tree]:
        """A compiled function that is called a few times: compiling it is most of what it costs."""
        return jax.jit(function, compiler_options=HASTY if self.device.hasty else None)

    @cached_property
    def here(self) -> tuple[Array, Array, PyTree]:
        """Value, slopes and response at the case's own point."""
        return jax.tree.map(lambda leaf: leaf[0], self.lanes(jnp.ones((5, 2))))


def fields_have_units(trial: Trial) -> None:
    """Every field has a meaning and a unit."""
    breaches = contract_breaches(trial.device)
    assert not breaches, "; ".join(breaches)


def pytrees_round_trip(trial: Trial) -> None:
    """Design and Setting come back from their leaves."""
    for tree in (trial.design, trial.setting):
        leaves, structure = jax.tree.flatten(tree)
        again = jax.tree.unflatten(structure, leaves)
        same = all(
            np.array_equal(a, b) for a, b in zip(leaves, jax.tree.leaves(again), strict=True)
        )
        assert jax.tree.structure(again) == structure and same, f"{type(tree).__name__} changes"


def ok_means_finite(trial: Trial) -> None:
    """The case ends `ok`, and then every response that is calculated is finite and in the range that it states."""
    response = trial.here[2]
    ended = word(response.result)
    assert ended == "ok", f"the case ends {ended}; choose a point with a smooth, steady response"
    for name in trial.device.usual_responses:
        value = np.asarray(getattr(response, name))
        assert np.isfinite(value).all(), f"{name} is {value} with status ok"
        known = trial.device.responses[name]
        assert within(value, known), f"{name} is {value}; it has to be {range_text(known)}"


def gradient_is_the_slope_of_the_value(trial: Trial) -> None:
    """Lanes do not disturb each other, and the gradient is what the value does over a wide step."""
    steps = WIDE * jnp.array([[0.0, 0.0], [1, 0], [-1, 0], [0, 1], [0, -1]])
    values, slopes, _ = trial.lanes(1 + steps)
    alone, slopes_alone, _ = trial.lanes(jnp.tile(1 + steps[3:4], (5, 1)))
    np.testing.assert_allclose(
        alone[0], values[3], rtol=1e-12, err_msg="a lane's value depends on its neighbors"
    )
    np.testing.assert_allclose(
        slopes_alone[0], slopes[3], rtol=1e-9, err_msg="a lane's gradient depends on its neighbors"
    )
    differences = [(values[1] - values[2]) / (2 * WIDE), (values[3] - values[4]) / (2 * WIDE)]
    means = [
        mean_slope(slopes[0, 0], slopes[1, 0], slopes[2, 0]),
        mean_slope(slopes[0, 1], slopes[3, 1], slopes[4, 1]),
    ]
    np.testing.assert_allclose(
        means,
        differences,
        rtol=SLOPE,
        err_msg=f"the gradient of {trial.case.of} by {trial.case.wrt} is not the slope of its value",
    )


def gradient_agrees_with_known_slopes(trial: Trial) -> None:
    """Derivatives known from an independent source."""
    point = (trial.design, trial.setting)
    for name, known in trial.case.slopes.items():
        index = trial.case.wrt.index(name)
        slope = trial.here[1][index] / get(*point, name)
        np.testing.assert_allclose(
            slope, known, rtol=trial.case.slopes_rtol, err_msg=f"d {trial.case.of} / d {name}"
        )


def reverse_equals_forward(trial: Trial) -> None:
    """`jax.grad` gives what `jax.jacfwd` gives."""
    reverse = trial.soon(jax.grad(trial.value))(jnp.ones(2))
    np.testing.assert_allclose(reverse, trial.here[1], rtol=1e-10, err_msg="reverse mode differs")


def gradient_is_certified(trial: Trial) -> None:
    """At a smooth point the gradient is certified, and it is JAX's.

    A device without a second calculation to compare with (`recheck.Unchecked`) has to get as far as that allows.
    """
    case, device = trial.case, trial.device
    # A certificate searches for the motion itself, so it gets no quick numerics.
    numerics = {k: v for k, v in case.numerics.items() if k not in device.quick}
    function = value_and_gradient(device, case.wrt, case.of, **{**device.lone, **numerics})
    value, gradient, certificate, _ = trial.soon(function)(trial.design, trial.setting)
    verdict, reason = verdict_word(certificate), REASONS[int(certificate.reason)].name
    as_far_as_it_goes = isinstance(device.recheck, Unchecked) and reason == "unchecked"
    assert verdict == "certified" or as_far_as_it_goes, (
        f"the gradient is {verdict}: {reason_text(certificate)}"
    )
    np.testing.assert_allclose(value, trial.here[0], rtol=1e-7, err_msg="value with certificate")
    point = (trial.design, trial.setting)
    shown = [jnp.sum(gradient[name] * get(*point, name)) for name in case.wrt]
    np.testing.assert_allclose(shown, trial.here[1], rtol=1e-5, err_msg="certified gradient")


def no_gradient_by_the_start(trial: Trial) -> None:
    """The steady motion does not depend on where its search began."""
    if not trial.device.carries:
        return
    known = jax.lax.stop_gradient(trial.device.respond(trial.design, trial.setting))
    near = trial.device.recheck.near(known, 1e-9)  # pyright: ignore[reportAttributeAccessIssue]

    def by_start(state: PyTree) -> Array:
        arguments = {**near, "start": state}
        return getattr(
            trial.device.respond(trial.design, trial.setting, **arguments), trial.case.of
        )

    slopes = jax.tree.leaves(trial.soon(jax.grad(by_start))(known.state))
    assert all(np.all(np.asarray(s) == 0.0) for s in slopes), f"gradient by the start: {slopes}"


def motions_are_pure(trial: Trial) -> None:
    """`simulate` traces in a compiled batch, with a derivative of its end."""
    if trial.device.simulate is None:
        return
    lanes = jax.jit(jax.vmap(lambda x: jax.jvp(trial.end, (x,), (x,), has_aux=True)))
    ends, slopes, _ = jax.eval_shape(lanes, jnp.ones((3, 2)))
    assert all(leaf.shape == (3,) for leaf in (*ends, *slopes)), "motions change shape in a batch"


def motions_change_as_their_derivative_says(trial: Trial) -> None:
    """In a compiled batch the end of the motion moves with the parameters as its derivative says."""
    if trial.device.simulate is None:
        return
    way = jnp.array([1.0, 0.5])
    shares = WIDE * jnp.array([0.0, 1.0, -1.0])
    batch = trial.soon(jax.vmap(lambda x: jax.jvp(trial.end, (x,), (way,), has_aux=True)))
    ends, slopes, sizes = batch(1 + shares[:, None] * way[None])
    for end, slope, size in zip(ends, slopes, sizes, strict=True):
        scale = jnp.maximum(jnp.abs(slope[0]), FLOOR * jnp.abs(end[0]))
        # What comes back to zero does so to a few roundings of its size.
        rounding = 8 * jnp.finfo(size.dtype).eps * size[0] / WIDE
        off = jnp.abs((end[1] - end[2]) / (2 * WIDE) - mean_slope(*slope))
        assert off <= SLOPE * scale + rounding, (
            f"the motion's end {end[0]} changes by {slope[0]}, off by {off}"
        )


def is_a_layer(trial: Trial) -> None:
    """Value and gradient trace in a checkpoint, in a scan, in two batches, on shards that check carries."""
    layer = jax.value_and_grad(jax.checkpoint(trial.value))

    def scanned(xs: Array) -> PyTree:
        return jax.lax.scan(lambda carry, x: (carry, layer(x)), None, xs)[1]

    mesh = jax.make_mesh((1,), ("machine",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = PartitionSpec("machine")
    mapped = jax.vmap(jax.vmap(scanned))
    sharded = jax.shard_map(mapped, mesh=mesh, in_specs=spec, out_specs=spec)
    points = jnp.ones((1, 2, 1, 2))  # shards, lanes, steps of the scan, parameters
    value, slopes = jax.eval_shape(sharded, points)
    assert value.shape == (1, 2, 1) and slopes.shape == (1, 2, 1, 2), "shapes change in a mapping"


def single_precision_is_usable(trial: Trial) -> None:
    """Single precision in, single precision out, and the same response to its worth."""
    case = trial.case
    point = jax.tree.map(lambda x: x.astype(jnp.float32), (trial.design, trial.setting))
    response = trial.device.respond(*point, **{**trial.numerics, **case.single})
    value, ended = getattr(response, case.of), word(response.result)
    assert value.dtype == jnp.float32, f"{case.of} is {value.dtype} for float32 input"
    assert ended == "ok", f"single precision ends {ended}"
    np.testing.assert_allclose(float(value), float(trial.here[0]), rtol=case.single_rtol)


def one_optimizer_step_goes_up(trial: Trial) -> None:
    """A short step of optax along the gradient raises the response."""
    x, (value, slope, _) = jnp.ones(2), trial.here
    optimizer = optax.sgd(1e-3)
    updates, _ = optimizer.update(-slope / jnp.linalg.norm(slope), optimizer.init(x))
    moved = jnp.asarray(optax.apply_updates(x, updates))
    better, _, _ = trial.lanes(jnp.tile(moved[None], (5, 1)))
    assert better[0] > value, f"{case_of(trial)} does not rise along its gradient"


def bad_lanes_are_alone(trial: Trial) -> None:
    """A parameter that makes no sense blanks its own lane, value and gradient, with a status, and no other."""
    points = jnp.array([[1.0, 1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, jnp.nan], [1.0, 1.0]])
    values, slopes, responses = trial.lanes(points)
    assert np.isfinite(values[np.array([0, 2, 4])]).all(), "a bad lane spoils its neighbors"
    assert np.isnan(values[1]) and np.isnan(values[3]), "a bad lane has a value"
    assert np.isnan(slopes[1]).any() and np.isfinite(slopes[0]).all(), "a bad lane has a gradient"
    ended = words(responses.result)
    assert ended[1] != "ok" and ended[3] != "ok", f"a bad lane ends {ended[1]}, {ended[3]}"


def case_of(trial: Trial) -> str:
    """The response's name with its device."""
    return f"{trial.device.name}.{trial.case.of}"


CHECKS: tuple[Callable[[Trial], None], ...] = (
    fields_have_units,
    pytrees_round_trip,
    ok_means_finite,
    gradient_is_the_slope_of_the_value,
    gradient_agrees_with_known_slopes,
    reverse_equals_forward,
    gradient_is_certified,
    no_gradient_by_the_start,
    motions_are_pure,
    motions_change_as_their_derivative_says,
    is_a_layer,
    single_precision_is_usable,
    one_optimizer_step_goes_up,
    bad_lanes_are_alone,
)
"""The contract, in the order in which `check_device` goes through it."""


def check_device(device: Device | str, case: Case) -> None:
    """Raise AssertionError with all that is wrong with a device; see the module docstring."""
    if jnp.zeros(()).dtype != jnp.float64:
        raise ValueError(
            "check_device: its comparisons need 64 bits; call diffmicro.configure(double=True) before it."
        )
    trial = Trial(device, case)
    complaints = []
    for check in CHECKS:
        try:
            check(trial)
        except AssertionError as complaint:
            complaints.append(f"{check.__name__.replace('_', ' ')}: {str(complaint).strip()}")
    if complaints:
        raise AssertionError(f"{trial.device.name}: " + "\n\n".join(complaints))

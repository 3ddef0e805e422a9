"""How a calculation ended: one enumeration of outcomes for the whole library.

`RESULTS` extends `optimistix.RESULTS`, so results of its solvers promote to ours. Each outcome has
a message (what happened, what to try) and a status word, the same for all devices. Two forms:

- an enumeration item, the form of results that leave a function: `result == RESULTS.successful`;
- an integer code, the form used inside loops and on arrays of lanes, where `RESULTS.where` (scalar
  predicates only) does not reach: `code`, `from_code`, `first_failure`.

Entry points decide whether an outcome is an error: `raise_failure`.
"""

import operator
from collections.abc import Sequence
from typing import Protocol, TypeVar, runtime_checkable

import equinox as eqx
import jax
import jax.core
import jax.numpy as jnp
import lineax as lx
import numpy as np
import optimistix as optx
from jaxtyping import Array, ArrayLike, Int


class RESULTS(optx.RESULTS):  # pyright: ignore
    """Outcomes of a calculation; `successful` is the status word `ok`."""

    erratic = (
        "The motion does not settle to a periodic one; the numbers are statistics over a window, "
        "given with their spread. Look at the spread, or move away from this operating point."
    )
    runaway = (
        "The motion grows without bound instead of settling. Lower the incline or the drive, or "
        "raise the friction."
    )
    stalled = (
        "The device does not move under this drive. Raise the drive, or lower friction and load."
    )
    no_orbit = (
        "No periodic motion was found from this start, or the one found is unstable (its largest "
        "multiplier is not below 0.99), as near grazing impacts. Warm up longer, start from another "
        "state, or look at the motion with `simulate`."
    )
    past_fold = (
        "The branch of solutions turned back before this parameter value, so there is none to "
        "report here. Step the parameter more finely, or follow the branch with continuation."
    )
    gap_collapsed = (
        "The attraction exceeds what holds the parts apart, and the gap stays closed. Lower the "
        "field, or raise the stiffness or the gap."
    )
    step_limit = (
        "The limit on time steps was reached before the end. Ask for fewer steps or a shorter "
        "time, or raise the limit."
    )
    event_limit = (
        "More impacts or mode changes occurred than the event limit allows. Raise the limit; at "
        "chatter look whether the contact should persist."
    )
    memory_limit = (
        "The motion needs more remembered reversals than the memory holds. Raise `memory`."
    )
    not_converged = (
        "The solver stopped before its residual met the tolerance, or the problem has no "
        "solution. Check that the problem is solvable, scale it, allow more iterations, or give "
        "a better start."
    )
    out_of_range = (
        "A value lies outside the range where this model holds, or leads to numbers that this "
        "precision cannot hold. Compare with the ranges of `diffmicro show`, and with the defaults."
    )
    invalid_input = (
        "An input is not finite or contradicts another one. Look for NaN, negative sizes and "
        "lower bounds above upper bounds."
    )


# What type checkers call an item: `RESULTS.successful` is inherited and so of the parent's type.
Outcome = RESULTS | optx.RESULTS | lx.RESULTS

STATUS_WORDS = (
    "ok",
    "erratic",
    "runaway",
    "stalled",
    "no_orbit",
    "past_fold",
    "gap_collapsed",
    "step_limit",
    "event_limit",
    "memory_limit",
    "not_converged",
    "out_of_range",
    "invalid_input",
)


def code(result: Outcome) -> Int[Array | np.ndarray, "..."]:
    """The outcome as an integer array, for use inside loops and on arrays of lanes."""
    (value,) = jax.tree.leaves(result)
    return value


def from_code(codes: Int[ArrayLike, "..."]) -> RESULTS:
    """The outcome that an integer code stands for; the inverse of `code`, on any shape."""
    return jax.tree.unflatten(jax.tree.structure(RESULTS.successful), [jnp.asarray(codes)])


def is_ok(result: Outcome) -> Array:
    """True where the outcome is `successful`, lane by lane."""
    return jnp.asarray(code(result)) == code(RESULTS.successful)


def first_failure(earlier: Outcome, later: Outcome) -> RESULTS:
    """The first outcome that is not `successful`: statuses are sticky. Works lane by lane."""
    return from_code(jnp.where(is_ok(earlier), code(later), code(earlier)))


def found_if_ok(result: Outcome, *asked: Array) -> RESULTS:
    """`ok` only with all responses on request: `not_converged` where one of them was not found.

    The other numbers keep their values.
    """
    found = jnp.asarray(True)
    for value in asked:
        found = found & jnp.all(jnp.isfinite(value))
    missing = from_code(jnp.where(found, code(RESULTS.successful), code(RESULTS.not_converged)))
    return first_failure(result, missing)


@runtime_checkable
class HasResult(Protocol):
    """What a calculation returns: named outputs, and how it ended."""

    @property
    def result(self) -> RESULTS: ...


Response = TypeVar("Response", bound=HasResult)


def finite_if_ok(response: Response, apart: Sequence[str] = ()) -> Response:
    """The response of one point as it leaves a device: `ok` comes with finite numbers only.

    What was `ok` with a number that is not finite is `out_of_range`, and all its numbers are NaN, as are their
    derivatives. A response on request that was not requested is None and does not count: None is the one mark
    of "not calculated", NaN that of "no result".

    `apart`: fields with a calculation of their own. One of them that is finite stays: who wants nothing else does
    not pay for the rest (2.4 times, for the gripper's closing force).
    """
    numbers, rest = eqx.partition(response, eqx.is_inexact_array)
    finite = jnp.all(jnp.stack([jnp.all(jnp.isfinite(x)) for x in jax.tree.leaves(numbers)]))
    spoilt = is_ok(response.result) & ~finite
    # A factor: derivatives of what is blanked are NaN in forward and reverse mode.
    shown = jnp.where(spoilt, jnp.nan, 1.0)
    own = {name: getattr(numbers, name) for name in apart}
    numbers = jax.tree.map(lambda x: x * shown.astype(x.dtype), numbers)
    for name, value in own.items():
        if value is not None:
            blanked = value * jnp.where(jnp.all(jnp.isfinite(value)), 1.0, jnp.nan)
            numbers = eqx.tree_at(operator.attrgetter(name), numbers, blanked.astype(value.dtype))
    outcome = jnp.where(spoilt, code(RESULTS.out_of_range), code(response.result))
    response = eqx.combine(numbers, rest)
    return eqx.tree_at(lambda r: r.result, response, from_code(outcome))


def word(result: Outcome) -> str:
    """The status word of one concrete outcome. Use `words` for a batch.

    Outcomes inherited from optimistix and lineax count as `not_converged`, except bad input.
    """
    return words(result).item()


def words(result: Outcome) -> np.ndarray:
    """The status word of each lane, as an array of strings of the batch's shape."""
    return np.vectorize(_word_of_code, otypes=[object])(np.asarray(code(result)))


def message(result: Outcome) -> str:
    """What happened and what to try, for one concrete outcome; empty for `ok`."""
    return str(RESULTS[result])


def _word_of_code(value: int) -> str:
    known = {int(code(getattr(RESULTS, name))): name for name in STATUS_WORDS if name != "ok"}
    known[int(code(RESULTS.successful))] = "ok"
    known[int(code(RESULTS.nonfinite_input))] = "invalid_input"
    return known.get(int(value), "not_converged")


FAILURES = ("no_orbit", "past_fold", "step_limit", "event_limit", "memory_limit", "not_converged")
"""Status words without a value to use; the others are outcomes of a device."""


class NoResult(RuntimeError):
    """Raised by entry points where there is no value to return; `throw=False` returns the status."""


def raise_failure(where: str, result: RESULTS) -> None:
    """Raise `NoResult` if a known outcome has no value. Traced outcomes are left alone."""
    if isinstance(code(result), jax.core.Tracer):
        return
    for status in np.unique(np.asarray(words(result), dtype=str)):
        if status in (*FAILURES, "out_of_range"):
            text = message(getattr(RESULTS, status))
            raise NoResult(f"{where}: {status}. {text} (throw=False returns the status instead.)")

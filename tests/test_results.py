"""Status words: complete, explained, usable in loops and batches."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optimistix as optx
import pytest

from diffmicro.results import (
    RESULTS,
    STATUS_WORDS,
    code,
    finite_if_ok,
    first_failure,
    from_code,
    is_ok,
    message,
    word,
    words,
)


@pytest.mark.parametrize("name", [name for name in STATUS_WORDS if name != "ok"])
def test_every_word_has_an_outcome_and_a_message(name):
    outcome = getattr(RESULTS, name)
    assert word(outcome) == name
    text = message(outcome)
    assert len(text) > 40 and text.endswith(".")


def test_success_is_ok_without_a_message():
    assert word(RESULTS.successful) == "ok"
    assert message(RESULTS.successful) == ""


@pytest.mark.parametrize(
    "inherited, expected",
    [
        ("nonlinear_max_steps_reached", "not_converged"),
        ("nonlinear_divergence", "not_converged"),
        ("singular", "not_converged"),
        ("nonfinite_input", "invalid_input"),
        ("successful", "ok"),
    ],
)
def test_results_of_optimistix_promote(inherited, expected):
    assert word(RESULTS.promote(getattr(optx.RESULTS, inherited))) == expected


def test_codes_pass_through_jitted_loops_and_batches():
    stalled, ok = code(RESULTS.stalled), code(RESULTS.successful)

    @jax.jit
    @jax.vmap
    def lane(speed):
        def body(_, status):
            return jnp.where(speed < 1.0, stalled, status)

        return from_code(jax.lax.fori_loop(0, 3, body, jnp.asarray(ok)))

    result = lane(jnp.array([0.5, 2.0, 0.1]))
    assert list(words(result)) == ["stalled", "ok", "stalled"]
    assert list(is_ok(result)) == [False, True, False]


def test_first_failure_is_kept():
    outcomes = [RESULTS.successful, RESULTS.event_limit, RESULTS.runaway]
    first = {(word(a), word(b)): word(first_failure(a, b)) for a in outcomes for b in outcomes}
    assert first["ok", "ok"] == "ok"
    assert first["ok", "runaway"] == "runaway"
    assert first["event_limit", "ok"] == "event_limit"
    assert first["event_limit", "runaway"] == "event_limit"
    assert first["runaway", "event_limit"] == "runaway"


class _Answer(eqx.Module):
    """A response with a field of a calculation of its own."""

    speed: jax.Array
    closing: jax.Array | None
    result: RESULTS


@pytest.mark.parametrize(
    "speed, closing, status, shown",
    [
        (1.0, 2.0, "ok", (1.0, 2.0)),
        (np.inf, 2.0, "out_of_range", (np.nan, 2.0)),
        (1.0, np.inf, "out_of_range", (np.nan, np.nan)),
        (1.0, None, "ok", (1.0, None)),
    ],
)
def test_what_has_a_calculation_of_its_own_stays_and_the_whole_is_refused(
    speed, closing, status, shown
):
    given = _Answer(
        jnp.asarray(speed),
        None if closing is None else jnp.asarray(closing),
        from_code(code(RESULTS.successful)),
    )
    found = finite_if_ok(given, ("closing",))
    assert word(found.result) == status
    numbers = [None if x is None else float(x) for x in (found.speed, found.closing)]
    np.testing.assert_equal(numbers, list(shown))


@pytest.mark.parametrize("apart, needed", [((), True), (("closing",), False)])
def test_what_has_a_calculation_of_its_own_does_not_need_the_rest(apart, needed):
    """The rest is a sine, which is gone from the program of who wants the field alone."""

    def closing(x):
        answer = _Answer(jnp.sin(x), x**2, from_code(code(RESULTS.successful)))
        return finite_if_ok(answer, apart).closing

    program = jax.jit(closing).lower(1.0).compile().as_text()
    assert program and ("sine" in program) == needed

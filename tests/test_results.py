"""Status words: complete, explained, usable in loops and batches."""

import jax
import jax.numpy as jnp
import optimistix as optx
import pytest

from diffmicro.results import (
    RESULTS,
    STATUS_WORDS,
    code,
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

"""Certified gradients are right, well-posed motions are certified, and a planted fault is seen."""

import math

import equinox as eqx
import jax
import numpy as np
import pytest

from diffmicro.certificate import value_and_gradient, verdict_word
from diffmicro.devices import wrmma
from diffmicro.dynamics import roots
from tests.physics import gradient_truth as truth


def _judge(draws):
    """Design.md section 5, point 5, and the issue's shares."""
    text = truth.table(draws)
    print(text)
    errors = np.array([d.error for d in draws if math.isfinite(d.error)])
    assert errors.size >= len(draws) // 5, text
    assert np.median(errors) < 1e-6, text
    assert np.mean(errors < 1e-4) >= 0.99, text
    assert errors.max() < 1e-2, text
    for kind, share in (("all", 0.9), ("impacting", 0.75), ("clamped", 0.75)):
        good, of = truth.certified_share(draws, kind)
        assert good >= share * of, f"{kind}\n{text}"


@pytest.mark.slow
def test_fifteen_draws():
    _judge(truth.examine_many(15, seed=2012))


@pytest.mark.slow
def test_thousand_draws():
    _judge(truth.examine_many(1000, seed=2013))


@pytest.mark.slow
def test_every_field_alone():
    """Each parameter's own derivative on fifty draws, against the oracle; a fifth has to be comparable."""
    names = (*truth.DESIGN, *truth.SETTING)
    compared = dict.fromkeys(names, 0)
    for i in range(50):
        rng = np.random.default_rng((50, i))
        parameters = truth.random_parameters(rng)
        value, gradient, certificate, response = truth.certified_velocity(*truth.build(parameters))
        if verdict_word(certificate) != "certified" or int(response.period_multiple) != 1:
            continue
        state = response.state
        start = [float(x) for x in (state.gap, state.body_speed, state.gap_rate)]
        full = {**truth.oracle.PUBLISHED, **parameters}
        for name in names:
            if full.get(name, 0.0) == 0.0:
                continue
            known = truth.oracle.derivative(parameters, start, {name: 1.0}, clamp="force")
            scale = max(abs(known.value), truth.FLOOR * abs(float(value)))
            if known.converged and known.error < 1e-5 * scale:
                error = abs(float(gradient[name]) * full[name] - known.value)
                assert error < 1e-4 * scale, (i, name)
                compared[name] += 1
    assert sum(compared.values()) >= 50 * len(names) // 5, compared
    assert min(compared.values()) > 0, compared


@pytest.fixture
def without_event_derivative(monkeypatch):
    """The fault, kept out of everything that is compiled before and after."""
    jax.clear_caches()
    monkeypatch.setattr(roots, "root", lambda guard, given, guess: guess)
    yield
    jax.clear_caches()


@pytest.mark.slow
def test_planted_fault_is_seen(without_event_derivative):
    """Without the events' own derivative the gradient misses the saltation terms: verdicts turn."""
    faulty = eqx.filter_jit(
        value_and_gradient(wrmma.respond, ("mass_ratio", "field", "load_factor"), window=0)
    )
    turned = certified = 0
    for i in range(40):
        parameters = truth.random_parameters(np.random.default_rng((2012, i)))
        _, _, certificate, response = faulty(*truth.build(parameters))
        moving = float(response.stick_fraction) < 1 - 1e-9
        if moving and int(response.period_multiple) > 0:
            certified += verdict_word(certificate) == "certified"
            turned += verdict_word(certificate) != "certified"
    assert turned + certified >= 15
    assert turned >= 0.95 * (turned + certified), f"{certified} still certified, {turned} turned"

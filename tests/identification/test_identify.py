"""Identification on a device that is quick: what is found, how sure it is, and what the data do not see."""

from typing import Any

import numpy as np
import pytest

import diffmicro
from diffmicro.devices import tribometer
from diffmicro.identification import DataError, identify, next_measurement

TRUE = 0.02
SETTING = tribometer.published_setting(direction="ipp", sliding_velocity=0.01)
FREE = {"vibration_velocity": (1e-3, 0.1)}


def ratio(velocity, vibration=TRUE):
    """Friction across the line of vibration, from the device one point at a time."""
    setting = tribometer.published_setting
    return np.array(
        [
            float(
                tribometer.respond(
                    tribometer.published_design(),
                    setting(
                        direction="ipp", sliding_velocity=float(v), vibration_velocity=vibration
                    ),
                ).friction_ratio
            )
            for v in velocity
        ]
    )


@pytest.fixture(scope="module")
def velocities():
    return np.linspace(1e-3, 4e-2, 20)


@pytest.fixture(scope="module")
def exact(velocities):
    return ratio(velocities)


def table(velocities, measured, error: float | None = 0.01):
    columns = {"sliding_velocity": velocities, "friction_ratio": measured}
    if error:
        columns["friction_ratio_error"] = np.full(len(velocities), error)
    return columns


def test_estimate_interval_and_chi_square(velocities, exact, rng):
    noisy = exact + 0.01 * rng.normal(size=20)
    found = identify("tribometer", table(velocities, noisy), FREE, setting=SETTING)
    each = found.parameters["vibration_velocity"]
    assert found.status == "ok" and each.identified and found.chi.freedom == 19
    assert abs(each.value - TRUE) < 4 * each.error
    # The curve is known in closed form up to an elliptic integral: its slope by differences of the device.
    step = 1e-6
    slope = (ratio(velocities, each.value + step) - ratio(velocities, each.value - step)) / (
        2 * step
    )
    assert each.error == pytest.approx(0.01 / np.sqrt((slope**2).sum()), rel=1e-5)
    # The ends of the profile are where chi-square has risen by 3.84.
    for end in (each.low, each.high):
        rise = (((ratio(velocities, end) - noisy) / 0.01) ** 2).sum() - found.chi.square
        assert rise == pytest.approx(1.96**2, rel=0.02)
    assert found.chi.square == pytest.approx(
        (((ratio(velocities, each.value) - noisy) / 0.01) ** 2).sum(), rel=1e-6
    )
    assert [optimum.starts for optimum in found.seen.optima] == [5]


def test_errors_that_are_not_given_are_estimated(velocities, exact, rng):
    noisy = exact + 0.02 * rng.normal(size=20)
    found = identify("tribometer", table(velocities, noisy, None), FREE, setting=SETTING)
    assert found.estimated == {"friction_ratio": True} and found.chi.p is None
    scatter = np.sqrt((found.residuals[:, 0] ** 2).sum() / 19) * found.sigma[0, 0]
    assert found.sigma[0, 0] == pytest.approx(scatter, rel=1e-6)
    assert 0.01 < found.sigma[0, 0] < 0.035
    each = found.parameters["vibration_velocity"]
    # Student's quantile with 19 degrees of freedom, not the normal one.
    half = (each.linear[1] - each.linear[0]) / 2
    assert half / each.error == pytest.approx(2.093, abs=1e-3)


def test_a_robust_loss_does_not_follow_outliers(velocities, exact, rng):
    noisy = exact + 0.005 * rng.normal(size=20)
    noisy[[2, 9]] += 0.3
    args = ("tribometer", table(velocities, noisy, 0.005), FREE)
    linear = identify(*args, setting=SETTING).parameters["vibration_velocity"]
    robust = identify(*args, setting=SETTING, loss="huber").parameters["vibration_velocity"]
    assert abs(robust.value - TRUE) < 4e-4 < abs(linear.value - TRUE)
    assert robust.low < TRUE < robust.high


def test_what_the_data_do_not_see_is_named(velocities, exact):
    free = FREE | {"friction": (0.1, 1.0), "normal_force": (1.0, 20.0)}
    found = identify("tribometer", table(velocities, exact), free, setting=SETTING)
    assert sorted(map(str, found.blind)) == ["friction", "normal_force"]
    assert found.parameters["vibration_velocity"].identified
    for key in ("friction", "normal_force"):
        each = found.parameters[key]
        assert not each.identified and each.endings == ("bound", "bound")
        assert np.isinf(each.error)


def test_a_product_is_seen_and_its_factors_are_not(velocities):
    """Out of plane, force and mass set the critical velocity by their ratio alone."""
    load = np.linspace(0.55, 0.95, 12)
    point = [
        tribometer.respond(
            tribometer.published_design(), tribometer.published_setting(drag_ratio=float(x))
        )
        for x in load
    ]
    columns = {
        "drag_ratio": load,
        "sliding_velocity [mm/s]": [1e3 * float(p.sliding_velocity) for p in point],
        "sliding_velocity_error [mm/s]": [0.005] * 12,
    }
    free = {"probe_mass": (1e-3, 4e-3), "normal_force": (5.0, 19.0)}
    found = identify("tribometer", columns, free)
    (blind,) = found.blind
    ratio_seen = blind.changes["probe_mass"] / blind.changes["normal_force"]
    assert ratio_seen == pytest.approx(1.0, abs=0.05)
    assert not any(each.identified for each in found.parameters.values())


def test_an_estimate_at_its_bound_is_named(velocities, exact):
    found = identify(
        "tribometer", table(velocities, exact), {"vibration_velocity": (0.03, 0.1)}, setting=SETTING
    )
    each = found.parameters["vibration_velocity"]
    assert each.bound == "low" and not each.identified and each.value == pytest.approx(0.03)
    assert np.isnan(each.error)


def test_points_without_a_motion_are_named_and_do_not_count():
    """Above drag ratio 1 the probe runs away: there is no velocity there, whatever the parameters."""
    load = np.array([0.6, 0.7, 0.8, 0.9, 1.1])
    columns: dict[str, Any] = {
        "drag_ratio": load,
        "sliding_velocity [mm/s]": [0.5, 0.7, 0.9, 1.2, 2.0],
    }
    found = identify("tribometer", columns, {"probe_mass": (1e-4, 4e-2)})
    (omitted,) = found.omitted
    assert (omitted.line, omitted.status) == (5, "runaway") and omitted.why.startswith("runaway")
    assert found.used.sum() == 4 and found.json()["points"]["left_out"][0]["line"] == 5
    nothing = identify(
        "tribometer", columns | {"drag_ratio": load + 0.6}, {"probe_mass": (1e-4, 1)}
    )
    assert nothing.status == "not_converged" and len(nothing.omitted) == 5


def test_the_next_measurement_shrinks_the_error_most(velocities, exact):
    found = identify("tribometer", table(velocities, exact), FREE, setting=SETTING)
    after = next_measurement(found, {"sliding_velocity": (1e-3, 0.1)})
    best = after.at["sliding_velocity"]
    step = 1e-6
    places = np.linspace(1e-3, 0.1, 200)
    slopes = np.abs(ratio(places, TRUE + step) - ratio(places, TRUE - step))
    assert best == pytest.approx(places[np.argmax(slopes)], rel=0.05)
    now, then = after.errors["vibration_velocity"]
    assert after.certified and now / then == pytest.approx(after.gain, rel=1e-6) and after.gain > 1


@pytest.mark.parametrize(
    ("free", "told"),
    [
        ({}, "nothing is free"),
        ({"vibration": (0, 1)}, "vibration is no parameter of tribometer that is a number"),
        ({"direction": (0, 1)}, "direction is no parameter of tribometer that is a number"),
        ({"sliding_velocity": (0, 1)}, "is a column of the data"),
        ({"friction": (1, 0.1)}, "low end has to be below"),
        ({"friction": (-1, 1)}, "friction = -1"),
        ({k: (0.1, 1) for k in ("friction", "normal_force", "radius")}, "more values than par"),
    ],
)
def test_questions_that_are_none(free, told):
    columns = {"sliding_velocity": [1e-3, 2e-3, 3e-3], "friction_ratio": [0.1, 0.2, 0.3]}
    with pytest.raises(DataError, match=told):
        identify("tribometer", columns, free, setting=SETTING)


def test_it_is_public_and_says_what_it_is_asked():
    assert diffmicro.identify is identify
    columns = {"sliding_velocity": [1e-3, 2e-3], "friction_ratio": [0.1, 0.2], "sweep": ["up"] * 2}
    with pytest.raises(
        DataError, match="tribometer takes no state to start from. .* leave that column"
    ):
        identify("tribometer", columns, FREE, setting=SETTING)
    with pytest.raises(DataError, match="'cauchy' is none of"):
        identify("tribometer", columns, FREE, loss="cauchy")  # pyright: ignore[reportArgumentType]

"""Over many simulated tables: do 95 % intervals hold the truth in 95 % of them, and does the next measurement pay?

Slow: 500 tables for each share, whose own standard error is 1 %.
"""

from typing import Any

import numpy as np
import pytest

from diffmicro.devices import device, tribometer, wrmma
from diffmicro.identification import identify, next_measurement
from diffmicro.sweep import join, sweep

TABLES = 500
TRUE = 0.02
SETTING = tribometer.published_setting(direction="ipp", sliding_velocity=0.01)
FREE = {"vibration_velocity": (1e-3, 0.2)}


def ratios(velocities):
    """Friction across the line of vibration at the true vibration."""
    setting = tribometer.published_setting(
        direction="ipp", sliding_velocity=0.01, vibration_velocity=TRUE
    )
    axes = {"sliding_velocity": np.asarray(velocities)}
    found = sweep("tribometer", axes, setting=setting, responses=["friction_ratio"])
    return join(list(found))["friction_ratio"]


def coverage(found, truth):
    """Whether the profile's and the linearized interval of each parameter hold the truth."""
    return {
        key: (each.low <= truth[key] <= each.high, each.linear[0] <= truth[key] <= each.linear[1])
        for key, each in found.parameters.items()
    }


def shares(tables, capsys):
    """Share of the tables in which each interval holds the truth."""
    found = {key: np.mean([table[key] for table in tables], axis=0) for key in next(iter(tables))}
    with capsys.disabled():
        told = (f"{key}: profile {p:.3f}, linearized {q:.3f}" for key, (p, q) in found.items())
        print("\n" + "; ".join(told))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("given", [True, False], ids=["errors given", "errors estimated"])
def test_intervals_of_a_parameter_that_acts_nonlinearly(given, capsys, rng):
    """The friction ratio of eight velocities with errors of 0.03: a vibration known to some 5 %."""
    velocities = np.linspace(2e-3, 8e-2, 8)
    exact, tables = ratios(velocities), []
    for _ in range(TABLES):
        columns = {
            "sliding_velocity": velocities,
            "friction_ratio": exact + 0.03 * rng.normal(size=8),
        }
        if given:
            columns["friction_ratio_error"] = np.full(8, 0.03)
        found = identify("tribometer", columns, FREE, setting=SETTING, starts=1)
        tables.append(coverage(found, {"vibration_velocity": TRUE}))
    for profile, _ in shares(tables, capsys).values():
        assert 0.93 <= profile <= 0.97


@pytest.mark.slow
def test_intervals_of_two_parameters_and_two_responses(capsys, rng):
    """Both coordinates of the gripper's tip under 12 forces, to 1 um: modulus and one radius of a flexure."""
    gripper = device("gripper")
    design = gripper.published_design()
    truth = {"young": float(design.young), "beam_radius[0]": float(design.beam_radius[0])}
    force = np.linspace(-30e-6, 60e-6, 12)
    wanted = ["tip_x", "tip_y"]
    exact = join(list(sweep(gripper, {"force": force}, responses=wanted)))
    free = {"young": (50e9, 200e9), "beam_radius[0]": (1.5e-4, 2.5e-4)}
    tables = []
    for _ in range(TABLES):
        columns: dict[str, Any] = {"force": force}
        for name in wanted:
            columns[name] = exact[name] + 1e-6 * rng.normal(size=12)
            columns[f"{name}_error"] = np.full(12, 1e-6)
        tables.append(coverage(identify(gripper, columns, free, starts=1), truth))
    for profile, _ in shares(tables, capsys).values():
        assert 0.93 <= profile <= 0.97


@pytest.mark.slow
def test_the_next_measurement_halves_the_variance_of_equidistant_ones(capsys):
    """Twelve velocities up to 100 mm/s, of which those near 10 mm/s tell most: four equidistant ones and then
    eight, each where the fit so far wants it, against twelve equidistant ones. 60 repetitions of the series."""
    ends = (2e-3, 0.1)
    estimates = {"next": [], "equidistant": []}
    for seed in range(60):
        rng = np.random.default_rng(seed)

        def measured(velocities, rng=rng):
            return ratios(velocities) + 0.03 * rng.normal(size=len(velocities))

        def fitted(velocities, values):
            columns = {
                "sliding_velocity": velocities,
                "friction_ratio": values,
                "friction_ratio_error": np.full(len(values), 0.03),
            }
            return identify("tribometer", columns, FREE, setting=SETTING, starts=1)

        even = np.linspace(*ends, 12)
        found = fitted(even, measured(even))
        estimates["equidistant"].append(found.values["vibration_velocity"])
        chosen = np.linspace(*ends, 4)
        values = measured(chosen)
        while len(chosen) < 12:
            upcoming = next_measurement(fitted(chosen, values), {"sliding_velocity": ends})
            chosen = np.append(chosen, upcoming.at["sliding_velocity"])
            values = np.append(values, measured(chosen[-1:]))
        estimates["next"].append(fitted(chosen, values).values["vibration_velocity"])
    variance = {way: np.mean((np.array(each) - TRUE) ** 2) for way, each in estimates.items()}
    ratio = variance["next"] / variance["equidistant"]
    with capsys.disabled():
        print(f"\nmean square error, next over equidistant: {ratio:.3f}")
    assert ratio < 0.5


@pytest.mark.slow
def test_thirty_noisy_points_give_friction_and_force_of_the_wrmma(capsys):
    """The table of docs/identification.md, with another seed for each of four."""
    truth = {"friction": 0.43, "force_scale": 0.29}
    ratio = np.linspace(0.85, 1.2, 30)
    point = dict(
        design=wrmma.published_design(force_scale=truth["force_scale"]),
        setting=wrmma.published_setting(friction=truth["friction"], load_factor=32.0),
    )
    wanted = {"responses": ["velocity"], **point}
    exact = join(list(sweep("wrmma", {"frequency_ratio": ratio}, **wanted)))["velocity"]
    held = []
    for seed in range(4):
        noise = 1e-4 * np.random.default_rng(seed).normal(size=30)
        columns = {
            "frequency [kHz]": 2.3 * ratio,
            "velocity [mm/s]": 1e3 * (exact + noise),
            "velocity_error [mm/s]": np.full(30, 0.1),
        }
        found = identify(
            "wrmma",
            columns,
            {"friction": (0.2, 0.8), "force_scale": (0.1, 0.6)},
            setting=wrmma.published_setting(load_factor=32.0),
        )
        assert found.status == "ok" and (found.chi.p or 0) > 1e-3
        with capsys.disabled():
            ends = {k: (e.low, e.value, e.high) for k, e in found.parameters.items()}
            print("\n", seed, ends)
        for key, each in found.parameters.items():
            assert each.identified and abs(each.value - truth[key]) < 4 * each.error
            held.append(each.low < truth[key] < each.high)
    assert sum(held) >= 6  # of 8 at 95 %: fewer once in 170 times

"""The piezo legs against an event-driven oracle, closed forms, and the values of an independent program."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.certificate import reason_text, value_and_gradient, verdict_word
from diffmicro.devices import legs
from diffmicro.devices.legs.measured import carried, foot_response
from diffmicro.parameters import as_arrays
from diffmicro.results import words
from diffmicro.sweep.lanes import HASTY
from tests.oracles import legs as oracle

REFERENCE = [
    (dict(), "ok", dict(mean_height=1.112873e-5, peak_height=2.304324e-5, bounce_rate=184.6)),
    (dict(waveform="square"), "erratic", dict(mean_height=1.155390e-5, peak_height=2.711096e-5)),
    (
        dict(waveform="square", gap=5e-6),
        "ok",
        dict(mean_height=6.501866e-6, peak_height=1.273986e-5),
    ),
    (
        dict(law="dominant"),
        "ok",
        dict(mean_height=9.747109e-6, peak_height=2.150981e-5, bounce_rate=92.3),
    ),
]
"""Values of a separate program with exact modal propagation: mean height to 1 %, peaks to 2 % (4 % where
erratic)."""

FREE = [(2.0, 89.5, 4.7124610520595955e-06), (10.0, 313.0, 2.0879861326139607e-06)]
"""Voltage, frequency, amplitude far from the ground."""

BOUNCING = [
    (dict(waveform="sine", voltage=40.0, gap=5e-6, restitution=0.8), 0.5505),
    (dict(waveform="square", voltage=60.0, gap=12e-6, restitution=0.9), 0.65),
]
"""Motions from rest with three impacts until this share of the first period, the square one over a switch."""


@pytest.fixture(scope="module")
def published():
    return as_arrays(legs.published_design())


@pytest.fixture(scope="module")
def respond(published):
    """Responses one after the other, stacked; values are traced, so a bad one is a status and no error."""
    one = eqx.filter_jit(lambda s: legs.respond(published, s, throw=False))

    def many(overrides):
        found = [one(as_arrays(legs.published_setting(**o))) for o in overrides]
        return jax.tree.map(lambda *x: np.stack(x), *found)

    return many


@pytest.fixture(scope="module")
def sines(respond):
    """Reference, free amplitudes, voltage linearity, bad input, closeness: one compiled function."""
    return respond(
        [
            dict(),
            *(dict(voltage=v, drive_frequency=f, gap=0.03) for v, f, _ in FREE),
            dict(voltage=4.0, drive_frequency=89.5, gap=0.03),
            dict(voltage=2.0, drive_frequency=89.5, gap=8e-6),
            dict(voltage=0.0),
            dict(gap=jnp.nan),
            dict(gap=12e-6),
        ]
    )


def test_reference_sine(sines):
    assert words(sines.result)[0] == "ok"
    expected = REFERENCE[0][2]
    assert float(sines.mean_height[0]) == pytest.approx(expected["mean_height"], rel=1e-3)
    assert float(sines.peak_height[0]) == pytest.approx(expected["peak_height"], rel=1e-3)
    assert float(sines.bounce_rate[0]) == pytest.approx(expected["bounce_rate"], rel=1e-9)
    assert 0 < float(sines.contact_fraction[0]) < 0.1
    assert float(sines.impact_loss[0]) > 0
    assert float(sines.lyapunov[0]) < 0


@pytest.mark.slow
@pytest.mark.parametrize("case", REFERENCE[1:])
def test_other_references(published, case):
    overrides, status, expected = case
    setting = legs.published_setting(**overrides)
    found = legs.respond(published, setting, throw=False)
    assert words(found.result).item() == status
    assert float(found.mean_height) == pytest.approx(expected["mean_height"], rel=1e-2)
    peak = 0.039 if status == "erratic" else 2e-2
    assert float(found.peak_height) == pytest.approx(expected["peak_height"], rel=peak)
    if status == "erratic":
        assert float(found.lyapunov) > 0
        assert 0 < float(found.mean_height_spread) < 0.01 * float(found.mean_height)
    if overrides.get("law") == "dominant":
        assert float(found.impact_loss) < 0, "the dominant law feeds energy in here"


def test_far_from_the_ground_the_response_is_the_frequency_response(sines, published):
    for lane, (voltage, frequency, amplitude) in enumerate(FREE, start=1):
        assert float(sines.amplitude[lane]) == pytest.approx(amplitude, rel=1e-6)
        complex_response = complex(foot_response(published, jnp.array([frequency]))[0])
        assert voltage * abs(complex_response) == pytest.approx(amplitude, rel=1e-9)
    assert float(sines.amplitude[3]) == pytest.approx(2 * float(sines.amplitude[1]), rel=1e-9)
    # Slowest decay: 2 pi 89.5 Hz times its damping ratio.
    assert float(sines.lyapunov[1]) == pytest.approx(-2 * np.pi * 89.5 * 0.0335, rel=1e-2)
    assert float(sines.bounce_rate[1]) == 0 and float(sines.impacts[1]) == 0


def test_closeness_to_the_ground_reduces_the_amplitude(sines):
    assert float(sines.impacts[4]) == 0
    assert float(sines.amplitude[4]) < 0.999 * float(sines.amplitude[1])


def test_bad_traced_input_and_no_drive_are_statuses(sines):
    said = list(words(sines.result))
    assert said[5:7] == ["stalled", "out_of_range"]
    assert np.isnan(float(sines.mean_height[6]))
    assert float(sines.mean_height[5]) == pytest.approx(10e-6, rel=1e-9)
    assert said[7] == "ok" and float(sines.mean_height[7]) > float(sines.mean_height[0])


@pytest.mark.parametrize(("overrides", "share"), BOUNCING)
def test_several_impacts_and_their_gradients_agree_with_the_oracle(published, overrides, share):
    """State after three impacts, its derivative by gap and restitution against differences of the oracle."""
    setting = legs.published_setting(**overrides)
    design = {
        k: np.asarray(getattr(published, k)) for k in ("frequency", "damping", "gain", "mobility")
    }
    design |= {
        k: float(getattr(published, k))
        for k in ("film", "film_offset", "electrostatic", "electrostatic_offset")
    }
    # Fourth order in the step; the second case amplifies errors a thousandfold (1e-4 at 4000 steps).
    steps = 16000
    length = round(share * steps)
    given = overrides | dict(drive_frequency=92.3, law="full")

    def known(**changes):
        path = oracle.bounce(design, given | changes, length / steps / 92.3)
        return np.concatenate([path.displacement, path.speed]), len(path.impacts)

    def ours(x):
        moved = eqx.tree_at(lambda s: (s.gap, s.restitution), setting, (x[0], x[1]))
        return carried(published, moved, jnp.zeros(12), jnp.asarray(0), length, steps)

    x = jnp.array([overrides["gap"], overrides["restitution"]])
    jacobian, state = jax.jit(jax.jacfwd(lambda x: (ours(x),) * 2, has_aux=True))(x)
    expected, impacts = known()
    assert impacts == 3
    scale = np.repeat([np.abs(expected[:6]).max(), np.abs(expected[6:]).max()], 6)
    assert np.max(np.abs(np.asarray(state) - expected) / scale) < 1e-6
    for column, name in enumerate(("gap", "restitution")):
        h = 2e-4 * overrides[name]
        ends = [known(**{name: overrides[name] + k * h})[0] for k in (-2, -1, 1, 2)]
        slope = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h)
        size = np.repeat([np.abs(slope[:6]).max(), np.abs(slope[6:]).max()], 6)
        assert np.max(np.abs(np.asarray(jacobian[:, column]) - slope) / size) < 1e-6, name


def test_square_wave_without_forces_is_exact_at_any_step(published):
    from tests.oracles.closed_forms import square_response

    bare = eqx.tree_at(
        lambda d: (d.film, d.electrostatic), published, (jnp.zeros(()), jnp.zeros(()))
    )
    setting = legs.published_setting(waveform="square", gap=1.0)
    path = legs.simulate(bare, setting, periods=3, steps=20)
    time = np.asarray(path.time)
    keep = np.unique(np.linspace(5, len(time) - 1, 60).astype(int))
    modal = square_response(
        2 * jnp.pi * published.frequency,
        published.damping,
        10 * published.gain,
        2 * np.pi * 92.3,
        jnp.asarray(time[keep]),
    )
    error = np.abs(np.asarray(path.displacement)[keep] - np.asarray(modal))
    assert error.max() < 1e-12 * np.abs(np.asarray(modal)).max()


WRT = ("gap", "voltage", "restitution", "drive_frequency", "film", "gain")


@pytest.fixture(scope="module")
def certified(published):
    function = value_and_gradient(legs.respond, wrt=WRT, of="mean_height")
    function = jax.jit(function, compiler_options=HASTY)
    return lambda **o: function(published, as_arrays(legs.published_setting(**o)))


def test_gradient_of_a_bouncing_motion_is_certified_and_right(certified, sines):
    value, gradient, certificate, _ = certified()
    assert verdict_word(certificate) == "certified", reason_text(certificate)
    assert float(value) == pytest.approx(float(sines.mean_height[0]), rel=1e-9)
    # Differences over 0.1 % and 1 % of independent runs from rest at a finer tolerance agree on 0.88394.
    assert float(gradient["gap"]) == pytest.approx(0.8839463, rel=1e-4)
    assert float(gradient["voltage"]) == pytest.approx(2.4758733e-07, rel=1e-4)
    assert float(gradient["restitution"]) == pytest.approx(0.025232678e-6 / 0.51, rel=1e-3)


def test_gradient_in_the_air_is_the_closed_form(certified, published):
    """Mean height over gap is 1, and only the attraction shifts it otherwise."""
    value, gradient, certificate, _ = certified(gap=1e-3, voltage=2.0)
    assert verdict_word(certificate) == "certified", reason_text(certificate)
    assert float(gradient["gap"]) == pytest.approx(1.0, rel=1e-6)
    assert abs(float(value) / 1e-3 - 1) < 1e-6


@pytest.mark.slow
def test_erratic_motion_has_statistics_and_no_gradient(published):
    function = jax.jit(value_and_gradient(legs.respond, wrt=("gap",), of="mean_height"))
    setting = as_arrays(legs.published_setting(waveform="square"))
    value, gradient, certificate, response = function(published, setting)
    assert words(response.result).item() == "erratic"
    assert np.isfinite(float(value)) and np.isnan(float(gradient["gap"]))
    assert verdict_word(certificate) == "refused"


def test_bad_input_is_named():
    design, setting = legs.published_design(), legs.published_setting()
    cases = [
        (legs.published_design(damping=(0.1,)), setting, "modes of unlike number"),
        (legs.published_design(leg_length=1e-2), setting, "leg_thickness is missing"),
        (legs.published_design(dominant_mode=7.0), setting, "dominant_mode = 7"),
        (legs.published_design(mode_shape=np.ones((2, 5))), setting, "mode_shape"),
        (design, legs.published_setting(restitution=1.5), "restitution"),
        (design, legs.published_setting(law="plastic"), "law"),
    ]
    for bad, given, text in cases:
        with pytest.raises(ValueError, match=text):
            legs.respond(bad, given)


@pytest.mark.slow
def test_a_leg_of_three_modes_in_the_air_is_the_free_amplitude():
    section = dict(leg_thickness=3e-4, leg_width=2e-3, leg_young=62e9, leg_density=7700.0)
    design = legs.published_design(damping=(0.03, 0.03, 0.03), leg_length=15e-3, **section)
    setting = legs.published_setting(voltage=1.0, gap=1e-3, drive_frequency=500.0)
    found = legs.respond(design, setting)
    assert words(found.result).item() == "ok"
    free = float(legs.free_amplitude(*as_arrays((design, setting))))
    assert float(found.amplitude) == pytest.approx(free, rel=1e-4)


@pytest.mark.slow
def test_animation_draws_every_frame():
    from diffmicro.plot.legs import animation

    figure, draw, frames = animation(legs.published_design(), legs.published_setting(), 8)
    assert frames == 8
    for frame in range(frames):
        draw(frame)
    assert len(figure.axes) == 3


@pytest.mark.slow
def test_second_derivatives_are_right_in_the_air_and_not_a_number_through_impacts(published):
    """Never silently wrong: the event time's derivative is right once only."""

    def carried_to(share, overrides):
        setting = legs.published_setting(**overrides)

        def foot(gap):
            moved = eqx.tree_at(lambda s: s.gap, setting, gap)
            end = carried(
                published, moved, jnp.zeros(12), jnp.asarray(0), round(share * 1000), 1000
            )
            return jnp.sum(end[:6])

        return foot

    overrides, share = BOUNCING[0]
    gap = jnp.asarray(overrides["gap"])
    air, bounced = carried_to(0.1, overrides), carried_to(share, overrides)
    slope = jax.jit(jax.jacfwd(air))
    h = 1e-3 * gap
    expected = (slope(gap + h) - slope(gap - h)) / (2 * h)
    assert float(jax.jit(jax.jacfwd(jax.jacfwd(air)))(gap)) == pytest.approx(
        float(expected), rel=1e-4
    )
    assert np.isfinite(float(jax.jit(jax.jacfwd(bounced))(gap)))
    assert np.isnan(float(jax.jit(jax.jacfwd(jax.jacfwd(bounced)))(gap)))


LEG = dict(leg_length=15e-3, leg_thickness=3e-4, leg_width=2e-3, leg_young=62e9, leg_density=7700.0)
"""A clamped leg, by its dimensions."""


@pytest.mark.parametrize(
    "name, why",
    [
        ("leg_length", "has no value of its own here"),
        ("leg_piezo", "is used only where leg_length is given"),
        ("mode_shape", "has no value of its own here"),
        ("waveform", "is not a number"),
        ("waveforms", "is not a parameter"),
    ],
)
def test_message_lists_parameters_with_a_value(published, name, why):
    gradient = value_and_gradient(legs.respond, (name,), "amplitude")
    with pytest.raises(ValueError, match=f"{name} {why}; gradients are taken by") as told:
        gradient(published, as_arrays(legs.published_setting()))
    listed = set(str(told.value).split("any of ")[1].rstrip(".").split(", "))
    assert not {*LEG, "leg_piezo", "mode_shape", "waveform", "law"} & listed
    assert {"frequency", "film", "voltage"} <= listed


@pytest.mark.parametrize("name", ["frequency", "gain", "mobility"])
def test_what_a_given_leg_makes_is_no_parameter_to_differentiate_by(name):
    design = legs.published_design(**LEG)
    gradient = value_and_gradient(legs.respond, (name,), "amplitude")
    with pytest.raises(ValueError, match=f"{name} is not used where leg_length is given") as told:
        gradient(design, legs.published_setting())
    listed = set(str(told.value).split("any of ")[1].rstrip(".").split(", "))
    assert not {"frequency", "gain", "mobility"} & listed
    assert {*LEG, "leg_piezo", "damping", "film"} <= listed


@pytest.mark.slow
def test_gradients_by_the_dimensions_of_a_leg_are_those_of_the_motion():
    """Bouncing, against Richardson's differences of the mean height over 5e-4 of each dimension."""
    design = legs.published_design(damping=(0.03, 0.03, 0.03), **LEG)
    certified = jax.jit(value_and_gradient(legs.respond, tuple(LEG), "mean_height"))
    height = jax.jit(lambda *point: legs.respond(*point, throw=False).mean_height)
    for overrides in ({}, dict(voltage=20.0, gap=2e-6, restitution=0.3, drive_frequency=300.0)):
        setting = legs.published_setting(**overrides)
        value, gradient, certificate, response = certified(design, setting)
        assert verdict_word(certificate) == "certified" and response.impacts > 0
        for name, x in LEG.items():

            def slope(h, name=name, x=x, setting=setting):
                ends = [legs.published_design(damping=design.damping, **(LEG | {name: x * (1 + s)}))
                        for s in (h, -h)]  # fmt: skip
                return (height(ends[0], setting) - height(ends[1], setting)) / (2 * h * x)

            expected = (4 * slope(2.5e-4) - slope(5e-4)) / 3
            scale = max(abs(float(expected)), 1e-3 * float(value) / x)
            assert abs(float(gradient[name] - expected)) < 1e-4 * scale


def test_the_period_is_the_smallest(respond):
    """The orbit is followed over 0.02 s, two or three periods of the drive; a foot in the air repeats in one."""
    told = respond([dict(voltage=1.0), dict(voltage=1.0, drive_frequency=120.0)])
    assert list(words(told.result)) == ["ok", "ok"]
    assert list(told.period_multiple) == [1, 1]


@pytest.mark.slow
@pytest.mark.parametrize("overrides", [dict(), dict(gap=8e-6, voltage=9.0)])
def test_single_precision_finds_the_same_bouncing_motion(respond, published, overrides):
    single = jax.tree.map(
        lambda x: jnp.asarray(x, jnp.float32),
        (published, as_arrays(legs.published_setting(**overrides))),
    )
    found = legs.respond(*single, throw=False)
    known = jax.tree.map(lambda x: x[0], respond([overrides]))
    assert words(found.result).item() == "ok"
    assert found.mean_height.dtype == jnp.float32
    assert int(found.period_multiple) == int(known.period_multiple)
    for name, close in dict(mean_height=1e-4, peak_height=1e-4, bounce_rate=1e-6).items():
        assert float(getattr(found, name)) == pytest.approx(float(getattr(known, name)), rel=close)
    # Flights that single precision cannot resolve count as contact.
    assert float(found.contact_fraction) == pytest.approx(float(known.contact_fraction), rel=0.1)

"""Whatever comes in, the answer keeps the laws; the short run of `make fuzz`."""

import json
import math
import re
from itertools import islice

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.devices import OWN, gripper
from diffmicro.devices import device as named_device
from tests.fuzz import inputs, laws, pairs
from tests.fuzz.__main__ import fuzz

SOON = ("tribometer", "gripper")
"""Devices that compile and calculate in seconds."""

EACH = [pytest.param(n, marks=() if n in SOON else pytest.mark.slow) for n in OWN]

COUNT = {"tribometer": 600, "gripper": 300, "legs": 120}

ROUNDING = 1e-12
"""Largest relative change by other units: the rounding of powers that are no whole numbers, carried through."""

DRIFTING = {"stickslip": ("residual", "vibration_left")}
"""Responses that are differences of nearly equal numbers: they are held to ROUNDING of what these are."""

STILL = {
    "wrmma": (dict(field=0.0), "velocity"),
    "tumbler": (dict(field=0.0, incline=0.0), "speed"),
    "legs": (dict(voltage=0.0, gap=1e-6), "amplitude"),
    "tribometer": (dict(drag_ratio=0.0), "sliding_velocity"),
    "gripper": (dict(force=0.0, wrench=[[0.0] * 3] * 3, object_half_width=None), "rotation"),
    "stickslip": (dict(amplitude=1e-18), "force"),
}
"""By device: a setting that drives nothing, and what stays zero then."""

AT_REST = {"gripper": gripper.default_tolerance(jnp.float64)}
"""Largest number that counts as zero; of the equilibrium of soft arcs its tolerance."""


def points(device, count, seed=0, **given):
    """Usual points of a device's first skin, without words in place of numbers."""
    rng = np.random.default_rng(seed)
    skin = next(inputs.skins(device, rng)) | given
    found = []
    while len(found) < count:
        point = json.loads(inputs.usual(device, skin, rng).text)
        if inputs.allowed(device, point) and not any("[" in key for key in point):
            found.append({k: v for k, v in point.items() if not _with_unit(device, k, v)} | given)
    return [p for p in found if inputs.allowed(device, p)]


def _with_unit(device, key, value):
    return isinstance(value, str) and key in device.parameters and not device.parameters[key].words


def answers(device, given, folder):
    return laws.answers(device, list(map(pairs.line, given)), folder)


@pytest.mark.parametrize("name", EACH)
def test_every_answer_keeps_the_laws(name):
    found = fuzz(name, COUNT.get(name, 1000), skins=1)
    assert not found.broken, found.broken[:3]
    assert found.ended["ok"] > 0 and found.ended["invalid_input"] > 0


@pytest.mark.parametrize("name", OWN)
def test_nonsense_is_refused_with_its_key(name, tmp_path):
    device, rng = named_device(name), np.random.default_rng(1)
    skin = next(inputs.skins(device, rng))
    lines = [inputs.wrong(device, skin, rng) for _ in range(250)]
    lines += islice(inputs.contradictions(device, rng), 250)
    broken = []
    for line, answer in zip(lines, laws.answers(device, lines, tmp_path), strict=True):
        broken += laws.judged(device, line, answer)
    assert not broken, broken[:5]


@pytest.mark.parametrize("name", EACH)
def test_other_units_change_no_digit_but_the_last(name, tmp_path):
    device, rng = named_device(name), np.random.default_rng(3)
    given = points(device, 12 if name == "legs" else 40)
    units = [pairs.drawn_units(rng) for _ in given]
    there = [pairs.in_units(device, p, u) for p, u in zip(given, units, strict=True)]
    compared = 0
    for unit, one, other in zip(
        units, answers(device, given, tmp_path), answers(device, there, tmp_path), strict=True
    ):
        if (
            "is not allowed" in other.message
        ):  # a range of this device is in SI: a radius of at most 1 m
            continue
        assert one.status == other.status
        if one.status == "ok":
            compared += 1
            for response, off in pairs.apart(device, one.response, other.response, unit).items():
                assert off < ROUNDING or response in DRIFTING.get(name, ()), (response, off)
    assert compared >= 3


def test_a_number_with_a_wrong_unit_is_noticed(tmp_path):
    """As a length scaled like a time would be, or a constant in the code."""
    device = named_device("tribometer")
    given, units = points(device, 20), pairs.Units(4096.0, 64.0, 1.0)
    there = [pairs.in_units(device, p, units) | {"friction": 0.4 * 64} for p in given]
    both = zip(answers(device, given, tmp_path), answers(device, there, tmp_path), strict=True)
    good = [(a, b) for a, b in both if a.status == b.status == "ok"]
    off = [max(pairs.apart(device, a.response, b.response, units).values()) for a, b in good]
    assert min(off) > ROUNDING


@pytest.mark.parametrize("name", EACH)
def test_without_a_drive_nothing_drifts(name, tmp_path):
    device, (still, what) = named_device(name), STILL[name]
    found = answers(device, points(device, 20, **still), tmp_path)
    seen = [a for a in found if a.status in ("ok", "stalled")]
    assert len(seen) >= 5
    for answer in seen:
        value = np.asarray(answer.response[what], float)
        np.testing.assert_allclose(value, 0.0, atol=AT_REST.get(name, 1e-15))


def test_a_gripper_turned_by_half_a_turn_moves_the_same_way(tmp_path):
    device = named_device("gripper")
    given = points(device, 40, force=2e-5)
    turned = []
    for point in given:
        full = pairs.in_units(device, point, pairs.Units(1.0, 1.0, 1.0))
        for name in ("hinge", "body", "tip", "force"):
            full[name] = (-np.asarray(full[name])).tolist()
        full["wrench"] = (np.asarray(full["wrench"]) * [-1, -1, 1]).tolist()
        full["start_angle"] = (np.asarray(full["start_angle"]) + math.pi).tolist()
        turned.append(full)
    compared = 0
    for one, other in zip(
        answers(device, given, tmp_path), answers(device, turned, tmp_path), strict=True
    ):
        if {one.status, other.status} != {"ok"}:
            continue
        compared += 1
        for name, sign in (("rotation", 1), ("tip_x", -1), ("tip_y", -1), ("max_stress", 1)):
            here, there = np.asarray(one.response[name]), np.asarray(other.response[name])
            # Angles of the arcs are rounded at the size of pi.
            atol = 1e-9 * np.max(np.abs(here)) + 1e-15
            np.testing.assert_allclose(there, sign * here, rtol=1e-9, atol=atol, err_msg=name)
    assert compared >= 10


def test_the_track_has_no_preferred_side(tmp_path):
    device = named_device("tribometer")
    given = points(device, 40, direction="ipi", track_angle=0.3)
    other = [point | {"track_angle": -0.3} for point in given]
    left, right = answers(device, given, tmp_path), answers(device, other, tmp_path)
    assert [a.response for a in left] == [a.response for a in right]
    assert any(answer.status == "ok" for answer in left)


@pytest.mark.slow
def test_a_drive_signal_with_the_other_sign_drives_the_other_way(tmp_path):
    device = named_device("stickslip")
    rng = np.random.default_rng(5)
    signals = np.cumsum(rng.normal(size=(8, 16)), axis=1)
    base = dict(inputs.QUICK["stickslip"]) | {"waveform": "samples", "steps": 512}
    forth = answers(device, [base | {"samples": s.tolist()} for s in signals], tmp_path)
    back = answers(device, [base | {"samples": (-s).tolist()} for s in signals], tmp_path)
    good = [(a, b) for a, b in zip(forth, back, strict=True) if a.status == b.status == "ok"]
    assert good
    for one, other in good:
        assert other.response["net_step"] == pytest.approx(-one.response["net_step"], rel=1e-9)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n == "tribometer" else pytest.mark.slow) for n in OWN]
)
def test_lanes_that_make_no_sense_leave_their_neighbors_to_the_bit(name):
    """Every third lane of a batch is spoilt, each by another extreme number."""
    device = named_device(name)
    rng = np.random.default_rng(7)
    good, bad = _batch(device, rng)
    respond = jax.jit(jax.vmap(lambda d, s: device.respond(d, s, throw=False)))
    alone, beside = respond(*good), respond(*bad)
    kept = np.arange(LANES) % 3 != 0
    for one, other in zip(jax.tree.leaves(alone), jax.tree.leaves(beside), strict=True):
        np.testing.assert_array_equal(np.asarray(one)[kept], np.asarray(other)[kept])


LANES = 12


def _batch(device, rng):
    """The published point in lanes, all numbers off by some percent; the same with spoilt lanes."""
    quick = inputs.QUICK.get(device.name, {})
    known = vars(device.published_design())
    point = (
        device.published_design(**{k: v for k, v in quick.items() if k in known}),
        device.published_setting(**{k: v for k, v in quick.items() if k not in (*known, "steps")}),
    )
    leaves, tree = jax.tree.flatten(point)
    shapes = [(LANES, *np.shape(leaf)) for leaf in leaves]
    near = [np.asarray(x) * rng.uniform(0.97, 1.0, s) for x, s in zip(leaves, shapes, strict=True)]
    spoilt = [x.copy() for x in near]
    edges = (np.nan, np.inf, -1e300, 1e300, 5e-324, 0.0)
    for lane in range(0, LANES, 3):
        at = int(rng.integers(len(spoilt)))
        spoilt[at][lane] = edges[lane // 3 % len(edges)]
    return tuple(tree.unflatten([jnp.asarray(x) for x in leaves]) for leaves in (near, spoilt))


FOUND = [
    ("tribometer", dict(vibration_length=1e-7, young=5e-324), "vibration_length = 100 nm"),
    (
        "stickslip",
        dict(waveform="samples", samples=[]),
        "samples = \\[\\] has 0 numbers; it needs n",
    ),
]
"""Inputs of earlier runs that raised an error of Python's."""


@pytest.mark.parametrize(("name", "given", "told"), FOUND)
def test_what_was_found_before_is_refused(name, given, told, tmp_path):
    (answer,) = answers(named_device(name), [given], tmp_path)
    assert answer.status in laws.REFUSED and re.search(told, answer.message), answer

"""Numbers are those stored, for every law, model, outline and method; processes and lanes agree to the bit.

The usual case of each device is compared in `tests/test_contract.py` too, by the program that was recorded, which
it has compiled; here all are compared by programs that LLVM optimizes.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from diffmicro.devices import OWN
from tests.regression import stored
from tests.regression.points import OTHER, USUAL, answers, optimized, places, trial

QUICK = ("tribometer ipi dynamic", "tribometer ipi quasistatic", "tribometer ipp quasistatic")
"""Cases that are compiled within a second or two."""

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "label",
    [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in (*USUAL, *OTHER)],
)
def test_numbers_are_those_stored(label):
    of = trial(label)
    told = stored.changes(label, answers(of, optimized(of), places(label)), stored.load()[label])
    assert not told, "\n".join([*told, stored.REMEDY])


def test_every_device_is_stored_in_a_small_file():
    kept = stored.load()
    assert set(kept) == {*USUAL, *OTHER} and set(USUAL) == set(OWN)
    count = sum(len(values) for case in kept.values() for values in case.values())
    assert count > 300 and stored.FILE.stat().st_size < 200_000
    finite = [np.isfinite(v).all() for c in kept.values() for k, v in c.items() if k != "status"]
    assert np.mean(finite) > 0.9


def test_a_change_in_the_ninth_digit_is_told_with_its_remedy():
    kept = stored.load()["tribometer"]
    name = next(k for k in kept if k.startswith("d "))
    spoilt = kept | {name: [x * (1 + 1e-9) for x in kept[name]]}
    (told,) = stored.changes("tribometer", spoilt, kept)
    assert name in told and "--record" in stored.REMEDY and "CHANGELOG" in stored.REMEDY
    assert not stored.changes("tribometer", kept, kept)


def test_lost_values_and_other_statuses_are_told():
    kept = stored.load()["tribometer"]
    lost = kept | {"sliding_velocity": [float("nan"), *kept["sliding_velocity"][1:]]}
    assert "sliding_velocity" in stored.changes("tribometer", lost, kept)[0]
    ended = kept | {"status": ["stalled", *kept["status"][1:]]}
    assert "stalled" in stored.changes("tribometer", ended, kept)[0]


def test_what_has_to_be_zero_is_held_to_it():
    label = "tumbler method=implicit"
    kept = stored.load()[label]
    assert not stored.changes(label, kept, kept)
    (told,) = stored.changes(label, kept | {"yaw": [1e-11] * 5}, kept)
    assert "yaw" in told and "zero" in told


PROGRAM = """
import sys, json
import diffmicro
diffmicro.configure(double=True)
import numpy as np
from tests.regression.points import answers, places, trial
label = sys.argv[1]
of, order = trial(label), [int(i) for i in sys.argv[2].split(",")]
found = answers(of, of.lanes, places(label)[order])
print(json.dumps({k: np.asarray(v).tolist() for k, v in found.items()}))
"""


@pytest.mark.parametrize(
    "label", [pytest.param(n, marks=() if n == "tribometer" else pytest.mark.slow) for n in USUAL]
)
def test_another_process_gives_the_same_bits(label):
    """The test's process and one with the points in another order, both as users have them compiled."""
    order = [3, 0, 4, 1, 2]
    words = [sys.executable, "-c", PROGRAM, label, ",".join(map(str, order))]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, env=environment, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    there, of = json.loads(done.stdout), trial(label)
    here = answers(of, of.lanes, places(label))
    for name, values in here.items():
        assert np.asarray(values)[order].tolist() == there[name], name

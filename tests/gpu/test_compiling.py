"""Every device's program for a GPU and a TPU: lowered without callbacks, and without branches in time loops."""

import re

import jax
import pytest
from typer.testing import CliRunner

from diffmicro.command import words
from diffmicro.command.app import app
from diffmicro.devices import OWN
from diffmicro.gpu import compiling
from diffmicro.gpu.targets import TARGETS

LIBRARIES = {"gripper": {"cusolver_gesvdj_ffi"}}
"""Called on a GPU: for the gripper's smallest singular value."""

QUICK = ("tribometer", "gripper")
CASES = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in OWN]


@pytest.mark.parametrize("name", CASES)
def test_every_program_is_lowered_for_gpu_and_tpu(name):
    for _, function, lane in compiling.programs(words.device(name)):
        batch = jax.tree.map(lambda x: jax.ShapeDtypeStruct((4, *x.shape), x.dtype), lane)
        traced = jax.jit(jax.vmap(function)).trace(batch)
        for platform in ("cuda", "tpu"):
            text = traced.lower(lowering_platforms=(platform,)).as_text()
            assert "callback" not in text
            assert "optimization_barrier" not in text
            if platform == "cuda":
                assert set(re.findall(r"custom_call @(\w+)", text)) == LIBRARIES.get(name, set())


def test_without_the_compiler_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(compiling, "find_spec", lambda name: None)
    done = CliRunner().invoke(app, ["doctor", "tribometer", "--target", "a100"])
    assert done.exit_code == 2
    assert "pip install 'diffmicro[gpu-check]'" in done.output


def test_what_doctor_does_not_take():
    done = CliRunner().invoke(app, ["doctor", "tribometer"])
    assert done.exit_code == 2 and "Add --target" in done.output
    done = CliRunner().invoke(app, ["doctor", "--target", "a1000"])
    assert (
        done.exit_code == 2
        and "a1000 is not known; it has to be one of a100, h100, l4" in done.output
    )


def test_a_target_in_words_of_xla():
    text = TARGETS["h100"].text()
    assert "cuda_compute_capability { major: 9 minor: 0 }" in text
    assert TARGETS["l4"].architecture == "sm_89"

"""Whole calculations that outlast their process: run without tracing, never stale, never in the way."""

import subprocess
import sys
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro import _executables, _programs
from diffmicro.command.evaluation import Request, _program_name
from diffmicro.devices import device
from tests.conftest import share_programs
from tests.sweep import toy

OPTIONS = {"xla_backend_optimization_level": 0}


class Point(eqx.Module):
    """A point with a word, as designs and settings have them."""

    x: Any
    law: str = eqx.field(static=True, default="square")


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A cache that is used during the test."""
    cache = _programs.Programs(tmp_path)
    monkeypatch.setattr(_programs, "in_use", lambda: cache)
    _programs.install(cache)
    yield cache
    share_programs()


@pytest.fixture
def traced():
    """A function of a point to a point, and how often it was traced."""
    times = []

    def function(point):
        times.append(point.law)
        return Point(point.x**2 if point.law == "square" else -point.x, law=point.law), None

    return function, times


def call(function, point=None, name: str | None = "toy", options=OPTIONS, anew=True):
    """anew: as if in another process, where all that was run before is on disk."""
    point = Point(jnp.asarray(3.0)) if point is None else point
    if anew:
        _executables._READY.clear()
    found, nothing = _executables.call(function, (point,), options, name)
    assert nothing is None
    return found


def test_a_kept_calculation_is_not_traced_again(programs, traced):
    function, times = traced
    assert call(function).x == 9.0 and len(times) == 1
    again = call(function)
    assert again.x == 9.0 and again.law == "square" and len(times) == 1
    assert call(function, Point(jnp.asarray(5.0))).x == 25.0 and len(times) == 1


def test_one_process_loads_it_once(programs, traced, monkeypatch):
    function, times = traced
    call(function)
    monkeypatch.setattr(programs, "get", lambda key: pytest.fail("looked on the disk"))
    found = [call(function, Point(jnp.asarray(x)), anew=False).x for x in (4.0, 5.0)]
    assert found == [16.0, 25.0] and len(times) == 1


@pytest.mark.parametrize("kept", [True, False])
def test_points_one_after_the_other_are_compiled_once(programs, kept, monkeypatch):
    """In one process, also where nothing is kept on disk."""
    from diffmicro.command.evaluation import answer_point

    if not kept:
        monkeypatch.setattr(_programs, "in_use", lambda: None)
    request = Request(device("tribometer"), ("sliding_velocity",))
    answer_point(request, {"drag_ratio": 0.7})
    compiled = []

    def listen(event, duration_secs, **_):
        if event == "/jax/core/compile/backend_compile_duration":
            compiled.append(duration_secs)

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        found = {
            answer_point(request, {"drag_ratio": r}).response["sliding_velocity"]
            for r in (0.8, 0.9)
        }
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    assert len(found) == 2 and not compiled


@pytest.mark.parametrize(
    "change",
    [
        lambda: dict(name="another response"),
        lambda: dict(point=Point(jnp.asarray(3.0), law="minus")),
        lambda: dict(point=Point(jnp.asarray([3.0]))),
        lambda: dict(point=Point(jnp.asarray(3.0, jnp.float32))),
        lambda: dict(options={}),
    ],
)
def test_whatever_changes_the_calculation_changes_the_key(programs, traced, change):
    function, times = traced
    call(function)
    call(function, **change())
    assert len(times) == 2


@pytest.mark.parametrize("what", ["sources", "versions"])
def test_another_source_or_version_is_traced_again(programs, traced, what, monkeypatch):
    function, times = traced
    call(function)
    monkeypatch.setattr(_executables, what, lambda: "changed")
    call(function)
    assert len(times) == 2


def test_settings_of_jax_count(programs, traced, monkeypatch):
    function, times = traced
    call(function)
    monkeypatch.setenv("JAX_NUMPY_DTYPE_PROMOTION", "strict")
    call(function)
    assert len(times) == 2


def test_what_cannot_be_loaded_is_compiled_again(programs, traced, monkeypatch):
    function, times = traced
    monkeypatch.setattr(programs, "get", lambda key: b"torn" if "executable" in key else None)
    assert call(function).x == 9.0 and call(lambda point: function(point)).x == 9.0
    assert len(times) == 2


def test_what_is_kept_was_compiled_and_not_loaded(programs, traced, monkeypatch):
    """XLA writes a program that it has loaded without some of its parts: running it ended with "not found"."""
    function, times = traced
    found = []
    plain = programs.get
    monkeypatch.setattr(programs, "get", lambda key: found.append(plain(key)) or found[-1])
    call(function)
    monkeypatch.setattr(_executables, "sources", lambda: "changed")
    call(lambda point: function(point))
    assert len(times) == 2 and len(found) == 4 and not any(found)


def test_what_fails_when_it_runs_is_compiled_again(programs, traced, monkeypatch):
    function, times = traced

    def missing(*leaves):
        raise jax.errors.JaxRuntimeError("NOT_FOUND: Function slice_negate_fusion not found")

    call(function)
    loaded = _executables._loaded

    def torn(content):
        found = loaded(content)
        return found and (missing, found[1])

    monkeypatch.setattr(_executables, "_loaded", torn)
    assert call(lambda point: function(point)).x == 9.0 and len(times) == 2


def test_without_a_name_or_a_folder_nothing_is_kept(programs, traced, monkeypatch):
    function, times = traced
    kept = []
    monkeypatch.setattr(programs, "put", lambda key, value: kept.append(key))
    assert call(lambda point: function(point), name=None).x == 9.0
    monkeypatch.setattr(_programs, "in_use", lambda: None)
    assert call(lambda point: function(point)).x == 9.0
    assert len(times) == 2 and not any("executable" in key for key in kept)


LAPACK = """
import sys
from pathlib import Path
import jax
from diffmicro import _executables, _programs
from diffmicro._configure import configure
configure(double=True)
_programs.install(_programs.Programs(Path(sys.argv[1])))
def function(matrix):
    raise AssertionError("traced again")
print(float(_executables.call(function, (jax.numpy.diag(jax.numpy.arange(1.0, 4.0)),), {}, "svd")))
"""


def test_a_library_is_there_in_the_process_that_loads(programs, tmp_path):
    """Nothing in that process lowers a call of LAPACK, which is what usually loads it."""

    def function(matrix):
        return jnp.linalg.svd(matrix, compute_uv=False)[0]

    matrix = jnp.diag(jnp.arange(1.0, 4.0))
    assert _executables.call(function, (matrix,), {}, "svd") == pytest.approx(3.0)
    given = [sys.executable, "-c", LAPACK, str(tmp_path)]
    found = subprocess.run(given, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert float(found.stdout) == pytest.approx(3.0)


def test_what_decides_an_evaluation_is_its_name():
    wrmma = device("wrmma")
    plain = Request(wrmma, ("velocity",))
    slope = Request(wrmma, ("velocity",), ("field",), ("velocity",))
    other = Request(wrmma, ("velocity",), ("mass_ratio",), ("velocity",))
    given = [
        (plain, {}),
        (slope, {}),
        (other, {}),
        (slope, {"steps": 50}),
        (slope, {"method": "event"}),
    ]
    names = [_program_name(request, numerics) for request, numerics in given]
    assert len(set(names)) == len(given) and None not in names
    assert _program_name(Request(toy.TOY, ("velocity",)), {}) is None


def test_the_kept_answer_is_the_same(programs):
    """All numbers, statuses and verdicts of an evaluation with its certificate, to the bit."""
    from diffmicro.command.evaluation import answer_point

    request = Request(
        device("tribometer"), ("sliding_velocity",), ("frequency",), ("sliding_velocity",)
    )
    first = answer_point(request, {})
    _executables._READY.clear()
    assert answer_point(request, {}) == first and first.status == "ok"
    assert np.isfinite(first.grad["sliding_velocity"]["frequency"])

"""Examples in Python that the documentation calls the same as a command give the same numbers."""

import json
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CLAIM = re.compile(r"\b(the same|same as)\b[^.\n]*\b(on the command line|in Python)\b", re.I)
PAGES = ["README.md", "docs/design.md", "docs/tribometer.md", "docs/tutorial.md"]


def python(page: str, **changes: str) -> dict:
    """What the page's first example in Python leaves behind; each key of `changes` stands for a number."""
    code = re.search(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.S | re.M)
    assert code is not None
    left: dict = {}
    exec(changed(code[1], "=", changes), left)
    return left


def command(page: str, start: str, **changes: str) -> list[str]:
    """Words of the page's first command that begins so."""
    found = re.search(rf"diffmicro ({re.escape(start)}[^`\n]*)", (ROOT / page).read_text())
    assert found is not None
    return [*shlex.split(changed(found[1], " ", changes)), "--json"]


def changed(text: str, equals: str, changes: dict[str, str]) -> str:
    for key, value in changes.items():
        text, count = re.subn(rf"\b{key}{equals}\d+", f"{key}{equals}{value}", text)
        assert count == 1
    return text


def test_every_page_that_claims_a_pair_is_here():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    named = [p for p in pages if "```python" in (text := p.read_text()) and CLAIM.search(text)]
    assert [str(p.relative_to(ROOT)) for p in named] == PAGES


@pytest.mark.slow
def test_a_gradient(run, capsys):
    left = python("README.md")
    shown = re.search(r"^```text\n(.*?)^```", (ROOT / "README.md").read_text(), re.S | re.M)
    assert shown is not None and capsys.readouterr().out == shown[1]
    answer = json.loads(run(*command("README.md", "evaluate wrmma")).out)
    assert answer["response"]["velocity"] == pytest.approx(float(left["value"]), rel=1e-9)
    assert answer["response"]["impacts"] == float(left["response"].impacts) == 1
    slopes = {name: float(slope) for name, slope in left["gradient"].items()}
    assert answer["grad"]["velocity"] == pytest.approx(slopes, rel=1e-6)


def test_a_response(run):
    page = "docs/tribometer.md"
    left = python(page)
    answer = json.loads(run(*command(page, "evaluate tribometer law")).out)
    found = left["tribometer"].respond(left["design"], left["setting"]).sliding_velocity
    assert answer["response"]["sliding_velocity"] == pytest.approx(float(found), rel=1e-9)


@pytest.mark.slow
def test_what_moves_the_variant(run, tmp_path, monkeypatch):
    page = "docs/tutorial.md"
    monkeypatch.chdir(tmp_path)  # the page saves its figure
    left = python(page)
    words = command(
        page, "evaluate wrmma tethered_frequency=2kHz load_factor=32 frequency=2.8kHz --grad"
    )
    answer = json.loads(run(*words).out)
    assert answer["response"]["velocity"] == pytest.approx(float(left["velocity"]), rel=1e-9)
    slopes = answer["grad"]["velocity"]
    assert {name: float(left["gradient"][name]) for name in slopes} == pytest.approx(
        slopes, rel=1e-6
    )
    assert set(slopes) == {"mass_ratio", "rest_gap", "field"}


@pytest.mark.slow
def test_a_search(run):
    """With fewer evaluations than the page has."""
    page = "docs/design.md"
    left = python(page, budget="10")
    words = command(
        page, "optimize wrmma --maximize velocity --free mass_ratio=0.5:2.5 --free", budget="10"
    )
    answer, result = json.loads(run(*words).out), left["result"]
    assert answer["variables"] == list(result.variables)
    assert answer["optimized"]["variables"] == pytest.approx(result.variables, rel=1e-9)
    assert answer["optimized"]["response"]["velocity"] == pytest.approx(
        result.optimized.response["velocity"], rel=1e-9
    )
    assert (answer["status"], answer["reason"]) == (result.status, result.reason)
    assert answer["constraints"] == result.constraints

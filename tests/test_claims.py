"""CLAIMS.md and KNOWN_GAPS.md: the words are on the pages, and what backs them is there."""

import ast
import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROWS = re.findall(
    r"^\| ([\w./]+\.md) \| (.+?) \| (`.+`) \|$", (ROOT / "CLAIMS.md").read_text(), re.M
)


def plain(text: str) -> str:
    return " ".join(text.split())


def exists(backing: str) -> bool:
    """Whether a test file, a test in it, or a program is there."""
    if backing.startswith("python -m "):
        module, *names = backing.removeprefix("python -m ").split()
        part = f"{module}.{names[0]}" if names else module
        return importlib.util.find_spec(part) is not None
    path, _, name = backing.partition("::")
    file = ROOT / path
    tree = ast.parse(file.read_text()) if file.is_file() else ast.Module([], [])
    tests = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    return name in tests if name else any(test.startswith("test") for test in tests)


def test_every_line_of_the_table_is_read():
    lines = [
        line for line in (ROOT / "CLAIMS.md").read_text().splitlines() if line.startswith("| ")
    ]
    assert len(ROWS) == len(lines) - 1 > 20


@pytest.mark.parametrize(("page", "words", "backing"), ROWS)
def test_a_claim_is_made_and_backed(page, words, backing):
    assert plain(words) in plain((ROOT / page).read_text())
    for one in re.findall(r"`([^`]+)`", backing):
        assert exists(one), one


def test_what_backs_nothing_is_noticed():
    assert not exists("tests/test_claims.py::test_that_there_is_none")
    assert not exists("tests/no_file.py")
    assert not exists("python -m benchmarks no_benchmark")


def test_every_expected_failure_is_a_known_gap():
    gaps = (ROOT / "KNOWN_GAPS.md").read_text()
    for file in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.FunctionDef):
                continue
            marks = [ast.unparse(mark) for mark in node.decorator_list]
            if any("xfail" in mark for mark in marks):
                assert f"{file.relative_to(ROOT)}::{node.name}" in gaps

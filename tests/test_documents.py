"""Every code block and every command of the README and the docs: fast, that it is one; slow, that it runs.

A page is a session: its blocks run in order, in one folder and one namespace. A Python block with a `title` is a
file of that name. Inline code that begins with `diffmicro` is a command too, unless it has a placeholder in
capitals.
"""

import ast
import importlib
import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import typer
from typer.testing import CliRunner

from diffmicro.command.app import app
from diffmicro.devices import device
from diffmicro.parameters import describe

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES += sorted((ROOT / "examples").glob("*/README.md"))

TESTED_ELSEWHERE = {
    "python -m optimize flagship": "tests/optimize/test_studies.py",
    "python -m optimize --compare": "tests/optimize/test_compare.py",
    "python -m optimize": "tests/optimize/test_studies.py",
    "python -m experiments": "tests/experiments/test_outcome.py",
    "python -m benchmarks": "tests/benchmarks/test_hybrid_peers.py",
    "python -m tests.physics": "tests/physics/test_gradient_truth.py",
    "diffmicro doctor --target": "tests/gpu/test_compiling.py",
    "pip install": "tools/check_wheel.sh",
    "pytest": "tests/test_documents.py",
}
"""Programs that take minutes, or change the environment, and what tests them instead."""


class Block(NamedTuple):
    """A fenced block: its language, the file that it is, its text."""

    language: str
    title: str
    text: str


FENCE = re.compile(r'^ *```(\w*)(?: title="([^"]+)")? *\n(.*?)^ *```', re.S | re.M)


def blocks(page: Path) -> list[Block]:
    return [Block(*map(str, found)) for found in FENCE.findall(page.read_text())]


def commands(page: Path) -> list[str]:
    """Lines of shell blocks, and of blocks without a language that begin with a program."""
    lines = []
    for block in blocks(page):
        if block.language in ("sh", ""):
            lines += [line.split("  #")[0].strip() for line in block.text.splitlines()]
    programs = ("diffmicro ", ".venv/bin/diffmicro ", "python -m ", "make ", "printf ", "pip ")
    return [line.removeprefix(".venv/bin/") for line in lines if line.startswith(programs)]


def inline(page: Path) -> list[str]:
    text = FENCE.sub("", page.read_text())
    found = re.findall(r"`((?:diffmicro|python -m) [^`]*)`", text)
    whole = [" ".join(command.split()) for command in found]
    whole = [c for c in whole if len(c.split()) > 2 + c.startswith("python")]  # not a name alone
    return [c for c in whole if not re.search(r"\b[A-Z]{2,}\b(?![:.])|\.\.\.|<|\|", c)]


def each(of):
    return [
        pytest.param(page, line, id=f"{page.relative_to(ROOT)}: {line[:60]}")
        for page in PAGES
        for line in dict.fromkeys(of(page))
    ]


ALL_COMMANDS = each(lambda page: commands(page) + inline(page))


def test_pages_have_commands_and_code():
    assert len(ALL_COMMANDS) > 40
    assert sum(block.language == "python" for page in PAGES for block in blocks(page)) > 12


@pytest.mark.parametrize(("page", "line"), ALL_COMMANDS)
def test_a_command_is_one(page, line, monkeypatch):
    monkeypatch.chdir(page.parent if page.parent.name == "capsule" else ROOT)
    words = shlex.split(line.split(" > ")[0])
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.M)
    elif words[:2] == ["python", "-m"]:
        assert importlib.util.find_spec(words[2])
        assert any(line.startswith(program) for program in TESTED_ELSEWHERE)
        known = {path.stem for path in (ROOT / words[2]).rglob("*.py")}
        known |= {"flagship", "list", "all"} | experiments()
        plain = [w for w in words[3:] if not w.startswith("-") and not w.isdigit()]
        if words[2] in ("optimize", "experiments", "benchmarks"):
            assert set(plain) <= known
    elif words[0] == "diffmicro":
        check_words(words[1:])
    else:
        assert shutil.which(words[0])


def experiments() -> set[str]:
    from experiments import known_experiments

    return set(known_experiments())


def check_words(words: list[str]) -> None:
    """The subcommand takes these options, and the device has these parameters."""
    group = typer.main.get_command(app)
    subcommand = group.commands[words[0]]  # pyright: ignore[reportAttributeAccessIssue]
    given = subcommand.make_context(words[0], list(words[1:])).params
    named = given.get("device")
    if named is None or "sled.py" in named:
        return
    robot = device(named)
    known = {**robot.parameters, **robot.responses}
    others = {**robot.aliases, **(describe(robot.Layout) if robot.Layout else {})}
    pairs = [*(given.get("words") or given.get("pairs") or ()), *(given.get("free") or ())]
    for pair in pairs:
        key = re.sub(r"\[(\d+|:)\]$", "", pair.split("=")[0])  # an entry of a field
        assert key in {**known, **others, "steps": 0, "method": 0, "tolerance": 0}, pair
    for option in ("grad", "of", "response", "maximize", "minimize"):
        for name in (given.get(option) or "").split(","):
            assert not name or name in known, name


PYTHON = [
    pytest.param(page, block, id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    for number, block in enumerate(b for b in blocks(page) if b.language == "python")
]


@pytest.mark.parametrize(("page", "block"), PYTHON)
def test_python_imports_what_there_is(page, block):
    for node in ast.walk(ast.parse(block.text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            module = importlib.import_module(node.module)
            for alias in node.names:
                assert getattr(module, alias.name) is not None


RUN = [
    page for page in PAGES if any(b.language == "python" for b in blocks(page)) or commands(page)
]


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_runs(page, tmp_path, monkeypatch):
    """In order: files are written, Python is executed, commands end with 0."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for file in page.parent.glob("*.py"):
        (tmp_path / file.name).symlink_to(file)
    space: dict = {}
    for block in blocks(page):
        if block.title:
            (tmp_path / block.title).write_text(block.text)
        elif block.language == "python":
            exec(compile(block.text, str(page), "exec"), space)
    for line in commands(page):
        if line.startswith(("make ", "pip ")) or any(line.startswith(t) for t in TESTED_ELSEWHERE):
            continue
        if line.startswith("diffmicro "):
            done = CliRunner().invoke(app, shlex.split(line)[1:])
            assert done.exit_code == 0, f"{line}\n{done.output[-2000:]}"
        else:
            subprocess.run(line, shell=True, check=True, cwd=tmp_path)


def test_what_is_tested_elsewhere_is():
    assert all((ROOT / file).exists() for file in TESTED_ELSEWHERE.values())
    assert sys.version_info >= (3, 11)


def test_the_thread_of_the_readme_is_as_short_as_it_says():
    """From a parameter to its gradient: the files that a reader has to open."""
    text = (ROOT / "README.md").read_text()
    section = re.search(
        r"^## From a design parameter .*, in (\w+) files$(.*?)^## ", text, re.S | re.M
    )
    assert section is not None
    files = re.findall(r"\]\((diffmicro/[\w/]+\.py)\)", section[2])
    words: str = "one two three four five six seven eight nine ten"
    numbers: list[str] = re.findall(r"\w+", words)
    assert len(set(files)) == len(files) == 1 + numbers.index(section[1])
    assert all(len((ROOT / file).read_text().splitlines()) < 300 for file in files)


def test_every_picture_is_made_by_a_command_and_shown():
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "tools" / "pictures.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    shown = {
        name for page in PAGES for name in re.findall(r"\(pictures/([^)]+)\)", page.read_text())
    }
    assert shown == set(made.PICTURES)
    for name, command in made.PICTURES.items():
        check_words(shlex.split(f"{command} {name}"))

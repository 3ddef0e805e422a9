"""Every code block and every command of the README and the docs: fast, that it is one; slow, that it runs.

A page is a session (`tools/pages.py`): its blocks and commands run in order, in one folder and one namespace.
Inline code that begins with `diffmicro` is a command too, unless it has a placeholder in capitals.
"""

import ast
import importlib
import importlib.util
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
import typer

from diffmicro.command.app import app
from diffmicro.devices import device
from diffmicro.parameters import describe
from diffmicro.reasons import REASONS
from diffmicro.results import STATUS_WORDS
from tools import pages, pictures, readme_picture
from tools.fields import tabled
from tools.mathml import mathml
from tools.pages import FENCE, blocks, commands

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
    "python -m tests.regression": "tests/regression/test_regression.py",
    "python -m tests.faults": "tests/faults/test_stopped.py",
    "diffmicro doctor --target": "tests/gpu/test_compiling.py",
    "diffmicro explore": "tests/command/test_explore_command.py",
    "pip install": "tools/check_wheel.sh",
    "pytest": "tests/test_documents.py",
}
"""Programs that take minutes, or change the environment, and what tests them instead."""


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
    if "given" in given:  # explore: devices, and words of the first
        words = given["given"]
        named, *others = [word for word in words if "=" not in word]
        assert all(map(device, others))
        given = {"device": named, "pairs": [word for word in words if "=" in word]}
    named = given.get("device")
    if named is None or named.startswith(("sled.py", "sled_film.py", "swimmer.py")):
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
                if not hasattr(module, alias.name):
                    importlib.import_module(f"{node.module}.{alias.name}")


RUN = [
    page for page in PAGES if any(b.language == "python" for b in blocks(page)) or commands(page)
]


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_runs(page, tmp_path):
    """In order: files are written, Python is executed, commands end with 0; its pictures are there."""
    for _ in pages.session(page, tmp_path):
        pass
    assert pages.saved(page) & pages.shown(page) <= {file.name for file in tmp_path.iterdir()}


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


def test_every_picture_is_made_and_shown():
    """By a command of `tools/pictures.py`, or by the code of the page that shows it."""
    known = {*pictures.PICTURES, *(f"{name}.png" for name in pictures.PICTURED)}
    for page in PAGES:
        own = pages.shown(page) - known
        assert own <= pages.saved(page), f"{page.name} shows {own}, which its code does not save"
    assert set().union(*map(pages.shown, PAGES)) >= known
    for name, command in pictures.PICTURES.items():
        check_words(shlex.split(f"{command} {name}"))


@pytest.mark.slow
def test_the_picture_of_the_readme_has_the_numbers_of_today():
    """`python -m tools.readme_picture` makes it anew."""
    *_, numbers = readme_picture.calculated()
    text = readme_picture.PICTURE.read_text()
    assert "; ".join(numbers) in text and len(text) < 200_000


def test_formulas_are_math_elements():
    made = mathml(r"\(m \ddot x + k x = \mu F_n \, \operatorname{sgn} v\)")
    assert made.startswith("<math") and "\\" not in made
    with pytest.raises(ValueError, match="not known"):
        mathml(r"\(\nonsense x\)")


def test_troubleshooting_has_every_status_and_every_reason():
    text = (ROOT / "docs" / "troubleshooting.md").read_text()
    words = [*STATUS_WORDS, *(reason.name for reason in REASONS)]
    assert [word for word in words if f"\n| `{word}` |" not in text] == []
    assert [reason.text for reason in REASONS if reason.text not in text] == []


def test_fields_of_docstrings_become_tables():
    text = "A thing.\n\nfirst: of two; it is: so. second, third: the\nothers. Left out: more."
    rows = tabled(text, {"first", "second", "third"}).splitlines()[4:]
    assert rows == [
        "| `first` | of two; it is: so. |",
        "| `second`, `third` | the others. Left out: more. |",
    ]
    assert tabled(text, {"first"}).count("|") == 9 and tabled(text, set()) == text


def test_every_page_is_in_the_navigation():
    listed = re.findall(r"^ +- (?:\w+: )?([\w/]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    there = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert sorted(listed) == sorted(there)

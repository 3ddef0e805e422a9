"""Commands to copy: those of --help are run with the pages', those of `show` are right for any device."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from diffmicro.command.app import app
from diffmicro.command.examples import EXAMPLES, tries
from diffmicro.command.options import _devices
from diffmicro.devices import device
from tests.test_documents import check_words, inline
from tools.pages import commands

ROOT = Path(__file__).parents[2]
ROBOTS = ["wrmma", "tumbler", "gripper", "legs", "stickslip", "tribometer"]
ROBOTS += ["examples/capsule/capsule.py:CAPSULE", "examples/magnet.py:MAGNET"]


def test_examples_are_commands_of_the_pages():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    written = {line for page in pages for line in (*inline(page), *commands(page))}
    for subcommand, lines in EXAMPLES.items():
        for line in lines:
            assert line.split()[1] == subcommand and line in written


@pytest.mark.parametrize("subcommand", EXAMPLES)
def test_help_ends_with_the_example(subcommand):
    text = CliRunner().invoke(app, [subcommand, "--help"]).output
    bare = re.sub(r"\s+", " ", text.split("Example:")[1])
    assert bare.strip() == EXAMPLES[subcommand][0]


@pytest.mark.parametrize("named", ROBOTS)
def test_what_show_tells_to_try_is_right(named):
    found = tries(device(named), named)
    assert len(found) >= 3
    for line in found:
        words = shlex.split(line)
        assert words[0] == "diffmicro" and words[2] == named
        check_words(words[1:])


def test_what_show_tells_moves_the_device():
    """The published gripper bears no force, so nothing would move its tip."""
    first = tries(device("gripper"), "gripper")[0]
    assert first == "diffmicro evaluate gripper force=20uN --grad force --of tip_x"


def test_shells_complete_names_of_devices():
    assert _devices("tr") == ["tribometer"]
    assert {"wrmma", "legs"} <= set(_devices(""))

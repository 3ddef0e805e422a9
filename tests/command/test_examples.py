"""Commands to copy: those of --help are run with the README's, those of `show` are right for any device."""

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

ROOT = Path(__file__).parents[2]
ROBOTS = ["wrmma", "tumbler", "gripper", "legs", "stickslip", "tribometer"]
ROBOTS += ["examples/capsule/capsule.py:CAPSULE", "examples/magnet.py:MAGNET"]


def test_examples_are_the_commands_of_the_readme():
    written = inline(ROOT / "README.md")
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


def test_shells_complete_names_of_devices():
    assert _devices("tr") == ["tribometer"]
    assert {"wrmma", "legs"} <= set(_devices(""))

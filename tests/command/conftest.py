"""The command line in this process, so that what is compiled once serves all tests."""

from typing import NamedTuple

import pytest

from diffmicro.command import main


class Finished(NamedTuple):
    """What a run of the command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys):
    """`run("evaluate", "wrmma", ...)` -> (code, out, err)."""

    def run(*arguments: object) -> Finished:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Finished(code, *capsys.readouterr())

    return run

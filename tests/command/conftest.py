"""The command line in this process, so that what is compiled once serves all tests."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import jax
import pytest

from diffmicro.command import main


class Finished(NamedTuple):
    """What a run of the command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys) -> Iterator[Callable[..., Finished]]:
    """`run("evaluate", "wrmma", ...)` -> (code, out, err). The precision it chose does not outlast the test."""
    double = jax.config.read("jax_enable_x64")

    def run(*arguments: object) -> Finished:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Finished(code, *capsys.readouterr())

    yield run
    jax.config.update("jax_enable_x64", double)

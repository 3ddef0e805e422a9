"""Processes and the command line, for the tests of both."""

import pytest
from distributed import LocalCluster
from typer.testing import CliRunner

from diffmicro.command.app import app


@pytest.fixture(scope="module")
def workers():
    """The address of a scheduler with two workers of its own."""
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", memory_limit=0
    ) as found:
        yield str(found.scheduler_address)  # pyright: ignore[reportAttributeAccessIssue]


@pytest.fixture
def run():
    def run(*words, code=0):
        done = CliRunner().invoke(app, [str(word) for word in words])
        assert done.exit_code == code, done.output
        return " ".join(done.output.split())

    return run

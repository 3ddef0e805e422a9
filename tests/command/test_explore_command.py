"""The subcommand: it serves what was named, says where, and ends quietly."""

import http.client
import os
import re
import signal
import subprocess
import sys

import pytest

from diffmicro.command import exploring
from diffmicro.devices import origins
from diffmicro.explore import Desk, open_server


@pytest.fixture
def opened(monkeypatch):
    """What was served, without a server that waits."""
    seen = []

    def serve(server, begin):
        begin()
        seen.append(server)
        server.server_close()
        return True

    monkeypatch.setattr(exploring, "serve", serve)
    monkeypatch.setattr(exploring.webbrowser, "open", lambda url: seen.append(url))
    return seen


def test_devices_and_words_of_the_first(run, opened):
    code, out, err = run(
        "explore", "gripper", "force=20uN", "tribometer", "--port", "0", "--no-browser"
    )
    assert code == 0 and out == "" and "gripper, tribometer: http://127.0.0.1:" in err
    (server,) = opened
    assert server.desk.devices == ("gripper", "tribometer") and server.desk.words == {
        "force": "20uN"
    }


def test_all_that_have_a_name_where_none_is_named(run, opened):
    run("explore", "--port", "0")
    url, server = opened
    assert server.desk.devices == tuple(origins()) and url == server.url


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["griper"], "did you mean gripper"),
        (["gripper", "forse=2uN"], "did you mean force"),
        (["tribometer", "radius=-1mm"], "above 0"),
        (["tribometer", "--port", "-1"], "from 0"),
    ],
)
def test_bad_words_are_said_before_anything_is_served(run, opened, words, text):
    code, _, err = run("explore", *words, "--no-browser")
    assert code == 2 and text in err and not opened


def test_a_taken_port_is_said(run, opened):
    with open_server(Desk(["tribometer"], exploring.read), 0) as server:
        port = server.server_address[1]
        code, _, err = run("explore", "tribometer", "--port", port, "--no-browser")
    assert code == 2 and f"Port {port}" in err and "--port 0" in err


@pytest.mark.slow
@pytest.mark.parametrize("busy", [False, True], ids=["idle", "compiling"])
def test_an_interruption_ends_it_quietly(busy):
    """Also while something is compiled, which cannot be interrupted."""
    command = [sys.executable, "-m", "diffmicro", "explore", "wrmma", "--port", "0", "--no-browser"]
    environment = {k: v for k, v in os.environ.items() if k != "JAX_COMPILATION_CACHE_DIR"}
    program = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    assert program.stderr is not None
    line = program.stderr.readline()
    found = re.search(r"http://(127\.0\.0\.1:\d+)/", line)
    assert found, line
    if busy:
        link = http.client.HTTPConnection(found[1], timeout=60)
        headers = {"Origin": f"http://{found[1]}", "Content-Type": "application/json"}
        link.request("POST", "/answer/curve", b'{"device": "wrmma", "words": {}}', headers)
        assert link.getresponse().readline() == b'{"note": "compiling"}\n'
    program.send_signal(signal.SIGINT)
    out, err = program.communicate(timeout=60)
    assert (program.returncode, out, err) == (0, "", "")

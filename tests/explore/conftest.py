"""A running server, and somebody who asks it as its own page would."""

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from diffmicro.command.exploring import read
from diffmicro.explore import Desk, open_server
from diffmicro.explore.server import Server

CAPSULE = "examples/capsule/capsule.py:CAPSULE"
MAGNET = "examples/magnet.py:MAGNET"


class Page:
    """Requests to a server; what a browser sends by itself is sent unless it is replaced."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.port = server.server_address[1]
        self.usual = {
            "Host": f"127.0.0.1:{self.port}",
            "Origin": f"http://127.0.0.1:{self.port}",
            "Content-Type": "application/json",
        }

    def send(
        self, method: str, path: str, body: bytes = b"", **headers: str | None
    ) -> http.client.HTTPConnection:
        """A request that is sent; a header that is None is left out."""
        given = {**self.usual, **{k.replace("_", "-"): v for k, v in headers.items()}}
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        link.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in ({"Content-Length": str(len(body))} | given).items():
            if value is not None:
                link.putheader(name, value)
        link.endheaders(body)
        return link

    def request(
        self, method: str, path: str, body: bytes = b"", **headers: str | None
    ) -> tuple[int, dict[str, str], str]:
        """Status, headers and text."""
        link = self.send(method, path, body, **headers)
        reply = link.getresponse()
        found = reply.status, dict(reply.getheaders()), reply.read().decode()
        link.close()
        return found

    def ask(self, kind: str, **question: Any) -> list[dict[str, Any]]:
        """The lines of an answer."""
        status, _, text = self.request("POST", f"/answer/{kind}", json.dumps(question).encode())
        assert status == 200, text
        return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="session")
def serving() -> Iterator[Callable[..., Page]]:
    """`serving("tribometer", ...)`: a page about these devices."""
    running = []

    def serving(*devices: str, words: dict[str, str] | None = None) -> Page:
        server = open_server(Desk(devices, read, words), 0)
        running.append((server, thread := threading.Thread(target=server.serve_forever)))
        thread.start()
        return Page(server)

    yield serving
    for server, thread in running:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="session")
def page(serving: Callable[..., Page]) -> Page:
    """About quick devices of different kinds, one of them from a file."""
    return serving("tribometer", "gripper", "wrmma", CAPSULE, MAGNET)

"""The server of the page: on this machine only, for its own page only, a bounded piece of work at a time.

It listens on the loopback interface. A request whose `Host` is another name for this machine is refused, because a
foreign page may have made that name point here; so is a question whose `Origin` is not the page itself. A question
is JSON of limited size, its answer lines of JSON that leave as they are found. The page may load nothing but the
files of this package (Content-Security-Policy).
"""

import json
import os
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from socket import socket

from diffmicro._json import JsonObject, plain
from diffmicro.explore import judgments, looks
from diffmicro.explore.desk import BadQuestion, Desk
from diffmicro.explore.turns import LONGEST, Replaced, Task, TooLong, Turns
from diffmicro.parameters import Value
from diffmicro.results import NoResult

PORT = 8473

LOOPBACK = "127.0.0.1"

LONGEST_QUESTION = 64 * 1024
"""Bytes of a question."""

PATIENCE = 30.0
"""Seconds that a connection may be silent while it sends a request."""

LAST_STEP = 2.0
"""Seconds that a calculation may take to end when the server does."""

FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/explore.css": ("explore.css", "text/css; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
SCRIPTS = ("main", "questions", "parameters", "chart", "panels", "elements", "format")
FILES |= {f"/{name}.js": (f"{name}.js", "text/javascript; charset=utf-8") for name in SCRIPTS}

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

Answer = Callable[[Desk, JsonObject, Task, Callable[[JsonObject], None]], None]

ANSWERS: dict[str, tuple[str, Answer]] = {
    "device": ("door", looks.device),  # waits for no calculation of the device before
    "curve": ("quick", looks.curve),
    "drawing": ("quick", looks.drawing),
    "motion": ("quick", looks.motion),
    "reach": ("quick", looks.reach),
    "elasticities": ("slow", judgments.elasticities),
    "boundaries": ("slow", judgments.boundaries),
    "search": ("slow", judgments.search),
}
"""By kind of question: its lane, and who answers."""


class Server(ThreadingHTTPServer):
    """The server of one desk."""

    daemon_threads = True
    allow_reuse_address = os.name == "posix"  # elsewhere it would share a port that is taken

    def __init__(self, desk: Desk, port: int) -> None:
        self.desk = desk
        self.turns = Turns({kind: lane for kind, (lane, _) in ANSWERS.items()})
        super().__init__((LOOPBACK, port), Handler)
        own = self.server_address[1]
        self.hosts = {f"{LOOPBACK}:{own}", f"localhost:{own}"}
        self.url = f"http://{LOOPBACK}:{own}/"

    def handle_error(self, request: socket | tuple[bytes, socket], client_address: object) -> None:
        """A browser that goes away is no fault."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server
    server_version = "diffmicro"
    sys_version = ""
    timeout = PATIENCE

    def do_GET(self) -> None:
        if not self._is_ours():
            return
        path = self.path.partition("?")[0]
        if path not in FILES:
            self._refuse(404, "There is no such file.")
            return
        name, kind = FILES[path]
        content = resources.files("diffmicro.explore").joinpath("page", name).read_bytes()
        self._begin(200, kind, len(content))
        self.wfile.write(content)

    def do_POST(self) -> None:
        asked = self._question()
        if asked is None:
            return
        verb, _, kind = self.path.strip("/").partition("/")
        if kind not in ANSWERS or verb not in ("answer", "end"):
            self._refuse(404, f"There is no question {self.path!r}.")
        elif verb == "end":
            self.server.turns.end(kind)
            self._begin(204, "text/plain", 0)
        else:
            self._begin(200, "application/x-ndjson", None)
            self._answer(kind, asked)

    def _answer(self, kind: str, asked: dict[str, Value]) -> None:
        """Lines of the answer; the last one says whether it is whole."""
        desk, turns = self.server.desk, self.server.turns
        try:
            with turns.task(kind) as task:
                ANSWERS[kind][1](desk, asked, task, self._say)
            last: JsonObject = {"end": "whole"}
        except BadQuestion as problem:
            last = {"error": str(problem), "key": problem.key}
        except Replaced:
            last = {"end": "replaced"}
        except TooLong:
            last = {"error": f"Not finished after {LONGEST:g} s; ask for less.", "key": ""}
        except (ValueError, NoResult) as problem:  # what the device says about its input
            last = {"error": str(problem), "key": ""}
        self._say(last)

    def _say(self, line: JsonObject) -> None:
        self.wfile.write(json.dumps(plain(line), allow_nan=False).encode() + b"\n")
        self.wfile.flush()

    def _question(self) -> JsonObject | None:
        """The question in the body; None where the request was refused."""
        origins = {f"http://{host}" for host in self.server.hosts}
        if not self._is_ours():
            return None
        if self.headers.get("Origin") not in origins:
            return self._refuse(403, "Questions are answered to the page of this server only.")
        if self.headers.get_content_type() != "application/json":
            return self._refuse(415, "A question is JSON.")
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit():
            return self._refuse(411, "A question says how long it is.")
        if int(length) > LONGEST_QUESTION:
            return self._refuse(413, f"A question has at most {LONGEST_QUESTION} bytes.")
        try:
            asked = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            return self._refuse(400, "The question is not JSON.")
        if not isinstance(asked, dict):
            return self._refuse(400, "A question is an object.")
        return asked

    def _is_ours(self) -> bool:
        if self.headers.get("Host") in self.server.hosts:
            return True
        self._refuse(403, f"This server is {self.server.url} and has no other name.")
        return False

    def _refuse(self, status: int, text: str) -> None:
        content = f"{text}\n".encode()
        self._begin(status, "text/plain; charset=utf-8", len(content))
        self.wfile.write(content)

    def _begin(self, status: int, kind: str, length: int | None) -> None:
        """Status and headers; without a length the answer ends with the connection."""
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the page says what happens."""


def open_server(desk: Desk, port: int = PORT) -> Server:
    """The server, listening; ValueError with a remedy for a port that is taken. Port 0 is any that is free."""
    if not 0 <= port <= 65535:
        raise ValueError(
            f"--port {port} is not allowed; it has to be from 0 (any free one) to 65535."
        )
    try:
        return Server(desk, port)
    except OSError as problem:
        raise ValueError(
            f"Port {port} cannot be used: {problem.strerror}. Another diffmicro explore may have it; name "
            f"another, --port {port % 65535 + 1}, or let one be chosen, --port 0."
        ) from None


def serve(server: Server, begin: Callable[[], object]) -> bool:
    """Begin, and answer until Ctrl-C; whether all calculations have ended then."""
    try:
        begin()
        server.serve_forever(poll_interval=0.2)
    except KeyboardInterrupt:
        pass
    finally:
        server.turns.end()
        server.server_close()
    until = time.monotonic() + LAST_STEP
    while not server.turns.idle and time.monotonic() < until:
        time.sleep(0.05)
    return server.turns.idle

"""Who is answered, what is refused, and how much is done at most."""

import importlib.resources
import json
import socket
import threading

import pytest

from diffmicro.command.exploring import read
from diffmicro.explore import Desk, open_server
from diffmicro.explore.server import ANSWERS, FILES, LONGEST_QUESTION

QUESTION = json.dumps({"device": "tribometer", "words": {}, "only": "here"}).encode()


def test_only_this_machine_can_reach_it(page):
    assert page.server.server_address[0] == "127.0.0.1"
    with pytest.raises(OSError), socket.create_connection(("127.0.0.2", page.port), timeout=2):
        pass


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "evil.example:{port}", "127.0.0.1:1", None]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_foreign_name_for_this_machine_is_refused(page, host, method):
    host = host and host.format(port=page.port)
    path = "/" if method == "GET" else "/answer/curve"
    status, _, text = page.request(method, path, QUESTION if method == "POST" else b"", Host=host)
    assert status == 403 and "no other name" in text


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", None]
)
@pytest.mark.parametrize("kind", [*ANSWERS, "end"])
def test_a_foreign_page_gets_no_answer(page, origin, kind):
    origin = origin and origin.format(port=page.port)
    path = "/end/search" if kind == "end" else f"/answer/{kind}"
    status, _, text = page.request("POST", path, QUESTION, Origin=origin)
    assert status == 403 and "page of this server" in text


def test_both_names_of_this_machine_will_do(page):
    for name in ("127.0.0.1", "localhost"):
        own = f"{name}:{page.port}"
        status, *_ = page.request(
            "POST", "/answer/curve", QUESTION, Host=own, Origin=f"http://{own}"
        )
        assert status == 200


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"x" * (LONGEST_QUESTION + 1), {}, 413),
        (QUESTION, {"Content_Length": None}, 411),
        (QUESTION, {"Content_Length": "-1"}, 411),
        (QUESTION, {"Content_Type": "text/plain"}, 415),
        (b"{", {}, 400),
        (b"[1]", {}, 400),
        (b"[" * 60000, {}, 400),
    ],
)
def test_what_is_no_question_is_refused(page, body, headers, status):
    assert page.request("POST", "/answer/curve", body, **headers)[0] == status


def test_there_are_no_other_paths(page):
    for path in ("/answer/nothing", "/other/curve", "/"):
        assert page.request("POST", path, QUESTION)[0] == 404
    for path in ("/../desk.py", "/%2e%2e/desk.py", "/page/index.html", "/answer/curve"):
        assert page.request("GET", path)[0] == 404


def test_every_file_of_the_page_is_served_and_in_the_package(page):
    there = importlib.resources.files("diffmicro.explore").joinpath("page").iterdir()
    assert {file.name for file in there} == {name for name, _ in FILES.values()}
    for path, (_, kind) in FILES.items():
        status, headers, text = page.request("GET", path, Origin=None)
        assert status == 200 and headers["Content-Type"] == kind and text
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy


def test_the_page_loads_nothing_from_elsewhere():
    for file in importlib.resources.files("diffmicro.explore").joinpath("page").iterdir():
        text = file.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text and "https://" not in text and "style=" not in text


@pytest.mark.parametrize(
    ("kind", "question", "words", "key"),
    [
        ("curve", {"words": {"radius": "-1mm"}}, "above 0", "radius"),
        ("curve", {"words": {"radius": "abc"}}, "one number in m", "radius"),
        ("curve", {"words": {"radius": "3N"}}, "another dimension", "radius"),
        ("curve", {"words": {"radus": "3mm"}}, "did you mean radius", "radus"),
        ("curve", {"words": {"law": "none"}}, "known are coulomb", "law"),
        ("curve", {"words": {"radius": 3}}, "a value is a text", "radius"),
        ("curve", {"words": {"radius": "1" * 5000}}, "at most", "radius"),
        ("curve", {"words": {f"k{i}": "1" for i in range(500)}}, "at most 400", ""),
        ("curve", {"response": "speed"}, "no response", ""),
        ("curve", {"along": "law"}, "not one number", "law"),
        ("curve", {"along": "radius", "low": "4mm", "high": "3mm"}, "range from", "radius"),
        ("curve", {"along": "radius", "low": "4N"}, "another dimension", "radius"),
        ("curve", {"along": "radius", "count": 10**6}, "from 2 to 129", ""),
        ("curve", {"along": "radius", "high": "inf"}, "finite", "radius"),
        ("curve", {"words": {"steps": "60000"}}, "too large for this page", "steps"),
        ("curve", {"device": "wrmma", "words": {"start_periods": "50000"}}, "at most 1000", "start_periods"),
        ("curve", {"words": {"method": "wild"}}, "method to choose", "method"),
        ("search", {"goal": "maximize", "budget": 10**6, "free": {"radius": [1, 2]}}, "from 10 to 200", ""),
        ("search", {"goal": "maximize", "free": {}}, "from 1 to 12", ""),
        ("search", {"goal": "improve", "free": {"radius": [1, 2]}}, "maximize or minimize", ""),
        ("search", {"goal": "maximize", "free": {"radius": [1]}}, "two numbers", "radius"),
        ("search", {"goal": "maximize", "free": {"law": [1, 2]}}, "not one number", "law"),
    ],
)  # fmt: skip
def test_wrong_input_gets_what_where_and_what_is_allowed(page, kind, question, words, key):
    *_, last = page.ask(kind, **({"device": "tribometer", "words": {}} | question))
    assert words in last["error"] and last["key"] == key


def test_no_other_device_is_loaded(page, tmp_path):
    trap = tmp_path / "trap.py"
    trap.write_text("raise SystemExit")
    (line,) = page.ask("curve", device=f"{trap}:DEVICE", words={})
    assert "was not named" in line["error"]


def test_words_of_the_command_line_come_with_the_first_device_only(serving):
    page = serving("tribometer", "gripper", words={"radius": "3mm"})
    assert page.ask("device")[0]["words"] == {"radius": "3mm"}
    assert page.ask("device", device="gripper")[0]["words"] == {}


def test_a_port_that_is_taken_is_said_with_a_remedy(page):
    with pytest.raises(ValueError, match=f"Port {page.port} cannot be used.*--port 0"):
        open_server(Desk(["tribometer"], read), page.port)
    with pytest.raises(ValueError, match="from 0"):
        open_server(Desk(["tribometer"], read), 70000)


def test_the_newest_question_wins_over_http(page):
    """Of many curves at once at most one is calculated and one waits; the last is whole."""
    ends = []

    def ask(i):
        question = dict(words={"normal_force": f"{8 + i / 100}"}, along="frequency", count=129)
        ends.append((i, page.ask("curve", device="tribometer", **question)[-1]["end"]))

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {end for _, end in ends} <= {"whole", "replaced"} and "whole" in dict(ends).values()
    assert page.ask("curve", device="tribometer", words={}, only="here")[-1] == {"end": "whole"}

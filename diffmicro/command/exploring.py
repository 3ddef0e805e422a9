"""The subcommand `explore`: the page about some devices, until Ctrl-C."""

import os
import sys
import webbrowser
from collections.abc import Mapping, Sequence

from diffmicro._device import Device
from diffmicro.command import words
from diffmicro.command.codes import Code
from diffmicro.command.output import console
from diffmicro.command.words import BadInput
from diffmicro.devices import origins
from diffmicro.explore import Desk, open_server, serve
from diffmicro.parameters import Value


def run_explore(given: Sequence[str], port: int, browser: bool) -> int:
    """Serve the page. given: devices, all that have a name if there are none; `key=value` words of the first."""
    named = [word for word in given if "=" not in word]
    pairs = words.split([word for word in given if "=" in word])
    named = named or list(origins())
    first, *_ = [words.device(name) for name in named]
    read(first, pairs)
    try:
        server = open_server(Desk(named, read, pairs), port)
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None

    def begin() -> None:
        page = console(stderr=True)
        page.print(f"{', '.join(named)}: {server.url} (Ctrl-C ends it)", soft_wrap=True)
        if browser and not webbrowser.open(server.url):
            page.print("No browser was found; open the address in one.")

    if not serve(server, begin):
        # A compilation cannot be interrupted, and would hold the program or complain at its end.
        sys.stdout.flush()
        os._exit(Code.OK)
    return Code.OK


def read(device: Device, given: Mapping[str, Value]) -> words.Point:
    """A point from words, with cautions among its notes."""
    point = words.point(device, given)
    cautions = [f"caution: {text}" for text in words.cautions(device, point)]
    return point._replace(notes=(*point.notes, *cautions))

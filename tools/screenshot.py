"""The page of `diffmicro explore` as a picture for the site, where Chromium and the package playwright are there.

docs/explore.md includes the line that shows it, which is empty elsewhere: the site is built without a browser too.
"""

import shutil
import threading
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

STATE = "#device=wrmma&w=load_factor%3D32&w=frequency_ratio%3D1.58&along=frequency_ratio"
LINE = "![The page: sliders, the curve, all responses, the motion](pictures/explore.png)\n"
SIZE = {"width": 1280, "height": 800}
COMPILED = 300_000  # milliseconds


def chromium() -> str | None:
    """Where Chromium is, if it can be driven."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    return found if find_spec("playwright") else None


def take(folder: Path) -> None:
    """Write explore.png and the line that shows it, unless they are there."""
    line = folder / "explore.txt"
    if line.exists():
        return
    program = chromium()
    if program is None:
        line.write_text("")
        return
    from diffmicro._configure import configure
    from diffmicro.command.exploring import read
    from diffmicro.explore import Desk, open_server

    configure(double=True)
    print("explore.png: diffmicro explore wrmma load_factor=32 frequency_ratio=1.58", flush=True)
    with open_server(Desk(["wrmma"], read), 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        _shoot(import_module("playwright.sync_api"), program, server.url, folder / "explore.png")
        server.shutdown()
    line.write_text(LINE)


def _shoot(driver: Any, program: str, url: str, out: Path) -> None:
    with driver.sync_playwright() as playing:
        browser = playing.chromium.launch(executable_path=program, args=["--no-sandbox"])
        tab = browser.new_page(viewport=SIZE)
        tab.set_default_timeout(COMPILED)
        tab.goto(url + STATE)
        tab.locator("#curve-table tr").nth(65).wait_for(state="attached")
        tab.locator("#traces figure").nth(3).wait_for()
        tab.locator("#picture").wait_for()
        tab.screenshot(path=str(out))
        browser.close()

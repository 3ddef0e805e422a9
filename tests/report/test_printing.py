"""A report in a browser: on paper and on screens of all widths nothing is cut and nothing lies on another."""

import html
import json
import re
import shutil
import subprocess

import numpy as np
import pytest
from PIL import Image

from diffmicro.command.app import run
from tests.report.test_report import OPTIMIZE

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="needs Chromium"),
]

PAPER = 680
"""Width of what is printed on A4 between margins of 15 mm [CSS pixels of 1/96 inch]."""

MEASURE = """<script>
const wide = [], over = [], room = document.documentElement.clientWidth;
const scrolls = part => part.closest(".wide") && getComputedStyle(part.closest(".wide")).overflowX !== "visible";
for (const part of document.querySelectorAll("body *"))
  if (part.getBoundingClientRect().right > room + 1 && !scrolls(part)) wide.push(part.outerHTML.slice(0, 80));
const blocks = [...document.querySelectorAll("h1, h2, p, li, tr, img, pre, figcaption")];
const boxes = blocks.map(part => part.getBoundingClientRect());
const apart = (one, other) => !one.contains(other) && !other.contains(one);
for (let i = 1; i < boxes.length; i++)
  if (boxes[i].top < boxes[i - 1].bottom - 1 && apart(blocks[i], blocks[i - 1]))
    over.push(blocks[i].outerHTML.slice(0, 80));
document.body.innerHTML = "";
document.body.textContent = JSON.stringify({room, wide, over, blocks: blocks.length});
</script>"""


def browse(*words):
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
    done = subprocess.run(
        [str(BROWSER), *options, *words], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def measured(page, folder, width, printed=False):
    """What a browser of this width says of the page: parts beyond its right edge, and parts on others."""
    text = page.read_text().replace("</body>", f"{MEASURE}</body>")
    if printed:
        text = text.replace("@media print", "@media all")
    # The window of a browser cannot be narrower than some 500 pixels; a frame can.
    (folder / "inner.html").write_text(text)
    look = f"border:0;width:{width}px;height:20000px"  # no scroll bar takes room
    frame = f'<body style="margin:0"><iframe src="inner.html" style="{look}"></iframe>'
    asks = "onload = () => document.body.textContent = frames[0].document.body.textContent"
    (folder / "outer.html").write_text(f"<!doctype html>{frame}<script>{asks}</script>")
    shown = browse(
        "--allow-file-access-from-files", "--virtual-time-budget=5000", "--dump-dom",
        "--window-size=1600,5000", (folder / "outer.html").as_uri(),
    )  # fmt: skip
    (told,) = re.findall(r"\{.*\}", shown, re.S)
    return json.loads(html.unescape(told))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("printed")
    assert run([*OPTIMIZE, "--out", str(folder / "run")]) == 0
    assert run(["report", str(folder / "run"), "--out", str(folder / "report.html")]) == 0
    return folder / "report.html"


@pytest.mark.parametrize(("width", "printed"), [(400, False), (1280, False), (PAPER, True)])
def test_nothing_is_wider_than_the_page_and_nothing_lies_on_another(page, width, printed, tmp_path):
    found = measured(page, tmp_path, width, printed)
    assert found["room"] == width and found["blocks"] > 30
    assert not found["wide"] and not found["over"]


def test_what_is_too_wide_is_found(page, tmp_path):
    """A planted fault: the measure sees it."""
    bad = tmp_path / "bad.html"
    text = page.read_text().replace(
        "<h1>", '<div style="width:1500px">wide</div><h1 style="margin-top:-9px">'
    )
    bad.write_text(text)
    found = measured(bad, tmp_path, PAPER, printed=True)
    assert len(found["wide"]) == 1 and "1500px" in found["wide"][0]


def test_paper_has_its_margins(page, tmp_path):
    """Every printed page is white for 15 mm on the left and on the right, and none is empty."""
    if shutil.which("pdftoppm") is None:
        pytest.skip("needs pdftoppm")
    browse(f"--print-to-pdf={tmp_path / 'report.pdf'}", page.as_uri())
    subprocess.run(
        ["pdftoppm", "-r", "50", "-gray", "-png", "report.pdf", "page"], cwd=tmp_path, check=True
    )
    pages = sorted(tmp_path.glob("page*.png"))
    assert 3 <= len(pages) <= 12
    for file in pages:
        ink = np.asarray(Image.open(file)) < 250
        margin = int(14 / 25.4 * 50)
        assert ink.any() and not ink[:, :margin].any() and not ink[:, -margin:].any()

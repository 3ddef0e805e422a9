"""The page in a real browser: it follows its sliders, says what is wrong, fits its window, and errs nowhere."""

import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.explore.conftest import CAPSULE

pytestmark = pytest.mark.slow

playwright = pytest.importorskip(
    "playwright.sync_api", reason="the package playwright drives the browser"
)
CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
COMPILED = 120_000  # milliseconds within which anything here is there

OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll('button, select, input, label, output, h2, summary, th, td')]
    .filter((e) => e.checkVisibility() && !e.querySelector('input, select') && !e.closest('.unseen, .scroll'))
    .map((e) => [e, e.getBoundingClientRect()]).filter(([, r]) => r.width > 1 && r.height > 1);
  const found = [];
  for (const [a, p] of boxes) for (const [b, q] of boxes) {
    if (a === b || a.contains(b) || b.contains(a)) continue;
    const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left);
    const high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
    if (wide > 1 && high > 1) found.push(`${a.id || a.textContent} / ${b.id || b.textContent}`);
  }
  return found;
}"""

NAMELESS = """() => [...document.querySelectorAll('button, select, input, [role=img], img')]
  .filter((e) => e.checkVisibility())
  .filter((e) => !(e.labels?.length || e.ariaLabel || e.textContent.trim() || e.alt !== undefined))
  .map((e) => e.outerHTML)"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        playwright.expect.set_options(timeout=COMPILED)
        yield running
        running.close()


@pytest.fixture
def window(browser, page) -> Iterator[Any]:
    """`window(fragment, width, height)` opens the page; nothing was in the console or left the machine then."""
    contexts, errors, elsewhere = [], [], []

    def window(fragment: str = "", width: int = 1280, height: int = 800) -> Any:
        context = browser.new_context(viewport={"width": width, "height": height})
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        contexts.append(context)
        tab = context.new_page()
        tab.set_default_timeout(COMPILED)
        tab.on("console", lambda message: errors.append(message.text))
        tab.on("pageerror", lambda error: errors.append(str(error)))
        own = (page.server.url, f"blob:{page.server.url}")
        tab.on("request", lambda asked: asked.url.startswith(own) or elsewhere.append(asked.url))
        tab.goto(page.server.url + fragment)
        finished(tab)
        return tab

    yield window
    for context in contexts:
        context.close()
    assert errors == [] and elsewhere == []


def finished(tab) -> None:
    """The whole curve is there, and a picture of the motion."""
    tab.locator("#curve-table tr").nth(65).wait_for(state="attached")
    tab.locator("#traces figure").first.wait_for()


def told(tab) -> str:
    """What the curve shows, in words; its line alone may look the same at another scale."""
    return tab.locator("#curve-plot").get_attribute("aria-label")


def test_a_slider_moves_the_curve_the_number_and_the_motion(window):
    tab = window("#device=tribometer&along=frequency&response=sliding_velocity")
    before, value = told(tab), tab.locator("#value").inner_text()
    assert re.fullmatch(r"sliding_velocity [\d.]+ [mu]m/s", value)
    motion = tab.locator("#traces svg").first.get_attribute("aria-label")
    slider = tab.get_by_label("force_ratio slider")
    slider.focus()
    for _ in range(5):
        slider.press("ArrowRight")
    playwright.expect(tab.locator("#value")).not_to_have_text(value)
    playwright.expect(tab.locator("#busy")).to_have_text("")
    playwright.expect(tab.locator("#curve-plot .dot")).to_have_count(65)
    assert told(tab) != before and told(tab).startswith("sliding_velocity along frequency")
    playwright.expect(tab.locator("#traces svg").first).not_to_have_attribute("aria-label", motion)
    number = tab.locator("#p-force_ratio").input_value()
    assert f"force_ratio={number}" in tab.evaluate("decodeURIComponent(location.hash)")
    assert slider.get_attribute("aria-valuetext").startswith(number)


def test_an_address_brings_back_what_it_shows(window):
    tab = window("#device=tribometer&w=normal_force%3D8N&along=frequency&low=20+kHz&high=40+kHz")
    assert tab.locator("#p-normal_force").input_value() == "8"
    assert tab.locator("#low").input_value() == "20 kHz"
    value, address = tab.locator("#value").inner_text(), tab.url
    tab.get_by_role("button", name="Copy link").click()
    assert tab.evaluate("navigator.clipboard.readText()") == address
    tab.reload()
    finished(tab)
    assert tab.locator("#value").inner_text() == value
    tab.get_by_role("button", name="Copy as command").click()
    command = tab.evaluate("navigator.clipboard.readText()")
    assert command == "diffmicro evaluate tribometer normal_force=8 --response friction_ratio"
    tab.get_by_role("button", name="Copy as Python").click()
    assert "published_setting(normal_force=8.0)" in tab.evaluate("navigator.clipboard.readText()")


def test_wrong_input_says_so_at_its_field_and_goes_away(window):
    tab = window("#device=tribometer")
    field = tab.locator("#p-radius")
    for text, words in (
        ("-1", "above 0"),
        ("abc", "one number in m"),
        ("3 N", "another dimension"),
    ):
        field.fill(text)
        field.press("Enter")
        playwright.expect(tab.locator("#p-radius-error")).to_contain_text(words)
        playwright.expect(field).to_have_attribute("aria-invalid", "true")
        playwright.expect(tab.locator("#status")).to_have_text("not calculated")
        assert tab.locator("#value").inner_text() == ""
    field.fill("3 mm")
    field.press("Enter")
    playwright.expect(tab.locator("#p-radius-error")).to_have_text("")
    playwright.expect(tab.locator("#status")).to_have_text("ok")


def test_bars_boundaries_and_a_search(window):
    tab = window("#device=tribometer&along=drag_ratio&response=sliding_velocity&low=0.3&high=1.2")
    tab.locator("#judge").click()
    tab.locator(".bars tr").first.wait_for()
    assert {"certified"} <= set(tab.locator(".bars .verdict").all_inner_texts())
    tab.locator("#find-boundaries").click()
    playwright.expect(tab.locator("#curve-plot .mark")).to_have_count(2)
    assert "stall" in tab.locator("#boundaries").inner_text()
    tab.get_by_label("free in a search: drag_ratio").check()
    tab.locator("#search-go").click()
    tab.locator("#search-take").click()
    playwright.expect(tab.locator("#search-note")).to_contain_text(re.compile("^(ok|stopped): "))
    # What belongs to the values before is no longer shown as if it were of these.
    playwright.expect(tab.locator("#bars")).to_have_class("stale")
    playwright.expect(tab.locator("#curve-plot .mark")).to_have_count(0)


def test_a_word_compiles_anew_and_a_device_can_be_changed(window):
    tab = window("#device=tribometer")
    tab.locator("#p-direction").select_option("ipi")
    playwright.expect(tab.locator("#status")).to_have_text("ok")
    tab.locator("#device").select_option(CAPSULE)
    playwright.expect(tab.locator("#title")).to_contain_text("capsule")
    tab.locator("#table th", has_text="hits").wait_for()  # its responses come once it is compiled
    assert tab.locator("#value").inner_text().startswith("velocity ")
    playwright.expect(tab.locator("#drawing-note")).to_contain_text("no geometry")


@pytest.mark.parametrize("size", [(1280, 800), (400, 800)], ids=["desk", "phone"])
@pytest.mark.parametrize("device", ["tribometer", "gripper&w=force%3D20uN", CAPSULE])
def test_nothing_overlaps_and_all_has_a_name(window, device, size):
    tab = window(f"#device={device}", *size)
    assert tab.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert tab.evaluate(OVERLAPS) == []
    assert tab.evaluate(NAMELESS) == []
    for text in ("parameters", "curve", "responses", "judgment", "drawing", "motion", "search"):
        assert tab.locator(f"#{text}").is_visible()


def test_the_keyboard_reaches_everything_in_order(window):
    tab = window("#device=tribometer")
    seen = []
    for _ in range(120):
        tab.keyboard.press("Tab")
        name = tab.evaluate("document.activeElement.id || document.activeElement.ariaLabel || ''")
        seen.append(name)
        if name == "time":
            break
    order = [
        "device",
        "copy-link",
        "reset",
        "p-frequency",
        "frequency slider",
        "response",
        "along",
        "low",
    ]
    order += ["find-boundaries", "judge", "goal", "search-go", "time"]
    at = [seen.index(name) for name in order]
    assert at == sorted(at)

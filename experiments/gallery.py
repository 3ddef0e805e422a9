"""`docs/gallery.md`: every experiment with its verdict, and the figures of some that take seconds.

Made of the committed table of verdicts, as `docs/sources.md` is (`scoreboard.remember`).
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.outcome import WORDS, counts
from experiments.scoreboard import NAMES, row, sentence

PAGE = Path(__file__).parent.parent / "docs" / "gallery.md"

PICTURED = (
    "nagy2012_fig5",
    "nagy2012_fig7",
    "xie2019_fig6",
    "mdr_thesis_fig2_3",
    "mdr_thesis_fig4_24",
)
"""Experiments whose figures the page shows; each takes seconds, since the site's build makes them."""

INTRODUCTION = """# Gallery of experiments

Every figure and table of the sources that was calculated again: `python -m experiments NAME` computes it, compares
it with what the source states, and draws it; `python -m experiments all` does all. What each statement says and
what was found is in [the sources, statement by statement](sources.md). This page is made of the same table."""


def gallery(table: Mapping[str, Mapping[str, Any]]) -> str:
    """The page."""
    lines = [INTRODUCTION, "", sentence(table)]
    for folder, source in NAMES.items():
        own = {name: known for name, known in table.items() if name.startswith(folder)}
        lines += ["", f"## {source}", ""]
        lines += [row(["experiment", "what", "verdict", *WORDS]), "|" + "---|" * (3 + len(WORDS))]
        for name, known in own.items():
            number = counts([s["verdict"] for s in known["statements"]])
            place = _anchor(f"{name}: {known['title']}")
            told = [str(number[word] or "") for word in WORDS]
            lines.append(
                row([f"[{name}](sources.md#{place})", known["title"], known["verdict"], *told])
            )
        for name in PICTURED:
            if name in own:
                lines += ["", f"![{name}: {own[name]['title']}](pictures/{name}.png)"]
                lines += ["", f"*{name}: {own[name]['title']}.*"]
    return "\n".join(lines) + "\n"


def _anchor(heading: str) -> str:
    """Where the site puts a heading."""
    plain = re.sub(r"[^\w\s-]", "", heading).strip().lower()
    return re.sub(r"[-\s]+", "-", plain)

"""The scoreboard: what of the sources is reproduced, contradicted, not comparable, and what is compared with
own references.

`experiments/verdicts.json` is the committed table of expected verdicts; `docs/sources.md` is made of it. Tests
hold both to what the
experiments find, and `fingerprint` has to stand in the changelog, so that no verdict changes in silence.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.outcome import CONTRADICTED, OWN, WORDS, counts

EXPECTED = Path(__file__).parent / "verdicts.json"
PAGE = Path(__file__).parent.parent / "docs" / "sources.md"

KEPT = ("statement", "page", "words", "kind", "stated", "measured", "holds", "verdict")

Table = Mapping[str, Mapping[str, Any]]
"""Experiment -> its title and its statements."""


def expected() -> dict[str, dict[str, Any]]:
    """The committed table."""
    return json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}


def kept(known: Mapping[str, Any]) -> dict[str, Any]:
    """What of a record belongs into the table."""
    checks = [{key: check[key] for key in KEPT} for check in known["checks"]]
    return {"title": known["title"], "verdict": known["verdict"], "statements": checks}


def remember(records: Iterable[Mapping[str, Any]], names: Sequence[str]) -> None:
    """Write what was found into the committed table, in the order of the names, and the page made of it."""
    table = expected() | {known["experiment"]: kept(known) for known in records}
    table = {name: table[name] for name in names if name in table}
    EXPECTED.write_text(json.dumps(table, indent=1) + "\n")
    PAGE.write_text(page(table))


def words(table: Table) -> list[str]:
    """The verdicts of all statements."""
    return [s["verdict"] for known in table.values() for s in known["statements"]]


def fingerprint(table: Table) -> str:
    """Eight digits that change with any statement or verdict."""
    lines = [
        f"{name}|{s['statement']}|{s['page']}|{s['kind']}|{s['verdict']}|{s['holds']}"
        for name, known in table.items()
        for s in known["statements"]
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:8]


def sentence(table: Table) -> str:
    """The count that docs and README quote."""
    number = counts(words(table))
    total = sum(number[word] for word in WORDS if word != OWN)
    return (
        f"Of {total} statements of the sources {number['reproduced']} are reproduced, "
        f"{number['contradicted']} contradicted and {number['not comparable']} not comparable; "
        f"{number[OWN]} more comparisons are with own references."
    )


def scoreboard(records: Iterable[Mapping[str, Any]]) -> str:
    """A table in Markdown: a line an experiment, with the reason where the source is contradicted."""
    heads = ["experiment", "what", "verdict", *WORDS, "what contradicts"]
    lines = [row(heads), "|" + "---|" * len(heads)]
    for known in records:
        number = counts([check["verdict"] for check in known["checks"]])
        cells = [known["experiment"], known["title"], known["verdict"]]
        lines.append(row([*cells, *(str(number[word]) for word in WORDS), known["reason"]]))
    return "\n".join(lines) + "\n"


def page(table: Table) -> str:
    """`docs/sources.md`."""
    lines = [_INTRODUCTION, "", sentence(table), "", *_totals(table)]
    for name, known in table.items():
        lines += ["", f"### {name}: {known['title']}", "", f"{known['verdict'].capitalize()}.", ""]
        lines += [
            row(["place", "words", "statement", "stated", "here", "verdict"]),
            "|" + "---|" * 6,
        ]
        lines += [row(_cells(s)) for s in known["statements"]]
    return "\n".join(lines) + "\n"


def _cells(s: Mapping[str, Any]) -> list[str]:
    told = s["verdict"] if s["kind"] == OWN else f"{s['verdict']} ({s['kind']})"
    if s["verdict"] == "not comparable":
        told = s["verdict"]
    if s["kind"] == OWN:
        told += ": agrees" if s["holds"] else ": differs"
    if s["verdict"] == CONTRADICTED:
        told = f"**{s['verdict']}** ({s['kind']})"
    quoted = s["words"] if s["kind"] == OWN else f'"{s["words"]}"'
    return [s["page"], quoted, s["statement"], s["stated"], s["measured"], told]


def _totals(table: Table) -> list[str]:
    sources: dict[str, list[str]] = {}
    for name, known in table.items():
        source = next(folder for folder in NAMES if name.startswith(folder))
        sources.setdefault(source, []).extend(s["verdict"] for s in known["statements"])
    lines = [row(["source", *WORDS]), "|" + "---|" * (1 + len(WORDS))]
    for source, found in sources.items():
        lines.append(row([NAMES[source], *(str(n) for n in counts(found).values())]))
    return lines


def row(cells: Iterable[str]) -> str:
    """A row of a table in Markdown."""
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


NAMES = {
    "nagy2012": "Nagy 2012",
    "xie2019": "Xie 2019",
    "ryou2014": "Ryou 2014",
    "mdr_thesis": "MDR thesis",
    "verotti2022": "Verotti 2022",
}

_INTRODUCTION = """\
# The sources, statement by statement

What the five sources state, and what the experiments find: `python -m experiments all`. This page is made by
`python -m experiments all --record`.

- Every statement has its place in the source and its words. *Number*: a printed number, known to half a unit
  of its last digit, plus a step of the grid where it is read off one. *Sign or order*: a sign, which is
  larger, whether it happens. *Shape*: the course of a curve.
- Words are read alike in all sources (`experiments/reading.py`): a line's width, 2 % of the largest value,
  for "not distinguishable", "no influence" and "negligible"; a tenth for "slightly", "marginal", "similar",
  "approximately" and "fairly well"; a factor of two for "much" and "significantly"; more than half for "most"
  and "mainly".
- *Not comparable*: the text gives no number, or an input is not published. Measured curves are in figures alone.
- Ryou publishes no gains, dampings, mode shapes or sizes of small-scale forces. In Figs. 6, 7, 14, 16, 17 and 19
  a set of parameters that was fitted to Table 3 stands for them, and a verdict there is that set's; what is
  compared with Table 3 itself is an own reference.
- *Own reference*: a calculation of ours, named in the column of words. It is not counted as reproduced.
- Tables of inputs (Nagy I and III, Xie 1 and 2, thesis 4.1 to 4.3) are defaults of the devices. That a default is
  the printed number is no statement and not counted."""

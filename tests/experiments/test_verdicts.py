"""Every statement has its place, and every verdict is the expected one: the committed table, the page and the
changelog agree.
"""

from pathlib import Path

import pytest

from experiments import gallery, known_experiments
from experiments.outcome import KINDS, OWN, WORDS, verdict
from experiments.scoreboard import PAGE, expected, fingerprint, page, sentence

ROOT = Path(__file__).parent.parent.parent
TABLE = expected()

QUICK = {
    *(n for n in known_experiments() if n.startswith("nagy2012") and n != "nagy2012_eq28"),
    *(f"xie2019_{name}" for name in ("fig5", "table1", "table2")),
    *(f"ryou2014_{name}" for name in ("fig11", "table1")),
    *(
        f"mdr_thesis_{name}"
        for name in (
            "fig2_1",
            "loops",
            "fig3_35",
            "fig2_3",
            "table4_1",
            "fig4_18",
            "fig4_22",
            "fig4_24",
        )
    ),
    *(f"verotti2022_table{n}" for n in (1, 2, 3, 4, 5, 6, 7)),
}
"""Experiments that take seconds; the others are slow tests."""


def test_the_table_has_every_experiment():
    assert list(TABLE) == list(known_experiments()), "python -m experiments NAME --record"


@pytest.mark.parametrize("name", TABLE)
def test_every_statement_has_its_place_words_kind_and_verdict(name):
    statements = TABLE[name]["statements"]
    assert statements
    for s in statements:
        assert s["statement"].strip() and s["page"].strip() and s["words"].strip()
        assert s["kind"] in KINDS and s["verdict"] in WORDS
        assert (s["page"] == "-") == (s["kind"] == OWN), (
            "an own reference has no place in the source"
        )
        assert len(s["words"]) <= 120, "a few words of the source, not its text"
    assert len({(s["statement"], s["page"]) for s in statements}) == len(statements)
    assert TABLE[name]["verdict"] == verdict(s["verdict"] for s in statements)


def test_the_page_is_made_of_the_table():
    assert PAGE.read_text() == page(TABLE), "python -m experiments NAME --record"
    assert gallery.PAGE.read_text() == gallery.gallery(TABLE), "python -m experiments NAME --record"


@pytest.mark.parametrize("file", ["README.md", "docs/index.md"])
def test_the_documents_quote_the_count(file):
    text = " ".join((ROOT / file).read_text().split())
    assert sentence(TABLE) in text


def test_the_changelog_says_which_verdicts_hold():
    """A changed verdict changes the fingerprint, so it takes a line in the changelog."""
    assert f"verdicts {fingerprint(TABLE)}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in TABLE]
)
def test_verdicts_are_the_expected_ones(name, found):
    keys = ("statement", "page", "words", "kind", "verdict", "holds")
    here = [{**check._asdict(), "verdict": check.verdict} for check in found(name).checks]
    assert [[s[k] for k in keys] for s in here] == [
        [s[k] for k in keys] for s in TABLE[name]["statements"]
    ], [s["measured"] for s in here]

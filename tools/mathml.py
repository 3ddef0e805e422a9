"""Formulas of the site as MathML, which browsers typeset by themselves: no script, no font, no network.

A Markdown extension behind `pymdownx.arithmatex: {generic: true}`: what that one leaves in elements of the class
`arithmatex` as TeX between brackets becomes a `math` element. A formula that cannot be read stops the build.
"""

import re
from html import unescape
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor

DOTTED = re.compile(r"<mover><mi>(\w|&#x\w+;)</mi><mo>&#x00(0A8|2D9);</mo></mover>")
DOTS = {"0A8": "&#x00308;", "2D9": "&#x00307;"}
"""Dots over a letter become one letter with its dots: as a limit they are tiny without a font for formulas."""

BRACKETS = {r"\(": (r"\)", "inline"), r"\[": (r"\]", "block")}


def mathml(text: str) -> str:
    """The `math` element of a formula between its brackets."""
    text = unescape(text).strip()
    close, display = BRACKETS[text[:2]]
    assert text.endswith(close), text
    made = convert(text[2:-2].strip(), display=display)
    if "<mi>\\" in made:  # a command that the converter does not know is left as its name
        raise ValueError(f"A formula has a command that is not known: {text}")
    return DOTTED.sub(_dotted, made)


def _dotted(found: re.Match[str]) -> str:
    return f'<mi style="font-style: italic">{found[1]}{DOTS[found[2]]}</mi>'


class Formulas(Treeprocessor):
    """Replaces the text of each formula."""

    def run(self, root: Element) -> None:
        for element in root.iter():
            if "arithmatex" in element.get("class", "").split():
                element.text = self.md.htmlStash.store(mathml(element.text or ""))


class MathMLExtension(Extension):
    """Behind arithmatex (inline formulas are elements once the inline processor ran, at 20)."""

    def extendMarkdown(self, md: Markdown) -> None:
        md.treeprocessors.register(Formulas(md), "mathml", 5)


def makeExtension(**options: object) -> MathMLExtension:
    """What Markdown looks for."""
    return MathMLExtension(**options)

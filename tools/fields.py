"""Fields as tables on the interface's pages: `name: what it is.` in a class's docstring becomes a row.

An extension of griffe, which reads the code for mkdocstrings. A name is taken for a field only where the class has
it, so that other colons stay text.
"""

import re
from typing import Any

import griffe

NAMES = r"\w+(?:, \w+)*(?: and \w+)?"
START = re.compile(rf"(?:(?<=^)|(?<=[.;)\]]\s))({NAMES}): ", re.M)


def tabled(text: str, fields: set[str]) -> str:
    """The docstring with its paragraphs of fields as tables."""
    return "\n\n".join(_paragraph(paragraph, fields) for paragraph in text.split("\n\n"))


def _paragraph(paragraph: str, fields: set[str]) -> str:
    if "`" in paragraph.split(":")[0] or paragraph.lstrip().startswith(("|", "-", " ")):
        return paragraph
    plain = " ".join(paragraph.split())
    starts = [m for m in START.finditer(plain) if set(re.findall(r"\w+", m[1])) - {"and"} <= fields]
    if not starts or starts[0].start() != 0:
        return paragraph
    ends = [m.start() for m in starts[1:]] + [len(plain)]
    rows = ["| field | what it is |", "|---|---|"]
    for found, end in zip(starts, ends, strict=True):
        what = plain[found.end() : end].strip().replace("|", "\\|")
        names = re.sub(r"(\w+)", lambda n: n[0] if n[0] == "and" else f"`{n[0]}`", found[1])
        rows.append(f"| {names} | {what} |")
    return "\n".join(rows)


class Fields(griffe.Extension):
    """Rewrites the docstrings of classes."""

    def on_class_members(self, *, cls: griffe.Class, **known: Any) -> None:
        if cls.docstring is not None:
            cls.docstring.value = tabled(cls.docstring.value, set(cls.members))

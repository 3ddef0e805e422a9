"""A page of the documentation as a session: its code and commands in order, in one folder and one namespace.

A Python block with a `title` is a file of that name. Commands are lines of shell blocks, and of blocks without a
language that begin with a program. What changes the environment or takes minutes is not run (`runs`).
"""

import os
import re
import shlex
import subprocess
from collections.abc import Generator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]

FENCE = re.compile(r'^ *```(\w*)(?: title="([^"]+)")? *\n(.*?)^ *```', re.S | re.M)
SHOWN = re.compile(r"\((?:\.\./)?pictures/([^)]+)\)")
SAVED = re.compile(r'savefig\("([^"]+)"\)|(?:--plot|--out) ([\w-]+\.(?:png|svg|gif))\b')
PROGRAMS = ("diffmicro ", ".venv/bin/diffmicro ", "python -m ", "make ", "printf ", "pip ")


class Block(NamedTuple):
    """A fenced block: its language, the file that it is, its text."""

    language: str
    title: str
    text: str


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    return [Block(*map(str, found)) for found in FENCE.findall(page.read_text())]


def commands_of(block: Block) -> list[str]:
    """The commands of a shell block, without their comments."""
    if block.language not in ("sh", ""):
        return []
    lines = [line.split("  #")[0].strip() for line in block.text.splitlines()]
    return [line.removeprefix(".venv/bin/") for line in lines if line.startswith(PROGRAMS)]


def commands(page: Path) -> list[str]:
    """All commands of a page."""
    return [line for block in blocks(page) for line in commands_of(block)]


def runs(line: str) -> bool:
    """Whether a session runs this command: not what installs, waits, takes minutes, or needs other packages."""
    known = line.startswith(("diffmicro ", "printf "))
    return known and not line.startswith(("diffmicro doctor --target", "diffmicro explore"))


def shown(page: Path) -> set[str]:
    """The built pictures that a page shows."""
    return set(SHOWN.findall(page.read_text()))


def saved(page: Path) -> set[str]:
    """The pictures that the code and the commands of a page write."""
    text = "\n".join(b.text for b in blocks(page) if b.language in ("python", "sh", ""))
    return {name or other for name, other in SAVED.findall(text)}


def session(page: Path, folder: Path) -> Generator[str]:
    """Run the page in a folder, step by step; yields what each block of code and each command printed.

    The current folder is that one meanwhile. A `text` block after code is what the code prints.

    Raises what the code raises, and `RuntimeError` for a command that ends with another code than 0.
    """
    from diffmicro.command.app import run

    before = Path.cwd()
    os.chdir(folder)
    space: dict = {}
    try:
        (folder / "examples").symlink_to(ROOT / "examples")
        for file in page.parent.glob("*.py"):
            (folder / file.name).symlink_to(file)
        parts = blocks(page)
        for block, after in zip(parts, [*parts[1:], Block("", "", "")], strict=True):
            if block.title:
                (folder / block.title).write_text(block.text)
            elif block.language == "python":
                with redirect_stdout(StringIO()) as printed:
                    exec(compile(block.text, str(page), "exec"), space)
                if after.language == "text" and printed.getvalue() != after.text:
                    raise RuntimeError(f"{page}: it prints\n{printed.getvalue()}")
                yield printed.getvalue()
            for line in filter(runs, commands_of(block)):
                output = StringIO()
                if line.startswith("printf "):
                    subprocess.run(line, shell=True, check=True)
                    continue
                with redirect_stdout(output), redirect_stderr(output):
                    code = run(shlex.split(line)[1:])
                if code:
                    raise RuntimeError(f"{line}\n{output.getvalue()[-2000:]}")
                yield output.getvalue()
    finally:
        os.chdir(before)

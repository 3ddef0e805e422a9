"""`python -m tools.mutants [FILE ...] --count 60`: which small faults in the code do the fast tests notice?

A mutant is a file of `diffmicro` with one change: a comparison, a sum, a product, `and`, `or`, `not`, a number or
a truth value. It is made in a copy of the repository, where the tests that are about the file run until one
fails. Each mutant that all of them pass is shown with its line. Annotations are left alone.
"""

import argparse
import ast
import copy
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).parents[1]

TESTS: dict[str, tuple[str, ...]] = {
    "diffmicro/nonsmooth": ("tests/nonsmooth",),
    "diffmicro/dynamics": ("tests/dynamics",),
    "diffmicro/certificate.py": ("tests/test_certificate.py",),
    "diffmicro/differences.py": ("tests/test_certificate.py",),
    "diffmicro/verdicts.py": ("tests/test_certificate.py",),
}
"""Files and folders, and what tests them; a file with tests of its name has those alone."""

SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.And: ast.Or, ast.Or: ast.And, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


class Mutant(NamedTuple):
    """One change. file: relative to the repository. place: number of the node in the order of `ast.walk`."""

    file: str
    place: int
    line: int
    before: str
    after: str
    content: str


def sources() -> list[str]:
    """Files that can be changed."""
    found = []
    for name in TESTS:
        path = ROOT / name
        found += [path] if path.suffix else sorted(path.glob("*.py"))
    return [str(path.relative_to(ROOT)) for path in found]


def tests_of(file: str) -> list[str]:
    """What to run for a file."""
    folder = next(name for name in TESTS if file.startswith(name))
    own = [ROOT / path / f"test_{Path(file).stem}.py" for path in TESTS[folder]]
    there = [str(path.relative_to(ROOT)) for path in own if path.is_file()]
    return there or list(TESTS[folder])


def changed(node: ast.AST) -> ast.AST | None:
    """The node with one small fault; None where there is none to make."""
    new = copy.deepcopy(node)
    if isinstance(new, ast.Compare) and type(new.ops[0]) in SWAPS:
        new.ops[0] = SWAPS[type(new.ops[0])]()
    elif isinstance(new, ast.BinOp | ast.BoolOp) and type(new.op) in SWAPS:
        new.op = SWAPS[type(new.op)]()
    elif isinstance(new, ast.UnaryOp) and isinstance(new.op, ast.Not | ast.Invert):
        return new.operand
    elif isinstance(new, ast.Constant) and isinstance(new.value, bool):
        new.value = not new.value
    elif isinstance(new, ast.Constant) and isinstance(new.value, int | float):
        new.value = new.value + 1 if isinstance(new.value, int) else 2 * new.value
    else:
        return None
    return new


def spared(tree: ast.AST) -> set[int]:
    """Identities of the nodes in annotations, where a change means nothing."""
    found = set()
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            part = getattr(node, name, None)
            found |= {id(one) for one in ast.walk(part)} if part is not None else set()
    return found


class Exchange(ast.NodeTransformer):
    """One node by another one."""

    def __init__(self, old: ast.AST, new: ast.AST):
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def mutants(file: str) -> Iterator[Mutant]:
    """All of a file."""
    text = (ROOT / file).read_text()
    tree = ast.parse(text)
    left = spared(tree)
    for place, node in enumerate(ast.walk(tree)):
        if id(node) in left or not isinstance(node, ast.expr) or changed(node) is None:
            continue
        whole = ast.parse(text)
        old = next(n for i, n in enumerate(ast.walk(whole)) if i == place)
        new = changed(old)
        assert new is not None
        before, after = ast.unparse(old), ast.unparse(new)
        mutated = ast.fix_missing_locations(Exchange(old, new).visit(whole))
        yield Mutant(file, place, node.lineno, before, after, ast.unparse(mutated))


def passes(folder: Path, tests: list[str], seconds: float) -> bool:
    """Whether the tests pass in this copy within the time."""
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def copied(folder: Path) -> None:
    """What tests need of the repository."""
    leave = shutil.ignore_patterns("__pycache__")
    for name in ("diffmicro", "tests", "benchmarks", "tools"):
        shutil.copytree(ROOT / name, folder / name, ignore=leave)
    shutil.copy(ROOT / "pyproject.toml", folder)


def main() -> int:
    """Print a line a mutant, then the share that was noticed."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    every = [one for file in given.files or sources() for one in mutants(file)]
    chosen = np.random.default_rng(given.seed).permutation(len(every))[: given.count]
    limits: dict[str, float] = {}
    noticed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copied(folder)
        for one in (every[i] for i in sorted(chosen)):
            tests, file = tests_of(one.file), folder / one.file
            if one.file not in limits:
                begin = time.monotonic()
                if not passes(folder, tests, 3600):
                    parser.error(f"{' '.join(tests)} fail without a mutant")
                limits[one.file] = 3 * (time.monotonic() - begin) + 60
            whole = file.read_text()
            file.write_text(one.content)
            survives = passes(folder, tests, limits[one.file])
            file.write_text(whole)
            noticed += not survives
            word = "SURVIVES" if survives else "noticed"
            print(f"{word} {one.file}:{one.line}: {one.before} -> {one.after}", flush=True)
    print(f"{noticed} of {len(chosen)} noticed, of {len(every)} mutants")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The house rules that a program can check: direction of imports, no side effects, sizes."""

import ast
import graphlib
import importlib
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import diffmicro

ROOT = Path(__file__).parent.parent

# A module imports from its own stage and the stages above it in this list, never from below.
# Parts of one stage may use each other, but not in a circle.
STAGES = [
    {
        "_types",
        "_loops",
        "results",
        "reasons",
        "resolution",
        "parameters",
        "rules",
        "tolerance",
        "units",
        "_configure",
        "_files",
        "_programs",
        "_executables",
        "_sources",
        "_extras",
        "_json",
        "constants",
    },
    {"autodiff"},
    {"nonsmooth"},
    {"mechanics", "signals", "shapes"},
    {"reference"},
    {"dynamics"},
    {"differences"},
    {"recheck"},
    {"verdicts"},
    {"_device"},
    {"hybrid"},
    {"devices"},
    {
        "certificate",
        "boundary",
        "sweep",
        "design",
        "fabrication",
        "identification",
        "attraction",
        "drawing",
        "gpu",
        "plot",
        "process",
        "testing",
    },
    {"report", "explore"},
    {"command", "__main__"},
    {"optimize", "experiments"},
]
STAGE_OF = {part: number for number, parts in enumerate(STAGES) for part in parts}
PROGRAMS = {"optimize", "experiments"}

LIBRARY = sorted((ROOT / "diffmicro").rglob("*.py"))
FILES = [*LIBRARY, *(f for name in sorted(PROGRAMS) for f in sorted((ROOT / name).rglob("*.py")))]
SIZED = [
    *FILES,
    *(
        f
        for name in ("benchmarks", "examples", "tools")
        for f in sorted((ROOT / name).rglob("*.py"))
    ),
]
DOOR = ROOT / "diffmicro" / "__init__.py"

LONGEST = 450  # lines of a file
LONGEST_FUNCTION = 70  # lines


def module_name(file: Path) -> str:
    name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
    return name.removesuffix(".__init__")


def imports(file: Path) -> set[str]:
    """Full names of all modules that a file imports, also inside functions.

    `from a import b` counts as `a.b` when that is a module and as `a` otherwise.
    """
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = module_name(file).split(".")
                package = package if file.name == "__init__.py" else package[:-1]
                base = ".".join([*package[: len(package) - node.level + 1], *base.split(".")])
                base = base.rstrip(".")
            for alias in node.names:
                path = ROOT.joinpath(*base.split("."), alias.name)
                is_module = path.is_dir() or path.with_suffix(".py").exists()
                found.add(f"{base}.{alias.name}" if is_module else base)
    return found


def part(module: str) -> str:
    """The part of the house that a module belongs to; empty when it is none of STAGES' business."""
    first, *rest = module.split(".")
    if first in PROGRAMS:
        return first
    return rest[0] if first == "diffmicro" and rest else ""


def case(file: Path):
    return pytest.param(file, id=str(file.relative_to(ROOT)))


@pytest.fixture(scope="module")
def needs() -> dict[Path, set[str]]:
    return {file: imports(file) for file in FILES if file != DOOR}


def test_every_part_has_a_stage(needs):
    parts = {part(module_name(file)) for file in needs}
    assert parts <= STAGE_OF.keys(), "give each new part of the house its stage in STAGES"


def test_imports_point_one_way(needs):
    wrong = [
        f"{file.relative_to(ROOT)} imports {module}"
        for file, modules in needs.items()
        for module in modules
        if (target := part(module))
        if STAGE_OF[target] > STAGE_OF[part(module_name(file))]
    ]
    assert not wrong


def test_the_library_imports_from_homes_not_from_the_door(needs):
    wrong = [file for file in LIBRARY if file != DOOR and "diffmicro" in needs[file]]
    assert not wrong, "write `from diffmicro.home import name`"


def test_no_circles_between_parts(needs):
    graph: dict[str, set[str]] = {}
    for file, modules in needs.items():
        own = part(module_name(file))
        others = {part(module) for module in modules} - {own, ""}
        graph.setdefault(own, set()).update(others)
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError with the circle


def test_devices_know_no_optimizer_and_no_figure(needs):
    """Nor does anything that devices are made of."""
    wrong = {
        f"{file.relative_to(ROOT)} imports {module}"
        for file, modules in needs.items()
        if STAGE_OF[part(module_name(file))] <= STAGE_OF["devices"]
        for module in modules
        if module.split(".")[0] in ("optax", "matplotlib", "rich", "typer")
    }
    assert not wrong


def test_only_declared_dependencies_are_imported(needs):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [x for x in ("animate", "cma") for x in project["optional-dependencies"][x]]
    declared = {
        requirement.split(">")[0].split("[")[0].replace("-", "_")
        for requirement in [*project["dependencies"], *extras]
    }
    # What a distribution calls its modules, where that is not its own name.
    modules = {"pillow": "PIL", "matplotlib": "mpl_toolkits"}
    declared |= {module for name, module in modules.items() if name in declared}
    known = declared | sys.stdlib_module_names | {"diffmicro"}
    unknown = {
        f"{file.relative_to(ROOT)} imports {module}"
        for file in LIBRARY
        for module in needs.get(file, ())
        if module.split(".")[0] not in known
    }
    assert not unknown


@pytest.mark.parametrize("file", [case(file) for file in SIZED])
def test_functions_are_short(file):
    long = [
        f"{node.name} has {(node.end_lineno or 0) - node.lineno + 1} lines"
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef)
        and (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION
    ]
    assert not long, "which steps does it have?"


def test_nothing_is_found_by_its_name(needs):
    """What a device offers is a field of its `Device`; no module is looked up, no attribute is tried.

    A module that is read from a file is entered among the others, as it has to be."""
    wrong = []
    for file in LIBRARY:
        nodes = list(ast.walk(ast.parse(file.read_text())))
        entered = [
            node.value
            for node in nodes
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del)
        ]
        wrong += [
            f"{file.relative_to(ROOT)}: {ast.unparse(node)}"
            for node in nodes
            if (isinstance(node, ast.Call) and ast.unparse(node.func) == "hasattr")
            or (
                isinstance(node, ast.Attribute)
                and ast.unparse(node) == "sys.modules"
                and node not in entered
            )
        ]
    assert not wrong


@pytest.mark.parametrize("file", [case(file) for file in FILES])
def test_each_file_says_what_it_does_and_is_short(file):
    text = file.read_text()
    assert ast.get_docstring(ast.parse(text)), "a module starts with a docstring"
    assert len(text.splitlines()) <= LONGEST


def test_the_door_leads_to_every_public_name():
    typed = {
        alias.name: home
        for node in ast.walk(ast.parse(DOOR.read_text()))
        if isinstance(node, ast.ImportFrom)
        if (home := node.module or "").startswith("diffmicro.")
        for alias in node.names
    }
    assert typed == {name: f"diffmicro.{home}" for name, home in diffmicro._HOMES.items()}
    assert sorted(diffmicro.__all__) == sorted([*typed, "hybrid"])
    assert diffmicro.hybrid is importlib.import_module("diffmicro.hybrid")
    for name, home in typed.items():
        assert getattr(diffmicro, name) is getattr(importlib.import_module(home), name)


IMPORT_EVERYTHING = """
import json, os, sys, warnings
import jax, equinox, optax, optimistix, lineax, numpy, matplotlib
from jax._src import xla_bridge

def settings():
    return dict(
        jax={k: repr(v) for k, v in jax.config.values.items()},
        numpy=[numpy.geterr(), repr(numpy.get_printoptions())],
        matplotlib={k: repr(v) for k, v in matplotlib.rcParams.items() if k != "backend"},
        environment=dict(os.environ), warnings=len(warnings.filters),
    )

before = settings()
for name in sys.argv[1:]:
    __import__(name)
after = settings()
after["jax"] = {k: v for k, v in after["jax"].items() if k in before["jax"]}
changed = [k for k in before if before[k] != after[k]]
started = xla_bridge.backends_are_initialized()
with open(os.environ["REPORT"], "w") as file:
    json.dump(dict(changed=changed, started=started), file)
"""


def test_importing_everything_changes_nothing_starts_nothing_prints_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("REPORT", str(tmp_path / "report.json"))
    names = [module_name(file) for file in LIBRARY if file.name != "__main__.py"]
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", IMPORT_EVERYTHING, *names],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    report = json.loads((tmp_path / "report.json").read_text())
    assert report == {"changed": [], "started": False}

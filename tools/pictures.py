"""The pictures of the site: `python -m tools.pictures` makes those that are missing in docs/pictures.

Most are made by a command; those of a page with code by running the page. The folder is not committed; delete it
to make all anew.
"""

import shlex
import shutil
import sys
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from experiments.gallery import PICTURED
from tools import screenshot
from tools.pages import ROOT, session, shown

FOLDER = ROOT / "docs" / "pictures"

LEG = "leg_length=5mm leg_thickness=0.15mm leg_width=1mm leg_young=62GPa leg_density=7750"

PICTURES = {
    "wrmma.svg": "draw wrmma --out",
    "tumbler.svg": "draw tumbler --out",
    "legs.svg": f"draw legs {LEG} --out",
    "stickslip.svg": "draw stickslip --out",
    "tribometer.svg": "draw tribometer --out",
    "gripper.svg": "draw gripper --out",
    "wrmma.gif": "animate wrmma load_factor=32 frequency_ratio=1.58 --frames 60 --out",
    "tumbler.gif": "animate tumbler --frames 60 --out",
    "legs.gif": "animate legs --frames 60 --out",
    "stickslip.gif": "animate stickslip period=2ms damping_ratio=0.1 --frames 60 --out",
    "tribometer.gif": "animate tribometer --frames 60 --out",
    "walker.gif": "animate diffmicro.devices.legs.walker:WALKER --frames 60 --out",
    "gripper.gif": "animate gripper object_half_width=0.2mm force=100uN --frames 40 --out",
    "sweep_wrmma.svg": "sweep wrmma frequency_ratio=0.8:2.1:53 load_factor=8,32 --carry both "
    "--response velocity --out {table} --plot",
    "sweep_tumbler.svg": "sweep tumbler field_frequency=1:20:39 incline=0,0.35 --response speed "
    "--out {table} --plot",
    "sweep_legs.svg": "sweep legs gap=2um:24um:23 --response mean_height --out {table} --plot",
    "sweep_stickslip.svg": "sweep stickslip amplitude=20nm:200nm:19 preload=0.25,0.5 "
    "damping_ratio=0.1 period=2ms --response force --out {table} --plot",
    "sweep_tribometer.svg": "sweep tribometer drag_ratio=0.11:0.99:45 force_ratio=0.5,0.7,0.9 "
    "--response sliding_velocity --out {table} --plot",
    "sweep_gripper.svg": "sweep gripper force=-40uN:100uN:57 --response tip_x --out {table} --plot",
    "drawn.svg": "sweep tribometer force_ratio=0.1:0.9 friction=0.2:0.5 --random 500 --seed 1 "
    "--response sliding_velocity --out {table} --plot",
    "cliffs.svg": "boundaries wrmma mass_ratio=1.605457 rest_gap=33.61216e-6 tethered_frequency=1006.0008 "
    "frequency_ratio=0.904568 --along frequency_ratio --plot",
}
"""Name -> the words of the command, which ends with the name of the picture."""


def main() -> int:
    """Make what is missing; the exit code of the first command that fails."""
    from diffmicro.command.app import run

    FOLDER.mkdir(exist_ok=True)
    table = FOLDER / "table.csv"
    for name, command in PICTURES.items():
        picture = FOLDER / name
        if picture.exists():
            continue
        print(f"{name}: diffmicro {command.format(table='TABLE')} {name}", flush=True)
        output = StringIO()
        with redirect_stdout(output), redirect_stderr(output):
            words = shlex.split(command.format(table=shlex.quote(str(table))))
            code = run([*words, str(picture)])
        for file in FOLDER.glob("table.csv*"):
            file.unlink()
        if code:
            print(output.getvalue())
            return code
    of_experiments(name for name in PICTURED if not (FOLDER / f"{name}.png").exists())
    known = {*PICTURES, *(f"{name}.png" for name in PICTURED)}
    for page in sorted((ROOT / "docs").glob("*.md")):
        missing = {name for name in shown(page) - known if not (FOLDER / name).exists()}
        if missing:
            print(f"{', '.join(sorted(missing))}: docs/{page.name}", flush=True)
            run_page(page, missing)
    screenshot.take(FOLDER)
    return 0


def of_experiments(names: Iterable[str]) -> None:
    """Run experiments for their figures."""
    from experiments import known_experiments
    from experiments.outcome import write

    for name in names:
        print(f"{name}.png: python -m experiments {name}", flush=True)
        experiment = known_experiments()[name]
        with TemporaryDirectory() as folder:
            write(name, experiment, experiment.run(), Path(folder))
            shutil.copy(Path(folder) / f"{name}.png", FOLDER)


def run_page(page: Path, wanted: set[str]) -> None:
    """Run the page until its pictures are there, and keep them."""
    with TemporaryDirectory() as name:
        folder, steps = Path(name), session(page, Path(name))
        while not all((folder / picture).exists() for picture in wanted):
            next(steps)
        steps.close()
        for picture in wanted:
            shutil.copy(folder / picture, FOLDER / picture)


if __name__ == "__main__":
    sys.exit(main())

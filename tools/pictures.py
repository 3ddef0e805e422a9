"""The pictures of the site, each by the command that its page shows: `python tools/pictures.py`.

They go to `docs/pictures`, which is not committed. One that is there is not made again; delete the folder to
make all anew.
"""

import shlex
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from diffmicro.command.app import run

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"

LEG = "leg_length=5mm leg_thickness=0.15mm leg_width=1mm leg_young=62GPa leg_density=7750"

PICTURES = {
    "wrmma.svg": "draw wrmma --out",
    "tumbler.svg": "draw tumbler --out",
    "legs.svg": f"draw legs {LEG} --out",
    "stickslip.svg": "draw stickslip --out",
    "tribometer.svg": "draw tribometer --out",
    "gripper.svg": "draw gripper --out",
    "drawn.svg": "sweep tribometer force_ratio=0.1:0.9 friction=0.2:0.5 --random 500 --seed 1 "
    "--response sliding_velocity --out {table} --plot",
    "cliffs.svg": "boundaries wrmma mass_ratio=1.605457 rest_gap=33.61216e-6 tethered_frequency=1006.0008 "
    "frequency_ratio=0.904568 --along frequency_ratio --plot",
}


def main() -> int:
    """Make what is missing; the exit code of the first command that fails."""
    FOLDER.mkdir(exist_ok=True)
    table = FOLDER / "table.csv"
    for name, command in PICTURES.items():
        picture = FOLDER / name
        if picture.exists():
            continue
        print(f"{name}: diffmicro {command.format(table='TABLE')} {name}")
        with redirect_stdout(StringIO()):
            words = shlex.split(command.format(table=shlex.quote(str(table))))
            code = run([*words, str(picture)])
        for file in FOLDER.glob("table.csv*"):
            file.unlink()
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Commands to copy: examples of each subcommand for its --help, and what to try with one device for `show`."""

from diffmicro._device import Device
from diffmicro.parameters import Parameter, describe
from diffmicro.units import exact

EXAMPLES: dict[str, tuple[str, ...]] = {
    "show": ("diffmicro show wrmma",),
    "evaluate": (
        "diffmicro evaluate gripper --response closing_force --grad beam_radius,young --of closing_force",
    ),
    "sweep": (
        "diffmicro sweep wrmma frequency_ratio=0.8:2.1:53 load_factor=8,32 --carry both --out sweep.csv "
        "--plot sweep.png",
    ),
    "branches": (
        "diffmicro branches wrmma frequency_ratio=1.3:2 load_factor=32 --out branches.csv --plot branches.png",
    ),
    "boundaries": (
        "diffmicro boundaries wrmma load_factor=32 frequency_ratio=1.58 --along frequency_ratio "
        "--grad rest_gap,field",
    ),
    "map": (
        "diffmicro map wrmma frequency_ratio=0.8:2 field=3e-3:6e-3 load_factor=32 --out map.csv --plot map.png",
    ),
    "merge": ("diffmicro merge part1.csv part2.csv --out ratio.csv",),
    "report": ("diffmicro report variant --out variant.html",),
    "verify": ("diffmicro verify report.json",),
    "basins": ("diffmicro basins wrmma frequency_ratio=0.91 start=ramp --starts 300",),
    "optimize": (
        "diffmicro optimize wrmma --maximize velocity --free mass_ratio=0.5:2.5 --free rest_gap=8um:40um "
        '--subject "margin(frequency_ratio)>3%"',
    ),
    "tolerances": ('diffmicro tolerances tribometer --subject "sliding_velocity>0.88mm/s"',),
    "identify": (
        "diffmicro identify wrmma data.csv --free friction=0.2:0.8 --free force_scale=0.1:0.6 --next",
    ),
    "draw": ("diffmicro draw wrmma rest_gap=25um --out wrmma.png",),
    "animate": ("diffmicro animate tumbler --out tumbler.gif",),
    "explore": ("diffmicro explore wrmma load_factor=32 frequency_ratio=1.58",),
    "doctor": ("diffmicro doctor --target a100",),
}
"""By subcommand. A test holds each to the README or to the pages, whose commands are run."""


def epilog(subcommand: str) -> str | None:
    """The end of a subcommand's --help."""
    lines = EXAMPLES.get(subcommand)
    return "\n\n".join(["Example:", *lines]) if lines else None


def tries(module: Device, named: str) -> list[str]:
    """Commands that show what a device does; `named`: as it was named on the command line."""
    # What an operator turns comes before what a fabricator chose.
    names = (*module.drive, *describe(module.Setting), *module.parameters)
    key = next((name for name in names if _turns(module, name)), None)
    key, value = next(iter(module.shown_at.items()), (key, None))
    if key is None:
        return [f"diffmicro evaluate {named}"]
    known, response = module.parameters[key], _number(module)
    # A tenth of the value to both sides, and never outside of what is allowed.
    low, high = sorted((value or known.default) * factor for factor in (0.9, 1.1))
    ends = [max(low, known.low), min(high, known.high)]
    axis = f"{key}={':'.join(exact(float(f'{end:.4g}'), known.unit) for end in ends)}"
    at = f" {key}={exact(value, known.unit)}" if value is not None else ""
    found = [
        f"diffmicro evaluate {named}{at} --grad {key} --of {response}",
        f"diffmicro sweep {named} {axis}:21 --out sweep.csv --plot sweep.png",
    ]
    if module.branches is not None:
        found.append(f"diffmicro branches {named} {axis} --out branches.csv --plot branches.png")
    if module.orbits is not None:
        found.append(f"diffmicro boundaries {named}{at} --along {key}")
    found.append(f"diffmicro optimize {named} --maximize {response} --free {axis}")
    if module.simulate is not None:
        found.append(f"diffmicro animate {named} --out {module.name}.gif")
    return [*found, f"diffmicro explore {named}{at}"]


def _number(module: Device) -> str:
    """The first response that is one number, as far as its unit says."""
    names = module.usual_responses
    return next((name for name in names if "," not in module.responses[name].unit), names[0])


def _turns(module: Device, name: str) -> bool:
    """Whether a parameter is one number that has a usual value other than zero."""
    known: Parameter = module.parameters[name]
    return not known.whole and isinstance(known.default, int | float) and known.default != 0

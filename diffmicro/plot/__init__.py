"""Figures and animations of results: a function for each kind, to call on your own results.

| kind | function | of |
|---|---|---|
| response curves | `sweep_figure`, `plot_branches` (with stability and boundaries) | a sweep's table; branches |
| maps | `plot_chart` | a chart of two parameters |
| boundaries | `plot_boundaries` | what `boundaries` found |
| motions over time, contacts | `plot_motion`, `plot_contacts` | `traces` of a device |
| orbits, phase portraits, hysteresis | `plot_orbit`, `plot_phase_portrait`, `plot_hysteresis` | the same |
| basins | `basins_figure` | what `basins` found |
| mechanisms, outlines | `plot_outline`; `mechanism` for the gripper, `section` for the tumbler | a design |
| elasticities with verdicts | `elasticities`, `plot_elasticities` | a gradient and its certificate |
| searches | `plot_history`, `plot_front` | a result; a front |
| yields | `plot_yield_cloud` | what `tolerances` found |
| identification | `identification_figure` | what `identify` found |
| animations | `animate` | a device |

Each returns a figure of matplotlib, `figure.savefig("mine.svg")`, or draws into `axes`; none shows a window.
Names are imported when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from diffmicro.plot.bars import elasticities as elasticities
    from diffmicro.plot.bars import plot_elasticities as plot_elasticities
    from diffmicro.plot.basins import basins_figure as basins_figure
    from diffmicro.plot.boundaries import plot_boundaries as plot_boundaries
    from diffmicro.plot.branches import plot_branches as plot_branches
    from diffmicro.plot.chart import plot_chart as plot_chart
    from diffmicro.plot.film import animate as animate
    from diffmicro.plot.gripper import mechanism as mechanism
    from diffmicro.plot.identification import identification_figure as identification_figure
    from diffmicro.plot.motions import plot_contacts as plot_contacts
    from diffmicro.plot.motions import plot_hysteresis as plot_hysteresis
    from diffmicro.plot.motions import plot_orbit as plot_orbit
    from diffmicro.plot.motions import plot_phase_portrait as plot_phase_portrait
    from diffmicro.plot.outlines import plot_outline as plot_outline
    from diffmicro.plot.searches import plot_front as plot_front
    from diffmicro.plot.searches import plot_history as plot_history
    from diffmicro.plot.states import plot_motion as plot_motion
    from diffmicro.plot.states import traces as traces
    from diffmicro.plot.states import traces_of as traces_of
    from diffmicro.plot.sweep import sweep_figure as sweep_figure
    from diffmicro.plot.tolerances import plot_yield_cloud as plot_yield_cloud
    from diffmicro.plot.tumbler import section as section

_HOMES = {
    "animate": "film",
    "basins_figure": "basins",
    "elasticities": "bars",
    "identification_figure": "identification",
    "mechanism": "gripper",
    "plot_boundaries": "boundaries",
    "plot_branches": "branches",
    "plot_chart": "chart",
    "plot_contacts": "motions",
    "plot_elasticities": "bars",
    "plot_front": "searches",
    "plot_history": "searches",
    "plot_hysteresis": "motions",
    "plot_motion": "states",
    "plot_orbit": "motions",
    "plot_outline": "outlines",
    "plot_phase_portrait": "motions",
    "plot_yield_cloud": "tolerances",
    "section": "tumbler",
    "sweep_figure": "sweep",
    "traces": "states",
    "traces_of": "states",
}

__all__ = sorted(_HOMES)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'diffmicro.plot' has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(f"diffmicro.plot.{_HOMES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})

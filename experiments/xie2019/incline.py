"""The incline tests: which slopes the robot gets up, on paper and on aluminum, and from where on it does not."""

import math
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from diffmicro.devices.tumbler import Response
from diffmicro.results import word
from experiments.outcome import Check, Outcome, Said, incomparable, order, own
from experiments.xie2019.robots import EDGE_BAND, asked, first, improved, motion, said


def paper() -> Outcome:
    """Table 1, 20 mT at 1 Hz, 0 to 60 degrees."""
    angles = np.arange(0.0, 61.0, 2.5)
    found = {a: motion(*first(incline=math.radians(a))) for a in angles}
    limit = math.degrees(asked("climb_margin", *first()))
    place = "Inclined plane traversal tests on paper"
    checks = [
        _climbs(
            Said(place, "the robots can go over a maximum inclination of 45 degrees on paper"),
            found[45.0],
            45,
            True,
        ),
        _climbs(Said(place, "it will fail to climb a slope of 60 degrees"), found[60.0], 60, False),
    ]
    return _outcome(checks, {"Table 1": found}, {"Table 1": limit})


def aluminum() -> Outcome:
    """Table 2, 20 mT at 1 Hz: as written, and with an edge band, an assumption that is not the paper's."""
    angles = np.arange(0.0, 51.0, 2.5)
    strict = {a: motion(*improved(incline=math.radians(a))) for a in angles}
    band = {a: motion(*improved(incline=math.radians(a), edge_band=EDGE_BAND)) for a in angles}
    limits = {
        "as written": _limit(0.0),
        f"edge band {1e6 * EDGE_BAND:g} um": _limit(EDGE_BAND),
    }
    bound = math.degrees(math.atan(0.5359))
    place = "Inclined plane traversal tests on aluminum"
    checks = [
        _climbs(
            Said(
                place,
                "in both the simulations and the experiments, the robot can successfully climb [...] 30 degrees",
            ),
            strict[30.0],
            30,
            True,
        ),
        _climbs(Said(place, "but fails to climb it at 45 degrees"), strict[45.0], 45, False),
        own(
            "adhesion of a band of 50 um along the edge on the ground, an assumption",
            "climbs 30 and fails at 45 degrees",
            "climbs, does not",
            f"{said(band[30.0])}; {said(band[45.0])}",
            bool(band[30.0].climbs) and not band[45.0].climbs,
        ),
        own(
            "cone of friction: line contact has no adhesion",
            "the limit as written is below it",
            f"below {bound:.2f} degrees",
            f"{limits['as written']:.2f} degrees",
            limits["as written"] < bound,
        ),
        incomparable(
            Said(
                place,
                "two orders of magnitude smaller than the magnetic torque and thus negligible",
            ),
            "drag by eddy currents",
            "the text compares a force with a torque and gives no conductivity; a dipole that turns half a "
            f"thickness above {CONDUCTIVITY:.1e} S/m feels {_eddy_share():.0e} of the magnetic torque",
        ),
    ]
    return _outcome(checks, dict(zip(limits, (strict, band), strict=True)), limits)


CONDUCTIVITY = 3.5e7
"""Of aluminum [S/m], a handbook's."""


def _eddy_share() -> float:
    """Torque of eddy currents over the magnetic torque.

    A slowly turning dipole m at the height h above a conducting half-space: 3 sigma omega mu_0^2 m^2 / (128 pi h),
    the vertical one's loss and half of it for the horizontal one.
    """
    design, setting = improved()
    moment = float(design.magnetic_volume * design.magnetization)
    omega = 2 * math.pi * float(setting.field_frequency)
    height = float(design.thickness) / 2
    drag = 3 * CONDUCTIVITY * omega * (4e-7 * math.pi * moment) ** 2 / (128 * math.pi * height)
    return drag / (moment * float(setting.field))


def _limit(edge_band: float) -> float:
    return math.degrees(asked("climb_margin", *improved(edge_band=edge_band)))


def _climbs(where: Said, response: Response, angle: float, expected: bool) -> Check:
    return order(
        where,
        f"{'climbs' if expected else 'fails at'} {angle:g} degrees",
        "climbs" if expected else "does not",
        said(response),
        bool(response.climbs) == expected,
    )


def _outcome(
    checks: list[Check], found: dict[str, dict[Any, Response]], limits: dict[str, float]
) -> Outcome:
    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        styles = (("tab:blue", 10), ("tab:orange", 6))
        for (name, responses), (color, size) in zip(found.items(), styles, strict=False):
            angles = np.array(list(responses))
            speeds = np.array([float(r.speed) for r in responses.values()])
            axes.plot(angles, 1e3 * speeds, "o-", color=color, label=name)
            fails = angles[np.isnan(speeds)]
            axes.plot(fails, 0 * fails, "x", color=color, markersize=size)
            label = f"limit, {limits[name]:.1f} degrees"
            axes.axvline(limits[name], color=color, linestyle="--", linewidth=0.8, label=label)
        axes.plot([], [], "kx", label="slides down")
        axes.set_xlabel("incline [degrees]")
        axes.set_ylabel("speed [mm/s]")
        axes.legend()

    data: dict[str, object] = {"limit": limits}
    for name, responses in found.items():
        data[name] = {
            "incline": list(responses),
            "speed": [r.speed for r in responses.values()],
            "status": [word(r.result) for r in responses.values()],
        }
    return Outcome(checks, data, draw)

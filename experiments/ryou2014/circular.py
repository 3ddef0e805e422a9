"""Figs. 18 and 19: heights around the drive's cycle."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from diffmicro.devices.legs.feet import Robot, simulate_feet
from diffmicro.devices.legs.measured import IDENTIFIED, TABLE3_CASES, identified_setting
from diffmicro.plot.legs import circular
from experiments.outcome import Outcome, Said, incomparable, number, order, own
from experiments.reading import MUCH
from experiments.ryou2014.motion import simulated

POINTS = ("fore left", "fore right", "hind left", "hind right", "body")


def figure18() -> Outcome:
    """The quadruped with assumed mode shapes, damping and drive: one foot over the ground, the others in the
    air."""
    frequency, voltage = 86.0, 10.0
    robot = Robot(gap=jnp.array([5e-6, 1.0, 1.0, 1.0, 1.0]))
    path = simulate_feet(robot, voltage, frequency, periods=60)
    free = simulate_feet(Robot(gap=jnp.ones(5)), voltage, frequency, periods=60)
    height = np.asarray(path.height) - np.array([0.0, 1.0, 1.0, 1.0, 1.0])[None, :]
    time = np.asarray(path.time)
    late = time > 0.35
    change = np.ptp(height[late], axis=0) / np.ptp(np.asarray(free.height)[late], axis=0)
    hits = int(np.sum(np.asarray(path.impulse)[late, 0] > 0))
    cycles = float(np.ptp(time[late]) * frequency)
    least = float(np.min(path.loss))
    assumed = "quadruped with assumed mode shapes, damping and gains"
    checks = [
        incomparable(
            Said("section 4, Fig. 18", "response amplitudes are in good agreement"),
            "five points of the quadruped",
            "input, gap, mode shapes and gains are not published; measured curves are in the figure alone",
        ),
        incomparable(
            Said(
                "section 3.2, Fig. 8",
                "severe changes in other idle legs within extremely short time durations",
            ),
            "an idle leg with and without contact",
            "the measured response is in the figure alone, mode shapes are not published; by assumed ones below",
        ),
        own(
            assumed,
            "the foot over the ground keeps bouncing",
            "impacts in a fifth of the cycles",
            f"{hits / cycles:.2f} impacts per cycle",
            hits / cycles > 0.2,
        ),
        own(
            assumed + "; section 3.2: idle legs change too",
            "legs in the air change their range",
            "ratio of ranges not 1",
            ", ".join(f"{x:.2f}" for x in change[1:4]),
            np.max(np.abs(change[1:4] - 1)) > 0.02,
        ),
        own(
            assumed,
            "impacts never add energy",
            "no gain",
            f"{least:.1e} J at least",
            least >= -1e-18,
        ),
    ]

    def draw(figure: Figure) -> None:
        grid = figure.subplots(1, 5, subplot_kw=dict(projection="polar"))
        for axes, column, name in zip(grid, height.T, POINTS, strict=True):
            lift = column[late] - min(column[late].min(), 0.0)
            axes.plot(2 * np.pi * frequency * time[late], 1e6 * lift, linewidth=0.4)
            axes.set_title(name, fontsize=9)
            _radial(axes)

    return Outcome(checks, dict(range_over_free=change, impacts_per_cycle=hits / cycles), draw)


CASES = ("sine, 10 um", "square, 10 um", "square, 5 um")

UNEVEN = float(np.std([1, 1, 1 / MUCH]) / np.mean([1, 1, 1 / MUCH]))
"""Relative spread of three peaks one of which is much smaller."""

SHARE = 0.1
"""Share of the largest height by which an oscillation has to rise and fall; mode 6 ripples below it."""


def _oscillations(height: np.ndarray) -> np.ndarray:
    """Peaks that rise and fall by `SHARE` of the largest height."""
    least = SHARE * height.max()
    peaks, top, bottom, rising = [], height[0], height[0], True
    for h in height:
        top, bottom = max(top, h), min(bottom, h)
        if rising and h < top - least:
            peaks.append(top)
            rising, bottom = False, h
        elif not rising and h > bottom + least:
            rising, top = True, h
    return np.array(peaks)


def _radial(axes: Any) -> None:
    """Radial ticks beside the curves, with their unit."""
    axes.tick_params(labelsize=7)
    axes.set_rlabel_position(100)
    axes.yaxis.set_major_locator(MaxNLocator(3))
    axes.yaxis.set_major_formatter("{x:g} um")
    for label in axes.get_yticklabels():
        label.set_bbox(dict(facecolor="white", edgecolor="none", alpha=0.8, pad=0.5))


def figure19() -> Outcome:
    """The hexapod's bouncing foot in Table 3's three cases, by the set that is closer to the table."""
    known = identified_setting()
    drive = dict(drive_frequency=known.drive_frequency, restitution=known.restitution)
    paths = [simulated(case | drive, 0.8, IDENTIFIED) for case in TABLE3_CASES]
    counts, spread = [], []
    for path, setting in paths:
        time, height = np.asarray(path.time), np.asarray(path.height)
        phase = time * float(setting.drive_frequency)
        late = time > 0.3
        peaks = _oscillations(height[late])
        counts.append(len(peaks) / np.ptp(phase[late]))
        spread.append(float(np.std(peaks) / np.mean(peaks)))
    counted = ", ".join(f"{n:.2f}" for n in counts)
    checks = [
        number(
            Said("section 4", "it implies that three oscillations per step are expected"),
            name,
            "3",
            n,
        )
        for name, n in zip((f"oscillations per cycle, {c}" for c in CASES), counts, strict=True)
    ]
    checks += [
        order(
            Said("section 4", "the number of bouncing events for a single period varies"),
            "oscillations per cycle differ between the cases",
            "by more than half a one",
            counted,
            max(counts) > min(counts) + 0.5,
        ),
        order(
            Said(
                "section 4",
                "one oscillation is typically much smaller than the others in two of the cases [measured]",
            ),
            "relative spread of the peaks",
            f"above {UNEVEN:.2f}, that of peaks 1, 1 and 1/{MUCH:g}, in two cases",
            ", ".join(f"{s:.2f}" for s in spread) + "; the paper's model fails there too",
            sum(s > UNEVEN for s in spread) >= 2,
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots(1, 3, subplot_kw=dict(projection="polar"))
        for axis, (path, setting), name in zip(axes, paths, CASES, strict=True):
            circular(axis, path, float(setting.drive_frequency), 0.3, name)
            _radial(axis)

    return Outcome(checks, dict(oscillations_per_cycle=counts, relative_spread=spread), draw)

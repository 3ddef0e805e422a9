"""Figs. 3.7 and 3.8: the runner's steps, and the force that they build up on the sensor.

Both show measurements; the stroke, the frequency and the way to the sensor are not in the text, so times and
ways are not
comparable. R 0.5 mm, 160 nm and 10 ms here. The force is followed with law `masing`, the same contact without
springs.
"""

import numpy as np
from matplotlib.figure import Figure

from diffmicro.devices import stickslip
from experiments.outcome import Experiment, Outcome, Said, incomparable, order, shape
from experiments.reading import SAME

RADIUS, STROKE, PERIOD = 0.5e-3, 160e-9, 0.01

SLOW = Said(
    "section 3.2.2",
    "during the slow part the runner sticks to the hemispheres and is dragged along",
)
FAST = Said(
    "section 3.2.2", "both slide against each other and an overall forward motion is achieved"
)


def figure3_7() -> Outcome:
    """Preload 1 N, no sensor: drive and runner over three periods."""
    design = stickslip.published_design(radius=RADIUS, sensor_stiffness=0.0)
    setting = stickslip.published_setting(preload=1.0, amplitude=STROKE, period=PERIOD)
    path = stickslip.simulate(design, setting, periods=4)
    time, runner, drive = (np.asarray(x) for x in (path.time, path.position, path.drive[:, 0]))
    late = (time > 3.5 * PERIOD) & (time < 3.98 * PERIOD)
    carried = float(np.polyfit(time[late], runner[late], 1)[0] * PERIOD / STROKE)
    ends = np.interp(PERIOD * np.array([2.0, 3.0]), time, runner)
    after = (time > 3.02 * PERIOD) & (time < 3.2 * PERIOD)
    line = np.polyval(np.polyfit(time[after], runner[after], 1), time[after])
    swing = float(np.ptp(runner[after] - line) / 2)
    checks = [
        order(
            SLOW,
            "speed of the runner over that of the drive in the last half of the slow part",
            f"1 within {SAME:.0%}",
            f"{carried:.4f}",
            abs(carried - 1) < SAME,
        ),
        order(
            FAST,
            "way of the runner in a period",
            "above 0, below the stroke",
            f"{1e9 * (ends[1] - ends[0]):.1f} of {1e9 * STROKE:.0f} nm",
            0 < ends[1] - ends[0] < STROKE,
        ),
        order(
            Said(
                "section 3.2.2",
                "notably, vibrations are induced after each back step of the actuator",
            ),
            "amplitude of the runner's vibration after a back step, over the stroke",
            f"above {SAME:.0%}",
            f"{swing / STROKE:.1%}",
            swing > SAME * STROKE,
        ),
    ]

    def draw(figure: Figure) -> None:
        above, below = figure.subplots(2, 1, sharex=True)
        above.plot(1e3 * time, 1e9 * drive, color="0.3", linewidth=1)
        below.plot(1e3 * time, 1e9 * runner, linewidth=0.8)
        above.set_ylabel("drive [nm]")
        below.set(xlabel="time [ms]", ylabel="runner [nm]")
        figure.align_ylabels()

    return Outcome(
        checks, {"carried": carried, "step": float(ends[1] - ends[0]), "swing": swing}, draw
    )


def figure3_8() -> Outcome:
    """Preload 0.4 N against the sensor: force period by period, and the way without it."""
    preload, count = 0.4, 400
    setting = stickslip.published_setting(
        preload=preload, amplitude=STROKE, period=PERIOD, law="masing"
    )
    free = stickslip.simulate(
        stickslip.published_design(radius=RADIUS, sensor_stiffness=0.0), setting, periods=20
    )
    path = stickslip.simulate(stickslip.published_design(radius=RADIUS), setting, periods=count)
    turns = PERIOD * np.arange(1, count + 1)
    force = np.interp(turns, np.asarray(path.time), np.asarray(path.sensor_force))
    way = np.interp(PERIOD * np.arange(5, 21), np.asarray(free.time), np.asarray(free.position))
    straight = np.polyval(np.polyfit(np.arange(len(way)), way, 1), np.arange(len(way)))
    bent = float(np.max(np.abs(way - straight)) / np.ptp(way))
    drops = float(np.max(-np.diff(force), initial=0) / force[-1])
    level = float(force[-1] / force[count // 2] - 1)
    checks = [
        shape(
            Said(
                "section 3.2.2",
                "no force is generated and the displacement rises linearly with time",
            ),
            "without sensor: way at the ends of periods against a straight line, over the way",
            f"within {SAME:.0%}",
            f"{bent:.1%}",
            bent < SAME,
        ),
        shape(
            Said("section 3.2.2", "with each step the runner takes, the force rises"),
            "largest fall of the force from period to period, over its last value",
            f"below {SAME:.0%}",
            f"{drops:.2%}",
            drops < SAME,
        ),
        shape(
            Said(
                "section 3.2.2",
                "until a static level of displacement and generated force is reached",
            ),
            f"growth of the force from period {count // 2} to {count}",
            f"below {SAME:.0%}",
            f"{level:.2%}, to {1e3 * force[-1]:.0f} mN",
            abs(level) < SAME,
        ),
        incomparable(
            Said(
                "section 3.2.2",
                "after 1.25 s at a displacement of 1.2 um the generated force increases drastically",
            ),
            "times and ways",
            "stroke, frequency and preload of the figure are not stated",
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.plot(turns, 1e3 * force)
        axes.set(xlabel="time [s]", ylabel="force on the sensor [mN]", ylim=(0, None))

    return Outcome(checks, {"time": turns, "force": force, "way": way}, draw)


EXPERIMENTS = {
    "mdr_thesis_fig3_7": Experiment("drive and runner", figure3_7),
    "mdr_thesis_fig3_8": Experiment("force on the sensor over time", figure3_8),
}

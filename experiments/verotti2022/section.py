"""Fig. 10: the flexures' section as a design variable. The source shows curves without numbers."""

import numpy as np
from matplotlib.figure import Figure

from diffmicro.devices import gripper
from experiments.outcome import Check, Outcome
from experiments.verotti2022.mechanism import UN

WIDTHS = np.linspace(10e-6, 50e-6, 9)
HEIGHTS = np.linspace(2e-6, 10e-6, 9)


def figure10() -> Outcome:
    """Closing force and stress over width and height: C E b h^3 / 12, and E h."""
    at = {}
    for model in ("linear", "partial"):
        setting = gripper.published_setting(model=model)
        rows = []
        for width, height in [(25e-6, h) for h in HEIGHTS] + [(w, 5e-6) for w in WIDTHS]:
            design = gripper.published_design(section_width=width, section_height=height)
            found = gripper.respond(design, setting, extra=("closing_force", "closing_stress"))
            rows.append([float(found.closing_force), float(found.closing_stress)])
        at[model] = np.array(rows)
    checks = []
    for model, rows in at.items():
        by_height, by_width = rows[: len(HEIGHTS)], rows[len(HEIGHTS) :]
        laws = {
            "closing force over h^3": by_height[:, 0] / HEIGHTS**3,
            "closing force over b": by_width[:, 0] / WIDTHS,
            "stress over h": by_height[:, 1] / HEIGHTS,
            "stress, any b": by_width[:, 1],
        }
        for name, numbers in laws.items():
            spread = float(np.ptp(numbers) / numbers.mean())
            checks.append(
                Check(
                    f"{model}: {name} is constant", "exactly", f"within {spread:.0e}", spread < 1e-9
                )
            )

    def draw(figure: Figure) -> None:
        left, right = figure.subplots(1, 2)
        for model, rows in at.items():
            left.plot(1e6 * HEIGHTS, UN * rows[: len(HEIGHTS), 0], label=model)
            right.plot(1e6 * WIDTHS, UN * rows[len(HEIGHTS) :, 0], label=model)
        left.set(xlabel="height [um]", ylabel="closing force [uN]")
        right.set(xlabel="width [um]", ylabel="closing force [uN]")
        left.legend(frameon=False)

    return Outcome(checks, {"height": HEIGHTS, "width": WIDTHS, **at}, draw)

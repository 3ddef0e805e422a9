"""Fig. 10: the flexures' section as a design variable. The source shows curves without numbers."""

import numpy as np
from matplotlib.figure import Figure

from diffmicro.devices import gripper
from experiments.outcome import Outcome, Said, incomparable, own
from experiments.verotti2022.mechanism import UN

WIDTHS = np.linspace(10e-6, 50e-6, 5)
HEIGHTS = np.linspace(2e-6, 10e-6, 5)
WIDTH, HEIGHT = 25e-6, 5e-6


def figure10() -> Outcome:
    """Closing force and stress over width and height: C E b h^3 / 12, and E h."""
    at = {}
    for model in ("linear", "partial"):
        setting = gripper.published_setting(model=model)
        rows = []
        for width, height in [(WIDTH, h) for h in HEIGHTS] + [(w, HEIGHT) for w in WIDTHS]:
            design = gripper.published_design(section_width=width, section_height=height)
            found = gripper.respond(design, setting, extra=("closing_force", "closing_stress"))
            rows.append([float(found.closing_force), float(found.closing_stress)])
        at[model] = np.array(rows)
    checks = [
        incomparable(
            Said(
                "section 5.2, Fig. 10",
                "to perform the cross-section optimization of the curved beams",
            ),
            "force and stress over the section",
            "the text has no numbers of the figure, and neither variable has an optimum inside",
        )
    ]
    for model, rows in at.items():
        by_height, by_width = rows[: len(HEIGHTS)], rows[len(HEIGHTS) :]
        laws = np.stack([
            by_height[:, 0] / HEIGHTS**3, by_width[:, 0] / WIDTHS, by_height[:, 1] / HEIGHTS, by_width[:, 1]
        ])  # fmt: skip
        spread = float(np.max(np.ptp(laws, axis=1) / laws.mean(axis=1)))
        checks.append(
            own(
                "scaling of a rod: F = C E b h^3/12, stress = D E h",
                f"{model}: force over b h^3 and stress over h are constant",
                "constant",
                f"within {spread:.0e}",
                spread < 1e-9,
            )
        )
    data = {"height": HEIGHTS, "width": WIDTHS, **at}
    return Outcome(checks, data, lambda figure: _draw(figure, at))


def _draw(figure: Figure, at: dict[str, np.ndarray]) -> None:
    grid = figure.subplots(2, 2, sharex="col")
    columns = ((HEIGHTS, HEIGHT, (3, 1), "height h [um]"), (WIDTHS, WIDTH, (1, 0), "width b [um]"))
    for i, (values, middle, powers, name) in enumerate(columns):
        smooth = np.linspace(values[0], values[-1], 60)
        known = int(np.argmin(np.abs(values - middle)))
        for model, rows in at.items():
            found = rows[i * len(HEIGHTS) : (i + 1) * len(HEIGHTS)]
            for j, (factor, power) in enumerate(zip((UN, 1e-6), powers, strict=True)):
                law = found[known, j] * (smooth / values[known]) ** power
                (line,) = grid[j][i].plot(1e6 * smooth, factor * law, label=model)
                grid[j][i].plot(
                    1e6 * values, factor * found[:, j], "o", color=line.get_color(), markersize=3
                )
        grid[1][i].set_xlabel(name)
    grid[0][0].set_ylabel("closing force [uN]")
    grid[1][0].set_ylabel("largest stress [MPa]")
    grid[0][0].legend(frameon=False)

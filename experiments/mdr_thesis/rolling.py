"""Figs. 3.29 and 3.30: hemispheres that turn about their centers beside hemispheres that are moved.

The thesis does not print its model of rotation. Here the surface goes through a contact area that stays
(`mechanics.rolling`). The contact radii that the section prints are judged in `mdr_thesis_table3_1`.
"""

import numpy as np
from matplotlib.figure import Figure

from experiments.mdr_thesis.drive import LARGEST, PRELOADS, draw_curve, force_axes, points
from experiments.outcome import Check, Experiment, Outcome, Said, numbers, own, shape
from experiments.reading import SAME

POINTS = 4
SPRINGS = 50
"""On half a contact, for both motions: fewer than elsewhere, since only their difference counts here."""

SHOWN = (1e-3, 0.25e-3)
"""Radii of the two figures."""


def _checks(apart: dict[float, float], share: dict[float, float]) -> list[Check]:
    """By radius: the change of force by rotation, and the largest stroke over the contact radius."""
    nothing = Said("section 3.4.6", "no change in the generated force can be detected")
    return [
        *(
            shape(
                nothing,
                f"largest change by rotation over the largest force, R {1e3 * r:g} mm",
                f"below {SAME:.0%}",
                f"{apart[r]:.2%}",
                apart[r] < SAME,
            )
            for r in SHOWN
        ),
        numbers(
            Said("section 3.4.6", "two orders larger than the maximal implemented amplitude"),
            "contact radius over largest stroke, R 0.25 mm, as a power of ten",
            "2 (within 0.5)",
            f"{-np.log10(share[0.25e-3]):.2f}",
            abs(-np.log10(share[0.25e-3]) - 2) <= 0.5,
        ),
        numbers(
            Said("section 3.4.6", "still of one order larger than the maximal amplitude"),
            "contact radius over largest stroke, R 1 mm, as a power of ten",
            "1 (within 0.5)",
            f"{-np.log10(share[1e-3]):.2f}",
            abs(-np.log10(share[1e-3]) - 1) <= 0.5,
        ),
        own(
            "the surface goes through a contact area that stays, against an area that is moved",
            "rotation changes the force by less than the share of stroke in contact radius",
            "less",
            ", ".join(f"R {1e3 * r:g} mm: {apart[r]:.2%} and {share[r]:.1%}" for r in SHOWN),
            all(apart[r] < share[r] for r in SHOWN),
        ),
    ]


def figures3_29_30() -> Outcome:
    """Force over stroke for R 1 mm and 0.25 mm, all preloads, moved and turned."""
    shares = np.linspace(0.25, 1.0, POINTS)
    cases = [
        dict(radius=r, preload=p, amplitude=a * LARGEST[r], rolling=share, springs=SPRINGS)
        for r in SHOWN
        for share in (0.0, 1.0)
        for p in PRELOADS[r]
        for a in shares
    ]
    response = points(cases)
    forces = response["force"].reshape(len(SHOWN), 2, -1, POINTS)
    smallest = response["contact_radius"].reshape(len(SHOWN), -1).min(axis=1)
    found, contacts, apart = {}, {}, {}
    for radius, both, contact in zip(SHOWN, forces, smallest, strict=True):
        moved, turned = (dict(zip(PRELOADS[radius], f, strict=True)) for f in both)
        found[radius] = shares * LARGEST[radius], moved, turned
        apart[radius] = max(
            float(np.max(np.abs(turned[p] - moved[p])) / np.max(moved[p])) for p in moved
        )
        contacts[radius] = float(contact)
    share = {r: LARGEST[r] / contacts[r] for r in SHOWN}

    def draw(figure: Figure) -> None:
        for axes, (radius, (strokes, moved, turned)) in zip(
            figure.subplots(1, 2), found.items(), strict=True
        ):
            for i, preload in enumerate(moved):
                draw_curve(axes, strokes, moved[preload], f"{preload:g} N, translation", f"C{i}-")
                axes.plot(
                    1e9 * strokes, 1e3 * turned[preload], f"C{i}x",
                    label=f"{preload:g} N, rotation", markersize=8,
                )  # fmt: skip
            force_axes(axes)
            axes.set_title(f"R {1e3 * radius:g} mm", fontsize=9)

    data = {
        f"R {1e3 * radius:g} mm": dict(stroke=strokes, translation=moved, rotation=turned)
        for radius, (strokes, moved, turned) in found.items()
    }
    return Outcome(_checks(apart, share), data, draw)


EXPERIMENTS = {
    "mdr_thesis_fig3_29": Experiment(
        "hemispheres that turn (Figs. 3.29 and 3.30)", figures3_29_30, (9.0, 3.8)
    ),
}

"""Tables 1 to 8. The paper's equations decide; the slip in its code that explains what differs is a finding of
ours.
"""

import time
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from diffmicro.devices import gripper
from diffmicro.devices.gripper.lumped import lump
from diffmicro.mechanics.linkage import flexures
from experiments.nagy2012.drawing import as_table
from experiments.outcome import Check, Outcome, Said, incomparable, number, numbers, order, own
from experiments.verotti2022 import printed
from experiments.verotti2022.mechanism import (
    MM,
    NYLON,
    SILICON,
    UN,
    at_force,
    residual_and_parts,
    with_the_slip,
)
from experiments.verotti2022.workspace import OPENING, closing_force, path

FORCE = 50.0
"""F_2y of Tables 3 to 7 [uN]."""

WRONG_SIGNS = {7: ((2, 4), (2, 5))}
"""Entries (row, column from zero) whose printed sign is wrong."""


def table1() -> Outcome:
    """Geometry: what follows from hinges, radii and angles against the printed local base vectors."""
    design, model = (
        gripper.published_design(),
        lump(gripper.published_design(), gripper.published_setting()),
    )
    all_of = flexures(model.linkage)
    starts, ends = (
        MM * np.asarray(arm * model.length) for arm in (all_of.start_arm, all_of.end_arm)
    )
    tip = MM * np.asarray(design.tip)
    rows = [
        ("s_1a", (0.6848, 0.0765), starts[0]),
        ("s_2a", (-0.8413, -0.3218), ends[0]),
        ("s_2b", (0.2139, 0.7140), starts[1]),
        ("s_3b", (0.0408, -0.5348), ends[1]),
        ("s_3c", (-0.4140, 0.3482), starts[2]),
        ("s_3EE", (-1.3571, 1.6991), tip),
        ("s_4c", (0.3342, 0.2586), ends[2]),
        ("s_4d", (-0.6000, -0.1732), starts[3]),
        ("s_1d", (0.3714, 1.6532), ends[3]),
    ]
    near = [abs(stated[k] - float(here[k])) <= 5e-5 for _, stated, here in rows for k in (0, 1)]
    checks = [
        numbers(
            Said("Table 1", "local base vectors s_1a to s_1d"),
            "components that follow from hinges, radii and angles agree to the last printed digit",
            f"all {len(near)}",
            f"{sum(near)} of {len(near)}",
            all(near),
        )
    ]
    bending = design.young * design.section_width * design.section_height**3 / 12 * UN * MM**2
    checks += [
        number(
            Said("section 5.1", "silicon bending stiffness is EI = 26.0417 [uN um^2]"),
            "EI of silicon",
            "26.0417",
            bending,
            "uN mm^2",
            note="in mm; the unit is misprinted",
        ),
        number(
            Said("section 5.1", "the nylon bending stiffness is EI = 1"),
            "EI of nylon",
            "1",
            NYLON / SILICON * bending,
            "uN mm^2",
        ),
    ]

    def draw(figure: Figure) -> None:
        cells = [[n, f"{s[0]:.4f}, {s[1]:.4f}", f"{h[0]:.4f}, {h[1]:.4f}"] for n, s, h in rows]
        as_table(figure.subplots(), ["vector", "paper [mm]", "here [mm]"], cells)

    return Outcome(checks, {name: here for name, _, here in rows}, draw)


def table2() -> Outcome:
    """Undeformed tangent."""
    tangent = _tangent(np.zeros(9))
    symmetric = float(np.abs(tangent - tangent.T).max() / np.abs(tangent).max())
    more = [
        order(
            Said("section 5.3", "the tangent stiffness matrix turns into a 9 x 9 symmetric matrix"),
            "undeformed: largest difference to the transpose, over the largest entry",
            "0",
            f"{symmetric:.1e}",
            symmetric < 1e-12,
        )
    ]
    return _compared(2, tangent, None, more)


def table3() -> Outcome:
    """Tangent under 50 uN."""
    tangent = _tangent(at_force("partial", FORCE))
    skew = float(np.abs(tangent - tangent.T).max() / np.abs(tangent).max())
    more = [
        order(
            Said("section 5.3", "K_T is no longer symmetrical in the deformed configuration"),
            "largest difference to the transpose, over the largest entry",
            "not 0",
            f"{skew:.2f}",
            skew > 1e-3,
        )
    ]
    return _deformed(3, lambda parts: sum(parts), more)


def table4() -> Outcome:
    """Change of the tangent in percent."""
    base = _tangent(np.zeros(9))
    there = np.abs(base) > 1e-9

    def percent(parts: tuple[np.ndarray, ...]) -> np.ndarray:
        return np.where(there, 100 * (sum(parts) / np.where(there, base, 1.0) - 1), 0.0)

    changed = np.abs(percent(residual_and_parts("partial", at_force("partial", FORCE))[1]))
    diagonal = float(np.diag(changed).max())
    beside = float((changed - np.diag(np.diag(changed))).max())
    more = [
        order(
            Said(
                "section 5.3",
                "relevant differences appear, especially in the off-diagonal components",
            ),
            "largest change off the diagonal against the largest on it",
            "larger",
            f"{beside:.0f} % against {diagonal:.0f} %",
            beside > diagonal,
        )
    ]
    return _deformed(4, percent, more)


def table5() -> Outcome:
    """First term under 50 uN."""
    parts = residual_and_parts("partial", at_force("partial", FORCE))[1]
    left = [float(np.linalg.norm(sum(parts) - part)) for part in parts]
    more = [
        order(
            Said("section 5.3", "the first term K^I is the closest to the final expression of K_T"),
            "distance of each term from the whole (Frobenius)",
            "smallest for the first",
            ", ".join(f"{x:.0f}" for x in left),
            left[0] == min(left),
        )
    ]
    return _deformed(5, lambda parts: parts[0], more)


def table6() -> Outcome:
    """Second term under 50 uN: the load itself."""
    second = residual_and_parts("partial", at_force("partial", FORCE))[1][1]
    entries = [(int(i) + 1, int(j) + 1) for i, j in np.argwhere(np.abs(second) > 1e-6)]
    more = [
        order(
            Said(
                "section 5.3", "only body 2, and therefore z_2, has components different from zero"
            ),
            "entries that are not zero",
            "in rows 1 to 3 alone",
            f"{entries}",
            all(i <= 3 for i, _ in entries) and entries,
        )
    ]
    return _deformed(6, lambda parts: parts[1], more)


def table7() -> Outcome:
    """Third term under 50 uN."""
    third = residual_and_parts("partial", at_force("partial", FORCE))[1][2]
    rows = sorted({int(i) + 1 for i, _ in np.argwhere(np.abs(third) > 1e-6)})
    more = [
        order(
            Said("section 5.3", "only the components of the inner moments are different from zero"),
            "rows that are not zero",
            "3, 6, 9",
            f"{rows}",
            rows == [3, 6, 9],
        )
    ]
    return _deformed(7, lambda parts: parts[2], more)


def _tangent(q: np.ndarray) -> np.ndarray:
    return np.sum(residual_and_parts("partial", q)[1], axis=0)


def _deformed(table: int, of_parts: Any, more: list[Check]) -> Outcome:
    q = at_force("partial", FORCE)
    slipped = of_parts(with_the_slip("partial", q))
    return _compared(table, of_parts(residual_and_parts("partial", q)[1]), slipped, more)


def _same(table: int, printed_ones: np.ndarray, here: np.ndarray) -> np.ndarray:
    """Which entries are the printed ones to their last digit: three figures, in Table 4 a tenth of a percent."""
    sizes = np.floor(np.log10(np.abs(printed_ones) + 1e-300))
    unit = (
        np.where(printed_ones == 0, 1e-6, 10.0**sizes / 100) if table != 4 else np.full((9, 9), 0.1)
    )
    return np.abs(here - printed_ones) <= 0.5 * unit * (1 + 1e-6) + 1e-8


def _compared(
    table: int, right: np.ndarray, slipped: np.ndarray | None, more: list[Check]
) -> Outcome:
    """Every entry to the last printed digit: by the paper's equations, and with the slip in the paper's code."""
    known = printed.matrix(getattr(printed, f"TABLE_{table}"))
    same = _same(table, known, right)
    differ = [
        f"({i + 1},{j + 1}) {right[i, j]:.5g} for {known[i, j]:g}" for i, j in np.argwhere(~same)
    ]
    checks = [
        numbers(
            Said(f"Table {table}", printed.CAPTIONS[table]),
            "entries by the paper's equations agree to the last printed digit",
            "81 of 81",
            f"{int(same.sum())} of 81" + (f"; {', '.join(differ)}" if differ else ""),
            same.all(),
        )
    ]
    data = {"printed": known, "here": right}
    if slipped is not None:
        signs = WRONG_SIGNS.get(table, ())
        corrected = known.copy()
        for i, j in signs:
            corrected[i, j] *= -1
        explained = _same(table, corrected, slipped)
        checks.append(
            own(
                "J_d with -1 instead of -A_4^T in the translations of body 4, a slip of the paper's code",
                "entries agree to the last printed digit" + (", two signs turned" if signs else ""),
                "81 of 81",
                f"{int(explained.sum())} of 81",
                explained.all(),
            )
        )
        data["with_the_slip"] = slipped
    rows = [
        [
            str(i + 1),
            *(
                _word(v) + ("" if same[i, j] else f" ({_word(right[i, j])})")
                for j, v in enumerate(row)
            ),
        ]
        for i, row in enumerate(known)
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        as_table(axes, ["", *(str(k + 1) for k in range(9))], rows)
        unit = "percent" if table == 4 else "uN/mm, uN and uN mm"
        axes.set_title(
            f"Table {table} as printed [{unit}]; in brackets where here differs", fontsize=9
        )

    return Outcome([*checks, *more], data, draw)


def _word(value: float) -> str:
    """Three figures as the paper prints them, without powers of ten; what is empty there is 0."""
    return f"{value:.3g}" if abs(value) < 999.5 else f"{float(f'{value:.3g}'):.0f}"


def table8() -> Outcome:
    """Seconds for 241 states of opening and of closing, compiled."""
    seconds = {}
    for model in ("exact", "linear", "partial"):
        ends = {"opening": OPENING, "closing": closing_force(model)}
        for name, last in ends.items():
            path(model, 0.0, last)
            began = time.perf_counter()
            np.asarray(path(model, 0.0, last).tip)
            seconds[f"{model}, {name}"] = time.perf_counter() - began
    stated = {
        "exact, opening": 41.0, "exact, closing": 50.0, "linear, opening": 0.15,
        "linear, closing": 0.10, "partial, opening": 0.15, "partial, closing": 0.15,
    }  # fmt: skip
    fastest, slowest = (f(seconds.values()) for f in (min, max))
    checks = [
        incomparable(
            Said(
                "section 5.3, Table 8",
                "the simplified methods are from 30 to 500 times faster than Adams",
            ),
            "computing times",
            f"they belong to Adams, MATLAB and their workstation; here {1e3 * fastest:.0f} to "
            f"{1e3 * slowest:.0f} ms for 241 states of any model",
        ),
        incomparable(
            Said(
                "section 5.3",
                "the simulation time for nylon is ten times faster than silicon for Adams",
            ),
            "nylon against silicon",
            "here the modulus only scales the force, and both take the same steps",
        ),
    ]

    def draw(figure: Figure) -> None:
        rows = [
            [
                name,
                f"{paper:g} ({'Adams' if 'exact' in name else 'MATLAB'})",
                f"{seconds[name]:.3g}",
            ]
            for name, paper in stated.items()
        ]
        as_table(figure.subplots(), ["model, movement", "paper [s]", "here [s], 241 states"], rows)

    return Outcome(checks, {"seconds": seconds}, draw)

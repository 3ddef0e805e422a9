"""Tables 1 to 8. Entries that the paper's code had wrong are calculated both ways: as printed, and right."""

import time
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from diffmicro.devices import gripper
from diffmicro.devices.gripper.lumped import lump
from diffmicro.mechanics.linkage import flexures
from experiments.nagy2012.drawing import as_table
from experiments.outcome import Check, Outcome, near
from experiments.verotti2022 import printed
from experiments.verotti2022.mechanism import MM, UN, at_force, residual_and_parts, with_the_slip
from experiments.verotti2022.workspace import OPENING, closing_force

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
    checks = [
        near(f"{name} {axis}", stated[k], float(here[k]), 6e-5, "mm")
        for name, stated, here in rows
        for k, axis in enumerate("xy")
    ]
    bending = design.young * design.section_width * design.section_height**3 / 12 * UN * MM**2
    checks.append(near("EI", 26.0417, float(bending), 5e-5, "uN mm^2 (printed as uN um^2)"))

    def draw(figure: Figure) -> None:
        cells = [[n, f"{s[0]:.4f}, {s[1]:.4f}", f"{h[0]:.4f}, {h[1]:.4f}"] for n, s, h in rows]
        as_table(figure.subplots(), ["vector", "paper [mm]", "here [mm]"], cells)

    return Outcome(checks, {name: here for name, _, here in rows}, draw)


def table2() -> Outcome:
    """Undeformed tangent."""
    _, parts = residual_and_parts("partial", np.zeros(9))
    return _compared(2, parts[0] + parts[1] + parts[2], None)


def table3() -> Outcome:
    """Tangent under 50 uN."""
    return _deformed(3, lambda parts: sum(parts))


def table4() -> Outcome:
    """Change of the tangent in percent."""
    _, rest = residual_and_parts("partial", np.zeros(9))
    base = sum(rest)
    there = np.abs(base) > 1e-9

    def percent(parts: tuple[np.ndarray, ...]) -> np.ndarray:
        return np.where(there, 100 * (sum(parts) / np.where(there, base, 1.0) - 1), 0.0)

    return _deformed(4, percent)


def table5() -> Outcome:
    """First term under 50 uN."""
    return _deformed(5, lambda parts: parts[0])


def table6() -> Outcome:
    """Second term under 50 uN: the load itself."""
    return _deformed(6, lambda parts: parts[1])


def table7() -> Outcome:
    """Third term under 50 uN."""
    return _deformed(7, lambda parts: parts[2])


def _deformed(number, of_parts) -> Outcome:
    q = at_force("partial", FORCE)
    right = of_parts(residual_and_parts("partial", q)[1])
    return _compared(number, of_parts(with_the_slip("partial", q)), right)


def _compared(number: int, here: np.ndarray, right: np.ndarray | None) -> Outcome:
    """Every entry to the last printed digit; the right number beside those that were printed wrong."""
    table = printed.matrix(getattr(printed, f"TABLE_{number}"))
    if number == 4:
        unit = np.full((9, 9), 0.1)
    else:
        unit = np.where(table == 0, 1e-6, 10.0 ** np.floor(np.log10(np.abs(table) + 1e-300)) / 100)
    same = np.abs(here - table) <= 0.5 * unit * (1 + 1e-6) + 1e-8
    signs = WRONG_SIGNS.get(number, ())
    flipped = [(i, j) for i, j in zip(*np.nonzero(~same), strict=True)]
    expected = all(abs(here[i, j] + table[i, j]) <= 0.5 * unit[i, j] for i, j in signs)
    checks = [
        Check(
            "entries agree to the last printed digit"
            + (", with the paper's slip in J_d" if right is not None else ""),
            f"{81 - len(signs)} of 81" + (" (two signs are misprints)" if signs else ""),
            f"{int(same.sum())} of 81",
            flipped == list(signs) and expected,
        )
    ]
    data = {"printed": table, "with_the_slip": here}
    cells = [[_word(v) for v in row] for row in table]
    if right is not None:
        data["right"] = right
        changed = np.abs(right - here) > 1e-6
        checks.append(
            Check(
                "entries that the slip changes",
                "in rows 7 to 9 and columns 7 and 8",
                ", ".join(
                    f"({i + 1},{j + 1}) {right[i, j]:.5g} instead of {here[i, j]:.5g}"
                    for i, j in zip(*np.nonzero(changed), strict=True)
                )
                or "none",
                bool(
                    not changed[:6].any() and not changed[:, :6].any() and not changed[:, 8].any()
                ),
            )
        )
        for i, j in zip(*np.nonzero(changed), strict=True):
            cells[i][j] += f" ({_word(right[i, j])})"

    def draw(figure: Figure) -> None:
        as_table(figure.subplots(), [str(k + 1) for k in range(9)], cells)

    return Outcome(checks, data, draw)


def _word(value: Any) -> str:
    return f"{value:.3g}" if value else ""


def table8() -> Outcome:
    """Seconds for opening and closing in steps of 1 uN, in one compiled call each."""
    rows, seconds = [], {}
    for model in ("exact", "linear", "partial"):
        closing = closing_force(model)
        ends = {"opening": OPENING, "closing": closing}
        for name, last in ends.items():
            forces = np.linspace(0.0, last, round(abs(last) * UN) + 1)
            setting = gripper.published_setting(model=model)

            def call(forces=forces, setting=setting):
                path = gripper.simulate(gripper.published_design(), setting, forces=forces)
                return np.asarray(path.tip)

            call()
            began = time.perf_counter()
            call()
            seconds[f"{model}, {name}"] = time.perf_counter() - began
    stated = {
        "exact, opening": 41.0, "exact, closing": 50.0, "linear, opening": 0.15,
        "linear, closing": 0.10, "partial, opening": 0.15, "partial, closing": 0.15,
    }  # fmt: skip
    checks = []
    for name, paper in stated.items():
        tool = "Adams" if name.startswith("exact") else "MATLAB"
        rows.append([name, f"{paper:g} ({tool})", f"{seconds[name]:.3g}"])
        checks.append(
            Check(
                f"{name}: no slower than the paper's program",
                f"{paper:g} s in {tool}",
                f"{seconds[name]:.3g} s",
                seconds[name] < paper,
            )
        )

    def draw(figure: Figure) -> None:
        as_table(figure.subplots(), ["model, movement", "paper [s]", "here [s]"], rows)

    return Outcome(checks, {"seconds": seconds}, draw)

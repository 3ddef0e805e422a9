"""Figure of an identification: data and model, residuals, and the profile of each parameter.

The model is drawn over the key with most values, a line for each combination of the others, only where there
are data. A profile is the signed root of the cost's rise: a straight line where the linearized interval is
right."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from diffmicro._device import Device
from diffmicro.identification.result import Estimate, Identified
from diffmicro.identification.upcoming import Next
from diffmicro.parameters import Value
from diffmicro.plot.measured import MOST_LINES, along_of, column_of, series, unit_of
from diffmicro.units import Shown, readable_unit

MODEL, DATA, OUT = "#1f4e79", "black", "#c44e00"


def identification_figure(found: Identified, upcoming: Next | None = None) -> Figure:
    """The figure; `upcoming`: the next measurement is marked, and the gain of others drawn."""
    if found.ended is None:
        raise ValueError("identification_figure: nothing was identified.")
    data = found.question.model.data
    count, p = len(data.values), len(found.parameters)
    panels = p + (upcoming is not None and len(upcoming.keys) == 1)
    columns = min(max(panels, 1), 4)
    rows = math.ceil(panels / columns)
    figure = Figure(figsize=(9.0, 4.6 * count + 2.5 * rows), layout="constrained", dpi=150)
    FigureCanvasAgg(figure)
    parts = np.asarray(figure.subfigures(2, 1, height_ratios=[4.6 * count, 2.5 * rows]))
    grid = parts[0].subplots(
        2 * count, 1, sharex=True, squeeze=False, height_ratios=[3, 1.2] * count
    )[:, 0]
    for i, name in enumerate(data.values):
        _fit(grid[2 * i], grid[2 * i + 1], found, i, name, upcoming)
    along = along_of(data)
    grid[-1].set_xlabel(_label(found.question.model.device, along, column_of(data, along)))
    small = parts[1].subplots(rows, columns, squeeze=False).ravel()
    for axes, (key, each) in zip(small, found.parameters.items(), strict=False):
        _profile(axes, key, each)
    if panels > p and upcoming is not None:
        _gains(small[p], found.question.model.device, upcoming)
    for axes in small[panels:]:
        axes.remove()
    return figure


def _fit(
    axes: Axes, below: Axes, found: Identified, i: int, name: str, upcoming: Next | None
) -> None:
    """Data, model and residuals of one response."""
    assert found.ended is not None
    model, data = found.question.model, found.question.model.data
    along = along_of(data)
    x, at = _shown(model.device, along, column_of(data, along))
    finite = np.abs(data.values[name])
    shown = readable_unit(float(finite.max()), unit_of(model.device, name))
    value = found.ended.looks.value[:, i] * shown.factor
    measured, error = data.values[name] * shown.factor, found.sigma[:, i] * shown.factor
    used = found.used[:, i]
    lines = series(data, along)
    for number, (label, rows) in enumerate(lines.items()):
        color = MODEL if len(lines) == 1 else f"C{number % 10}"
        style: dict[str, Value] = dict(color=color, linewidth=1.3, marker=".", markersize=3)
        own = label if len(lines) <= MOST_LINES else None
        axes.plot(x[rows], value[rows], label=f"model {own or ''}".strip(), **style)
        part = rows[used[rows]]
        points: dict[str, Value] = dict(
            fmt="o", color=DATA if len(lines) == 1 else color, markersize=4
        )
        points |= dict(elinewidth=0.9, markerfacecolor="white", linestyle="none")
        axes.errorbar(x[part], measured[part], error[part], **points)
        below.plot(x[part], found.residuals[part, i], "o", color=points["color"], markersize=3.5)
    axes.errorbar(
        [], [], [], fmt="o", color=DATA, markersize=4, markerfacecolor="white", label="data"
    )
    if not used.all():
        axes.plot(
            x[~used], measured[~used], "x", color=OUT, label=f"left out ({int((~used).sum())})"
        )
    if upcoming is not None and along in upcoming.at:
        place = upcoming.at[along] * at.factor
        axes.axvline(place, color=OUT, linewidth=1, linestyle=":", label="measure next")
    label = name.replace("_", " ") + (f" [{shown.unit}]" if shown.unit else "")
    axes.set_ylabel(label)
    axes.legend(frameon=False, fontsize=8, loc="best")
    below.axhline(0, color="black", linewidth=0.8)
    for level in (-2, 2):
        below.axhline(level, color="0.6", linewidth=0.8, linestyle="--")
    reach = np.nanmax(np.abs(np.where(found.used[:, i], found.residuals[:, i], 0)))
    below.set(
        ylabel="residual\n[std. errors]", ylim=(-1.15 * max(reach, 2.4), 1.15 * max(reach, 2.4))
    )


def _profile(axes: Axes, key: str, each: Estimate) -> None:
    """The root of the cost's rise over a parameter, with its linearization and its interval."""
    curve = np.array(each.curve)
    at = readable_unit(max(abs(each.low), abs(each.high), abs(each.value)), each.unit)
    if len(curve) > 1:
        axes.plot(curve[:, 0] * at.factor, curve[:, 1], ".-", color=MODEL, label="profile")
    ends = np.clip(np.array([each.low, each.high]), *each.range)
    if np.isfinite(each.error):
        line = np.array([ends[0], each.value, ends[1]])
        rise = np.abs(line - each.value) / each.error
        axes.plot(line * at.factor, rise, "--", color="0.5", linewidth=1, label="linearized")
    for end, ending in zip(ends, each.endings, strict=True):
        axes.axvline(
            end * at.factor,
            color=OUT,
            linewidth=1,
            linestyle="-" if ending in ("found", "part") else ":",
        )
    axes.axvline(each.value * at.factor, color="black", linewidth=0.8)
    axes.set_xlabel(key.replace("_", " ") + (f" [{at.unit}]" if at.unit else ""))
    axes.set_ylabel("root of the rise")
    axes.set_ylim(0, max(2.2, 1.1 * max((z for _, z in each.curve), default=0.0)))
    axes.locator_params(axis="x", nbins=4)
    known = "" if each.identified else "not identified"
    axes.set_title(known, fontsize=8, color=OUT)
    axes.legend(frameon=False, fontsize=7, loc="upper center")


def _gains(axes: Axes, device: Device, upcoming: Next) -> None:
    """How much the volume of the parameters would shrink, over the candidates."""
    (key,) = upcoming.keys
    values = np.array([at[0] for at, _ in upcoming.curve])
    x, at = _shown(device, key, values)
    axes.plot(x, [gain for _, gain in upcoming.curve], ".-", color=MODEL, markersize=3)
    axes.axvline(upcoming.at[key] * at.factor, color=OUT, linewidth=1, linestyle=":")
    axes.set_xlabel(_label(device, key, values))
    axes.set_ylabel("volume shrinks by")
    axes.locator_params(axis="x", nbins=4)


def _shown(device: Device, key: str, values: np.ndarray) -> tuple[np.ndarray, Shown]:
    if values.dtype == object:
        words = list(dict.fromkeys(values))
        return np.array([words.index(word) for word in values], float), Shown(1.0, "")
    at = readable_unit(float(np.max(np.abs(values))), unit_of(device, key))
    return values * at.factor, at


def _label(device: Device, key: str, values: np.ndarray) -> str:
    _, at = _shown(device, key, values)
    return key.replace("_", " ") + (f" [{at.unit}]" if at.unit else "")

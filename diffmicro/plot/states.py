"""The picture of a device that has none of its own: its states over time, with a line that moves along.

One panel for each quantity of the trajectory that `simulate` gives: numbers as curves in SI units, flags and
directions of sliding as steps. A device that carries states is shown in its steady motion, over one period of it;
any other from its start.
"""

from collections.abc import Callable, Sequence
from inspect import signature
from typing import NamedTuple

import jax
import numpy as np
from jax import Array
from jaxtyping import PyTree
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from diffmicro._device import Device
from diffmicro.devices import is_own
from diffmicro.parameters import Fields, entry_of, units_of_fields
from diffmicro.results import code, from_code, message, word
from diffmicro.sweep.grids import batches
from diffmicro.sweep.lanes import calculate_one, lane_function
from diffmicro.units import readable_unit

MOST_PANELS = 8
"""Quantities that are drawn; those after them are left out."""

MOST_ENTRIES = 4
"""Of a vector whose entries are curves."""


def animation(
    device: Device, design: PyTree, setting: PyTree, frames: int
) -> tuple[Figure, Callable[[int], None], int]:
    """Figure, function that draws a frame, number of frames."""
    motion = traces(device, design, setting)
    time = motion.shown(motion.axis)[0]
    figure = plot_motion(motion, device.title)
    marks = [axes.axvline(time[0], color="#c44e00", linewidth=1.2) for axes in figure.axes]
    at = np.linspace(time[0], time[-1], frames)

    def draw(i: int) -> None:
        for mark in marks:
            mark.set_xdata([at[i], at[i]])

    return figure, draw, frames


def plot_motion(motion: "Traces", title: str = "", names: Sequence[str] = ()) -> Figure:
    """A panel for each quantity over time. names: of the quantities; the first ones if none is given."""
    names = list(names) or list(motion.columns)[:MOST_PANELS]
    time, time_label = motion.shown(motion.axis)
    figure = Figure(figsize=(6.4, 1.0 + 1.15 * len(names)), layout="constrained", dpi=100)
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for name, axes in zip(names, panels, strict=True):
        _draw(axes, time, *motion.shown(name))
    figure.suptitle(title, fontsize=9)
    panels[-1].set_xlabel(time_label)
    panels[-1].set_xlim(time[0], time[-1])
    return figure


class Traces(NamedTuple):
    """A motion as curves over one quantity, its time where it has one.

    axis: name of that quantity; values: of it; columns: the others by name [SI, units by name; none for flags].
    """

    axis: str
    values: np.ndarray
    columns: dict[str, np.ndarray]
    units: dict[str, str]

    def values_of(self, name: str) -> np.ndarray:
        """Of a quantity; ValueError with those that there are for another name."""
        if name == self.axis:
            return self.values
        if name not in self.columns:
            known = ", ".join((self.axis, *self.columns))
            raise ValueError(f"{name!r} is no quantity of this motion; these are: {known}.")
        return self.columns[name]

    def part(self, first: float, last: float) -> "Traces":
        """From one value of the axis to another."""
        inside = (self.values >= first) & (self.values <= last)
        columns = {name: column[inside] for name, column in self.columns.items()}
        return self._replace(values=self.values[inside], columns=columns)

    def also(self, name: str, values: np.ndarray, unit: str) -> "Traces":
        """With one more quantity, made of the others."""
        columns, units = self.columns | {name: values}, self.units | {name: unit}
        return self._replace(columns=columns, units=units)

    def shown(self, name: str) -> tuple[np.ndarray, str]:
        """The values in a unit that reads well, and the name with it."""
        values = self.values_of(name)
        if name not in self.units:
            return values, name
        finite = np.abs(values[np.isfinite(values)])
        unit = readable_unit(float(finite.max(initial=0.0)), self.units[name])
        return unit.factor * values, f"{name} [{unit.unit}]" if unit.unit else name

    def flag(self, name: str) -> bool:
        """Whether a quantity is true or false, or a small whole number."""
        return name not in self.units and is_flag(self.columns[name])


def is_flag(values: np.ndarray) -> bool:
    """Whether all values are true or false, or small whole numbers."""
    return values.dtype == bool or set(np.unique(values)) <= {-1.0, 0.0, 1.0, 2.0, 3.0}


def traces(device: Device, design: Fields, setting: Fields, response: PyTree = None) -> Traces:
    """What `simulate` gives, as curves, one for each entry of short vectors. response: of this point, if known."""
    return traces_of(_trajectory(device, design, setting, response))


def traces_of(path: PyTree) -> Traces:
    """The same of a trajectory that `simulate` gave."""
    named = {
        n: np.asarray(x) for n, x in path._asdict().items() if isinstance(x, Array | np.ndarray)
    }
    axis = "time" if "time" in named else next(iter(named))
    values = named.pop(axis)
    last = int(np.argmax(values >= values.max())) if axis == "time" else len(values) - 1
    columns: dict[str, np.ndarray] = {}  # what follows the last time repeats the end
    for name, column in named.items():
        if column.shape == values.shape:
            columns[name] = column[: last + 1]
        elif column.ndim == 2 and len(column) == len(values) and column.shape[1] <= MOST_ENTRIES:
            columns |= {f"{name}[{i}]": column[: last + 1, i] for i in range(column.shape[1])}
    known = units_of_fields(type(path))
    fields = {name: entry_of(name)[0] for name in (axis, *columns)}
    units = {name: known[field] for name, field in fields.items() if field in known}
    return Traces(axis, values[: last + 1], columns, units)


def settled(device: Device, design: Fields, setting: Fields) -> PyTree:
    """The response at one point, as `diffmicro evaluate` calculates it: by the program that is soonest there."""
    (batch,) = batches([(design, setting)])
    name = f"{device.name} () () []" if is_own(device) else None
    lone = dict(device.lone)
    found = calculate_one(lane_function(device.respond), batch, lone=lone, name=name)
    return jax.tree.map(lambda x: x[0], found.output)


class NoMotion(ValueError):
    """A motion without values. The message says how its calculation ended."""


def moving(
    device: Device, path: PyTree, design: Fields, setting: Fields, response: PyTree = None
) -> PyTree:
    """The path that `simulate` gave; `NoMotion` where a number in it is none.

    response: of this point, if it is known.
    """
    if all(np.all(np.isfinite(x)) for x in jax.tree.leaves(path)):
        return path
    raise _no_motion(device, settled(device, design, setting) if response is None else response)


def _no_motion(device: Device, response: PyTree) -> NoMotion:
    """How it ended, or that the motion has no numbers although the responses have."""
    text = "Its motion cannot be followed to the end. Try values nearer to the defaults."
    if word(response.result) != "ok":
        text = f"{word(response.result)}. {message(from_code(code(response.result)))}"
    return NoMotion(f"{device.name}: {text} There is nothing to draw.")


def _trajectory(device: Device, design: Fields, setting: Fields, response: PyTree) -> PyTree:
    """The motion, as `simulate` gives it."""
    if device.simulate is None:
        raise ValueError(
            f"{device.name} has no `simulate`, so there is no motion to draw. Give its Device one, or an "
            "`animation` of its own."
        )
    if not device.carries:
        return moving(device, device.simulate(design, setting), design, setting, response)
    if response is None:
        response = settled(device, design, setting)
    if not all(np.all(np.isfinite(x)) for x in jax.tree.leaves(response.state)):
        raise _no_motion(device, response)
    periods = {}
    if "periods" in signature(device.simulate).parameters:
        periods["periods"] = max(int(response.period_multiple), 1)
    path = device.simulate(design, setting, start=response.state, **periods)
    return moving(device, path, design, setting, response)


def _draw(axes: Axes, time: np.ndarray, values: np.ndarray, label: str) -> None:
    axes.set_ylabel(
        label.replace("_", "\n").replace(" [", "\n["),
        rotation=0,
        ha="right",
        va="center",
        fontsize=8,
    )
    axes.tick_params(labelsize=7)
    axes.grid(color="0.93")
    if is_flag(values):
        numbers = values.astype(float)
        axes.step(time, numbers, where="post", color="0.35", linewidth=1.0)
        axes.set_ylim(min(numbers.min(), 0) - 0.2, max(numbers.max(), 1) + 0.2)
        return
    axes.plot(time, values, color="#4878a8", linewidth=1.3)
    axes.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3), useMathText=True)
    axes.yaxis.get_offset_text().set_fontsize(7)

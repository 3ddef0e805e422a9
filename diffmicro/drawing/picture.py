"""The drawing of a geometry: seen from above and from the front, dimensions by name, layers, a scale bar.

One pair of axes covers the figure and counts inches, so that nothing depends on what a figure's layout decides:
the views are scaled into it, dimensions along x stand in rows below their view, those along z or y in columns to
the right of it. Dimensions that lean or turn, and those whose text is longer than their arrow, have their text in
a list on the right, with a line to it.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jax.typing import ArrayLike
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Polygon
from matplotlib.path import Path as Outline

from diffmicro.parameters import Value
from diffmicro.shapes import FRONT, PLAN, Angle, Geometry, Layer, Length, Plate, Turned
from diffmicro.units import readable, readable_unit, round_below

SIZE = 6.4
"""Longer side of the larger view [inches]."""

ROW, COLUMN, MARGIN, LETTER = 0.30, 0.32, 0.35, 0.068
"""Room of a row and of a column of dimensions, around everything, and of a letter [inches]."""

HIGHEST = 100.0
"""Of a sheet [inches]."""

CHORD = 3e-4
"""Distance of drawn polygons from their arcs [inches]."""

FLAT = 0.35
"""A front view that would be lower than this is drawn stretched [inches]."""

FILLS = ("#9fb8cc", "#e3b778", "#b9a5cf", "#a9c79b", "#d99a9a", "#93c5c5", "#c9c9a0", "#c0c0c0")
DIMENSION, LEADER, MARK = "#8a1c1c", "0.55", "#5b1a8b"


class View(NamedTuple):
    """One view: polygons with their layer [m], and where it lies on the sheet.

    low, high: corners of what it shows [m]. scale: inches per meter along both axes. at: its lower left [inches].
    """

    name: str
    shapes: list[tuple[np.ndarray, list[np.ndarray], Layer]]
    low: np.ndarray
    high: np.ndarray
    scale: np.ndarray
    at: np.ndarray

    def place(self, point: ArrayLike) -> np.ndarray:
        """Inches on the sheet of a point (x, y, z) in space."""
        return self.at + (flattened(point, self.name) - self.low) * self.scale

    @property
    def size(self) -> np.ndarray:
        """Width and height on the sheet [inches]."""
        return (self.high - self.low) * self.scale


def drawing(geometry: Geometry, title: str = "") -> Figure:
    """The figure."""
    views = _arranged(geometry)
    lengths = [d for d in geometry.dimensions if isinstance(d, Length)]
    rows = {v.name: _straight(lengths, v, 0) for v in views}
    columns = {v.name: _straight(lengths, v, 1) for v in views}
    bottom, placed = MARGIN + 0.6 + 0.17 * len(geometry.notes), []
    low = bottom + 0.1
    for view in reversed(views):  # the plan on top
        low += ROW * len(rows[view.name]) + 0.1
        placed.insert(0, view._replace(at=np.array([MARGIN, low])))
        low += view.size[1] + 0.42
    wide = max(v.size[0] + COLUMN * len(columns[v.name]) for v in placed) + MARGIN + 0.2
    notes = _listed(geometry, placed, columns)
    right = max((len(note.text) for note in notes), default=0) * LETTER + 0.45
    low = max(low, bottom + 0.19 * len(notes) + 0.4)
    width = max(wide + right, LETTER * max(map(len, [title, *geometry.notes])) + 2 * MARGIN)
    if low > HIGHEST:
        raise ValueError(
            f"{title}: seen from the front, it is {low / SIZE:.3g} times as high as it is long or wide, and no "
            "sheet shows that. Look at its heights; a mask (.gds, .dxf) or a solid (.stl) can be written."
        )
    figure = Figure(figsize=(width, low + 0.2), dpi=150)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0, width), ylim=(0, low + 0.2))
    axes.axis("off")
    axes.text(MARGIN, low, title, fontsize=9, va="center", weight="bold")
    for view in placed:
        _draw_view(axes, view, geometry)
        for number, dimension in enumerate(rows[view.name]):
            _draw_row(axes, view, dimension, number)
        for number, dimension in enumerate(columns[view.name]):
            _draw_column(axes, view, dimension, number)
    for dimension in geometry.dimensions:
        if not _is_straight(dimension, placed):
            _draw_in_place(axes, placed, dimension)
    _draw_notes(axes, notes, wide, (bottom, low - 0.3))
    _draw_bottom(axes, placed[0], geometry, width)
    return figure


def outlines(geometry: Geometry) -> list[np.ndarray]:
    """The edges of all bodies from above, closed polygons (points, 2) [m]."""
    return [outer for outer, _, _ in _shapes(geometry, PLAN, 1e-3 * _extent(geometry))]


Dimension = Length | Angle


class Note(NamedTuple):
    """A text of the list on the right, and where its line leads."""

    text: str
    anchor: np.ndarray


def _listed(
    geometry: Geometry, views: Sequence[View], columns: Mapping[str, Sequence[Length]]
) -> list[Note]:
    """Dimensions whose text has no place at their arrow, the highest first."""
    found = []
    for view in views:
        for number, dimension in enumerate(columns[view.name]):
            first, last = _column_ends(view, dimension, number)
            if not _fits(dimension, last[1] - first[1]):
                found.append(Note(_text(dimension), (first + last) / 2))
    for dimension in geometry.dimensions:
        if not _is_straight(dimension, views):
            found.append(Note(_text(dimension), _in_place(views, dimension)[-1]))
    return sorted(found, key=lambda note: -note.anchor[1])


def _fits(dimension: Dimension, room: float) -> bool:
    """Whether a dimension's text is shorter than its arrow."""
    return abs(room) > len(_text(dimension)) * LETTER + 0.25


def flattened(point: ArrayLike, view: str) -> np.ndarray:
    """The two coordinates of a point in space that a view shows."""
    point = np.asarray(point, float)
    return point[:2] if view == PLAN else point[[0, 2]]


def _arranged(geometry: Geometry) -> list[View]:
    """The views that are shown, not yet placed: the plan, and the front where a dimension is there."""
    names = [PLAN]
    if any(d.view == FRONT for d in geometry.dimensions):
        names.append(FRONT)
    views = []
    for name in names:
        coarse = _shapes(geometry, name, 1e-2 * _extent(geometry))
        every = np.concatenate([outer for outer, _, _ in coarse])
        low, high = every.min(0), every.max(0)
        scale = views[0].scale if views else np.full(2, SIZE / float(np.max(high - low)))
        scale = _stretched(scale, high - low, geometry) if name == FRONT else scale
        shapes = _shapes(geometry, name, CHORD / float(scale.min()))
        views.append(View(name, shapes, low, high, scale, np.zeros(2)))
    return views


def _extent(geometry: Geometry) -> float:
    points = [np.asarray(p.outline.points, float) for p in geometry.plates]
    points += [
        np.asarray(b.profile.points, float) for b in geometry.bodies if isinstance(b, Turned)
    ]
    return max(float(np.ptp(p, axis=0).max()) for p in points)


def _stretched(scale: np.ndarray, size: np.ndarray, geometry: Geometry) -> np.ndarray:
    """The front view's scale: higher along z where it would be a line; spheres stay round."""
    height = size[1] * scale[1]
    if height >= FLAT or any(isinstance(b, Turned) for b in geometry.bodies):
        return scale
    return scale * np.array([1.0, 1 / round_below(height / FLAT)])


def _shapes(geometry: Geometry, view: str, chord: float) -> list[tuple]:
    """Polygons of all bodies with their holes, what lies higher (or in front) later."""
    found = []
    for body in geometry.bodies:
        if isinstance(body, Plate):
            outer, holes = body.outline.polygon(chord), [h.polygon(chord) for h in body.holes]
            low, high = float(body.bottom), float(body.top)
            if view == FRONT:
                left, right = outer[:, 0].min(), outer[:, 0].max()
                outer, holes = (
                    np.array([[left, low], [right, low], [right, high], [left, high]]),
                    [],
                )
            rank = high if view == PLAN else -float(np.asarray(body.outline.points)[:, 1].min())
        else:
            profile, center = body.profile.polygon(chord), np.asarray(body.center, float)
            if view == PLAN:
                turns = np.linspace(0, 2 * np.pi, 181)[:-1]
                outer = center + profile[:, 0].max() * np.stack([np.cos(turns), np.sin(turns)], 1)
            else:
                half = profile + [center[0], 0.0]
                outer = np.concatenate([half, (profile * [-1, 1] + [center[0], 0.0])[::-1]])
            holes, rank = [], profile[:, 1].max() if view == PLAN else -center[1]
        found.append((rank, (outer, holes, body.layer)))
    return [shape for _, shape in sorted(found, key=lambda pair: pair[0])]


def _is_straight(dimension: Dimension, views: Sequence[View]) -> bool:
    return isinstance(dimension, Length) and any(
        dimension in _straight([dimension], view, axis) for view in views for axis in (0, 1)
    )


def _straight(lengths: Sequence[Length], view: View, axis: int) -> list[Length]:
    """The dimensions of a view along one axis, the shortest first."""
    found = []
    for dimension in lengths:
        if dimension.view != view.name or dimension.of_radius:
            continue
        way = np.abs(flattened(dimension.end, view.name) - flattened(dimension.start, view.name))
        if way[1 - axis] <= 1e-6 * way[axis]:
            found.append(dimension)
    return sorted(found, key=lambda d: float(d.value()))


def _draw_view(axes: Axes, view: View, geometry: Geometry) -> None:
    numbers = [layer.number for layer in geometry.layers]
    for outer, holes, layer in view.shapes:
        fill = FILLS[numbers.index(layer.number) % len(FILLS)]
        rings = [view.at + (ring - view.low) * view.scale for ring in (outer, *holes)]
        codes = [
            [Outline.MOVETO, *[Outline.LINETO] * (len(r) - 1), Outline.CLOSEPOLY] for r in rings
        ]
        closed = np.concatenate([np.concatenate([ring, ring[:1]]) for ring in rings])
        patch = Outline(closed, np.concatenate(codes))
        alpha = 0.85 if view.name == PLAN else 1.0
        axes.add_patch(
            PathPatch(patch, facecolor=fill, edgecolor="0.2", linewidth=0.5, alpha=alpha)
        )
        hidden = dict(facecolor="none", edgecolor="0.35", linewidth=0.4, linestyle=(0, (5, 4)))
        axes.add_patch(PathPatch(patch, zorder=1.5, **hidden))
    top = view.at[1] + view.size[1] + 0.16
    across, up = geometry.axes[0], geometry.axes[1 if view.name == PLAN else 2]
    text = f"{view.name}: {across} to the right" + ("" if up == "up" else f", {up} upward")
    stretch = view.scale[1] / view.scale[0]
    text += f"; heights {stretch:g} times" if stretch > 1.001 else ""
    axes.text(view.at[0], top, text, fontsize=7.5, color="0.35", va="center")
    if view.name == PLAN:
        for arrow in geometry.arrows:
            start, end = view.place(arrow.start), view.place(arrow.end)
            look = dict(arrowstyle="-|>", color=MARK, linewidth=1.6, shrinkA=0, shrinkB=0)
            _point_to(axes, end, start, look)
            axes.text(end[0] + 0.05, end[1] + 0.09, arrow.name, color=MARK, fontsize=8, va="bottom")


def _point_to(axes: Axes, tip: np.ndarray, tail: np.ndarray, look: dict[str, Value]) -> None:
    axes.annotate("", (tip[0], tip[1]), (tail[0], tail[1]), arrowprops=look)


def _arrow(axes: Axes, start: np.ndarray, end: np.ndarray) -> None:
    """An arrow with two heads; for a short one the heads stand outside."""
    way = end - start
    length = float(np.hypot(*way))
    look = dict(color=DIMENSION, linewidth=0.8, shrinkA=0, shrinkB=0, mutation_scale=7)
    if length > 0.22:
        _point_to(axes, end, start, look | dict(arrowstyle="<|-|>"))
        return
    unit = way / length if length else np.array([1.0, 0.0])
    for tip, side in ((start, -1), (end, 1)):
        _point_to(axes, tip, tip + side * 0.2 * unit, look | dict(arrowstyle="-|>"))


def _draw_row(axes: Axes, view: View, dimension: Length, number: int) -> None:
    """A dimension along x, below its view."""
    start, end = view.place(dimension.start), view.place(dimension.end)
    y = view.at[1] - ROW * (number + 0.75)
    for point in (start, end):
        axes.plot([point[0]] * 2, [point[1], y - 0.04], color=LEADER, linewidth=0.5)
    first, last = (np.array([p[0], y]) for p in (start, end))
    _arrow(axes, first, last)
    text = _text(dimension)
    if _fits(dimension, last[0] - first[0]):
        where, side = ((first[0] + last[0]) / 2, y), "center"
    else:  # beside the arrow; on the left where the sheet ends on the right
        room = view.at[0] + view.size[0] - max(first[0], last[0])
        right = room > len(text) * LETTER * 0.6 or min(first[0], last[0]) < len(text) * LETTER
        x = max(first[0], last[0]) + 0.26 if right else min(first[0], last[0]) - 0.26
        where, side = (x, y), "left" if right else "right"
    _label(axes, where, text, ha=side)


def _draw_column(axes: Axes, view: View, dimension: Length, number: int) -> None:
    """A dimension along the view's second axis, to the right of it."""
    first, last = _column_ends(view, dimension, number)
    for point, end in ((dimension.start, first), (dimension.end, last)):
        axes.plot([view.place(point)[0], end[0] + 0.04], [end[1]] * 2, color=LEADER, linewidth=0.5)
    _arrow(axes, first, last)
    if _fits(dimension, last[1] - first[1]):
        place = (first[0], (first[1] + last[1]) / 2)
        _label(axes, place, _text(dimension), rotation=90, ha="center")


def _column_ends(view: View, dimension: Length, number: int) -> tuple[np.ndarray, np.ndarray]:
    x = view.at[0] + view.size[0] + COLUMN * (number + 0.6)
    start, end = view.place(dimension.start), view.place(dimension.end)
    return np.array([x, start[1]]), np.array([x, end[1]])


def _label(axes: Axes, where: tuple[float, float], text: str, **look: Value) -> None:
    box = dict(facecolor="white", edgecolor="none", pad=0.8)
    axes.text(
        where[0], where[1], text, color=DIMENSION, fontsize=7.5, va="center", bbox=box, **look
    )


def _in_place(views: Sequence[View], dimension: Length | Angle) -> np.ndarray:
    """A dimension that leans or turns, as a line on the sheet."""
    view = next(v for v in views if v.name == dimension.view)
    if isinstance(dimension, Length):
        return np.stack([view.place(dimension.start), view.place(dimension.end)])
    turns = float(dimension.first) + float(dimension.turn) * np.linspace(0, 1, 91)
    middle, radius = view.place(dimension.center), float(dimension.radius) * view.scale[0]
    return middle + radius * np.stack([np.cos(turns), np.sin(turns)], axis=1)


def _draw_in_place(axes: Axes, views: Sequence[View], dimension: Length | Angle) -> None:
    line = _in_place(views, dimension)
    axes.plot(*line.T, color=DIMENSION, linewidth=0.8)
    look = dict(color=DIMENSION, linewidth=0.8, shrinkA=0, shrinkB=0, mutation_scale=7)
    way = line[-1] - line[-2]
    back = line[-1] - 0.08 * way / max(float(np.hypot(*way)), 1e-9)
    _point_to(axes, line[-1], back, look | dict(arrowstyle="-|>"))


def _draw_notes(
    axes: Axes, notes: Sequence[Note], left: float, limits: tuple[float, float]
) -> None:
    """The list on the right: each text as near to its arrow's height as the others let it."""
    places = np.array([note.anchor[1] for note in notes])
    for i in range(1, len(places)):
        places[i] = min(places[i], places[i - 1] - 0.19)
    if len(places):
        places = np.maximum(places, limits[0] + 0.19 * np.arange(len(places))[::-1])
        places = np.minimum(places, limits[1] - 0.19 * np.arange(len(places)))
    for note, y in zip(notes, places, strict=True):
        axes.plot(
            [note.anchor[0], left, left + 0.08], [note.anchor[1], y, y], color=LEADER, linewidth=0.4
        )
        _label(axes, (left + 0.12, y), note.text, ha="left")


def _draw_bottom(axes: Axes, view: View, geometry: Geometry, width: float) -> None:
    """The scale bar, the layers beside it, and the notes."""
    whole = float(view.size[0] / view.scale[0])
    length = round_below(whole / 4)
    y = MARGIN + 0.22 + 0.17 * len(geometry.notes)
    end = MARGIN + length * view.scale[0]
    axes.plot([MARGIN, end], [y, y], color="black", linewidth=2.2)
    axes.text(end + 0.08, y, readable(length, "m", 4), fontsize=8, va="center")
    texts = [f"{layer.number} {layer.name}" for layer in geometry.layers]
    x = width - sum(0.4 + LETTER * len(text) for text in texts)
    for i, text in enumerate(texts):
        box = np.array([[0, -0.05], [0.16, -0.05], [0.16, 0.06], [0, 0.06]]) + [x, y]
        axes.add_patch(
            Polygon(box, facecolor=FILLS[i % len(FILLS)], edgecolor="0.2", linewidth=0.5)
        )
        axes.text(x + 0.22, y, text, fontsize=7.5, va="center")
        x += 0.4 + LETTER * len(text)
    for i, note in enumerate(geometry.notes):
        axes.text(MARGIN, y - 0.22 - 0.17 * i, note, fontsize=7, color="0.35", va="center")


def _text(dimension: Length | Angle) -> str:
    value = float(dimension.value())
    unit = "rad" if isinstance(dimension, Angle) else "m"
    shown = readable_unit(value, unit)
    return f"{dimension.name} {value * shown.factor:.5g} {shown.unit}"

"""Bodies of a device and what is measured on them: plates, turned bodies, named dimensions, arrows.

x and y lie in the plane of the drawing, z is up: a plate is a contour between two heights, a turned body a
profile (distance from its axis, height) around an upright axis. `PLAN` looks down on x and y, `FRONT` along y
at x and z. A dimension bears the name of the parameter that it shows, so that a test can compare the two.
"""

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from diffmicro.shapes.contour import Contour

PLAN, FRONT = "plan", "front"
"""The two views."""


def point(x: Array | float, y: Array | float, z: Array | float = 0.0) -> Array:
    """A point in space [m]."""
    return jnp.stack([jnp.asarray(part, float) for part in (x, y, z)])


class Layer(eqx.Module):
    """number: in a mask. name: of the material or of what the layer is for."""

    number: int = eqx.field(static=True)
    name: str = eqx.field(static=True)


class Plate(eqx.Module):
    """A flat part: what is inside `outline` and outside all `holes`, from `bottom` to `top` [m]."""

    name: str = eqx.field(static=True)
    layer: Layer
    outline: Contour
    bottom: Array | float
    top: Array | float
    holes: tuple[Contour, ...] = ()

    def volume(self) -> Array:
        """Volume [m^3]."""
        area = self.outline.area() - sum(hole.area() for hole in self.holes)
        return area * (self.top - self.bottom)


class Turned(eqx.Module):
    """A body of revolution around the upright axis through `center`; `profile` in (distance, height) [m]."""

    name: str = eqx.field(static=True)
    layer: Layer
    profile: Contour
    center: Array

    def volume(self) -> Array:
        """Volume [m^3], by Pappus."""
        return 2 * jnp.pi * self.profile.moment()


def hemisphere(
    name: str,
    layer: Layer,
    radius: Array | float,
    center: Array,
    *,
    tip_radius: Array | float = 0.0,
    down: bool = False,
) -> Turned:
    """A hemisphere on the circle about `center` (x, y, z), cut off flat where it is `tip_radius` wide."""
    height = jnp.sqrt(radius**2 - tip_radius**2)
    corners = [(0.0, 0.0), (radius, 0.0), (tip_radius, height), (0.0, height)]
    points = jnp.stack([point(x, z)[:2] for x, z in corners])
    turn = jnp.arccos(tip_radius / radius)
    profile = Contour(points, jnp.zeros(4).at[1].set(jnp.tan(turn / 4)))
    profile = profile.mirrored(1) if down else profile
    lift = jnp.stack([jnp.zeros(()), center[2]])
    return Turned(name, layer, profile.moved(lift), center[:2])


class Length(eqx.Module):
    """A straight dimension between two points (x, y, z); `name` is the parameter. of_radius: from a center."""

    name: str = eqx.field(static=True)
    start: Array
    end: Array
    view: str = eqx.field(static=True, default=PLAN)
    of_radius: bool = eqx.field(static=True, default=False)

    def value(self) -> Array:
        """What is measured [m]."""
        return jnp.sqrt(jnp.sum((jnp.asarray(self.end) - jnp.asarray(self.start)) ** 2))


class Angle(eqx.Module):
    """The angle [rad] that a turn about `center` (x, y, z) takes from the direction `first`, at `radius`."""

    name: str = eqx.field(static=True)
    center: Array
    radius: Array | float
    first: Array | float
    turn: Array | float
    view: str = eqx.field(static=True, default=PLAN)

    def value(self) -> Array:
        """What is measured [rad]."""
        return jnp.asarray(self.turn)


class Arrow(eqx.Module):
    """A direction that is marked in the plan, such as that of a magnetization."""

    name: str = eqx.field(static=True)
    start: Array
    end: Array


class Geometry(eqx.Module):
    """A device as it is drawn.

    joints: pairs of names of parts that are one piece: they overlap at their joint and nowhere else. All other
    parts of one layer keep apart. notes: what a reader of the drawing has to know.
    """

    bodies: tuple[Plate | Turned, ...]
    dimensions: tuple[Length | Angle, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    joints: tuple[tuple[str, str], ...] = eqx.field(static=True, default=())
    notes: tuple[str, ...] = eqx.field(static=True, default=())
    axes: tuple[str, str, str] = eqx.field(static=True, default=("x", "y", "z"))

    @property
    def plates(self) -> tuple[Plate, ...]:
        """The flat parts."""
        return tuple(body for body in self.bodies if isinstance(body, Plate))

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers by their numbers."""
        found = {body.layer.number: body.layer for body in self.bodies}
        return tuple(found[number] for number in sorted(found))

    def __getitem__(self, name: str) -> Plate | Turned:
        """The part of this name."""
        for body in self.bodies:
            if body.name == name:
                return body
        raise KeyError(f"{name}; parts are {', '.join(body.name for body in self.bodies)}")

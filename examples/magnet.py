"""A magnet that walks by stick and slip: a field of sawtooth angle rocks it on its rear edge.

The magnet, mass m, lies on a surface and is lifted about its rear edge by the angle q. The field's angle rises
slowly and falls fast, and the magnet follows it like a compass needle. While it turns, its center at the height h
moves along the surface unless the edge gives way: the slow turn keeps the edge, the fast one makes it slide. With
the place x of the edge and small angles,

    I q'' = D B sin(a(t) - q) - m g l/2 - c q' + h friction + face,    m (x'' - h q'') = friction,

|friction| <= mu (m g + p A). `face` is the torque of the surface on the face, an impact at q = 0. A is what
touches and adheres: a `point` (a square of `patch`), a `line` (the edge, by `patch`), an `area` (the face).

| source | here | unit |
|---|---|---|
| l, w, h | `length`, `width`, `height` (of the block; its center is at half of it) | m |
| D | `magnetization` times volume | A/m |
| a(t) | `lean` + `swing` s(t), s from -1 to 1 in `rise` of the period | rad |

Source: sizes and idea of the Mag-uBot of Pawashe, Floyd and Sitti 2009; this model of two coordinates is ours.
Left out: large angles, the load that the field puts on the edge, the impulse of friction when the face slaps down.
"""

from diffmicro import hybrid, parameter


class Design(hybrid.Design):
    """What a fabricator could change."""

    length: float = parameter(250e-6, "length of the block", "m", symbol="l", above=0)
    width: float = parameter(130e-6, "width of the block", "m", symbol="w", above=0)
    height: float = parameter(100e-6, "height of the block", "m", above=0)
    density: float = parameter(7400.0, "density", "kg/m^3", above=0)
    magnetization: float = parameter(2e5, "magnetic moment over volume", "A/m", above=0)
    restitution: float = parameter(0.3, "of face and surface", "-", low=0, high=1)
    patch: float = parameter(1e-6, "size of what touches across an edge", "m", above=0)
    contact: str = parameter("line", "what touches", words=("point", "line", "area"))


class Setting(hybrid.Setting):
    """Field and surface."""

    field: float = parameter(2e-3, "flux density", "T", symbol="B", low=0)
    frequency: float = parameter(60.0, "frequency of the sawtooth", "Hz", symbol="f", above=0)
    lean: float = parameter(0.25, "mean angle of the field", "rad")
    swing: float = parameter(0.2, "amplitude of the field's angle", "rad", low=0)
    rise: float = parameter(0.9, "share of the period of the slow turn", "-", low=0, high=1)
    drag: float = parameter(4e-13, "rotational drag", "N m s", symbol="c", low=0)
    friction: float = parameter(0.3, "friction coefficient", "-", symbol="mu", low=0)
    pressure: float = parameter(1e3, "adhesion over area", "Pa", symbol="p", low=0)
    gravity: float = parameter(9.81, "gravitational acceleration", "m/s^2", symbol="g", low=0)


def mass(design):
    return design.density * design.length * design.width * design.height


def bound(now, design, setting):
    """The largest friction force [N]."""
    sizes = {
        "point": design.patch**2,
        "line": design.patch * design.width,
        "area": design.length * design.width,
    }
    adhesion = setting.pressure * sizes[design.contact]
    return setting.friction * (mass(design) * setting.gravity + adhesion)


class Rocking(hybrid.Motion):
    """Angle of the block, and place of its rear edge."""

    angle = hybrid.Coordinate("lift about the rear edge", "rad", start=0.05, scale=0.1)
    edge = hybrid.Coordinate("place of the rear edge", "m", drifts=True, scale=5e-6)
    face = hybrid.Impact("angle", restitution=lambda d, s: d.restitution)
    ground = hybrid.Coulomb("edge", bound=bound)
    wave = hybrid.Sawtooth(rise=lambda d, s: s.rise)

    def period(self, design, setting):
        return 1 / setting.frequency

    def accelerations(self, now, design, setting):
        m, arm = mass(design), design.height / 2
        inertia = m * (design.length**2 + design.height**2) / 12
        moment = design.magnetization * design.length * design.width * design.height
        field = setting.lean + setting.swing * now.wave
        torque = moment * setting.field * hybrid.sin(field - now.angle)
        torque = torque - m * setting.gravity * design.length / 2 - setting.drag * now.angle_rate
        angle = (torque + arm * now.ground + now.face) / inertia
        return {"angle": angle, "edge": now.ground / m + arm * angle}


MAGNET = hybrid.device(
    "magnet",
    "a magnet rocked by a sawtooth field",
    Design,
    Setting,
    Rocking,
    source="after Pawashe, Floyd and Sitti 2009",
    responses={
        "velocity": hybrid.drift("edge"),
        "stick": hybrid.share("ground"),
        "slaps": hybrid.count("face"),
        "lift": hybrid.largest("angle"),
    },
)

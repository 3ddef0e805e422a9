"""The vibro-impact capsule: an inner mass drives a capsule through a stop; dry friction makes it creep.

An inner mass m1 is held by a spring k and a damper c inside a capsule m2. A harmonic force P cos(2 pi f t) moves
it; behind a gap it meets a second spring k2 on the capsule. The capsule slides on the ground when what the inner
mass does to it exceeds dry friction. With r = x1 - x2 and the force between the two

    F = k r + c r' + k2 max(r - G, 0):   m1 x1'' = P cos(2 pi f t) - F,   m2 x2'' = F - sign(x2') mu (m1 + m2) g.

| source | here | unit |
|---|---|---|
| m1, m2 | `inner_mass`, `capsule_mass` | kg |
| k, c, k2, G | `stiffness`, `damping`, `stop_stiffness`, `gap` | N/m, N s/m, N/m, m |
| P, Omega | `force`, 2 pi `frequency` | N, Hz |
| mu | `friction` | - |

Source: Liu, Wiercigroch, Pavlovskaia, Yu 2013 for the equations; the sizes, of millimeters, are ours.
`RIGID` has a rigid stop with restitution for the spring k2. Left out: tilting, the ground's elasticity.
"""

from diffmicro import hybrid, parameter


class Design(hybrid.Design):
    """What a fabricator could change."""

    inner_mass: float = parameter(1e-6, "mass of the driven part", "kg", symbol="m1", above=0)
    capsule_mass: float = parameter(2e-6, "mass of the capsule", "kg", symbol="m2", above=0)
    stiffness: float = parameter(0.4, "spring between them", "N/m", symbol="k", above=0)
    damping: float = parameter(6e-5, "damper between them", "N s/m", symbol="c", low=0)
    gap: float = parameter(10e-6, "way to the stop", "m", symbol="G", low=0)
    stop_stiffness: float = parameter(8.0, "spring of the stop", "N/m", symbol="k2", low=0)
    restitution: float = parameter(0.6, "of the rigid stop", "-", symbol="e", low=0, high=1)


class Setting(hybrid.Setting):
    """Drive and ground."""

    force: float = parameter(3e-6, "amplitude of the drive", "N", symbol="P", low=0)
    frequency: float = parameter(110.0, "frequency of the drive", "Hz", symbol="f", above=0)
    friction: float = parameter(0.2, "friction of capsule and ground", "-", symbol="mu", low=0)
    gravity: float = parameter(9.81, "gravitational acceleration", "m/s^2", symbol="g", low=0)


def bound(now, design, setting):
    """The largest friction force [N]."""
    weight = (design.inner_mass + design.capsule_mass) * setting.gravity
    return setting.friction * weight


class Elastic(hybrid.Motion):
    """The capsule with a spring behind the gap."""

    r = hybrid.Coordinate("place of the inner mass in the capsule", scale=lambda d, s: 10e-6)
    capsule = hybrid.Coordinate("place of the capsule", scale=lambda d, s: 10e-6, drifts=True)
    stop = hybrid.OneSidedSpring("r", at=lambda d, s: d.gap, side="above")
    ground = hybrid.Coulomb("capsule", bound=bound)
    drive = hybrid.Harmonic()

    def period(self, design, setting):
        return 1 / setting.frequency

    def stop_force(self, now, design):
        return design.stop_stiffness * now.stop

    def accelerations(self, now, design, setting):
        between = (
            design.stiffness * now.r + design.damping * now.r_rate + self.stop_force(now, design)
        )
        capsule = (between + now.ground) / design.capsule_mass
        inner = (setting.force * now.drive - between) / design.inner_mass
        return {"r": inner - capsule, "capsule": capsule}


class Rigid(Elastic):
    """The capsule with a rigid stop behind the gap."""

    stop = hybrid.Impact(
        "r", at=lambda d, s: d.gap, side="above", restitution=lambda d, s: d.restitution
    )

    def stop_force(self, now, design):
        return now.stop


RESPONSES = {
    "velocity": hybrid.drift("capsule"),
    "hits": hybrid.count("stop"),
    "peak": hybrid.largest("r"),
    "stick": hybrid.share("ground"),
}
CAPSULE, RIGID = (
    hybrid.device(
        name, title, Design, Setting, motion, responses=RESPONSES, source="Liu et al. 2013"
    )
    for name, title, motion in (
        ("capsule", "vibro-impact capsule with an elastic stop", Elastic),
        ("rigid_capsule", "vibro-impact capsule with a rigid stop", Rigid),
    )
)

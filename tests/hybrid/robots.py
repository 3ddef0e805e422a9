"""Small motions with closed forms, written as an author would write them."""

from diffmicro import hybrid, parameter


class Setting(hybrid.Setting):
    """One setting for all: each motion takes what it needs."""

    frequency: float = parameter(50.0, "frequency of the drive", "Hz", above=0)
    amplitude: float = parameter(3e-4, "amplitude of the drive", "m or N", low=0)


class Ball(hybrid.Design):
    gravity: float = parameter(9.81, "gravitational acceleration", "m/s^2", low=0)
    restitution: float = parameter(0.6, "of ball and table", "-", low=0, high=1)


class OnTable(hybrid.Motion):
    """A ball above a table that moves as A cos(2 pi f t)."""

    height = hybrid.Coordinate("height above the table", start=1e-3, scale=1e-3)
    table = hybrid.Impact("height", restitution=lambda d, s: d.restitution)

    def period(self, design, setting):
        return 1 / setting.frequency

    def accelerations(self, now, design, setting):
        rate = 6.283185307179586 * setting.frequency
        # A unit mass, so that the contact's force is an acceleration.
        lift = setting.amplitude * rate**2 * hybrid.cos(now.phase)
        return {"height": now.table - design.gravity + lift}


BALL = hybrid.device(
    "ball",
    "a ball on a driven table",
    Ball,
    Setting,
    OnTable,
    source="closed form",
    responses={
        "leaves": hybrid.largest("height_rate"),
        "lands": hybrid.smallest("height_rate"),
        "peak": hybrid.largest("height"),
        "hits": hybrid.count("table"),
    },
)


class Block(hybrid.Design):
    mass: float = parameter(2e-6, "mass", "kg", above=0)
    bound: float = parameter(3e-6, "friction force", "N", low=0)
    bias: float = parameter(5e-7, "constant force", "N")


class OnGround(hybrid.Motion):
    """A block on the ground under a harmonic and a constant force."""

    place = hybrid.Coordinate("place of the block", drifts=True)
    ground = hybrid.Coulomb("place", bound=lambda now, d, s: d.bound)
    push = hybrid.Harmonic()

    def period(self, design, setting):
        return 1 / setting.frequency

    def accelerations(self, now, design, setting):
        force = setting.amplitude * now.push + design.bias
        return {"place": (force + now.ground) / design.mass}


BLOCK = hybrid.device(
    "block",
    "a block on dry ground",
    Block,
    Setting,
    OnGround,
    source="closed form",
    responses={
        "velocity": hybrid.drift("place"),
        "stick": hybrid.share("ground"),
        "fastest": hybrid.largest("place_rate"),
        "turns": hybrid.count("ground"),
    },
)


class Oscillator(hybrid.Design):
    stiffness: float = parameter(300.0, "spring", "N/m", above=0)
    damping: float = parameter(0.05, "damper", "N s/m", low=0)
    mass: float = parameter(1e-3, "mass", "kg", above=0)
    gap: float = parameter(5e-4, "way to the stop", "m", low=0)
    restitution: float = parameter(0.7, "of the stop", "-", low=0, high=1)


class AgainstStop(hybrid.Motion):
    """A driven oscillator that hits a rigid stop above it."""

    x = hybrid.Coordinate("place of the mass")
    stop = hybrid.Impact(
        "x", at=lambda d, s: d.gap, side="above", restitution=lambda d, s: d.restitution
    )
    push = hybrid.Harmonic()

    def period(self, design, setting):
        return 1 / setting.frequency

    def accelerations(self, now, design, setting):
        force = (
            setting.amplitude * now.push - design.stiffness * now.x - design.damping * now.x_rate
        )
        return {"x": (force - now.stop) / design.mass}


OSCILLATOR = hybrid.device(
    "oscillator",
    "an oscillator against a stop",
    Oscillator,
    Setting,
    AgainstStop,
    source="closed form",
    responses={"swing": hybrid.smallest("x"), "hits": hybrid.count("stop")},
)


class Gripped(hybrid.Design):
    mass: float = parameter(1e-6, "mass", "kg", above=0)
    hold: float = parameter(4e-6, "force of adhesion", "N", low=0)
    weight: float = parameter(5e-6, "weight", "N", low=0)


class OnPad(hybrid.Motion):
    """A mass on an adhesive pad, pulled by a harmonic force."""

    lift = hybrid.Coordinate("height above the pad")
    pad = hybrid.Hold("lift", force=lambda d, s: d.hold)
    pull = hybrid.Harmonic()

    def period(self, design, setting):
        return 1 / setting.frequency

    def accelerations(self, now, design, setting):
        force = setting.amplitude * now.pull - design.weight + now.pad
        return {"lift": force / design.mass}


PAD = hybrid.device(
    "pad",
    "a mass on an adhesive pad",
    Gripped,
    Setting,
    OnPad,
    source="closed form",
    responses={"held": hybrid.share("pad"), "peak": hybrid.largest("lift")},
)

"""What fields of Design and Setting have to keep together."""

from diffmicro.devices.tribometer.design import LAWS, MOST_VIBRATION, Design, Setting, law_of
from diffmicro.devices.tribometer.lumped import longest
from diffmicro.rules import Rule


def _not_one(_: Design, setting: Setting) -> str:
    given = "neither is" if setting.drag_ratio is None else "both are"
    return (
        f"exactly one of Setting.drag_ratio and Setting.sliding_velocity has to be given, and {given}. Give the "
        "one that is imposed; the other is a response."
    )


RULES = (
    Rule(lambda _, s: (s.drag_ratio is None) != (s.sliding_velocity is None), _not_one),
    Rule(
        lambda _, s: law_of(s) in LAWS[s.direction],
        lambda _, s: (
            f"Setting.law = {law_of(s)} does not exist for direction {s.direction}; it has to be one of "
            f"{', '.join(LAWS[s.direction])}."
        ),
    ),
    Rule(
        lambda d, _: d.tip_radius is None or d.tip_radius <= d.radius / 2,
        lambda d, _: (
            f"Design.tip_radius = {d.tip_radius} m is not allowed; it has to be at most half of radius = "
            f"{d.radius} m, or what is left of the sphere is no parabola. Wear it less."
        ),
    ),
    Rule(
        lambda d, s: s.vibration_length is None or s.vibration_length <= _most(s) * longest(d, s),
        lambda d, s: (
            f"Setting.vibration_length = {s.vibration_length} m is not allowed; it has to be at most "
            f"{_most(s) * float(longest(d, s)):.4g} m. At {float(longest(d, s)):.4g} m is where the probe lifts "
            "off. Press harder or vibrate less."
        ),
    ),
    Rule(
        lambda _, s: s.vibration_length is not None or s.force_ratio <= _most(s),
        lambda _, s: (
            f"Setting.force_ratio = {s.force_ratio} is not allowed with law = mdr; it has to be at most 1, where "
            "the probe lifts off. Take law=coulomb, which goes on without contact, or vibrate less."
        ),
    ),
    Rule(
        lambda _, s: s.fast_friction is None or s.sliding_velocity is not None,
        lambda _, s: (
            f"Setting.fast_friction = {s.fast_friction} needs sliding_velocity: where friction falls, one drag "
            "has several velocities. Give sliding_velocity instead of drag_ratio."
        ),
    ),
)


def _most(setting: Setting) -> float:
    """Largest force ratio: springs do not follow a probe that is off."""
    return 1.0 if law_of(setting) == "mdr" else MOST_VIBRATION


def check_law(where: str, design: Design, setting: Setting) -> None:
    """Raise ValueError for a law that does not know the contact's shape.

    No rule, since a drawing has that shape under any law; which fields are given is known in tracing too.
    """
    if law_of(setting) == "mdr" or (design.tip_radius is None and design.roughness is None):
        return
    raise ValueError(
        f"{where}: Design.tip_radius and Design.roughness are of the contact's shape, which law = "
        f"{law_of(setting)} does not know; it has to be mdr. Leave them out, or take law=mdr."
    )


HARMLESS = dict(
    drag_ratio=0.75, sliding_velocity=1e-3, vibration_length=1e-7, tip_radius=1e-5, roughness=1e-6,
    fast_friction=0.4,
)  # fmt: skip
"""What is imposed in lanes that have to end."""

"""Forces on a foot close to the ground: squeezed air, and attraction of a charged leg.

    F = - K v / (h + film_offset)^3 - E u^2 / (h + electrostatic_offset)^2

with height h, speed v (upward) and voltage u. The forms are those of Yeh, Hollar and Pister (J. Micromechatronics
1, 2002) that Ryou 2014 (section 3.5) fits; the offsets stand for roughness and tilt, which keep both finite at
contact. Left out: compressibility and inertia of the air, fringe fields, capillary and van der Waals attraction.
"""

from typing import Any


def squeeze_film(height: Any, speed: Any, coefficient: Any, offset: Any) -> Any:
    """Force of the air that is squeezed out [N]; coefficient [N m^2 s]."""
    inverse = 1.0 / (height + offset)
    return -coefficient * speed * inverse * inverse * inverse


def electrostatic(height: Any, voltage: Any, coefficient: Any, offset: Any) -> Any:
    """Attraction toward the ground [N], downward; coefficient [N m^2/V^2]."""
    ratio = voltage / (height + offset)
    return -coefficient * ratio * ratio


def dissipated(height: Any, speed: Any, coefficient: Any, offset: Any) -> Any:
    """Power that the film turns into heat [W], never negative."""
    return -squeeze_film(height, speed, coefficient, offset) * speed

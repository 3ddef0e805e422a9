"""Forces on a foot close to the ground: squeezed air, attraction of a charged leg, and adhesion.

    F = - K v / (h + film_offset)^3 - E u^2 / (h + electrostatic_offset)^2 - C / (h + adhesion_offset)^3

with height h, speed v (upward) and voltage u. The first two forms are those of Yeh, Hollar and Pister (J.
Micromechatronics 1, 2002) that Ryou 2014 (section 3.5) fits. The third is the van der Waals attraction of parallel
faces, C = A S / (6 pi) with Hamaker's constant A and area S (Israelachvili, Intermolecular and Surface Forces);
the paper does not have it. The offsets stand for roughness and tilt, which keep all three finite at contact.
Left out: compressibility and inertia of the air, fringe fields, retardation, capillary attraction.
"""

from diffmicro._types import Real


def squeeze_film(height: Real, speed: Real, coefficient: Real, offset: Real) -> Real:
    """Force of the air that is squeezed out [N]; coefficient [N m^2 s]."""
    inverse = 1.0 / (height + offset)
    return -coefficient * speed * inverse * inverse * inverse


def electrostatic(height: Real, voltage: Real, coefficient: Real, offset: Real) -> Real:
    """Attraction toward the ground [N], downward; coefficient [N m^2/V^2]."""
    ratio = voltage / (height + offset)
    return -coefficient * ratio * ratio


def adhesion(height: Real, coefficient: Real, offset: Real) -> Real:
    """Attraction toward the ground [N], downward; coefficient [N m^3]."""
    inverse = 1.0 / (height + offset)
    return -coefficient * inverse * inverse * inverse

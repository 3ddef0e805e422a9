"""The paper's robots and surfaces as designs and settings."""

import math
from typing import Any

from diffmicro.devices import tumbler
from diffmicro.devices.tumbler import Design, Response, Setting
from diffmicro.results import word

IMPROVED = dict(mass=6.94e-8, offset_angle=0.0, magnetic_volume=3.2e-11, magnetization=51835.0)
"""Table 2's robot; Table 1's is the default."""

ALUMINUM = dict(friction=0.5359, adhesion=26.1771, electrostatic_force=0.0)
"""Table 2's surface; Table 1's, paper, is the default."""

EDGE_BAND = 50e-6
"""Width of the band of adhesion that lets Table 2's robot climb 30 degrees [m]: an assumption of ours."""


def first(**setting: Any) -> tuple[Design, Setting]:
    """Table 1: the first robot on paper."""
    return tumbler.published_design(), tumbler.published_setting(**setting)


def improved(**setting: Any) -> tuple[Design, Setting]:
    """Table 2: the improved robot on aluminum."""
    return tumbler.published_design(**IMPROVED), tumbler.published_setting(**ALUMINUM, **setting)


def motion(design: Design, setting: Setting, extra: tuple[str, ...] = ()) -> Response:
    """The steady motion."""
    return tumbler.respond(design, setting, extra=extra, throw=False)


def asked(name: str, design: Design, setting: Setting) -> float:
    """One of the responses on request."""
    return float(getattr(motion(design, setting, (name,)), name))


def said(response: Response) -> str:
    """Status and speed in words."""
    status = word(response.result)
    speed = float(response.speed)
    return status if math.isnan(speed) else f"{status}, {1e3 * speed:.3f} mm/s"

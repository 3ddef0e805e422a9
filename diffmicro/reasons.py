"""Why a gradient is trusted or not: the vocabulary of certificates, shared by devices and `certificate`.

A reason carries its verdict: `certified`, `uncertified` (a number, with the reason) or `refused` (no
number). Codes are positions in `REASONS`, so that they live inside compiled functions; 0 is agreement.
"""

from typing import NamedTuple

VERDICTS = ("certified", "uncertified", "refused")


class Reason(NamedTuple):
    """One reason: its name, the verdict that it leads to, and its words."""

    name: str
    verdict: str
    text: str


REASONS = (
    Reason("agree", "certified", "all checks agree"),  # the certificate names them
    Reason(
        "no_motion",
        "refused",
        "there is no settled solution to differentiate: see the status",
    ),
    Reason("not_finite", "refused", "the gradient is not finite"),
    Reason(
        "dead",
        "uncertified",
        "dead zone: the response does not change here, so its gradient is zero and shows no way out",
    ),
    Reason(
        "differs",
        "uncertified",
        "the value's differences disagree with the gradient: a change of the event sequence is near, or a fold",
    ),
    Reason(
        "coarse",
        "uncertified",
        "the gradient depends on the resolution: grazing, a fold, or too few steps",
    ),
    Reason(
        "unchecked",
        "uncertified",
        "differences of values agree, but there is no second resolution to compare with",
    ),
    Reason("alone", "uncertified", "no neighboring solution was found to compare with"),
    Reason("single", "uncertified", "single precision: check against double precision"),
    Reason(
        "scheme",
        "uncertified",
        "derivative of the time-stepping scheme at fixed active set, not of the motion",
    ),
    Reason(
        "closed",
        "uncertified",
        "the field holds the gap closed: the motion is not the one that the device is designed for",
    ),
    Reason(
        "dead_zone",
        "refused",
        "dead zone: the response is zero on a whole neighborhood, and its gradient would not show the way out",
    ),
    Reason(
        "kink",
        "uncertified",
        "a kink is near: another limit or regime takes over, and the slope differs on its two sides",
    ),
    Reason(
        "insensitive",
        "certified",
        "exactly zero: the response does not depend on these parameters, by dimensional analysis",
    ),
    Reason(
        "band",
        "uncertified",
        "a band of steady states exists here: the one reached from rest depends on the history",
    ),
    Reason(
        "vibration",
        "uncertified",
        "residual vibration: the response follows its phase at the next back step; add damping or a longer period",
    ),
    Reason(
        "chaotic",
        "refused",
        "erratic motion: a long average has no derivative that one run could give; ask for a smoothed estimate",
    ),
    Reason(
        "boundary",
        "uncertified",
        "a boundary is near where the device stalls, slides or stops to climb",
    ),
    Reason(
        "rugged",
        "uncertified",
        "rugged response: jumps are closer together than a designer's step",
    ),
    Reason(
        "unstable",
        "refused",
        "the motion found here is unstable, as near grazing impacts: its largest multiplier is not below 0.99",
    ),
    Reason(
        "symmetric",
        "uncertified",
        "the motion is symmetric and does not drift: zero, as its derivative by whatever keeps the symmetry",
    ),
    Reason(
        "narrow",
        "uncertified",
        "the derivative changes by more than 10 % within a relative change of 1e-5: jumps or kinks are that close",
    ),
)

_CODES = {reason.name: number for number, reason in enumerate(REASONS)}


def reason_code(name: str) -> int:
    """The code of a reason by its name."""
    return _CODES[name]


def codes_of(verdict: str) -> tuple[int, ...]:
    """The codes of all reasons that lead to a verdict."""
    return tuple(n for n, reason in enumerate(REASONS) if reason.verdict == verdict)

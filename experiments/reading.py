"""How a source's words and digits are read as bounds: one reading for all sources, older than any result.

A printed number is known to half a unit of its last digit. Where a result is read off a grid, a step of the
grid is added.
Words without a number are read as the constants say.
"""

from decimal import Decimal

SAME = 0.02
"""Not distinguishable, no influence, negligible, the same, vanishes: a line's width, as a share of the largest
value shown.
"""

SLIGHT = 0.1
"""Slightly, marginal, small, similar, approximately, fairly well, nicely fitting: a tenth."""

MUCH = 2.0
"""Much, significantly, large, clearly more: a factor of two."""

MOST = 0.5
"""Most, mainly, mostly, primarily, dominant: more than half."""

FEW = 0.1
"""An exception that a statement on a whole range bears: a tenth of its points."""


def half_digit(printed: str) -> float:
    """Half a unit of the last digit of a printed number."""
    exponent = Decimal(printed).as_tuple().exponent
    if not isinstance(exponent, int):
        raise ValueError(f"{printed!r} is not a number; give it as the source prints it.")
    return 0.5 * 10.0**exponent

"""Boundaries: the nearest places along a parameter where a device stops doing what it does, with derivatives."""

from diffmicro.boundary.find import boundaries
from diffmicro.boundary.margin import margin, margin_of
from diffmicro.boundary.values import Boundary, BoundaryCertificate

__all__ = ["Boundary", "BoundaryCertificate", "boundaries", "margin", "margin_of"]

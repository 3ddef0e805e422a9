"""Stored values and derivatives of every device, compared with what it calculates now."""

"""Closed forms, shipped as functions: limits and special cases that simulations must meet.

Tests and documentation compare with them; no device computes with them.
"""

"""Fifty-one problems with inequalities and bounds of Hock and Schittkowski's collection, typed from their
formulas.

W. Hock, K. Schittkowski, Test Examples for Nonlinear Programming Codes, Lecture Notes in Economics and
Mathematical Systems 187, Springer 1981. `best` is the published value; a test confirms each by SciPy's SLSQP
from many starts. Starts outside their bounds begin at the bound.
"""

from tests.design.hock_schittkowski import academic, applied

PROBLEMS = dict(sorted((academic.PROBLEMS | applied.PROBLEMS).items()))
"""All of them, by their numbers."""

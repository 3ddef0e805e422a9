"""Hybrid motions in several tools, for `hybrid_peers`: each tool writes them in its own way.

A tool is a module with `CASES`, a function of (point -> value) by the name of the problem. A point is a vector of
the problem's parameters; the value is one number at the end of the motion.
"""

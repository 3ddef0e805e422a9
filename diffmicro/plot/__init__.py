"""Figures and animations of results. Functions draw into axes or return a figure; none shows a window."""

"""Figures of results. Each function returns a matplotlib Figure; nothing here shows a window."""

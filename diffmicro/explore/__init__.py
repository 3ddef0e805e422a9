"""A local page about devices: parameters as sliders, and what they do to response, motion and gradient.

The server is Python's own and the page is plain HTML, CSS and JavaScript with SVG, because that adds no
dependency, loads nothing from elsewhere, and lets a curve arrive point by point; a dashboard package would bring a
second way to plot and to state parameters. A response is compiled for one point and called for each of a curve,
coarse to fine: compiling it for a batch takes 5 to 20 times as long and saves little (`sweep.lanes.FEW`), and
between two points a newer question can take over.

`server` speaks HTTP, `turns` decides who calculates, `desk` knows the devices, the other modules answer.
"""

from diffmicro.explore.desk import Desk
from diffmicro.explore.server import PORT, open_server, serve

__all__ = ["PORT", "Desk", "open_server", "serve"]

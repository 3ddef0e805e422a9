"""Figures of the tribometer: they draw what `simulate` found."""

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from diffmicro.devices import tribometer
from diffmicro.plot.tribometer import animation

CASES = [dict(drag_ratio=0.7), dict(direction="ipi", law="dynamic", sliding_velocity=0.03)]


@pytest.mark.parametrize("setting", CASES)
def test_animation_moves_the_probe(setting):
    setting = tribometer.published_setting(**setting)
    figure, draw, frames = animation(tribometer.published_design(), setting, 12)
    places = []
    for frame in range(frames):
        draw(frame)
        body = figure.axes[0].patches[-1]
        assert isinstance(body, Rectangle)
        places.append(body.get_x() + body.get_width() / 2)
    assert frames == 12
    assert np.all(np.diff(places) > -1e-9) and places[-1] > places[0] + 1

"""What the tribometer's curves show beside the statements of the thesis."""

import numpy as np
import pytest


def test_turning_track_ends_at_the_cosine(found):
    """Eq. 4.36 as printed has the limit cos(theta), not one: from its integrand alone."""
    data = found("mdr_thesis_fig4_18").data
    assert data["turning"][-1] == pytest.approx(np.cos(np.deg2rad(15.25)), rel=1e-5)

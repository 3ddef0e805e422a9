"""A network trained through the simulator reaches what it is asked for; untrained it does not."""

import numpy as np
import pytest

from optimize import controller


@pytest.mark.slow
def test_trained_velocities_are_within_five_percent(tmp_path):
    found = controller.run(out=tmp_path)
    assert found["status"] == "ok"
    assert len(found["wanted"]) == 12
    reached, wanted = np.array(found["reached"]), np.array(found["wanted"])
    assert np.max(np.abs(reached / wanted - 1)) < 0.05
    assert found["largest_error"]["untrained"] > 0.5
    assert (tmp_path / "controller.png").stat().st_size > 10_000

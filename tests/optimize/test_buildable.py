"""The demo's design: fast, and good in nearly every part that is built."""

import pytest

from optimize import wrmma_buildable


@pytest.mark.slow
def test_the_buildable_design_is_fast_and_its_parts_are_good(tmp_path):
    found = wrmma_buildable.run(out=tmp_path, progress=False)
    published, fastest, buildable = found["designs"].values()
    assert buildable["parts"]["low"] >= 0.94 and buildable["parts"]["parts"] == 2000
    assert fastest["parts"]["high"] < 0.75
    assert buildable["velocity"] > 7e-3 > 3 * published["velocity"]
    kept = found["searches"][-1]["reserves"]["margin(frequency_ratio) >= 0"]
    assert 0.05 < kept and buildable["end"]["away"] >= kept * (1 - 1e-6)
    assert found["status"] in ("ok", "stopped") and found["evaluations"] < 294
    assert buildable["setting"]["start"] == "ramp"
    assert (tmp_path / "wrmma_buildable.png").stat().st_size > 20_000
    assert "buildable" in [column.header for column in wrmma_buildable.summary(found).columns]

"""A file of rules for the WRMMA."""

import pytest

WRMMA = """
name = "nickel on gold"
[layers.nickel]
minimum_width = "20um"
minimum_gap = "15um"
resolution = "2um"
etch_bias = "0.5um"
etch_scatter = "0.1um"
thickness = "10um:60um"
[layers.gold]
minimum_width = "1.5um"
minimum_gap = "2um"
etch_bias = "0.2um"
etch_scatter = "+-0.05um"
"""


@pytest.fixture
def rules(tmp_path):
    file = tmp_path / "rules.toml"
    file.write_text(WRMMA)
    return file

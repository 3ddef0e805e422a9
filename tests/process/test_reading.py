"""Files of process rules: what they say, what they may not say, and the bounds that follow."""

import pytest

from diffmicro.process import (
    LayerRules,
    Process,
    limits,
    process_from,
    read_process,
)
from diffmicro.shapes import Feature, Layer


def test_a_file_is_a_value_and_a_value_a_file(rules, tmp_path):
    process = read_process(rules)
    nickel = process.of(Layer(1, "nickel"))
    gold = process.of(Layer(2, "gold"))
    assert nickel is not None and gold is not None
    assert nickel.minimum_gap == pytest.approx(15e-6, rel=1e-12)
    assert nickel.thickness == pytest.approx((10e-6, 60e-6), rel=1e-12)
    assert gold.etch_kind == "interval"
    assert process.of(Layer(3, "oxide")) is None
    assert process_from(process.plain()) == process
    again = tmp_path / "again.toml"
    again.write_text(process.toml())
    assert read_process(again) == process
    assert Process((("1", nickel),)).of(Layer(1, "nickel")) == nickel


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'minimun_width="3um"',
            "layers.gold: unknown key 'minimun_width'; did you mean minimum_width?",
        ),
        (
            "minimum_width=3",
            'layers.gold.minimum_width = 3 has no unit; write a length in quotes, such as "3um"',
        ),
        ('minimum_width="3"', "layers.gold.minimum_width = '3' has no unit"),
        ('minimum_width="3g"', "another dimension; it has to be in m"),
        ('minimum_width="3xm"', "is no unit that is known here"),
        ('minimum_width="wide"', "is no length"),
        ('minimum_gap="-3um"', "minimum_gap = -3 um is not allowed; it has to be at least 0"),
        ('thickness="3um"', "it has to be a range"),
        ('thickness="3um:2um"', "below the second"),
        ("etch_scatter=true", "has no unit"),
        ("minimum_gap=", "is no TOML"),
    ],
)
def test_what_a_file_may_not_say(text, said, tmp_path):
    file = tmp_path / "rules.toml"
    file.write_text(f"[layers.gold]\n{text}\n")
    with pytest.raises(ValueError) as told:
        read_process(file)
    assert said in str(told.value) and str(file) in str(told.value)


def test_files_that_are_none(tmp_path):
    file = tmp_path / "rules.toml"
    with pytest.raises(ValueError, match="There is no file"):
        read_process(file)
    for text, said in (
        (b"\xff", "UTF-8"),
        (b"layer=1", "unknown key 'layer'; did you mean layers"),
        (b"", "no layers"),
    ):
        file.write_bytes(text)
        with pytest.raises(ValueError, match=said):
            read_process(file)


def test_bounds_follow_from_the_rules_and_the_bias():
    layer = Layer(1, "one")
    kinds = ("width", "gap", "radius", "thickness", "released", "anchored")
    found = tuple(Feature(kind, kind, layer, 1e-5) for kind in kinds)
    own = LayerRules(2e-6, 3e-6, 0.1e-6, 4e-6, 0.5e-6, thickness=(1e-6, 9e-6), undercut=5e-6)
    bounds = {
        (b.feature, b.sense): (b.bound, b.rule) for b in limits(Process((("one", own),)), found)
    }
    expected = {
        ("width(width)", ">="): (3e-6, "resolution"),  # 4 um on the mask
        ("gap(gap)", ">="): (5e-6, "resolution"),
        ("radius(radius)", ">="): (0.5e-6, "etch_bias"),
        ("thickness(thickness)", ">="): (1e-6, "thickness"),
        ("thickness(thickness)", "<="): (9e-6, "thickness"),
        ("released(released)", "<="): (1e-5, "undercut"),
        ("anchored(anchored)", ">="): (1.2e-5, "undercut"),
    }
    assert bounds.keys() == expected.keys()
    for key, (bound, rule) in expected.items():
        assert bounds[key] == (pytest.approx(bound, rel=1e-12), rule)

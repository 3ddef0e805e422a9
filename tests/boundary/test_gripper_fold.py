"""The fold of the path of loads of the gripper: its force goes with E w h^3, which gives three derivatives."""

import pytest

from diffmicro import boundaries, device

GRIPPER = device("gripper")


def fold(model, force, between):
    found = boundaries(
        GRIPPER,
        GRIPPER.published_design(),
        GRIPPER.published_setting(model=model, force=force),
        along="force",
        between=between,
        wrt=("young", "section_width", "section_height", "beam_radius"),
    )
    return [b for b in found if b.kind == "past_fold"]


@pytest.mark.slow
def test_a_fold_moves_with_the_stiffness():
    design = GRIPPER.published_design()
    (one,) = fold("partial", 1e-3, (5e-4, 8e-3))
    assert one.certificate.verdict == "certified" and one.beyond == "past_fold"
    assert one.grad["young"] == pytest.approx(one.at / design.young, rel=1e-5)
    assert one.grad["section_width"] == pytest.approx(one.at / design.section_width, rel=1e-5)
    # Bending stiffness goes with the cube of the height.
    assert one.grad["section_height"] == pytest.approx(3 * one.at / design.section_height, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "force", "between"),
    [("partial", -60e-6, (-2e-4, -1e-5)), ("exact", 8e-4, (7e-4, 1.1e-3))],
)
def test_a_path_that_goes_on_has_no_fold(model, force, between):
    """Where long steps ended there was none: the stiffness does not vanish there."""
    assert not fold(model, force, between)

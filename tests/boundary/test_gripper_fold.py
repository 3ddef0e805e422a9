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
    (one,) = [b for b in found if b.kind == "past_fold"]
    return one


@pytest.mark.slow
def test_a_fold_moves_with_the_stiffness():
    design = GRIPPER.published_design()
    one = fold("partial", -60e-6, (-2e-4, -1e-5))
    assert one.certificate.verdict == "certified" and one.beyond == "past_fold"
    assert one.grad["young"] == pytest.approx(one.at / design.young, rel=1e-5)
    assert one.grad["section_width"] == pytest.approx(one.at / design.section_width, rel=1e-5)
    # Bending stiffness goes with the cube of the height.
    assert one.grad["section_height"] == pytest.approx(3 * one.at / design.section_height, rel=1e-5)


@pytest.mark.slow
def test_an_end_that_is_no_fold_has_no_derivative():
    """The stiffness does not vanish where the exact model's path is lost."""
    one = fold("exact", 8e-4, (7e-4, 1.4e-3))
    assert one.certificate.verdict == "refused" and not one.grad

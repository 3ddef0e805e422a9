"""Drawings: what is drawn is the design, files measure right, bad geometry is refused with a message."""

import dataclasses
import math

import equinox as eqx
import jax
import numpy as np
import pytest

from diffmicro import parameter
from diffmicro.command import words
from diffmicro.command.app import run
from diffmicro.devices import OWN, device, gripper
from diffmicro.drawing import draw, fit_design, geometry, read_shapes
from diffmicro.drawing.flat import LINE, extent, flat_parts, overlap, texts
from diffmicro.drawing.overlaps import crossings, self_crossing
from diffmicro.drawing.picture import drawing
from diffmicro.parameters import describe
from diffmicro.shapes import PLAN, Geometry, Layer, Length, Plate, circle, point, rectangle

LEG = dict(
    leg_length=5e-3, leg_thickness=0.15e-3, leg_width=1e-3, leg_young=62e9, leg_density=7750.0
)
OTHERS = {"legs": LEG, "tumbler": dict(outline="spiked_ends", thickness=0.4e-3)}


def design_of(name, **changes):
    return device(name).published_design(**OTHERS.get(name, {}), **changes)


@pytest.fixture(scope="module")
def drawn():
    return {name: geometry(name, design_of(name)) for name in OWN}


@pytest.mark.parametrize("name", OWN)
def test_a_dimension_measures_its_parameter(name, drawn):
    found, known = design_of(name), device(name)
    assert known.Layout is not None
    layout = known.Layout()
    for dimension in drawn[name].dimensions:
        key, _, entry = dimension.name.rstrip("]").partition("[")
        owner = found if key in known.parameters else layout
        value = getattr(owner, key)
        if value is not None:
            value = np.asarray(value)[int(entry)] if entry else value
            assert float(dimension.value()) == pytest.approx(float(value), rel=1e-12)


@pytest.mark.parametrize("name", OWN)
def test_labels_of_a_mask_do_not_cover_each_other(name, drawn):
    labels, line = texts(drawn[name]), LINE * extent(drawn[name])
    pairs = [(a, b) for i, a in enumerate(labels) for b in labels[:i]]
    assert not [(a.text, b.text) for a, b in pairs if overlap(a, b, line)]


def test_every_device_shows_something_that_a_fabricator_can_change(drawn):
    for name, shown in drawn.items():
        keys = {d.name.partition("[")[0] for d in shown.dimensions}
        assert keys & device(name).parameters.keys(), name


@pytest.mark.parametrize("name", OWN)
def test_any_allowed_dimensions_are_drawn_or_refused_with_a_message(name):
    """Round numbers, as people write them: a scale bar as long as its room is one of the places to fail."""
    known, numbers = device(name), np.random.default_rng(1)
    kinds = {**describe(known.Design), **describe(known.Layout)}  # pyright: ignore[reportArgumentType]
    lengths = {k: p for k, p in kinds.items() if isinstance(p.default, float) and p.unit == "m"}
    for _ in range(5):
        given = {k: str(LEG[k]) for k in LEG if name == "legs"}
        for key, of in lengths.items():
            size = float(f"{of.default * 10 ** numbers.uniform(-0.6, 0.6):.1g}")
            given[key] = str(min(max(size, of.low), of.high))
        layout, rest = words.layout(known, given)
        try:
            drawing(geometry(known, words.point(known, rest).design, layout))
        except ValueError as said:
            assert name in str(said)


@pytest.mark.parametrize(
    "name, given, said",
    [
        ("stickslip", dict(radius=1e-14), "measures 20 fm"),
        ("stickslip", dict(runner_width=1e6), "measures 1e\\+06 m|measures 1 Mm"),
        ("tumbler", dict(length=250.0), "measures 250 m.*write 20um"),
        ("legs", dict(**LEG, base_thickness=0.099), "no sheet shows that"),
    ],
)
def test_sizes_that_no_file_holds_are_said(name, given, said, tmp_path):
    known = device(name)
    layout, rest = words.layout(known, {key: str(value) for key, value in given.items()})
    with pytest.raises(ValueError, match=said):
        draw(known, tmp_path / "a.png", words.point(known, rest).design, layout)
    assert not list(tmp_path.iterdir())


def test_a_scale_bar_as_long_as_its_room(tmp_path):
    """The body and its gap were 400 um but for rounding, and a quarter of that the length of no bar."""
    given = dict(device_length=400e-6, width=250e-6, height=40e-6, rest_gap=20e-6, mass_ratio=2.0)
    design = device("wrmma").published_design(**given, tethered_frequency=1800.0)
    draw("wrmma", tmp_path / "y.png", design)


def test_the_parts_have_the_masses_of_the_model(drawn):
    from diffmicro.devices import wrmma

    body, hammer = wrmma.masses(design_of("wrmma"))
    for name, mass in (("body", body), ("hammer", hammer)):
        assert 8900 * float(drawn["wrmma"][name].volume()) == pytest.approx(float(mass), rel=1e-12)
    runner = drawn["stickslip"]["runner"]
    assert 7850 * float(runner.volume()) == pytest.approx(3e-3, rel=1e-12)


def test_flexures_are_arcs_of_the_models_length(drawn):
    layout = gripper.Layout()
    for letter, angle in zip("abcd", (300, 320, 330, 250), strict=True):
        flexure = drawn["gripper"][f"flexure {letter}, right"]
        assert isinstance(flexure, Plate)
        roots = 2 * layout.plate_width / 2 * 5e-6
        area = math.radians(angle) * 200e-6 * 5e-6 + roots
        assert float(flexure.outline.area()) == pytest.approx(area, rel=1e-12)
        assert sorted(r for _, r, _, _ in flexure.outline.arcs()) == pytest.approx(
            [197.5e-6, 202.5e-6], rel=1e-12
        )


def test_halves_are_mirror_images(drawn):
    outlines = {plate.name: plate.outline for plate in drawn["gripper"].plates}
    for body in drawn["gripper"].plates:
        name, _, side = body.name.rpartition(", ")
        if side == "right":
            other = outlines[f"{name}, left"].mirrored()
            assert np.allclose(other.points, body.outline.points, rtol=0, atol=1e-18)


@pytest.mark.slow
def test_the_drawing_has_derivatives_by_the_design():
    def plate(radius, name="body 4, right"):
        design = design_of("gripper", beam_radius=np.full(4, 2e-4))
        design = eqx.tree_at(lambda d: d.beam_radius, design, design.beam_radius + radius)
        (found,) = (p for p in geometry("gripper", design).plates if p.name == name)
        return found.outline.area()

    slope, step = float(jax.grad(plate)(0.0)), 1e-6
    assert slope == pytest.approx(float(plate(step) - plate(-step)) / (2 * step), rel=1e-4)

    def spring(frequency):
        design = design_of("wrmma", tethered_frequency=frequency)
        return geometry("wrmma", design).dimensions[3].value()

    slope = float(jax.jit(jax.grad(spring))(2300.0))
    assert slope == pytest.approx(float(spring(2323.0) - spring(2277.0)) / 46, rel=1e-3)


# Files


def area_of(polygon):
    x, y = polygon.T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2


@pytest.mark.parametrize("name", ["wrmma", pytest.param("tribometer", marks=pytest.mark.slow)])
def test_masks_have_the_areas_and_names(name, drawn, tmp_path):
    pytest.importorskip("gdstk")
    file = tmp_path / "mask.gds"
    draw(name, file, design_of(name))
    parts = {part.name: part for part in flat_parts(drawn[name])}
    found = {shape.name: shape.contour for shape in read_shapes(file)}
    assert found.keys() == parts.keys()
    for key, contour in found.items():
        area = abs(area_of(np.asarray(contour.points)))
        assert area == pytest.approx(float(parts[key].outline.area()), rel=2e-5), key


def test_the_grippers_mask_measures_right_in_klayout(drawn, tmp_path):
    """Merged: one piece for each moving half and hub; its area is that of the parts less their joints."""
    db = pytest.importorskip("klayout.db")
    pytest.importorskip("gdstk")
    file = tmp_path / "gripper.gds"
    draw("gripper", file, grid=1e-11)
    layout = db.Layout()
    layout.read(str(file))
    region = db.Region(layout.top_cell().begin_shapes_rec(layout.layer(1, 0)))
    region.merge()
    assert region.count() == 2
    plates = [p for p in drawn["gripper"].plates if p.layer.number == 1]
    joint = 15e-6 * 5e-6  # a root reaches half a plate's width into its foot
    whole = sum(float(p.outline.area()) for p in plates) - 16 * joint
    assert region.area() * layout.dbu**2 * 1e-12 == pytest.approx(whole, rel=1e-6)
    corners = (
        False,
        db.Region.Euclidian,
        80,
        None,
        None,
    )  # edges that meet at 80 degrees or more count not
    assert not region.width_check(int(4.99 / layout.dbu), *corners).count()
    assert region.width_check(int(5.01 / layout.dbu), *corners).count()  # the flexures are 5 um


@pytest.mark.parametrize(
    "name", ["wrmma", "legs", pytest.param("stickslip", marks=pytest.mark.slow)]
)
def test_solids_are_closed_and_have_the_volume(name, tmp_path):
    pytest.importorskip("manifold3d")
    from diffmicro.drawing.meshes import FACET

    file = tmp_path / "solid.stl"
    found = draw(name, file, design_of(name))
    content = file.read_bytes()
    rows = np.frombuffer(content[84:], FACET)
    assert len(rows) == int(np.frombuffer(content[80:84], "<u4")[0])
    corners = rows["numbers"][:, 1:].astype(float) * 1e-3
    volume = np.sum(np.cross(corners[:, 0], corners[:, 1]) * corners[:, 2]) / 6
    overlap = 4 * 5e-6 * 2e-6 * 5e-6 if name == "wrmma" else 0.0  # springs are rooted in pads
    whole = sum(float(body.volume()) for body in found.bodies) - overlap
    assert volume == pytest.approx(whole, rel=1e-6)
    sides = np.concatenate([corners[:, [i, (i + 1) % 3]] for i in range(3)]).reshape(-1, 6)
    forth, count = np.unique(sides.round(12), axis=0, return_counts=True)
    turned = sides[:, [3, 4, 5, 0, 1, 2]].round(12)
    back, others = np.unique(turned, axis=0, return_counts=True)
    assert np.array_equal(forth, back) and np.array_equal(count, others)


ROUND = {
    "tumbler": (
        dict(length=0.7e-3, thickness=0.12e-3, outline="superellipse", exponent=2.2),
        dict(outline="superellipse"),
    ),
    "stickslip": (dict(radius=0.8e-3), {}),
    "tribometer": (dict(radius=3.1e-3), {}),
}
HARD = {
    "wrmma": (
        dict(rest_gap=26e-6, mass_ratio=1.3, width=117e-6, device_length=320e-6)
        | dict(tethered_frequency=2000.0),
        {},
    ),
    "gripper": (
        dict(beam_radius=np.array([0.19, 0.205, 0.2, 0.21]) * 1e-3, section_height=4.7e-6)
        | dict(beam_angle=np.deg2rad([295.0, 318.0, 331.0, 252.0])),
        {},
    ),
}
SLOW = pytest.mark.slow
CASES = [
    pytest.param(name, case, marks=() if name == "stickslip" else SLOW)
    for name, case in (ROUND | HARD).items()
]


@pytest.mark.parametrize("ending", [pytest.param("dxf", marks=SLOW), "gds"])
@pytest.mark.parametrize(("name", "case"), CASES)
def test_an_export_read_again_is_the_design(name, case, ending, tmp_path):
    pytest.importorskip("ezdxf" if ending == "dxf" else "gdstk")
    (changes, start), known = case, device(name)
    file = tmp_path / f"shape.{ending}"
    true = known.published_design(**changes)
    draw(known, file, true)
    keys = [key for key in changes if key != "outline"]
    found = fit_design(known, file, keys, known.published_design(**start))
    assert found.largest < 1e-9
    for key in keys:
        off = np.abs(np.asarray(getattr(found.design, key)) - np.asarray(getattr(true, key)))
        meters = known.parameters[key].unit == "m"
        assert off.max() < (1e-9 if meters else 1e-4 * np.abs(getattr(true, key)).max()), key


def test_what_the_drawing_does_not_show_is_said(tmp_path):
    pytest.importorskip("ezdxf")
    file = tmp_path / "w.dxf"
    draw("stickslip", file)
    with pytest.raises(ValueError, match="does not tell young_steel apart"):
        fit_design("stickslip", file, ["radius", "young_steel"])
    with pytest.raises(ValueError, match="friction is no number of stickslip's Design"):
        fit_design("stickslip", file, ["friction"])
    with pytest.raises(ValueError, match="has no part 'disc'"):
        fit_design("tribometer", file, ["radius"])


def test_pictures_have_the_names_of_their_dimensions(tmp_path):
    file = tmp_path / "w.svg"
    draw("wrmma", file)
    text = file.read_text()
    assert "<!-- rest_gap 20 um -->" in text and "<!-- 50 um -->" in text


# A robot of one's own


class Layout(eqx.Module):
    wall: float = parameter(20e-6, "thickness of the shell", "m", above=0)


def tube(design, layout):
    """A capsule as a box around its mass."""
    silicon = Layer(1, "silicon")
    shell = rectangle(-200e-6, -100e-6, 200e-6, 100e-6)
    room = rectangle(-200e-6 + layout.wall, -80e-6, 200e-6 - layout.wall, 80e-6)
    edge = 200e-6 - layout.wall
    mass = rectangle(-50e-6, -50e-6, edge - design.gap, 50e-6)
    gap = Length("gap", point(edge - design.gap, 50e-6), point(edge, 50e-6))
    plates = (
        Plate("shell", silicon, shell, 0.0, 50e-6, (room,)),
        Plate("mass", silicon, mass, 0.0, 50e-6),
    )
    return Geometry(plates, (gap,))


@pytest.fixture(scope="module")
def capsule():
    own = device("examples/capsule/capsule.py:CAPSULE")
    return dataclasses.replace(own, geometry=tube, Layout=Layout)


def test_any_device_can_be_drawn(capsule, tmp_path):
    pytest.importorskip("gdstk")
    for ending in ("png", "gds"):
        draw(capsule, tmp_path / f"c.{ending}", capsule.Design(gap=15e-6))
    shell = sum(
        area_of(np.asarray(s.contour.points))
        for s in read_shapes(tmp_path / "c.gds")
        if s.name == "shell"
    )
    assert shell == pytest.approx(400e-6 * 200e-6 - 360e-6 * 160e-6, rel=1e-9)
    with pytest.raises(ValueError, match="rigid_capsule has no geometry"):
        draw("examples/capsule/capsule.py:RIGID", tmp_path / "r.png")
    with pytest.raises(TypeError, match="go together"):
        dataclasses.replace(capsule, Layout=None)


# What cannot be made


def test_overlaps_and_self_crossings_are_found():
    bow = np.array([[0.0, 0], [1, 1], [1, 0], [0, 1]])
    assert self_crossing(bow) == pytest.approx([0.5, 0.5])
    assert self_crossing(bow[[0, 2, 1, 3]]) is None
    places, _, _ = crossings(*(circle(np.array([x, 0.0]), 1.0).polygon(1e-3) for x in (0.0, 1.0)))
    assert len(places) == 2


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        ("gripper", "plate_width=90um", "hub a, right and body 2, right overlap, near x ="),
        ("gripper", "hub_radius=190um", "at most 0.000178 m"),
        ("wrmma", "spring_folds=3", "has to be even"),
        ("wrmma", "tethered_frequency=200kHz", "raise spring_width"),
        ("wrmma", "spring_width=20g", "it has to be in m"),
        ("wrmma", "rest_gp=1um", "did you mean rest_gap"),
        ("legs", "leg_width=1mm", "leg_length"),
        ("stickslip", "contact_width=1mm", "hemispheres of radius 0.001 m overlap"),
        ("tribometer", "track_radius=30mm", "the probe misses the disc"),
    ],
)
def test_what_cannot_be_drawn_is_said(name, words, said, tmp_path, capsys):
    assert run(["draw", name, words, "--out", str(tmp_path / "a.png")]) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_bad_endings_and_missing_packages_are_said(tmp_path, capsys, monkeypatch):
    assert run(["draw", "tumbler", "--out", str(tmp_path / "a.step")]) == 2
    assert ".gds, .dxf, .stl" in capsys.readouterr().err
    assert run(["draw", "tumbler", "--out", str(tmp_path / "a.gds"), "--grid", "1s"]) == 2
    assert "write a length such as 1nm" in capsys.readouterr().err
    monkeypatch.setattr("diffmicro._extras.import_module", _absent)
    for ending, package in (("gds", "gdstk"), ("dxf", "ezdxf"), ("stl", "manifold3d")):
        assert run(["draw", "tumbler", "--out", str(tmp_path / f"a.{ending}")]) == 2
        said = capsys.readouterr().err
        assert package in said and "diffmicro[fab]" in said
    assert run(["draw", "tumbler", "--out", str(tmp_path / "a.svg")]) == 0
    assert "length 800 um" in capsys.readouterr().err


def _absent(name):
    raise ImportError(name)


def test_show_says_where_to_see_the_dimensions(capsys):
    assert run(["show", "wrmma"]) == 0
    assert "diffmicro draw wrmma --out wrmma.png (plan: " in capsys.readouterr().out
    assert all(d.view == PLAN for d in geometry("wrmma").dimensions if d.name == "rest_gap")


def test_outlines_from_tables(tmp_path):
    file = tmp_path / "o.csv"
    file.write_text("x [um], y [um]\n0,0\n10,0\n10,5\n")
    (shape,) = read_shapes(file)
    assert np.allclose(shape.contour.points, [[0, 0], [1e-5, 0], [1e-5, 5e-6]])
    for text, said in (
        ("1,2,3\n", "line 1: 3 columns"),
        ("0,0\n1,a\n", "line 2: 1,a"),
        ("0,0\n1,1\n", "needs three"),
    ):
        file.write_text(text)
        with pytest.raises(ValueError, match=said):
            read_shapes(file)
    file.write_bytes(b"\xff\xfe0,0\n")
    with pytest.raises(ValueError, match="UTF-8"):
        read_shapes(file)

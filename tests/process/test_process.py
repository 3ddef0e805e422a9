"""Rules of a process: what a file may say, what of a geometry they hold, and what an etch changes."""

import dataclasses
import json
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro import Tolerance
from diffmicro.command.app import run
from diffmicro.design import Constraint, Objective, device_problem, optimize_design, robust_problem
from diffmicro.devices import device
from diffmicro.drawing import draw, fit_design, geometry, read_shapes
from diffmicro.process import (
    LayerRules,
    Process,
    etch_tolerances,
    features,
    limits,
    process_from,
    read_process,
)
from diffmicro.shapes import Feature, Layer, circle, polygon, rectangle
from diffmicro.shapes.contour import Contour
from diffmicro.shapes.distances import distances, edges
from diffmicro.shapes.offset import grown
from tests.process.comb import COMB

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


# Files


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
        ('minimum_gap="-3um"', "minimum_gap = -3e-06 m is not allowed; it has to be at least 0"),
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


# Drawn and etched


def test_a_grown_contour_is_the_parallel_one():
    square = grown(rectangle(0, 0, 1e-5, 5e-6), 1e-6)
    assert float(square.area()) == pytest.approx(12e-6 * 7e-6, rel=1e-12)
    assert float(grown(circle([0, 0], 5e-6), 1e-6).area()) == pytest.approx(
        math.pi * 36e-12, rel=1e-12
    )
    # A half disc: its corners stay where the line and the wider circle meet.
    half = Contour(jnp.array([[-5e-6, 0.0], [5e-6, 0.0]]), jnp.array([0.0, 1.0]))
    wider = grown(half, 1e-6)
    assert np.allclose(
        wider.points, [[-(35**0.5) * 1e-6, -1e-6], [35**0.5 * 1e-6, -1e-6]], rtol=1e-9, atol=0
    )
    assert wider.arcs()[0][1] == pytest.approx(6e-6, rel=1e-9)
    back = grown(wider, -1e-6)
    assert np.allclose(back.points, half.points, rtol=0, atol=1e-17)
    slope = jax.grad(lambda by: grown(half, by).area())(0.0)
    assert slope == pytest.approx(1e-5 + math.pi * 5e-6, rel=1e-9)  # its perimeter


def test_an_edge_that_vanishes_is_said():
    with pytest.raises(ValueError, match="an edge that begins at x = 0 um, y = 0 um vanishes"):
        grown(rectangle(0, 0, 1e-6, 5e-6), -0.6e-6)
    notch = polygon(
        [
            [0, 0],
            [1e-5, 0],
            [1e-5, 1e-5],
            [6e-6, 1e-5],
            [6e-6, 5e-6],
            [5e-6, 5e-6],
            [5e-6, 1e-5],
            [0, 1e-5],
        ]
    )
    with pytest.raises(ValueError, match="vanishes"):
        grown(notch, 0.6e-6)


@pytest.mark.parametrize("name", ["wrmma", pytest.param("gripper", marks=pytest.mark.slow)])
def test_klayout_etches_the_mask_to_the_design(name, tmp_path):
    """An independent etch: KLayout takes the bias from the merged mask, and the part's own area is left."""
    db = pytest.importorskip("klayout.db")
    pytest.importorskip("gdstk")
    own, bias = device(name), 0.3e-6
    process = Process(
        tuple((layer.name, LayerRules(etch_bias=bias)) for layer in geometry(own).layers)
    )
    regions = {}
    for kind, by in (("etched", None), ("drawn", process)):
        file = tmp_path / f"{kind}.gds"
        shown = draw(own, file, process=by, grid=1e-11, tolerance=0.1e-9)
        layout = db.Layout()
        layout.read(str(file))
        for layer in shown.layers:
            region = db.Region(layout.top_cell().begin_shapes_rec(layout.layer(layer.number, 0)))
            regions[kind, layer.name] = region.merge()
    for layer in shown.layers:
        part, mask = regions["etched", layer.name], regions["drawn", layer.name]
        back = mask.sized(-round(bias / (layout.dbu * 1e-6)), 5)
        assert mask.area() > 1.002 * part.area()
        assert (back ^ part).area() <= 1e-4 * part.area()  # arcs are polygons
        assert back.area() == pytest.approx(part.area(), rel=1e-6 if name == "wrmma" else 1e-4)


@pytest.mark.parametrize("ending", ["dxf", pytest.param("gds", marks=pytest.mark.slow)])
def test_a_mask_read_again_is_the_design(ending, rules, tmp_path):
    pytest.importorskip("ezdxf" if ending == "dxf" else "gdstk")
    own, process = device("wrmma"), read_process(rules)
    true = own.published_design(rest_gap=26e-6, mass_ratio=1.3, width=117e-6)
    file = tmp_path / f"mask.{ending}"
    draw(own, file, true, process=process)
    keys = ["rest_gap", "mass_ratio", "width"]
    found = fit_design(own, file, keys, process=process)
    assert found.largest < 1e-9
    for key in keys:
        assert getattr(found.design, key) == pytest.approx(getattr(true, key), abs=1e-9, rel=1e-6)
    # The file itself has a narrower gap and wider parts.
    shapes = {shape.name: np.asarray(shape.contour.points) for shape in read_shapes(file)}
    gap = shapes["hammer"][:, 0].min() - shapes["body"][:, 0].max()
    assert gap == pytest.approx(25e-6, abs=1e-9)
    assert np.ptp(shapes["body"][:, 1]) == pytest.approx(118e-6, abs=1e-9)


# Features


def test_distances_of_edges_are_those_of_their_points():
    rng = np.random.default_rng(3)
    shortest = jax.jit(lambda a, b: jnp.min(distances(edges([a]), edges([b]))))
    for _ in range(5):
        contours = []
        for x in (0.0, 3.0):
            corners = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]]) + rng.uniform(-0.2, 0.2, (4, 2))
            contours.append(
                Contour(jnp.asarray(corners + [x, 0]), jnp.asarray(rng.uniform(-0.3, 0.8, 4)))
            )
        one, other = (c.polygon(1e-5) for c in contours)
        true = np.linalg.norm(one[:, None] - other[None], axis=2).min()
        found = float(shortest(*contours))
        assert found == pytest.approx(true, abs=5e-5)


def smallest(db, region, dbu, check):
    """The smallest width or gap of a region [m], by bisection of KLayout's own check."""
    low, high = 0.0, 200e-6
    metrics = (False, db.Region.Euclidian, 80, None, None)
    for _ in range(40):
        middle = (low + high) / 2
        found = getattr(region, check)(round(middle / (dbu * 1e-6)), *metrics).count()
        low, high = (low, middle) if found else (middle, high)
    return high


@pytest.mark.parametrize("name", ["wrmma", pytest.param("gripper", marks=pytest.mark.slow)])
def test_klayout_measures_the_same_smallest_widths_and_gaps(name, tmp_path):
    db = pytest.importorskip("klayout.db")
    pytest.importorskip("gdstk")
    own, rng = device(name), np.random.default_rng(1)
    assert own.Layout is not None
    for number in range(3):
        if name == "wrmma":
            shift = rng.uniform(0.8, 1.2, 3)
            design = own.published_design(rest_gap=20e-6 * shift[0], width=130e-6 * shift[1])
            layout = own.Layout(
                spring_width=2e-6 * shift[2], spring_space=float(rng.uniform(3e-6, 9e-6))
            )
        else:
            design = own.published_design(
                beam_radius=2e-4 * rng.uniform(0.96, 1.03, 4),
                section_height=float(rng.uniform(3e-6, 7e-6)),
            )
            layout = own.Layout()
        file = tmp_path / f"{number}.gds"
        shown = draw(own, file, design, layout, grid=1e-11, tolerance=0.2e-9)
        mask = db.Layout()
        mask.read(str(file))
        known = features(own, design, layout)
        for layer in shown.layers:
            region = db.Region(
                mask.top_cell().begin_shapes_rec(mask.layer(layer.number, 0))
            ).merge()
            for kind, check in (
                ("width", "width_check"),
                ("gap", "isolated_check" if name == "gripper" else "space_check"),
            ):
                values = [float(f.value) for f in known if f.kind == kind and f.layer == layer]
                if min(values) < 200e-6:
                    assert smallest(db, region, mask.dbu, check) == pytest.approx(
                        min(values), abs=3e-9
                    ), (layer, kind)


LEG = dict(
    leg_length=5e-3, leg_thickness=0.15e-3, leg_width=1e-3, leg_young=62e9, leg_density=7750.0
)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("tumbler", {}),
        pytest.param("tumbler", dict(outline="superellipse"), marks=pytest.mark.slow),
        ("tumbler", dict(outline="spiked_ends", thickness=0.4e-3)),
        ("legs", LEG),
        ("stickslip", {}),
        ("tribometer", {}),
    ],
)
def test_features_of_whole_parts_are_their_sizes(name, changes):
    """Smallest extents and heights of the plates, smallest radii of arcs, as drawn."""
    own = device(name)
    design = own.published_design(**changes)
    shown = geometry(own, design)
    known = features(own, design)
    for plate in shown.plates:
        values = {f.kind: float(f.value) for f in known if f.layer == plate.layer}
        if "thickness" in values:
            assert float(plate.top - plate.bottom) == pytest.approx(values["thickness"], rel=1e-9)
        radii = [radius for _, radius, _, _ in plate.outline.arcs()]
        if radii:
            assert min(radii) == pytest.approx(values["radius"], rel=1e-9)
        widths = [float(f.value) for f in known if f.layer == plate.layer and f.kind == "width"]
        if len(plate.outline.points) == 4 and widths:
            assert min(np.ptp(np.asarray(plate.outline.points), axis=0)) >= min(widths) * (1 - 1e-9)
    if name in ("tumbler", "legs") and "spiked" not in str(changes):
        layer = known[0].layer.name
        process = Process(((layer, LayerRules(etch_scatter=1e-6)),))
        moves = dict(etch_tolerances(own, process, design)[0].moves)
        key = "leg_width" if name == "legs" else "thickness"
        assert moves[key] == pytest.approx(-2)


def test_features_have_derivatives():
    own = device("wrmma")

    def values(gap):
        return jnp.stack(
            [jnp.asarray(f.value) for f in features(own, own.published_design(rest_gap=gap))]
        )

    slopes = jax.jit(jax.jacfwd(values))(20e-6)
    steps = (values(20.2e-6) - values(19.8e-6)) / 0.4e-6
    assert np.allclose(slopes, steps, rtol=1e-4, atol=1e-9)
    assert slopes[0] == 1


# Constraints


def comb_problem(rules, pitch=(4e-6, 40e-6), **changes):
    free = {"pitch": pitch, "finger": (1e-6, 20e-6)}
    process = process_from({"layers": {"silicon": rules}})
    return device_problem(COMB, free, Objective("density"), process=process, **changes)


def test_the_rules_that_bind_have_their_prices():
    problem = comb_problem({"minimum_width": "3um", "minimum_gap": "4um", "etch_bias": "0.1um"})
    result = optimize_design(problem, method="sqp", budget=60, progress=False)
    assert result.status == "ok"
    assert result.variables["pitch"] == pytest.approx(7e-6, rel=1e-6)
    for name, rule in (
        ("width(finger) >= 3e-06", "minimum_width"),
        ("gap(between_fingers) >= 4e-06", "minimum_gap"),
    ):
        bound = result.constraints[name]
        assert bound["binds"] and (bound["rule"], bound["layer"]) == (rule, "silicon")
        assert bound["multiplier"] == pytest.approx(1 / 7e-6**2, rel=1e-4)
        assert bound["per_um"] == pytest.approx(1e-6 / 7e-6**2, rel=1e-4)


@pytest.mark.slow
def test_robust_designs_keep_rules():
    """The worst of parts whose pitch deviates by up to 1 um keeps them."""
    problem = comb_problem({"minimum_width": "3um", "minimum_gap": "4um"})
    deviates = [Tolerance("pitch", 1e-6, False, "interval")]
    result = optimize_design(
        robust_problem(problem, deviates, "worst"), method="sqp", budget=60, progress=False
    )
    assert result.feasible
    assert 7.9e-6 < result.variables["pitch"] < 8.01e-6


@pytest.mark.parametrize(
    ("rules", "words", "said"),
    [
        (
            {"minimum_width": "6um", "minimum_gap": "7um"},
            dict(pitch=(4e-6, 12e-6), design=COMB.Design(pitch=12e-6)),
            ("width(finger) >= 6 um (minimum_width of silicon; it is 5.538 um)",)
            + ("gap(between_fingers) >= 7 um (minimum_gap of silicon; it is 6.462 um) together",)
            + ("Widen pitch (4 um to 12 um), finger (1 um to 20 um)",),
        ),
        (
            {"minimum_gap": "50um"},
            {},
            ("gap(between_fingers) >= 50 um (minimum_gap of silicon; it is 39 um); this is",),
        ),
        (
            {"minimum_width": "60um"},
            {},
            ("cannot keep width(reach) >= 60 um", "it is 50 um", "nothing that is free changes it"),
        ),
    ],
)
def test_rules_that_cannot_be_met_are_named(rules, words, said):
    with pytest.raises(ValueError) as told:
        comb_problem(rules, **words)
    for text in said:
        assert text in str(told.value)


def test_rules_that_a_constraint_contradicts_end_the_search_without_a_design():
    rules = {"minimum_width": "3um", "minimum_gap": "4um"}
    problem = comb_problem(rules, constraints=[Constraint("density", ">=", 2e5)])
    result = optimize_design(problem, budget=40, progress=False)
    assert result.status == "not_converged" and not result.feasible


def test_a_device_without_features_is_refused(rules):
    bare = dataclasses.replace(device("wrmma"), features=None)
    with pytest.raises(ValueError, match="wrmma does not say what of it the rules"):
        features(bare)
    with pytest.raises(ValueError, match="tribometer does not say how etching"):
        etch_tolerances("tribometer", read_process(rules))
    with pytest.raises(TypeError, match="give geometry and Layout too"):
        dataclasses.replace(bare, geometry=None, Layout=None)


def test_the_command_says_which_rule_binds(rules, tmp_path, capsys):
    rules.write_text('[layers.silicon]\nminimum_width="3um"\nminimum_gap="4um"\n')
    out, comb = tmp_path / "run", "tests/process/comb.py:COMB"
    words = ["optimize", comb, "--maximize", "density", "--free", "pitch=4um:40um", "reach=60um"]
    options = ["--free", "finger=1um:20um", "--rules", str(rules), "--method", "sqp"]
    assert run([*words, *options, "--no-surroundings", "--out", str(out)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "rule minimum_width of silicon binds: width(finger) is 3 um, allowed 3 um" in said
    assert "1 um of the rule is worth 20408.2 1/m of density" in said
    kept = json.loads((out / "result.json").read_text())["constraints"]
    assert kept["width(finger) >= 3e-06"]["per_um"] == pytest.approx(1e-6 / 49e-12, rel=1e-4)


@pytest.mark.slow
def test_a_run_has_its_rules_in_mask_and_report(rules, tmp_path, capsys):
    pytest.importorskip("gdstk")
    out, page = tmp_path / "run", tmp_path / "report.html"
    words = ["optimize", "wrmma", "--maximize", "eta", "--free", "rest_gap=8um:40um", "pad=12um"]
    options = ["--rules", str(rules), "--no-surroundings", "--method", "sqp", "--budget", "30"]
    assert run([*words, *options, "--out", str(out)]) == 0
    capsys.readouterr()
    assert run(["draw", str(out), "--out", str(tmp_path / "m.gds")]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "every edge outward by 500 nm on nickel, 200 nm on gold" in said
    shapes = {s.name: np.asarray(s.contour.points) for s in read_shapes(tmp_path / "m.gds")}
    gap = json.loads((out / "result.json").read_text())["optimized"]["variables"]["rest_gap"]
    drawn = shapes["hammer"][:, 0].min() - shapes["body"][:, 0].max()
    assert drawn == pytest.approx(gap - 1e-6, abs=2e-10)
    pad = shapes["upper pad of the body"]
    assert np.ptp(pad, axis=0) == pytest.approx([12.4e-6] * 2, abs=2e-10)
    assert run(["report", str(out), "--out", str(page)]) == 0
    text = page.read_text()
    assert "keep the rules of nickel on gold" in text and "[layers.&quot;nickel&quot;]" in text
    assert "slack of gap(rest_gap)" in (tmp_path / "report.json").read_text()
    assert run(["verify", str(tmp_path / "report.json")]) == 0


def test_layers_that_are_not_there_are_said(rules, tmp_path, capsys):
    rules.write_text('[layers.poly]\nminimum_gap="2um"\n')
    words = ["wrmma", "--rules", str(rules)]
    assert run(["draw", *words, "--out", str(tmp_path / "a.png")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "wrmma has no layer poly; its layers are nickel, gold" in said
    rules.write_text('[layers.poly]\nminimum_gap="2um"\n[layers.nickel]\nminimum_gap="50um"\n')
    assert run(["optimize", *words, "--maximize", "eta", "--free", "rest_gap=8um:40um"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "rules of poly: wrmma has no such layer" in said and "no rules for gold" in said
    assert "gap(rest_gap) >= 50 um (minimum_gap of nickel; it is 40 um)" in said


# The etch as a tolerance


def test_the_etch_moves_all_widths_of_its_layer(rules):
    """Against the drawn mask: a part that lost d more is the design that the mask shows for a bias larger by d."""
    own, process = device("wrmma"), read_process(rules)
    causes = {t.variable: t for t in etch_tolerances(own, process)}
    assert causes.keys() == {"etch of nickel", "etch of gold"}
    assert causes["etch of gold"].kind == "interval" and causes[
        "etch of nickel"
    ].size == pytest.approx(1e-7)
    nickel = dict(causes["etch of nickel"].moves)
    assert (nickel["rest_gap"], nickel["width"], nickel["device_length"]) == (2, -2, -2)
    more = 1e-8
    wider = dataclasses.replace(process.layers[0][1], etch_bias=-more)
    shown = geometry(own, process=Process((("nickel", wider),)))
    plates = {plate.name: np.asarray(plate.outline.points) for plate in shown.plates}
    lengths = [float(np.ptp(plates[part][:, 0])) for part in ("body", "hammer")]
    assert nickel["mass_ratio"] == pytest.approx((lengths[1] / lengths[0] - 1.5) / more, rel=1e-3)


def test_a_thinner_spring_is_softer(rules):
    """About 1.5 times the share of the width: the stiffness of long folds goes with its cube."""
    (gold,) = (t for t in etch_tolerances("wrmma", read_process(rules)) if "gold" in t.variable)
    ((key, slope),) = gold.moves
    assert key == "tethered_frequency"
    assert slope == pytest.approx(-1.5 * 2300.0 * 2 / 2e-6, rel=0.02)


@pytest.mark.slow
def test_the_yield_is_by_the_etch(rules, capsys):
    words = ["tolerances", "wrmma", "load_factor=32", "frequency_ratio=1.4", "--rules", str(rules)]
    assert run([*words, "--subject", "velocity>20mm/s", "--parts", "400", "--no-gradients"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "yield of wrmma" in said and "etch of gold" in said


def test_a_plate_that_the_etch_would_close_is_said(tmp_path):
    own = device("wrmma")
    layer = LayerRules(etch_bias=3.5e-6)
    with pytest.raises(
        ValueError,
        match=r"wrmma.geometry: upper spring cannot be drawn for an etch that takes 3.5 um",
    ):
        geometry(own, process=Process((("gold", layer),)))
    assert geometry(own).plates

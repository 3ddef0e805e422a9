"""Reports: the page is whole and says what was found; its claims hold, and a changed number is found."""

import dataclasses
import json
import re
from pathlib import Path

import pytest

from diffmicro.command.app import run
from diffmicro.devices import device
from diffmicro.report import question_of_run, verify
from diffmicro.report.claims import Claim, _responses, point_of
from diffmicro.report.figures import bars_figure
from diffmicro.report.page import _drawn_sides, _ends
from diffmicro.report.verify import digest_of
from diffmicro.report.words import limit_texts
from tests.process import comb

TRIBOMETER = device("tribometer")
OPTIMIZE = ["optimize", "tribometer", "--maximize", "sliding_velocity"]
OPTIMIZE += ["--free", "force_ratio=0.3:0.7", "probe_mass=2g:3g", "--subject", "friction_ratio>0.6"]
OPTIMIZE += ["--budget", "20", "--lanes", "2", "--no-surroundings"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    assert run([*OPTIMIZE, "--out", str(folder / "run")]) == 0
    assert run(["report", str(folder / "run"), "--out", str(folder / "report.html")]) == 0
    return folder


def content_of(made):
    return json.loads((made / "report.json").read_text())


def claim(content, topic, name):
    (found,) = (c for c in content["claims"] if (c["topic"], c["name"]) == (topic, name))
    return found


def test_an_optimization_draws_its_search(made):
    assert (made / "run" / "search.png").read_bytes().startswith(b"\x89PNG")


def test_the_claims_are_those_of_the_run(made):
    content = content_of(made)
    result = json.loads((made / "run" / "result.json").read_text())
    for side, name in (("before", "published"), ("after", "optimized")):
        value = claim(content, side, "sliding_velocity")["value"]
        assert value == pytest.approx(result[name]["response"]["sliding_velocity"], rel=1e-9)
    price = claim(content, "limits", "price of the upper bound of force_ratio")
    assert price["value"] == pytest.approx(result["bounds"]["force_ratio"]["multiplier"], rel=1e-6)
    # Out of plane the velocity of the quasi-static probe is v = friction F / (m f) times a function of two ratios.
    shares = {c["name"]: c["value"] for c in content["claims"] if c["topic"] == "elasticity"}
    assert shares["frequency"] == pytest.approx(-1, rel=1e-6)
    assert shares["friction"] == pytest.approx(1, rel=1e-6)


def test_the_page_is_one_file_that_loads_nothing(made):
    text = (made / "report.html").read_text()
    assert not re.search(r'(src|href)="(?!data:)', text) and "<script" not in text
    assert text.count("data:image/svg+xml") == 4  # two drawings, elasticities, the search
    for words in (
        "sliding_velocity goes from 966.95 um/s to 2.4546 mm/s",
        "probe_mass between 2 g and 3 g",
        "The upper bound of force_ratio holds the design. 1 % more room there (0.007) is worth 54.719 um/s",
        "The derivatives at the optimum are certified",
        "--free force_ratio=0.3:0.7",
        "--free probe_mass=2g:3g",
        "diffmicro verify report.json",
    ):
        assert words in text, words
    assert "nan" not in re.sub(r"base64,[^\"]*", "", text).lower().replace("nano", "")


def test_all_claims_hold_when_calculated_again(made, capsys):
    whole, verdicts = verify(made / "report.json")
    assert whole and all(v.holds for v in verdicts), [v for v in verdicts if not v.holds]
    assert run(["verify", str(made / "report.json"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["holds"]


CHANGES = {
    "a response": lambda c: claim(c, "after", "sliding_velocity").update(value=2.455e-3),
    "a price": lambda c: claim(c, "limits", "price of the upper bound of force_ratio").update(
        value=7.818e-3
    ),
    "an elasticity": lambda c: claim(c, "elasticity", "friction").update(value=1.001),
    "a verdict": lambda c: claim(c, "certificate", "verdict").update(value="uncertified"),
    "a yield": lambda c: claim(c, "yield", "share of good parts").update(value=0.9),
    "its interval": lambda c: claim(c, "yield", "share of good parts").update(low=0.5),
    "a tolerance": lambda c: claim(c, "after", "sliding_velocity").update(tolerance=0.5),
    "a claim left out": lambda c: c["claims"].pop(),
    "the design": lambda c: c["question"]["after"].update(force_ratio=0.69),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_found_also_with_a_new_digest(made, what, tmp_path):
    content = content_of(made)
    CHANGES[what](content)
    file = tmp_path / "report.json"
    file.write_text(json.dumps(content))
    whole, verdicts = verify(file)
    assert not whole
    content["digest"] = digest_of(content)
    file.write_text(json.dumps(content))
    whole, verdicts = verify(file)
    assert whole and not all(v.holds for v in verdicts)


def test_a_change_beside_the_claims_is_found_by_the_digest(made, tmp_path, capsys):
    content = content_of(made)
    content["search"]["evaluations"] += 1
    file = tmp_path / "report.json"
    file.write_text(json.dumps(content))
    assert run(["verify", str(file)]) == 3
    assert "digest does not match" in capsys.readouterr().out


def test_bad_files_and_folders_are_said(made, tmp_path, capsys):
    cases = [
        (["report", str(tmp_path / "no"), "--out", str(tmp_path / "a.html")], "is no folder"),
        (
            ["report", str(tmp_path), "--out", str(tmp_path / "a.html")],
            "config.json or result.json is missing",
        ),
        (["report", str(made / "run"), "--out", str(tmp_path / "a.pdf")], "has to be .html"),
        (["verify", str(tmp_path / "no.json")], "There is no file"),
    ]
    (tmp_path / "bad.json").write_text('{"report": 2}')
    (tmp_path / "list.json").write_text("[1]")
    (tmp_path / "torn.json").write_text('{"report": ')
    cases += [(["verify", str(tmp_path / "torn.json")], "is not JSON")]
    cases += [(["verify", str(tmp_path / f"{n}.json")], "is no report") for n in ("bad", "list")]
    for words, said in cases:
        assert run(words) == 2
        assert said in capsys.readouterr().err


def test_the_question_goes_through_json(made):
    question, _ = question_of_run(made / "run")
    assert type(question).of(json.loads(json.dumps(question.plain()))) == question


def test_a_start_without_numbers_is_claimed_as_such(made):
    """A start that was erratic or ran away has responses that are not finite: the report was not written."""
    question, _ = question_of_run(made / "run")
    runaway = point_of(TRIBOMETER, {**question.before, "drag_ratio": 1.5, "sliding_velocity": None})
    found = _responses(TRIBOMETER, "before", runaway, question)
    assert found[0].value == "runaway" and any(c.value is None for c in found)
    json.dumps([c._asdict() for c in found], allow_nan=False)


def test_a_drawing_that_is_the_same_is_shown_once(made):
    (question, _), tribometer = question_of_run(made / "run"), device("tribometer")
    assert list(_drawn_sides(tribometer, question)) == ["before", "after"]
    same = {**question.after, "probe_mass": question.before["probe_mass"]}
    assert list(_drawn_sides(tribometer, dataclasses.replace(question, after=same))) == ["after"]


def test_meanings_are_whole(made):
    page = (made / "report.html").read_text()
    assert device("tribometer").responses["critical_velocity"].meaning.split("; ")[1] in page


def test_runs_of_anybodys_file_go_on_from_every_folder(tmp_path, monkeypatch, capsys):
    (tmp_path / "robots").mkdir()
    (tmp_path / "elsewhere").mkdir()
    robot = tmp_path / "robots" / "comb.py"
    robot.write_text(Path(comb.__file__).read_text())
    monkeypatch.chdir(tmp_path)
    free = ["--maximize", "density", "--free", "pitch=9um:40um", "--no-surroundings"]
    assert run(["optimize", "robots/comb.py:COMB", *free, "--method", "sqp", "--out", "run"]) == 0
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert run(["draw", "../run", "--out", "comb.svg"]) == 0
    assert run(["report", "../run", "--out", "report.html"]) == 0
    text = Path("report.html").read_text()
    assert "diffmicro evaluate comb.py:COMB" in text
    assert "verify report.json --device path/to/comb.py:COMB" in text
    assert str(robot.parent) not in text + Path("report.json").read_text()
    capsys.readouterr()
    assert run(["verify", "report.json"]) == 2
    assert "--device path/to/file.py:NAME" in capsys.readouterr().err
    assert run(["verify", "report.json", "--device", "../robots/comb.py:COMB"]) == 0


def test_the_page_says_what_was_not_found():
    found = _ends(
        [Claim("ends", "nearest end along field", "not found: 48 or more events a round")]
    )
    assert "field: not found: 48 or more events a round" in found


def test_bars_and_prices_that_are_not_certified_say_so(made):
    shares = [Claim("elasticity", "a", 2.0), Claim("elasticity", "b", -3e-17)]
    words = [
        Claim("elasticity verdict", "a", "certified"),
        Claim("elasticity verdict", "b", "uncertified"),
    ]
    shown = bars_figure([*shares, *words], "speed").axes[0]
    assert [text.get_text() for text in shown.texts] == ["+2.00", "+0.00 uncertified"]
    assert [bar.get_hatch() for bar in shown.patches] == ["", "///"]
    question, _ = question_of_run(made / "run")
    claims = [Claim(**one) for one in content_of(made)["claims"]]
    sure, *loose = limit_texts(TRIBOMETER, question, claims, "ok")
    assert "is worth" in sure and "holds the design" in sure and "is left" in loose[-1]
    assert (
        "an estimate: the search did not end"
        in limit_texts(TRIBOMETER, question, claims, "stopped")[0]
    )
    doubted = [c._replace(value="uncertified") if c.name == "verdict" else c for c in claims]
    assert "the gradient is uncertified" in limit_texts(TRIBOMETER, question, doubted, "ok")[0]

"""`diffmicro identify`: from a file to estimates, a folder and a figure; and what it refuses, in which words."""

import json

import numpy as np
import pytest

HEAD = "sliding_velocity [mm/s],friction_ratio,friction_ratio_error\n"
WORDS = ["direction=ipp", "--free", "vibration_velocity=1mm/s:100mm/s"]


@pytest.fixture
def table(tmp_path):
    """Friction across the line of vibration at 20 mm/s: 2/pi x K(m) in closed form."""
    from scipy.special import ellipk

    velocity = np.linspace(1, 40, 14)
    share = velocity / np.hypot(velocity, 20)
    exact = 2 / np.pi * share * ellipk(1 - share**2)
    noise = 0.01 * np.random.default_rng(3).normal(size=14)
    path = tmp_path / "data.csv"
    rows = zip(velocity, exact + noise, strict=True)
    path.write_text(HEAD + "".join(f"{v:.6g},{r:.6g},0.01\n" for v, r in rows))
    return path


def test_estimates_as_json_and_in_a_folder(run, table, tmp_path):
    out = tmp_path / "run"
    done = run("identify", "tribometer", table, *WORDS, "--next", "--json", "--out", out)
    assert done.code == 0
    told = json.loads(done.out)
    each = told["parameters"]["vibration_velocity"]
    assert each["low"] < 0.02 < each["high"] and each["identified"]
    assert told["points"]["used"] == 14 and told["branches"]["of_rows"] == ["start"] * 14
    assert told["residual"] == pytest.approx(1, abs=0.5)
    assert 0.001 <= told["next"]["at"]["sliding_velocity"] <= 0.04
    assert json.loads((out / "result.json").read_text()) == told
    assert (out / "identification.png").read_bytes()[:4] == b"\x89PNG"
    again = run("identify", "tribometer", table, *WORDS, "--out", out)
    assert again.code == 2 and "has a result already" in again.err
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    foreign = run("identify", "tribometer", table, *WORDS, "--out", tmp_path / "mine")
    assert foreign.code == 2 and "not empty and not of this run: it has thesis.tex" in foreign.err


def test_estimates_as_text(run, table):
    done = run(
        "identify", "tribometer", table, *WORDS, "friction=0.1:1", "sliding_velocity=1mm/s:90mm/s",
        "--next",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "the model explains the data" in done.out
    assert "the data do not see: friction" in done.out
    assert "points: 14 of 14 count" in done.out
    assert "5 starts came to 1 optimum" in done.out
    assert "measure next at sliding_velocity = " in done.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "Nothing is free: give --free key=low:high"),
        (["--free", "vibration=1:2"], "did you mean vibration_length?"),
        (["--free", "vibration_velocity=1mT:2mT"], "has another dimension"),
        (["--free", "vibration_velocity=2:1"], "lower bound"),
        (["--free", "vibration_velocity=-1:1"], "above 0"),
        (["--free", "direction=1:2"], "takes words"),
        (["sliding_velocity=1mm/s:2mm/s", *WORDS], "add --next"),
        (["sliding_velocity=1mm/s", *WORDS], "is a column of the data"),
        (["vibration_velocity=1mm/s", *WORDS], "is free"),
        ([*WORDS, "--loss", "cauchy"], "'cauchy' is none of linear, huber, soft_l1"),
        ([*WORDS, "--error", "friction_ratio=0.1"], "has a column of them"),
        ([*WORDS, "--error", "friction=0.1"], "is not a response"),
    ],
)
def test_words_that_ask_nothing(run, table, words, told):
    done = run("identify", "tribometer", table, *words)
    assert done.code == 2 and told in done.err.replace("\n", " ")


def test_a_bad_table_is_refused(run, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(HEAD + "1,0.1,0.01\n2,,0.01\n")
    done = run("identify", "tribometer", path, *WORDS)
    assert done.code == 2 and "line 3, column friction_ratio: there is no number" in done.err
    missing = run("identify", "tribometer", tmp_path / "none.csv", *WORDS)
    assert missing.code == 2 and "Cannot read" in missing.err


def test_nothing_found_is_exit_code_3(run, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("drag_ratio,sliding_velocity\n1.1,1e-3\n1.2,2e-3\n1.3,2e-3\n")
    done = run("identify", "tribometer", path, "--free", "probe_mass=1e-4:1e-2")
    assert done.code == 3 and "not_converged" in done.out and "runaway" in done.out


def test_a_sweep_draws_the_data(run, table, tmp_path):
    words = ["sweep", "tribometer", "direction=ipp", "sliding_velocity=1mm/s:40mm/s:9"]
    out, plot = tmp_path / "a.csv", tmp_path / "a.png"
    done = run(*words, "--out", out, "--plot", plot, "--data", table)
    assert done.code == 0, done.err
    assert plot.read_bytes()[:4] == b"\x89PNG"
    missing = run(*words, "--out", tmp_path / "b.csv", "--data", table)
    assert missing.code == 2 and "add --plot" in missing.err and not (tmp_path / "b.csv").exists()
    other = ["sweep", "tribometer", "friction=0.1:0.4:3", "--out", tmp_path / "b.csv"]
    done = run(*other, "--plot", plot, "--data", table)
    assert done.code == 2 and "the figure shows friction, of which there is no column" in done.err
    done = run(*words, "--out", out, "--plot", plot, "--data", table, "--response", "margin")
    assert done.code == 2 and "but the figure can show margin" in done.err

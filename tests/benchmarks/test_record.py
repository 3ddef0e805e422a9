"""The record of a benchmark: what is read from its tables, which misses are said, what is slower than before."""

import json

import pytest

from benchmarks import __main__ as program
from benchmarks import imports, record, scaling
from benchmarks.timing import table

LINES = [
    *table(
        ["precision", "program", "ns", "times C", "goal"],
        [
            ["float32", "C", "9.0", "1.0", ""],
            ["float32", "ours", "0.5", "19.9", "at least 15"],
            ["float64", "ours", "0.9", "0.43", "at least 0.8 (holds 0.4)"],
        ],
    ),
    "",
    "A remark | no table",
    *table(["what", "over", "goal"], [["gradient", "6.0", "at most 2.5 (holds 5)"]]),
]


@pytest.fixture
def found():
    return record.record_of("sample", LINES, 1.234, "2020-01-01T00:00:00+00:00")


def test_a_record_has_tables_measures_and_circumstances(found):
    assert json.loads(json.dumps(found)) == found
    assert {"benchmark", "began", "seconds", "load", "machine", "versions"} < set(found)
    assert [len(t["rows"]) for t in found["tables"]] == [3, 1]
    assert found["measures"][0] == {
        "name": "float32, ours", "of": "times C", "value": 19.9, "sense": "least", "goal": 15.0, "holds": 15.0,
    }  # fmt: skip
    assert [(m["name"], m["holds"]) for m in found["measures"][1:]] == [
        ("float64, ours", 0.4),
        ("gradient", 5.0),
    ]


def test_what_misses_by_more_than_the_tolerance_is_said(found):
    """6.0 where at most 5 has to hold: a fifth too much."""
    assert record.misses(found, tolerance=0.25) == []
    (line,) = record.misses(found, tolerance=0.15)
    assert line == "sample, gradient: 6, at most 5 has to hold"
    found["measures"][0]["value"] = 10.0
    assert len(record.misses(found)) == 2


def test_what_is_slower_than_on_this_machine_before_is_said(found, tmp_path):
    for _ in range(3):
        record.keep(found, tmp_path / "out", tmp_path / "state" / "history.jsonl")
    with (tmp_path / "state" / "history.jsonl").open("a") as file:
        file.write('{"benchmark": "sam')  # a process that was killed
    history = record.read_history(tmp_path / "state" / "history.jsonl")
    assert len(history) == 3
    assert json.loads((tmp_path / "out" / "sample.json").read_text()) == found
    assert record.slowdowns(found, history) == []
    now = json.loads(json.dumps(found))
    now["measures"][0]["value"], now["measures"][2]["value"] = 14.0, 8.5
    assert record.slowdowns(now, history) == [
        "sample, float32, ours: 14, 19.9 in 3 earlier runs",
        "sample, gradient: 8.5, 6 in 3 earlier runs",
    ]
    assert record.slowdowns({**now, "machine": "another"}, history) == []


def test_a_miss_is_an_exit_code(tmp_path, monkeypatch, capsys):
    class Sample:
        run = staticmethod(lambda: LINES)

    monkeypatch.setattr(program, "import_module", lambda name: Sample)
    monkeypatch.setattr(program, "keep_to_one_core", lambda: None)
    words = ["tumbler", "--out", str(tmp_path), "--history", str(tmp_path / "history.jsonl")]
    assert program.main(words) == 1
    assert "Missed: tumbler, gradient: 6, at most 5 has to hold." in capsys.readouterr().out
    assert (tmp_path / "tumbler.json").exists()


def test_scaling_measures_lanes_memory_and_compilation():
    single, many = scaling.measure("tribometer", 1, lanes=(1, 32))
    assert (single["lanes"], many["lanes"]) == (1, 32)
    assert many["compile"] > 0 and many["bytes"] >= 0
    rows = scaling.rows_of("tribometer", [single, {**many, "lanes": 256}], [])
    assert [row[0] for row in rows] == ["tribometer, lanes: 1", "tribometer, lanes: 256"]
    (measure,) = record.record_of("scaling", table(scaling.HEADS, rows), 1.0, "")["measures"]
    assert measure["name"] == "tribometer, lanes: 256" and measure["goal"] == 4


def test_a_start_is_measured_cold_and_warm(monkeypatch):
    """The processes are replaced: each call takes a second, the first import a half."""
    clock, calls = [0.0], []

    def python(*words, cache="off"):
        calls.append((words, cache))
        clock[0] += 0.5 if words == ("-c", imports.BASIS) else 1.0

    monkeypatch.setattr(imports, "_python", python)
    monkeypatch.setattr(imports, "children", lambda: clock[0])
    monkeypatch.setattr(imports, "COMMANDS", {"wrmma --grad mass_ratio": (8, None, 4)})
    found = record.record_of("imports", imports.run(), 1.0, "")
    cold, warm = found["measures"][1:]
    assert cold["name"].endswith("cold") and warm["name"].endswith("warm")
    assert (cold["value"], cold["holds"], warm["holds"]) == (2.0, 8.0, 4.0)
    assert calls[-1][1] == calls[-2][1] != "off"

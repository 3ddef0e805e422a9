"""Tables of measured points: what is read, in which units, and what is refused with which words."""

import numpy as np
import pytest

from diffmicro.devices import device
from diffmicro.identification import DataError, data_of, read_data
from diffmicro.identification.data import MOST_ROWS

WRMMA = device("wrmma")


def read(tmp_path, text, name="wrmma", **options):
    path = tmp_path / "data.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_data(device(name), path, **options)


def test_units_of_headers_and_cells(tmp_path):
    text = (
        "# bench 3\nfrequency [kHz];velocity [mm/s];velocity_error[um/s];field;start;note\n"
        "2.3;34.5;200;5mT;rest;a\n2.4;35;250;6e-3;ramp;b\n"
    )
    found = read(tmp_path, text, ignore=["note"])
    np.testing.assert_allclose(found.keys["frequency"], [2300, 2400])
    np.testing.assert_allclose(found.values["velocity"], [34.5e-3, 35e-3])
    np.testing.assert_allclose(np.asarray(found.errors["velocity"]), [2e-4, 2.5e-4])
    np.testing.assert_allclose(found.keys["field"], [5e-3, 6e-3])
    assert list(found.keys["start"]) == ["rest", "ramp"]
    assert found.varied == ("frequency", "field")
    assert list(found.lines) == [3, 4]


def test_ways_and_entries_and_one_error_for_all():
    found = data_of(
        WRMMA,
        {"frequency_ratio": [1, 2], "velocity": [0, 1], "sweep": ["up", ""]},
        errors={"velocity": 1e-3},
    )
    assert list(found.ways) == ["up", ""]
    np.testing.assert_allclose(np.asarray(found.errors["velocity"], float), 1e-3)
    gripper = data_of(
        device("gripper"), {"beam_radius[1] [um]": [200, 210], "rotation[2] [deg]": [1, 2]}
    )
    np.testing.assert_allclose(gripper.keys["beam_radius[1]"], [2e-4, 2.1e-4])
    np.testing.assert_allclose(gripper.values["rotation[2]"], np.deg2rad([1, 2]))
    assert gripper.errors["rotation[2]"] is None


HEAD = "frequency_ratio,velocity [mm/s],velocity_error [mm/s]\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("frequency_ratio,velocty\n1,2\n", "'velocty' is no parameter.*did you mean velocity?"),
        ("frequency_ratio [mm],velocity\n1,2\n", "frequency_ratio.*mm is of another dimension"),
        ("field [mm],velocity\n1,2\n", "it has to be in T"),
        ("field [oersted],velocity\n1,2\n", "'oersted' is no unit that is known"),
        ("frequency_ratio,velocity\n1,2\n2,\n", "line 3, column velocity: there is no number"),
        ("frequency_ratio,velocity\n1,2\n2,x\n", "line 3, column velocity: 'x' is no number"),
        ("frequency_ratio,velocity\n1,nan\n", "line 2, column velocity: nan is not finite"),
        ("frequency_ratio,velocity\n1,2um\n", "2um has another dimension"),
        ("frequency_ratio,velocity\n1\n", "line 2: 1 cells, but the first line names 2 columns"),
        (HEAD + "1,2,0\n", "line 2, column velocity_error.*above 0"),
        (HEAD + "1,2,-1\n", "line 2, column velocity_error.*above 0"),
        ("frequency_ratio,velocity_error\n1,1\n", "has no column of a response"),
        ("frequency_ratio,velocity,velocity\n1,1,1\n", "'velocity' is there twice"),
        ("frequency_ratio,velocity,velocity [mm/s]\n1,1,1\n", "velocity is there twice"),
        ("frequency_ratio,velocity,sweep\n1,1,left\n", "up, down or empty"),
        ("frequency_ratio,velocity,start\n1,1,left\n", "one of rest, ramp"),
        ("frequency_ratio (Hz),velocity\n1,1\n", "write name or name"),
        ("frequency_ratio,velocity\n", "no rows"),
        ("", "is empty"),
        (b"frequency_ratio,velocity\n1,2 \xb5m\n", "line 2, is not UTF-8"),
        (
            b"mass_ratio,velocity\n1,2\n-1,2\n",
            "line 3, column mass_ratio: -1 is not allowed; it has to be above 0",
        ),
    ],
)
def test_what_is_refused(tmp_path, text, told):
    with pytest.raises(DataError, match=told):
        read(tmp_path, text)


def test_a_million_rows_are_refused_in_words(tmp_path):
    text = "frequency_ratio,velocity\n" + "1.5,0.01\n" * 1_000_000
    with pytest.raises(DataError, match=f"1000000 rows; {MOST_ROWS} at most"):
        read(tmp_path, text)


def test_other_refusals():
    with pytest.raises(DataError, match="unlike lengths"):
        data_of(WRMMA, {"frequency_ratio": [1, 2], "velocity": [1]})
    with pytest.raises(DataError, match=r"beam_radius is 4; a column holds one number.*\[0\]"):
        data_of(device("gripper"), {"beam_radius": [1], "tip_x": [1]})
    with pytest.raises(DataError, match="standard error of velocity is 0"):
        data_of(WRMMA, {"frequency_ratio": [1], "velocity": [1]}, errors={"velocity": 0})
    with pytest.raises(DataError, match="eta is given, but eta is no response with a column"):
        data_of(WRMMA, {"frequency_ratio": [1], "velocity": [1]}, errors={"eta": 1})
    with pytest.raises(DataError, match="Cannot read"):
        read_data(WRMMA, "no_such_file.csv")

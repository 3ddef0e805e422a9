"""`diffmicro optimize`: words that state no problem."""

import pytest


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["--free", "mass_ratio=1:2"], "exactly one"),
        (
            ["--maximize", "velocity", "--minimize", "impacts", "--free", "mass_ratio=1:2"],
            "exactly one",
        ),
        (["--maximize", "velocity"], "Nothing is free"),
        (["--maximize", "velocty", "--free", "mass_ratio=1:2"], "did you mean velocity?"),
        (["--maximize", "velocity", "--free", "mas_ratio=1:2"], "did you mean mass_ratio?"),
        (["--maximize", "velocity", "--free", "mass_ratio=2:1"], "lower bound"),
        (["--maximize", "velocity", "--free", "mass_ratio=-1:2"], "above 0"),
        (
            ["--maximize", "velocity", "--free", "mass_ratio=1:2", "--subject", "gap>1"],
            "not a response",
        ),
        (["--maximize", "velocity", "--free", "waveform=1:2"], "waveform"),
        (["--maximize", "velocity", "mass_ratio=1:2", "field=-1"], "field"),
    ],
)
def test_what_states_no_problem(run, arguments, told):
    done = run("optimize", "wrmma", *arguments)
    assert (done.code, done.out) == (2, "")
    assert told in done.err

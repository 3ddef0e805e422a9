"""A few stops of each job at random moments; `python -m tests.faults --count 50` is the long run."""

from collections import Counter

import pytest

from tests.faults import stopped

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", stopped.JOBS)
def test_what_goes_on_ends_in_the_same_bytes(name, tmp_path):
    done = Counter(stopped.stops(name, 2, 17, tmp_path))
    assert sum(done.values()) == 2


def test_other_bytes_are_noticed(tmp_path, monkeypatch):
    """A job that goes on with another friction: what the harness is for."""
    job = stopped.JOBS["sweep"]
    other = job._replace(words=tuple(w.replace("0.9:240", "0.8:240") for w in job.words))
    known = stopped.whole("sweep", tmp_path / "known")
    monkeypatch.setitem(stopped.JOBS, "sweep", other._replace(resume=()))
    monkeypatch.setattr(stopped, "whole", lambda name, folder: known)
    with pytest.raises(stopped.Broken, match="other bytes|ends with 2"):
        list(stopped.stops("sweep", 1, 1, tmp_path))

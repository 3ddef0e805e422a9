"""Who calculates when: the newest of a kind, one step at a time in a lane, lanes side by side."""

import threading

import pytest

from diffmicro.explore import turns
from diffmicro.explore.turns import Replaced, TooLong, Turns

LONG = 10.0  # seconds; only a fault takes them


def started(function):
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    return thread


def test_the_newest_replaces_who_works_and_who_waits():
    all_turns = Turns({"curve": "quick"})
    working, go_on, ends = threading.Event(), threading.Event(), {}

    def first():
        with pytest.raises(Replaced), all_turns.task("curve") as task:
            with task.step():
                working.set()
                assert go_on.wait(LONG)
        ends["first"] = "replaced"

    def second():
        with pytest.raises(Replaced), all_turns.task("curve"):
            pass
        ends["second"] = "replaced"

    def third():
        with all_turns.task("curve") as task, task.step():
            ends["third"] = sorted(ends)

    threads = [started(first)]
    assert working.wait(LONG)
    threads.append(started(second))
    while "curve" not in all_turns._next:
        pass
    threads.append(started(third))
    threads[1].join(LONG)
    assert ends == {"second": "replaced"}  # the first is in a step that nothing interrupts
    go_on.set()
    for thread in threads:
        thread.join(LONG)
    assert ends["third"] == ["first", "second"] and all_turns.idle


def test_steps_of_one_lane_take_turns_and_lanes_do_not_wait():
    all_turns = Turns({"curve": "quick", "motion": "quick", "search": "slow"})
    inside, order = [0], []

    def steps(kind):
        with all_turns.task(kind) as task:
            for _ in range(50):
                with task.step():
                    inside[0] += 1
                    assert inside[0] == 1
                    order.append(kind)
                    inside[0] -= 1

    with all_turns.task("search") as search, search.step():
        threads = [started(lambda kind=kind: steps(kind)) for kind in ("curve", "motion")]
        for thread in threads:
            thread.join(LONG)
    assert len(order) == 100


def test_an_end_and_a_limit_come_before_the_next_step(monkeypatch):
    all_turns = Turns({"search": "slow"})
    with pytest.raises(Replaced), all_turns.task("search") as task:
        with task.step():
            all_turns.end("search")
    monkeypatch.setattr(turns, "LONGEST", -1.0)
    with pytest.raises(TooLong), all_turns.task("search") as task, task.step():
        pass
    assert all_turns.idle

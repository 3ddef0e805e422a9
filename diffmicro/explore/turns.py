"""Who calculates when: of each kind of question the newest, of each lane one step at a time.

A question replaces the one of its kind that is being answered, which ends before its next step, and the one that
waits for it. So a kind has at most one calculation and one in its queue, however fast a slider moves. Steps of
different kinds in one lane take turns in the order in which they came; lanes do not wait for each other, so that a
slow search does not hold up a curve.
"""

import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

LONGEST = 600.0
"""Seconds after which no further step of one question begins."""


class Replaced(Exception):
    """A newer question of the same kind, or whoever asked, ended this one."""


class TooLong(Exception):
    """The question has taken its time."""


class Lane:
    """A lock that is given in the order in which it was wanted."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._wanted: deque[object] = deque()

    @contextmanager
    def turn(self) -> Iterator[None]:
        me = object()
        with self._changed:
            self._wanted.append(me)
            self._changed.wait_for(lambda: self._wanted[0] is me)
        try:
            yield
        finally:
            with self._changed:
                self._wanted.popleft()
                self._changed.notify_all()


class Task:
    """One question that is being answered."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self._ended = threading.Event()
        self._until = time.monotonic() + LONGEST

    def end(self) -> None:
        """No further step."""
        self._ended.set()

    @property
    def ended(self) -> bool:
        return self._ended.is_set()

    @contextmanager
    def step(self) -> Iterator[None]:
        """A piece of work that cannot be interrupted."""
        with self._lane.turn():
            self.check()
            yield
        self.check()

    def check(self) -> None:
        """Raise where no further step may begin."""
        if self.ended:
            raise Replaced
        if time.monotonic() > self._until:
            raise TooLong


class Turns:
    """The questions of all kinds. lanes: the name of each kind's lane."""

    def __init__(self, lanes: Mapping[str, str]) -> None:
        made = {name: Lane() for name in lanes.values()}
        self._lane_of = {kind: made[name] for kind, name in lanes.items()}
        self._changed = threading.Condition()
        self._now: dict[str, Task] = {}
        self._next: dict[str, Task] = {}

    @contextmanager
    def task(self, kind: str) -> Iterator[Task]:
        """This question's turn, once the one before has ended; `Replaced` where a newer one came meanwhile."""
        task = Task(self._lane_of[kind])
        with self._changed:
            for older in (self._now.get(kind), self._next.get(kind)):
                if older is not None:
                    older.end()
            self._next[kind] = task
            self._changed.notify_all()
            self._changed.wait_for(lambda: task.ended or kind not in self._now)
            if self._next.get(kind) is task:
                del self._next[kind]
            if task.ended:
                raise Replaced
            self._now[kind] = task
        try:
            yield task
        finally:
            with self._changed:
                del self._now[kind]
                self._changed.notify_all()

    def end(self, kind: str | None = None) -> None:
        """End the questions of one kind, or all."""
        with self._changed:
            for known in (self._now, self._next):
                for name, task in known.items():
                    if kind in (name, None):
                        task.end()
            self._changed.notify_all()

    @property
    def idle(self) -> bool:
        """Whether nothing is being calculated."""
        with self._changed:
            return not self._now

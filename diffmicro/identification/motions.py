"""Rows that do not say how they were reached: on which of several motions each lies.

Where the motion that a row starts to is off by more than `FAR` standard errors, there may be another one: those
that a sweep up and a sweep down over the rows come to. Each row takes the one nearest to its measurement, and
the fit goes on, until none changes."""

import numpy as np

from diffmicro.identification.model import States
from diffmicro.identification.search import SAME, Ended, Question, residuals_at, search, walk

FAR = 4.0
"""Residual, in standard errors, beyond which other motions are looked for; Gaussian errors pass it once in 16
000."""

ROUNDS = 4
"""Times that rows may change their motion."""


def settle(question: Question, ended: Ended) -> Ended:
    """The optimum with each row on the motion nearest to its measurement; the same where none is far off."""
    model = question.model
    if not model.device.carries or model.data.ways.any() or not model.data.varied:
        return ended
    if not _far(question, ended):
        return ended
    for _ in range(ROUNDS):
        states, branch = _nearest(question, ended)
        if np.array_equal(branch, ended.branch):
            return ended
        sigma = ended.sigma
        found = search(question, ended.u, sigma, states, branch)
        if found is None or found.mean_cost >= ended.mean_cost:
            return ended
        ended = found
    return ended


def _far(question: Question, ended: Ended) -> bool:
    """Whether a row has no value, or is far off by the scatter of the others."""
    residuals = np.abs(residuals_at(question, ended.looks, ended.sigma))
    sizes = residuals[ended.used]
    estimated = any(known is None for known in question.model.data.errors.values())
    scatter = 1.4826 * float(np.median(sizes)) if estimated else 1.0
    return bool((sizes > FAR * scatter).any() or not ended.used.all())


def _nearest(question: Question, ended: Ended) -> tuple[States, np.ndarray]:
    """For each row the start that leads nearest to its measurement."""
    model, theta = question.model, question.box.place(ended.u)
    count = len(model.data)
    candidates: list[tuple[str, States]] = [("start", {})]
    for way in ("up", "down"):
        candidates.append((way, walk(model, theta, np.full(count, way, object))))
    states: States = {}
    branch = np.full(count, "start", object)
    best = np.full(count, np.inf)
    first = None
    for name, starts in candidates:
        looks = model.looks(theta, starts)
        residuals = residuals_at(question, looks, ended.sigma)
        off = np.where(looks.usable.all(axis=1), (residuals**2).sum(axis=1), np.inf)
        same = np.zeros(count, bool)
        if first is not None:
            same = (np.abs(looks.value - first) / ended.sigma < SAME).all(axis=1)
        else:
            first = looks.value
        for row in np.flatnonzero((off < best) & ~same):
            best[row], branch[row] = off[row], name
            states.pop(int(row), None)
            if int(row) in starts:
                states[int(row)] = starts[int(row)]
    return states, branch

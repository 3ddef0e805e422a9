"""Points to answers: responses, status, gradients and certificates of many points, each on its own.

Points of one shape and one set of words are calculated together. A point that makes no sense gets
an answer that says so, and its neighbors get theirs.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import PyTree

from diffmicro._device import Device
from diffmicro._json import JsonObject, plain
from diffmicro.command.words import BadInput, Point, check_free, numbers, point, refusal
from diffmicro.devices import is_own
from diffmicro.parameters import Value
from diffmicro.results import code, from_code, message, words
from diffmicro.sweep.gradients import gradient_function, response_of, result_of
from diffmicro.sweep.grids import Batch, batches
from diffmicro.sweep.lanes import (
    calculate_lanes,
    calculate_one,
    cut,
    lane_function,
)


class Request(NamedTuple):
    """What is calculated at every point.

    wrt: keys to differentiate by; none: no gradient.
    of: responses to differentiate.
    """

    device: Device
    responses: tuple[str, ...]
    wrt: tuple[str, ...] = ()
    of: tuple[str, ...] = ()


class Answer(NamedTuple):
    """What came out at one point. Numbers that are not there are None."""

    response: JsonObject
    status: str
    message: str
    grad: dict[str, JsonObject]
    certificate: dict[str, JsonObject]


def answer_point(request: Request, given: Mapping[str, Value]) -> Answer:
    """The answer at one point; bad input raises `BadInput`."""
    (task,) = _tasks(request, {0: _point(request, given)})
    return next(_finished(request, task))[0]


def answer_points(
    request: Request, given: Sequence[Mapping[str, Value] | BadInput]
) -> Generator[Answer]:
    """The answers at all points, in their order, each as soon as it and those before it are there.

    When the calculation is stopped, by whatever, all that is finished leaves first; a point that is not finished
    holds its place with the status `interrupted`.
    """
    answers: dict[int, Answer] = {}
    tasks: list[_Task] = []
    groups: dict[tuple, dict[int, Point]] = {}
    for number, values in enumerate(given):
        try:
            if isinstance(values, BadInput):
                raise values
            found = _point(request, values)
            groups.setdefault(tuple(sorted(found.numerics.items())), {})[number] = found
        except BadInput as problem:
            answers[number] = _no_answer(request, problem)
    for points in groups.values():
        tasks += _tasks(request, points)
    done = 0
    try:
        # By their first points, so that few answers wait for others before them.
        for task in sorted(tasks, key=lambda task: task.numbers[0]):
            for some in _answered(request, task):
                answers |= some
                while done in answers:
                    yield answers.pop(done)
                    done += 1
    except GeneratorExit:
        raise
    except BaseException:
        stopped = BadInput("The calculation was stopped before this point.", "interrupted")
        for number in range(done, max(answers, default=-1) + 1):
            yield answers.pop(number, _no_answer(request, stopped))
        raise
    for number in range(done, len(given)):
        yield answers[number]


def numbers_at(request: Request, given: Mapping[str, Value] | BadInput) -> dict[str, float]:
    """The parameters of a point that are single numbers; none of a line that makes no point."""
    try:
        return (
            {} if isinstance(given, BadInput) else numbers(request.device, _point(request, given))
        )
    except BadInput:
        return {}


def _point(request: Request, given: Mapping[str, Value]) -> Point:
    found = point(request.device, given)
    check_free(found.design, found.setting, request.wrt)
    return found


class _Task(NamedTuple):
    """Lanes of a batch that are calculated in one go, `width` of them at once; see `calculate_lanes`.

    numbers: the numbers of these lanes' points. single: whether nothing else has these numerics.
    """

    numbers: Sequence[int]
    batch: Batch
    lanes: np.ndarray
    width: int
    numerics: Mapping[str, Value]
    single: bool


def _tasks(request: Request, points: Mapping[int, Point]) -> list[_Task]:
    """What to calculate at points with the same numerics."""
    asked = (*request.responses, *request.of)
    numerics = request.device.asking_for(asked, next(iter(points.values())).numerics)
    tasks = []
    numbers = list(points)
    for batch in batches([(points[n].design, points[n].setting) for n in numbers]):
        parts = cut(len(batch.lanes))
        for lanes in parts:
            own = [numbers[position] for position in batch.lanes[lanes]]
            tasks.append(_Task(own, batch, lanes, len(parts[0]), numerics, len(numbers) == 1))
    return tasks


def _finished(request: Request, task: _Task) -> Iterator[dict[int, Answer]]:
    """Answers by number of the point, as they are finished; `BadInput` for what the device refuses."""
    device, numerics = request.device, dict(task.numerics)
    if request.wrt:
        build = gradient_function(device, request.wrt, request.of, **numerics)
    else:
        build = lane_function(device.respond, **numerics)
    try:
        if task.single:
            lone = dict(device.lone)
            name = _program_name(request, numerics)
            pieces = [
                calculate_one(
                    build,
                    task.batch,
                    lone=lone,
                    result_of=result_of,
                    hasty=device.hasty,
                    name=name,
                )
            ]
        else:
            quick = dict(device.quick)
            pieces = calculate_lanes(
                build, task.batch, task.lanes, task.width, quick=quick, result_of=result_of
            )
        at = dict(zip(task.batch.lanes[task.lanes], task.numbers, strict=True))
        for piece in pieces:
            yield {
                at[lane]: _answer(request, jax.tree.map(lambda x, n=n: x[n], piece.output))
                for n, lane in enumerate(piece.lanes)
            }
    except ValueError as complaint:
        raise refusal(request.device, complaint, numerics) or complaint from None


def _program_name(request: Request, numerics: Mapping[str, Value]) -> str | None:
    """What decides the calculation beside design and setting; None for a device whose source is not ours."""
    if not is_own(request.device):
        return None
    return f"{request.device.name} {request.wrt} {request.of} {sorted(numerics.items())}"


def _answered(request: Request, task: _Task) -> Iterator[dict[int, Answer]]:
    """`_finished`, where what the device refuses is an answer too."""
    try:
        yield from _finished(request, task)
    except BadInput as problem:
        yield dict.fromkeys(task.numbers, _no_answer(request, problem))


def _answer(request: Request, output: PyTree) -> Answer:
    response = response_of(output)
    status = words(response.result).item()
    grad, certificate = {}, {}
    if request.wrt:
        from diffmicro.verdicts import certificate_words

        _, gradients, certificates, _ = output
        grad = {of: {key: plain(gradients[of][key]) for key in request.wrt} for of in request.of}
        certificate = {of: certificate_words(certificates[of]) for of in request.of}
    return Answer(
        {name: plain(getattr(response, name)) for name in request.responses},
        status,
        "" if status == "ok" else message(from_code(code(response.result))),
        grad,
        certificate,
    )


def _no_answer(request: Request, problem: BadInput) -> Answer:
    from diffmicro.verdicts import words_of_a_refusal

    refused = words_of_a_refusal(str(problem), request.wrt)
    return Answer(
        dict.fromkeys(request.responses),
        problem.status,
        str(problem),
        {of: dict.fromkeys(request.wrt) for of in request.of} if request.wrt else {},
        dict.fromkeys(request.of, refused) if request.wrt else {},
    )

"""Points to answers: responses, status, gradients and certificates of many points, each on its own.

Points of one shape and one set of words are calculated together. A point that makes no sense gets
an answer that says so, and its neighbors get theirs.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import jax
import numpy as np

from diffmicro._results import code, from_code, message, words
from diffmicro.command.words import BadInput, Point, point, raise_if_numerics
from diffmicro.devices import asking_for
from diffmicro.sweep.grids import batches
from diffmicro.sweep.lanes import (
    calculate,
    calculate_one,
    lane_function,
    lone_numerics,
    quick_numerics,
)

NUMBERS = ("residual", "margin", "multiplier", "discrepancy", "error_estimate")
"""What a certificate says in numbers."""


class Request(NamedTuple):
    """What is asked of every point.

    wrt: keys to differentiate by; none: no gradient.
    of: responses to differentiate.
    """

    device: ModuleType
    responses: tuple[str, ...]
    wrt: tuple[str, ...] = ()
    of: tuple[str, ...] = ()


class Answer(NamedTuple):
    """What came out at one point. Numbers that are not there are None."""

    response: dict[str, Any]
    status: str
    message: str
    grad: dict[str, dict[str, Any]]
    certificate: dict[str, dict[str, Any]]


def answer_point(request: Request, given: Mapping[str, Any]) -> Answer:
    """The answer at one point; bad input raises `BadInput`."""
    found = _point(request, given)
    return next(iter(_calculated(request, {0: found}).values()))


def answer_points(request: Request, given: Sequence[Mapping[str, Any] | BadInput]) -> list[Answer]:
    """The answers at all points, in their order."""
    answers: dict[int, Answer] = {}
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
        try:
            answers |= _calculated(request, points)
        except BadInput as problem:
            answers |= dict.fromkeys(points, _no_answer(request, problem))
    return [answers[number] for number in range(len(given))]


def _point(request: Request, given: Mapping[str, Any]) -> Point:
    found = point(request.device, given)
    for key in request.wrt:
        owner = found.design if hasattr(found.design, key) else found.setting
        if getattr(owner, key) is None:
            raise BadInput(f"{key} is None at this point: there is nothing to differentiate by.")
    return found


def _calculated(request: Request, points: Mapping[int, Point]) -> dict[int, Answer]:
    """Answers at points with the same numerics."""
    numerics = asking_for(
        request.device, (*request.responses, *request.of), next(iter(points.values())).numerics
    )
    respond = request.device.respond
    if request.wrt:
        build = _gradient_function(respond, request.wrt, request.of, **numerics)
    else:
        build = lane_function(respond, **numerics)
    numbers = list(points)
    answers = {}
    for batch in batches([(points[n].design, points[n].setting) for n in numbers]):
        try:
            if len(numbers) == 1:
                lone = lone_numerics(respond)
                pieces = [calculate_one(build, batch, lone=lone, result_of=_result)]
            else:
                quick = quick_numerics(respond)
                pieces = calculate(build, batch, quick=quick, result_of=_result)
            for piece in pieces:
                for position, lane in enumerate(piece.lanes):
                    output = jax.tree.map(lambda x, at=position: x[at], piece.output)
                    answers[numbers[lane]] = _answer(request, output)
        except ValueError as complaint:
            raise_if_numerics(complaint, numerics)
            raise
    return answers


@cache
def _gradient_function(
    respond: Callable, wrt: tuple[str, ...], of: tuple[str, ...], **fixed: Any
) -> Callable[..., Callable]:
    from diffmicro.certificate import value_and_gradient

    def build(**numerics: Any) -> Callable:
        return value_and_gradient(respond, wrt=wrt, of=of, **fixed, **numerics)

    return build


def _result(output: Any) -> Any:
    return _response(output).result


def _response(output: Any) -> Any:
    """The Response in what a function with or without gradient returns."""
    return output[3] if isinstance(output, tuple) else output


def _answer(request: Request, output: Any) -> Answer:
    response = _response(output)
    status = words(response.result).item()
    grad, certificate = {}, {}
    if request.wrt:
        _, gradients, certificates, _ = output
        grad = {of: {key: plain(gradients[of][key]) for key in request.wrt} for of in request.of}
        certificate = {of: _certificate(certificates[of]) for of in request.of}
    return Answer(
        {name: plain(getattr(response, name)) for name in request.responses},
        status,
        "" if status == "ok" else message(from_code(code(response.result))),
        grad,
        certificate,
    )


def _certificate(found: Any) -> dict[str, Any]:
    from diffmicro.certificate import reason_text, verdict_word

    told = {"verdict": verdict_word(found), "reason": reason_text(found), "method": found.method}
    return told | {name: plain(getattr(found, name)) for name in NUMBERS}


def _no_answer(request: Request, problem: BadInput) -> Answer:
    refused = {"verdict": "refused", "reason": str(problem), "method": None}
    refused |= dict.fromkeys(NUMBERS)
    return Answer(
        dict.fromkeys(request.responses),
        problem.status,
        str(problem),
        {of: dict.fromkeys(request.wrt) for of in request.of} if request.wrt else {},
        dict.fromkeys(request.of, refused) if request.wrt else {},
    )


def plain(value: Any) -> Any:
    """A number, or nested lists of numbers, as JSON has them: None for what is not finite."""
    array = np.asarray(value)
    if array.ndim:
        return [plain(part) for part in array]
    number = array.item()
    return number if np.isfinite(number) else None

"""What a device says at one operating point: responses and margins with their gradients, judged.

`answered` is plain data from plain data, so any process can be given the question (`sweep.remote.Call`).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import PyTree

from diffmicro._device import Device
from diffmicro.boundary.margin import margin_key, measured_or_nan
from diffmicro.certificate import value_and_gradient
from diffmicro.parameters import Fields, Value
from diffmicro.results import FAILURES, RESULTS, code

UNJUDGED = -1
"""Code of no verdict: margins are checked by `boundaries`."""


class Question(NamedTuple):
    """names: of responses and margins. fields: to differentiate by. numerics: of the device's `respond`."""

    device: Device
    fields: tuple[str, ...]
    names: tuple[str, ...]
    numerics: Mapping[str, Value]
    design: Fields
    setting: Fields


class Answer(NamedTuple):
    """values, gradients (by field) and verdicts, by the name of a response or margin. usable: whether the status
    is none of the failures."""

    values: dict[str, np.ndarray]
    gradients: dict[str, dict[str, np.ndarray]]
    verdicts: dict[str, np.ndarray]
    usable: np.ndarray


def answered(question: Question) -> Answer:
    """The answer as plain data."""
    names = question.names
    values, gradients, certificates, response = answers_of(question)
    judged = {n: certificates[n].verdict if n in certificates else UNJUDGED for n in names}
    kept = ({n: values[n] for n in names}, {n: gradients[n] for n in names}, judged)
    return Answer(*jax.tree.map(np.asarray, (*kept, usable(response))))


def answers_of(question: Question) -> tuple[dict, dict, dict, PyTree]:
    """Values and gradients of responses and margins, certificates of the responses, and the response."""
    device, fields, names, numerics, design, setting = question
    responses = tuple(name for name in names if margin_key(name) is None)
    asked = responses or tuple(device.responses)[:1]
    judged = _compiled(device, fields, asked, tuple(numerics.items()))
    values, gradients, certificates, response = judged(design, setting)
    for name in names:
        key = margin_key(name)
        if key is not None:
            found = measured_or_nan(device, design, setting, key, fields, response, numerics)
            values[name], gradients[name] = jnp.asarray(found.value), found.gradient
    return values, gradients, certificates, response


def usable(response: PyTree) -> Array:
    """Whether the status of a response is none of the failures."""
    codes = jnp.array([int(code(getattr(RESULTS, name))) for name in FAILURES])
    return ~jnp.any(code(response.result) == codes)


@cache
def _compiled(
    device: Device, fields: tuple[str, ...], responses: Sequence[str], numerics: tuple
) -> Callable:
    """Values, gradients and certificates, compiled once: the loop and the report share it."""
    return jax.jit(value_and_gradient(device, fields, responses, **dict(numerics)))

"""Responses with certified gradients at many points: the function of a lane, and what its numbers are called.

A derivative is `dvelocity/dmass_ratio`, of entries `dconfiguration_3/dbeam_radius[2]`: responses as the columns of
a table call theirs (from 1), parameters as words do (from 0, row by row). Its verdict is that of its own entry in
the certificate; the components of a response share the worst.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
from jaxtyping import PyTree

from diffmicro._device import Device
from diffmicro.parameters import Fields, Value
from diffmicro.reasons import VERDICTS
from diffmicro.results import RESULTS

VERDICT = "verdict of "
"""Before the name of a derivative: the column of its verdict."""


@cache
def gradient_function(
    device: Device, wrt: tuple[str, ...], of: tuple[str, ...], **fixed: Value
) -> Callable[..., Callable]:
    """Makes `(design, setting) -> (values, gradients, certificates, response)`, for `lanes.calculate`."""

    def build(**numerics: Value) -> Callable:
        return with_gradient(device, wrt, of, {**fixed, **numerics})

    return build


def with_gradient(
    device: Device, wrt: Sequence[str], of: Sequence[str], numerics: Mapping[str, Value]
) -> Callable[[Fields, Fields], PyTree]:
    """`(design, setting) -> (values, gradients, certificates, response)`."""
    from diffmicro.certificate import value_and_gradient  # plain sweeps do not wait for it

    return value_and_gradient(device, wrt=wrt, of=of, **numerics)


def response_of(output: PyTree) -> PyTree:
    """The Response in what a function with or without gradient returns."""
    return output[3] if isinstance(output, tuple) else output


def result_of(output: PyTree) -> RESULTS:
    """How it ended."""
    return response_of(output).result


def derivative_name(of: str, key: str) -> str:
    """What the derivative of a response by a parameter is called."""
    return f"d{of}/d{key}"


def unit_per(unit: str, below: str) -> str:
    """The unit of a derivative; units of pure numbers are empty or `-`."""
    above, below = (u if u != "-" else "" for u in (unit, below))
    if not below:
        return above
    return f"{above or '1'} / ({below})" if " " in below else f"{above or '1'} / {below}"


def derivative_arrays(
    output: PyTree, wrt: Sequence[str], of: Sequence[str]
) -> dict[str, np.ndarray]:
    """Derivatives and their verdicts by name, with the points of a batch first."""
    _, gradients, certificates, _ = output
    found = {}
    for response in of:
        for key in wrt:
            name = derivative_name(response, key)
            found[name] = np.asarray(gradients[response][key], float)
            verdict = np.asarray(certificates[response].entries[key].verdict)
            found[VERDICT + name] = np.array(VERDICTS)[verdict]
    return found


def derivative_columns(
    of: str, key: str, slopes: np.ndarray, verdicts: np.ndarray
) -> dict[str, np.ndarray]:
    """One derivative's columns: an entry of vectors takes one for itself; verdicts come behind."""
    count, shape = len(slopes), verdicts.shape[1:]
    names = [of]
    if slopes.ndim > verdicts.ndim:
        names = entry_names(of, slopes.size // max(verdicts.size, 1))
    keys = [f"{key}[{n}]" for n in range(int(np.prod(shape)))] if shape else [key]
    flat = slopes.reshape(count, len(names), len(keys))
    found = {
        derivative_name(name, entry): flat[:, i, j]
        for i, name in enumerate(names)
        for j, entry in enumerate(keys)
    }
    words = verdicts.reshape(count, len(keys))
    return found | {
        VERDICT + derivative_name(of, entry): words[:, j] for j, entry in enumerate(keys)
    }


def entry_names(name: str, count: int) -> list[str]:
    """Columns of a response that is a vector."""
    return [f"{name}_{n}" for n in range(1, count + 1)]

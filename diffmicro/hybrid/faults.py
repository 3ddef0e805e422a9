"""Faults in what an author wrote, as messages that name the line of the file and the remedy."""

import inspect
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import jax

from diffmicro.dynamics.series import NO_SIGN
from diffmicro.hybrid.motion import Motion, MotionError
from diffmicro.parameters import describe

FUNCTIONS = "Take exp, log, sqrt, power, tanh, sin, cos and where from diffmicro.hybrid instead of jax.numpy."

NO_CHOICE = (
    "a number decides here what Python does next (if, and, or, max, float), but one compiled program serves all "
    "numbers. Choose by a parameter with hybrid.where(flag, a, b). " + NO_SIGN
)


@contextmanager
def blaming(motion: Motion, trees: Sequence[type]) -> Iterator[None]:
    """What fails inside is a fault of the motion: `MotionError` with its line. trees: its Design and Setting."""
    try:
        yield
    except MotionError:
        raise
    except Exception as problem:
        line = _line_of(motion, problem)
        raise MotionError(f"{line}: {_text_of(problem, trees)}") from problem


def _line_of(motion: Motion, problem: Exception) -> str:
    """Where the author's own file was left last."""
    kind = type(motion)
    file = inspect.getsourcefile(kind)
    frames = [f for f in traceback.extract_tb(problem.__traceback__) if f.filename == file]
    if not frames:
        return f"{kind.__name__}.accelerations"
    return f"{file}, line {frames[-1].lineno}, in {frames[-1].name}"


def _text_of(problem: Exception, trees: Sequence[type]) -> str:
    """The fault in a sentence, and what to write instead."""
    text = str(problem).partition("\n")[0].rstrip(".")
    if isinstance(problem, jax.errors.ConcretizationTypeError):
        return NO_CHOICE
    if isinstance(problem, AttributeError):
        for tree in trees:
            if type(problem.obj) is tree:
                return f"{text}. {tree.__name__} has {', '.join(describe(tree))}."
        return f"{text}."
    if NO_SIGN in str(problem):
        return str(problem)
    if "Series" in str(problem):
        return f"{text}. {FUNCTIONS} {NO_SIGN}"
    return f"{type(problem).__name__}: {text}."

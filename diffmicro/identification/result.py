"""What an identification found, and the same as plain values for JSON."""

from typing import NamedTuple

import numpy as np

from diffmicro._json import JsonObject, plain
from diffmicro.identification.known import Blind
from diffmicro.identification.optima import Seen
from diffmicro.identification.search import Ended, Question


class Estimate(NamedTuple):
    """One parameter. error: standard error, NaN where a bound holds it. low, high: the 95 % interval by profile
    likelihood.

    endings: how the interval ends below and above: `found`, `part` (points that are lost on the way are
    linearized), `bound` (the data do not end it before the range does), `lost` (points have no value beyond),
    `linear` (no profile). linear: the interval from the standard error. identified: the data know it better
    than its range does, and end its interval. bound: the end of the range that holds it, `low` or `high`.
    curve: (value, signed root of the cost's rise) that were tried."""

    value: float
    error: float
    low: float
    high: float
    endings: tuple[str, str]
    linear: tuple[float, float]
    identified: bool
    bound: str
    range: tuple[float, float]
    unit: str
    curve: list[tuple[float, float]]


class Chi(NamedTuple):
    """Sum of the losses of the points; freedom: points less parameters. p: probability of a larger chi-square,
    None where standard errors were estimated or the loss is robust."""

    square: float
    freedom: int
    p: float | None


class Omitted(NamedTuple):
    """A point that does not count, or whose gradient is not certified. line: of the file, or number of the
    row."""

    line: int
    response: str
    status: str
    why: str


class Identified(NamedTuple):
    """What the data say. Arrays of points are (rows, responses), in the order of the data.

    status: `ok`, `stopped` (no optimum: what barred it is in `omitted`, or the steps ran out), `not_converged`.
    covariance: linearized, of the parameters in their order. residual: root mean square, in standard errors.
    blind: combinations of parameters that the data do not see. estimated: responses whose standard error comes
    from the residuals. branch: how each row reached its motion. seen: the starts and their optima."""

    device: str
    status: str
    parameters: dict[str, Estimate]
    covariance: np.ndarray
    residual: float
    chi: Chi
    loss: str
    singular_values: np.ndarray
    blind: list[Blind]
    sigma: np.ndarray
    estimated: dict[str, bool]
    residuals: np.ndarray
    used: np.ndarray
    omitted: list[Omitted]
    uncertified: list[Omitted]
    branch: np.ndarray
    seen: Seen
    evaluations: int
    question: Question
    ended: Ended | None

    @property
    def values(self) -> dict[str, float]:
        """The estimates alone."""
        return {key: estimate.value for key, estimate in self.parameters.items()}

    @classmethod
    def failed(cls, question: Question, begun: int, points: list[Omitted]) -> "Identified":
        """No start had as many points with a value as it takes."""
        shape = question.measured.shape
        data = question.model.data
        return cls(
            device=question.model.device.name,
            status="not_converged",
            parameters={},
            covariance=np.zeros((0, 0)),
            residual=np.nan,
            chi=Chi(np.nan, 0, None),
            loss=question.loss,
            singular_values=np.zeros(0),
            blind=[],
            sigma=np.full(shape, np.nan),
            estimated={name: known is None for name, known in data.errors.items()},
            residuals=np.full(shape, np.nan),
            used=np.zeros(shape, bool),
            omitted=points,
            uncertified=[],
            branch=np.full(shape[0], "start", object),
            seen=Seen([], begun, begun, None),
            evaluations=question.model.evaluations,
            question=question,
            ended=None,
        )

    def json(self) -> JsonObject:
        """Plain values: what `diffmicro identify --json` prints."""
        box = self.question.box
        words, counts = np.unique(self.branch.astype(str), return_counts=True)
        content = {
            "device": self.device,
            "status": self.status,
            "parameters": {key: _estimate(each) for key, each in self.parameters.items()},
            "covariance": [[*row] for row in self.covariance],
            "residual": self.residual,
            "chi_square": {"value": self.chi.square, "freedom": self.chi.freedom, "p": self.chi.p},
            "loss": self.loss,
            "standard_errors": {
                name: "estimated from the residuals" if own else "given"
                for name, own in self.estimated.items()
            },
            "points": {
                "given": int(self.used.size),
                "used": int(self.used.sum()),
                "left_out": [each._asdict() for each in self.omitted],
                "uncertified": [each._asdict() for each in self.uncertified],
            },
            "branches": {
                "of_rows": list(self.branch),
                **{word: int(n) for word, n in zip(words, counts, strict=True)},
            },
            "unseen": [
                {"combination": str(b), "changes": b.changes, "standard_error": b.known}
                for b in self.blind
            ],
            "singular_values": self.singular_values,
            "optima": [
                {
                    "parameters": dict(zip(box.names, box.place(each.ended.u), strict=True)),
                    "cost": each.ended.cost,
                    "points": int(each.ended.used.sum()),
                    "starts": each.starts,
                }
                for each in self.seen.optima
            ],
            "starts": {
                "begun": self.seen.begun,
                "failed": self.seen.failed,
                "missed": self.seen.missed,
            },
            "evaluations": self.evaluations,
        }
        return plain(content)


def _estimate(each: Estimate) -> JsonObject:
    return {
        "value": each.value,
        "low": each.low,
        "high": each.high,
        "identified": each.identified,
        "standard_error": each.error,
        "linear_low": each.linear[0],
        "linear_high": each.linear[1],
        "ends": list(each.endings),
        "at_bound": each.bound or None,
        "range": list(each.range),
        "unit": each.unit,
    }

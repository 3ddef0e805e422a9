"""What an optimization hands back: designs before and after, how it ended, its history."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from diffmicro.design.problem import Finished


class Step(NamedTuple):
    """The best lane after one iteration. verdict: of its gradient; -1: none was asked for."""

    evaluations: int
    design: dict[str, float]
    objective: float
    constraints: dict[str, float]
    gradient_norm: float
    verdict: int
    accepted: int


@dataclass(frozen=True)
class Result:
    """status: ok, not_converged (no feasible design) or interrupted; reason: why it stopped.

    published, optimized: the start and the best feasible design with responses and certificates;
    the responses are those of a full evaluation, not of the loop's quick one.
    variables: values of the free variables of `optimized`. idle: variables that changed nothing.
    """

    status: str
    reason: str
    published: Finished
    optimized: Finished
    variables: dict[str, float]
    constraints: dict[str, dict[str, float]]
    idle: tuple[str, ...]
    history: tuple[Step, ...]
    evaluations: int
    seconds: float

    def json(self, study: str) -> dict[str, Any]:
        """The object that a study prints."""

        def side(finished: Finished) -> dict[str, Any]:
            return {
                "design": finished.design,
                "setting": finished.setting,
                "response": finished.response,
                "status": finished.status,
            }

        return {
            "study": study,
            "published": side(self.published),
            "optimized": side(self.optimized),
            "constraints": self.constraints,
            "status": self.status,
            "reason": self.reason,
            "certificate": self.optimized.certificate,
            "evaluations": self.evaluations,
            "seconds": round(self.seconds, 3),
        }

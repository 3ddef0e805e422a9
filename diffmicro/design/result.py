"""What an optimization hands back: designs before and after, what holds the optimum, its history."""

from collections.abc import Mapping
from dataclasses import dataclass

from diffmicro._json import Json, JsonObject
from diffmicro.design.problem import Finished, Problem, Step


@dataclass(frozen=True)
class Result:
    """status: how the search ended (`ending`: ok, stopped, not_converged, interrupted); reason: why, in words.

    published, optimized: the start and the best feasible design with responses and certificates; the start
    again where nothing is better. The responses are those of a full evaluation, not of the loop's quick one.
    start, variables: values of the free variables of both.
    constraints: per constraint value, slack, whether it binds and its multiplier, the gain per unit by which
    its bound is relaxed. bounds: the same of variables that stand at one.
    remainder: what the limits do not balance, as a share of the gradient, or of the gain where that is larger.
    optima: distinct local optima, best first: objective, variables, the limits that hold it, and how many starts
    ended there. starts: how many were begun (0: the method has none). unseen: probability that one more would
    end at an optimum that is not among them. idle: variables that changed nothing.
    surroundings: what lies around the design, in plain values; None where it was not looked at.
    """

    problem: Problem
    method: str
    status: str
    reason: str
    published: Finished
    optimized: Finished
    start: dict[str, float]
    variables: dict[str, float]
    constraints: dict[str, JsonObject]
    bounds: dict[str, JsonObject]
    remainder: float
    optima: tuple[JsonObject, ...]
    starts: int
    unseen: float | None
    idle: tuple[str, ...]
    history: tuple[Step, ...]
    certified: float
    evaluations: int
    seconds: float
    surroundings: Mapping[str, Json] | None = None

    @property
    def feasible(self) -> bool:
        """Whether the design has a value and meets the constraints."""
        return not self.problem.missed(self.optimized)

    def json(self, study: str) -> JsonObject:
        """The object that a study prints."""

        def side(finished: Finished, variables: dict[str, float]) -> JsonObject:
            return {
                "design": finished.design,
                "setting": finished.setting,
                "response": finished.response,
                "status": finished.status,
                "variables": variables,
            }

        around = {} if self.surroundings is None else {"surroundings": self.surroundings}
        return {
            "study": study,
            "objective": self.problem.objective.response,
            "goal": self.problem.objective.goal,
            "published": side(self.published, self.start),
            "optimized": side(self.optimized, self.variables),
            "variables": list(self.problem.names),
            "constraints": self.constraints,
            "bounds": self.bounds,
            "optima": list(self.optima),
            "starts": self.starts,
            "unseen": self.unseen,
            "status": self.status,
            "reason": self.reason,
            "method": self.method,
            "certificate": self.optimized.certificate,
            "certified_share": None if self.certified != self.certified else self.certified,
            "remainder": None if self.remainder != self.remainder else self.remainder,
            "evaluations": self.evaluations,
            "seconds": round(self.seconds, 3),
            **around,
        }

"""What a boundary is: the place along a parameter where a device stops doing what it does, and what moves it.

| kind | of | what happens there |
|---|---|---|
| `fold` | periodic motions | the branch turns around: beyond it there is no such motion (pull-in is one) |
| `period_doubling`, `torus` | | a multiplier leaves the unit circle at -1, or off the real axis |
| `branching` | | a multiplier passes 1, the branch goes on: a symmetry breaks |
| `grazing` | | an impact appears or vanishes |
| `stick_onset` | | a phase of rest appears or vanishes |
| `lasting_contact` | | a phase of lasting contact appears or vanishes |
| `corner` | | events change their order |
| `start_lost` | | the start no longer leads to this motion, though the motion is there |
| `lost` | | the motion was not found any further, and why is not known |
| a name of the device's own | any | what the device says, see `Device.limits` |
"""

import dataclasses
from collections.abc import Mapping

import numpy as np

from diffmicro._json import JsonObject, plain
from diffmicro.parameters import Value


@dataclasses.dataclass(frozen=True)
class BoundaryCertificate:
    """What a boundary says about itself.

    verdict: certified, uncertified (numbers, with the reason), refused (no derivative). reason: in words.
    residual: how well it fulfills its equations, natural units [-]. separation: see
    `dynamics.boundaries.Change` [-]; None where nothing is singular. mismatch: relative disagreement of the
    derivatives with boundaries located anew at two neighbors along a direction that mixes all parameters [-].
    before, behind: sequences of events on both sides."""

    verdict: str
    reason: str
    residual: float
    separation: float | None
    mismatch: float
    before: str = ""
    behind: str = ""


@dataclasses.dataclass(frozen=True)
class Boundary:
    """A boundary along one parameter. See the module docstring for `kind`.

    along: name of the parameter. side: below or above the point given. at: the parameter there [its
    unit]. start: the parameter at that point. grad: derivatives of `at` by other parameters, by name [SI]; empty
    where the verdict is refused. ends: whether the motion, or what the device is for, ends there; else it goes on
    changed. beyond: status word of what the device does beyond it, empty where it was not looked at.
    """

    along: str
    side: str
    kind: str
    at: float
    start: float
    grad: Mapping[str, Value]
    ends: bool
    beyond: str
    certificate: BoundaryCertificate

    @property
    def holds_until(self) -> bool:
        """Whether what the device does, reached from its start, is no longer there beyond it."""
        return bool(self.ends) or self.kind == "start_lost"

    @property
    def distance(self) -> float:
        """How far away it is, as a share of the parameter; of its own value where the parameter is zero."""
        return abs(self.at - self.start) / (abs(self.start) or abs(self.at) or 1.0)

    def plain(self) -> JsonObject:
        """As JSON has it."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        fields["grad"] = {name: plain(np.asarray(slope)) for name, slope in self.grad.items()}
        fields["certificate"] = plain(dataclasses.asdict(self.certificate))
        return plain({**fields, "distance": self.distance})

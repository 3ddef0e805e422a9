"""Branches of periodic motions: followed through folds as one parameter changes, stable or not.

A periodic motion z = P^n(z, q(p)) is a point u = (z, p) of a curve. From one point to the next
(pseudo-arclength continuation, Keller 1977):

1. the tangent t is the null vector of [P_z - I, P_p], with the matrices of one forward pass;
2. u + s t is corrected by Newton's method on the orbit and on t . (u - u0) = s together, which
   stays regular where the curve turns around;
3. a point that is bad in any way (no convergence, a sharp bend, another number of impacts) is tried
   again from half the length s; good ones let s grow.

At a fold the parameter's share of t changes sign; it is found by the secant method. An orbit is
stable while its multipliers, the eigenvalues of P_z, lie inside the unit circle.

Where the sequence of modes changes, P has a kink (an impact that passes a switch of the drive, say)
and the branch a corner. s shrinks towards it; behind it the branch leaves along a t that is the
null vector at u + s t itself. The sign of t is the one that keeps the sign of det [P_z - I, P_p; t],
which is constant along a smooth branch and passes kinks, because there both matrices agree on the
surface of the kink; so a corner may be as sharp as it likes, and a step that lands on another piece of
the branch, which runs the other way, is found out. A corner where the parameter turns around is a fold
too, and multipliers jump there. Where an impact appears or vanishes (grazing) P_z grows without bound and
the branch ends. Corners are located to `Stride.shortest`, grazing as far as Newton's method gets
towards it (in the WRMMA to 1e-5 of the frequency).

Ends: `bound`: the parameter left its range. `grazing`: see above. `closed`: back at the start.
`step_limit`: more points than allowed. `not_converged`: no next point at the shortest length, for
another reason. This runs on the host and is for looking: its numbers carry no derivatives.
"""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import PyTree

from diffmicro.dynamics.fixed_point import PeriodMap

End = Literal["bound", "grazing", "closed", "step_limit", "not_converged"]

CONVERGED = 1e-8
"""|P z - z| [natural units] of a corrected point; steps of the motion are resolved to 1e-9."""

NEWTON = 6
"""Most corrections of one point; one that needs more is too far from its prediction."""

EASY = 3
"""Corrections up to which the next length may grow."""

BEND = 0.95
"""Smallest cosine between two tangents in a row, corners apart."""

AROUND = 100
"""Distance in `Stride.shortest` from a corner to the first point behind it."""

AHEAD = (1, 10, 100, 1000)
"""Distances in `Stride.shortest` at which an impact that grazes may show: multipliers of a thousand
and more stop Newton's method before the number of impacts changes."""


class NoOrbit(ValueError):
    """There is no periodic motion where a branch should start."""


class Family(eqx.Module):
    """Period maps that differ in one parameter.

    period_map: see `orbits.PeriodMap`.
    parameters: from the scalar p to the vector q.
    count: which observed quantity counts impacts, by whose change grazing is known [-]; None: none.
    periods: drive periods of one round of the motion [-].
    tolerance: of the motion's steps [natural units].
    """

    period_map: PeriodMap
    parameters: Callable[[Array], Array]
    count: int | None = eqx.field(static=True, default=None)
    periods: int = eqx.field(static=True, default=1)
    tolerance: Array | float = 1e-9


class Stride(NamedTuple):
    """Lengths along a branch, in natural units of the state and shares of the parameter's range.

    longest: longest step [-].
    shortest: step below which the branch ends [-].
    points: most points in each direction [-].
    """

    longest: float = 0.05
    shortest: float = 1e-6
    points: int = 2000


STRIDE = Stride()
"""Fine enough for the branches of the library's devices."""


@runtime_checkable
class AnyBranch(Protocol):
    """What every device gives of a branch beside its responses, point by point: see `Branch`.

    key: the name of the parameter; parameter: its values [SI].
    """

    @property
    def key(self) -> str: ...
    @property
    def parameter(self) -> np.ndarray: ...
    @property
    def stable(self) -> np.ndarray: ...
    @property
    def folds(self) -> np.ndarray: ...
    @property
    def ends(self) -> tuple[str, str]: ...


class Branch(NamedTuple):
    """Periodic motions in the order in which they follow each other.

    parameter (points); state (points, states); observed (points, quantities), per round, the
    displacement first; multipliers (points, states), complex; stable (points); folds, corners:
    indices of points where the parameter turns around, and where the branch has a kink; ends: why
    it stops before the first and after the last point.
    """

    parameter: np.ndarray
    state: np.ndarray
    observed: np.ndarray
    multipliers: np.ndarray
    stable: np.ndarray
    folds: np.ndarray
    corners: np.ndarray
    ends: tuple[End, End]

    @property
    def displacement(self) -> np.ndarray:
        """Displacement over one round [natural units]."""
        return self.observed[:, 0]


class Point(NamedTuple):
    """A point u = (z, share of the parameter's range), with what is known there.

    observed: what a pass saw. side: the sign of det [P_z - I, P_p; t], the same all along a branch.
    """

    at: np.ndarray
    observed: PyTree
    by_state: np.ndarray
    tangent: np.ndarray
    side: float
    corrections: int
    fold: bool = False
    corner: bool = False


class Curve:
    """The equations of a branch on one range of the parameter, as arrays of the host.

    `dynamics.boundaries` has one that watches the whole sequence of events.
    """

    fine = CONVERGED
    """Residual down to which corrections go on, where they help."""

    def __init__(self, family: Family, low: float, high: float):
        self.family, self.low, self.span = family, low, high - low

    def evaluate(self, at: np.ndarray) -> tuple[np.ndarray, PyTree, np.ndarray]:
        """P z - z, what was observed, and the matrix of P z - z by u."""
        low, span = self.low, self.span
        defect, observed, matrix = _evaluate(self.family, jnp.asarray(at), low, span)
        return np.asarray(defect), np.asarray(observed), np.asarray(matrix)

    def events(self, observed: PyTree) -> object:
        """What does not change along a smooth piece: the number of impacts."""
        count = self.family.count
        return 0.0 if count is None else round(float(observed[count]))

    def correct(self, guess: np.ndarray, along: np.ndarray) -> Point | None:
        """The orbit in the plane through `guess` normal to `along`; None without convergence."""
        at, before = guess, np.inf
        for corrections in range(NEWTON + 1):
            defect, observed, matrix = self.evaluate(at)
            if not (np.all(np.isfinite(defect)) and np.all(np.isfinite(matrix))):
                return None
            size = np.max(np.abs(defect))
            done = size < self.fine or size > 0.1 * before or corrections == NEWTON
            before = size
            if size < CONVERGED and done:
                tangent = _tangent(matrix, along)
                by_state = matrix[:, :-1] + np.eye(len(at) - 1)
                side = float(np.sign(np.linalg.det(np.vstack([matrix, tangent]))))
                return Point(at, observed, by_state, tangent, side, corrections)
            system = np.vstack([matrix, along])
            try:
                at = at - np.linalg.solve(system, np.append(defect, along @ (at - guess)))
            except np.linalg.LinAlgError:
                return None
        return None


@eqx.filter_jit
def _evaluate(family: Family, at: Array, low: Array | float, span: Array | float) -> tuple:
    def defect(u: Array) -> tuple[Array, tuple[Array, Array]]:
        q = family.parameters(low + span * u[-1])
        periods = jnp.asarray(family.periods, jnp.int32)
        tolerance = jnp.asarray(family.tolerance, u.dtype)
        after, observed = family.period_map(q, u[:-1], periods, tolerance)
        return after - u[:-1], (after - u[:-1], observed)

    matrix, (value, observed) = jax.jacfwd(defect, has_aux=True)(at)
    return value, observed, matrix


def _tangent(matrix: np.ndarray, along: np.ndarray) -> np.ndarray:
    """The unit null vector that points forward."""
    tangent = np.linalg.svd(matrix)[2][-1]
    return tangent if tangent @ along >= 0 else -tangent


def follow(
    family: Family,
    state: np.ndarray,
    at: float,
    low: float,
    high: float,
    stride: Stride = STRIDE,
    watch: Callable[[int], None] = lambda points: None,
) -> Branch:
    """The branch through the orbit near `state` at parameter `at`, both ways, within [low, high].

    `watch` is called with the number of points added since its last call. Raises `NoOrbit` when there is no orbit
    near the state.
    """
    if not low <= at <= high or not low < high:
        raise ValueError(f"follow: need low <= at <= high and low < high, got {low}, {at}, {high}.")
    curve = Curve(family, low, high)
    guess = np.append(np.asarray(state, float), (at - low) / (high - low))
    upward = np.zeros(len(guess))
    upward[-1] = 1.0
    first = curve.correct(guess, upward)
    if first is None:
        raise NoOrbit(
            f"follow: no periodic motion near state {np.asarray(state)} at parameter {at}. "
            "Start from an orbit that `find_orbit` accepted."
        )
    after, end = _one_way(curve, first, stride, watch)
    if end == "closed":
        return _assembled(curve, [first, *after], (end, end))
    back = first._replace(tangent=-first.tangent, side=-first.side)
    before, start = _one_way(curve, back, stride, watch)
    return _assembled(curve, [*before[::-1], first, *after], (start, end))


SAME = 1e-2
"""Distance [natural units] from a branch, interpolated, within which a motion belongs to it."""


def each_from_rest(
    family: Family,
    from_rest: Callable[[float], np.ndarray | None],
    low: float,
    high: float,
    seeds: int,
    stride: Stride = STRIDE,
    watch: Callable[[int], None] = lambda points: None,
) -> Iterator[Branch]:
    """The branches through the motions found at `seeds` values of the parameter, one after another.

    `from_rest`: the parameter -> the state of the motion that the simulation from rest settles to, or None.
    """
    found: list[Branch] = []
    for at in np.linspace(low, high, seeds):
        state = from_rest(float(at))
        if state is None or any(_comes_by(branch, state, at) for branch in found):
            continue
        new = follow(family, state, float(at), low, high, stride, watch)
        # Where a branch breaks off, its other piece or the motion at the break may lead back to it.
        if not any(_same(new, branch) for branch in found):
            found.append(new)
            yield new


def _comes_by(branch: Branch, state: np.ndarray, value: float) -> bool:
    """Whether the branch passes the state at this value of the parameter."""
    left, right = branch.parameter[:-1] - value, branch.parameter[1:] - value
    between = (left * right <= 0) & (left != right)
    share = (left / np.where(between, left - right, 1.0))[:, None]
    states = branch.state[:-1] * (1 - share) + branch.state[1:] * share
    near = np.max(np.abs(states - state), axis=1) < SAME
    return bool(np.any(between & near))


def _same(one: Branch, other: Branch) -> bool:
    """Whether each branch comes by the middle of the other."""
    ways = ((one, other), (other, one))
    return all(
        _comes_by(a, b.state[len(b.state) // 2], b.parameter[len(b.state) // 2]) for a, b in ways
    )


def _one_way(
    curve: Curve, first: Point, stride: Stride, watch: Callable[[int], None]
) -> tuple[list[Point], End]:
    """The points after `first`, along its tangent, and why there are no more."""
    points: list[Point] = []
    here, length = first, stride.longest / 4
    while len(points) < stride.points:
        found, length = next_point(curve, here, length, stride)
        if found is None:
            found, length = around_corner(curve, here, stride), AROUND * stride.shortest
            if found is None:
                return points, "grazing" if _grazes(curve, here, stride) else "not_converged"
            turns = here.tangent[-1] * found.tangent[-1] < 0
            points[-1:] = [here._replace(corner=True, fold=turns)]  # `here` is the last, or `first`
        elif here.tangent[-1] * found.tangent[-1] < 0:
            points.append(turning_point(curve, here, found))
        if not 0 <= found.at[-1] <= 1:
            last = at_bound(curve, here, found)
            if last is not None and np.linalg.norm(last.at - here.at) > stride.shortest:
                points.append(last)
            return points, "bound"
        points.append(found)
        watch(1)
        if len(points) > 2 and _passes(here.at, found.at, first):
            return points, "closed"
        here = found
    return points, "step_limit"


def next_point(
    curve: Curve, here: Point, length: float, stride: Stride
) -> tuple[Point | None, float]:
    """The next point, and the length to go on with."""
    events = curve.events(here.observed)
    while length >= stride.shortest:
        found = curve.correct(here.at + length * here.tangent, here.tangent)
        if (
            found is not None
            and curve.events(found.observed) == events
            and found.tangent @ here.tangent > BEND
            and found.side == here.side
            and np.linalg.norm(found.at - here.at) < 2 * length
        ):
            growth = 1.5 if found.corrections <= EASY else 1.0
            return found, min(length * growth, stride.longest)
        length /= 2
    return None, length


def _grazes(curve: Curve, here: Point, stride: Stride) -> bool:
    """Whether the number of impacts changes close ahead, where no orbit was found."""
    events = curve.events(here.observed)
    ahead = [curve.evaluate(here.at + n * stride.shortest * here.tangent)[1] for n in AHEAD]
    return any(curve.events(observed) != events for observed in ahead)


def around_corner(curve: Curve, here: Point, stride: Stride, same: bool = True) -> Point | None:
    """The first point behind a corner at `here`, with the `same` events or not; None if the branch does not go
    on."""
    length = AROUND * stride.shortest
    _, _, matrix = curve.evaluate(here.at + length * here.tangent)
    if not np.all(np.isfinite(matrix)):
        return None
    leaves = _tangent(matrix, here.tangent)
    if np.sign(np.linalg.det(np.vstack([matrix, leaves]))) != here.side:
        leaves = -leaves
    found = curve.correct(here.at + length * leaves, leaves)
    if found is None or found.side != here.side or found.tangent @ leaves < BEND:
        return None
    allowed = not same or curve.events(found.observed) == curve.events(here.observed)
    return found if allowed and np.linalg.norm(found.at - here.at) < 2 * length else None


def turning_point(curve: Curve, before: Point, after: Point) -> Point:
    """The point between two where the parameter turns around (secant with halving: Illinois)."""
    low, high = 0.0, float(before.tangent @ (after.at - before.at))
    left, right = before.tangent[-1], after.tangent[-1]
    best = before if abs(left) < abs(right) else after
    for _ in range(20):
        length = (low * right - high * left) / (right - left)
        found = curve.correct(before.at + length * before.tangent, before.tangent)
        if found is None:
            break
        share = found.tangent[-1]
        best = found if abs(share) < abs(best.tangent[-1]) else best
        if abs(share) < 1e-7:
            break
        if share * right < 0:
            low, left = high, right
        else:
            left = left / 2
        high, right = length, share
    return best._replace(fold=True)


def at_bound(curve: Curve, inside: Point, outside: Point) -> Point | None:
    """The orbit where the branch leaves the range of the parameter."""
    bound = 0.0 if outside.at[-1] < 0 else 1.0
    share = (bound - inside.at[-1]) / (outside.at[-1] - inside.at[-1])
    guess = inside.at + share * (outside.at - inside.at)
    guess[-1] = bound
    along = np.zeros(len(guess))
    along[-1] = np.sign(outside.at[-1] - inside.at[-1])
    return curve.correct(guess, along)


def _passes(here: np.ndarray, there: np.ndarray, first: Point) -> bool:
    """Whether the branch comes by its first point between two points, in the same direction."""
    chord = there - here
    share = (first.at - here) @ chord / (chord @ chord)
    nearest = here + np.clip(share, 0, 1) * chord
    distance = np.linalg.norm(first.at - nearest)
    close = distance < 0.1 * np.linalg.norm(chord)
    return bool(0 <= share <= 1 and close and chord @ first.tangent > 0)


def _assembled(curve: Curve, points: list[Point], ends: tuple[End, End]) -> Branch:
    multipliers = np.array([np.linalg.eigvals(p.by_state) for p in points])
    at = np.array([p.at for p in points])
    return Branch(
        parameter=curve.low + curve.span * at[:, -1],
        state=at[:, :-1],
        observed=np.array([p.observed for p in points]),
        multipliers=multipliers,
        stable=np.max(np.abs(multipliers), axis=1) < 1,
        folds=np.array([i for i, p in enumerate(points) if p.fold], int),
        corners=np.array([i for i, p in enumerate(points) if p.corner], int),
        ends=ends,
    )

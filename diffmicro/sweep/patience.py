"""Batches that do not wait for one slow lane.

Under `vmap` a loop runs until its slowest lane is done, and every iteration costs what it costs for all lanes. So
one lane that needs a hundred times the iterations holds a batch a hundred times as long, although alone it would
take no time worth mentioning. `patient` gives a batch in which such a lane leaves all its loops; the caller
calculates it again, alone.

It rewrites the traced program, whatever the device: each `while` counts, for each lane,

    spent  += w                               operations of the iterations that the lane was in
    wasted += w max(0, 1 - r GAIN / n) / r    where r of the n lanes are still in the loop

and the lane leaves when wasted > max(ALWAYS, KEEP spent GAIN / n): when the others have waited for it half as
long as its calculation alone takes. Both counts are of operations, not of seconds, so the same lanes leave on
every machine, in every process and after a resume. Lanes that are as slow as many others never leave.

Left out: fixed-length loops (`scan`) are as long for all lanes. A loop inside a primitive that is not listed in
`CALLS` waits as before.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import jax
import jax.core
import jax.numpy as jnp
from jax import Array
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from jaxtyping import PyTree

from diffmicro.parameters import Value

GAIN = 4.0
"""How many times less an iteration costs a lane of a batch than a lane alone: 3 to 12 on CPU, by device."""

KEEP = 0.5
"""Share of a lane's calculation alone for which the others wait for it."""

ALWAYS = 2e5
"""Operations for which all wait: some hundredths of a second, less than compiling for one lane takes."""

LANES = "lanes"
"""Name of the batch axis."""

CALLS = ("jit", "pjit", "closed_call", "custom_jvp_call", "custom_vjp_call", "remat2", "checkpoint")
"""Primitives that stand for the program inside them; derivatives have been taken before."""


class Account(NamedTuple):
    """What a lane has used: operations, those that others waited for, and whether it has left."""

    spent: Array
    wasted: Array
    left: Array


def patient(function: Callable[..., PyTree]) -> Callable[..., tuple[PyTree, Array]]:
    """`function` on a batch, given which lanes count; also which of them left, whose values mean nothing.

    A lane that does not count (a filler) takes part in no loop.
    """

    def lane(counts: Array, *args: PyTree) -> tuple[PyTree, Array]:
        program, shape = jax.make_jaxpr(function, return_shape=True)(*args)
        zero = jnp.zeros((), jnp.float32)
        account = Account(zero, zero, ~counts)
        account, values = _run(program, account, jax.tree.leaves(args))
        return jax.tree.unflatten(jax.tree.structure(shape), values), account.left & counts

    return jax.vmap(lane, axis_name=LANES)


def _run(
    program: ClosedJaxpr, account: Account, args: Sequence[Array]
) -> tuple[Account, list[Array]]:
    """The program's values, its loops counted."""
    known: dict[Var, Array] = {}

    def read(atom: Var | Literal) -> Array:
        return atom.val if isinstance(atom, Literal) else known[atom]

    jaxpr = program.jaxpr
    known.update(zip(jaxpr.constvars, program.consts, strict=True))
    known.update(zip(jaxpr.invars, args, strict=True))
    for equation in jaxpr.eqns:
        values = [read(atom) for atom in equation.invars]
        rewrite = _rewriting(equation)
        if rewrite is not None:
            account, found = rewrite(equation.params, account, values)
        else:
            found = _alone(jaxpr, equation, values)
        known.update(zip(equation.outvars, found, strict=True))
    return account, [read(atom) for atom in jaxpr.outvars]


def _alone(jaxpr: Jaxpr, equation: JaxprEqn, values: list[Array]) -> list[Array]:
    """One equation as it is."""
    variables = [atom for atom in equation.invars if not isinstance(atom, Literal)]
    known = [v for v, a in zip(values, equation.invars, strict=True) if not isinstance(a, Literal)]
    one = jaxpr.replace(
        constvars=[], invars=variables, outvars=list(equation.outvars), eqns=[equation]
    )
    return jax.core.eval_jaxpr(one, (), *known)


def _rewriting(equation: JaxprEqn) -> Callable[..., tuple[Account, list[Array]]] | None:
    """How an equation is calculated that has a loop of unknown length inside."""
    name = equation.primitive.name
    if name == "while":
        return _while
    if not any(map(_loops, _programs(equation))):
        return None
    return {"scan": _scan, "cond": _cond}.get(name, _call if name in CALLS else None)


def _while(
    params: Mapping[str, Value], account: Account, values: list[Array]
) -> tuple[Account, list[Array]]:
    ours, theirs = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    condition, body = params["cond_jaxpr"], params["body_jaxpr"]
    work = float(_work(body.jaxpr))

    def unfinished(account: Account, carry: list[Array]) -> tuple[Account, Array]:
        account, (again,) = _run(condition, account, [*values[:ours], *carry])
        return account, again & ~account.left

    def once(state: tuple[Account, Array, list[Array]]) -> tuple[Account, Array, list[Array]]:
        account, inside, carry = state
        account = _charged(account, jnp.any(inside), work)
        account = _absent(account, ~jnp.any(inside))
        account, found = _run(body, account, [*values[ours:theirs], *carry])
        if inside.ndim:  # a loop that was mapped before: each entry stops for itself
            found = [_where(inside, new, old) for new, old in zip(found, carry, strict=True)]
        return (*unfinished(account, found), found)

    start = values[theirs:]
    first = (*unfinished(account, start), start)
    account, _, end = jax.lax.while_loop(lambda state: jnp.any(state[1]), once, first)
    return account, end


def _absent(account: Account, where: Array) -> Account:
    """The account for loops inside a pass that `vmap` makes in every lane, and whose results it drops in some."""
    return account._replace(left=account.left | where)


def _where(inside: Array, new: Array, old: Array) -> Array:
    wide = inside.reshape(inside.shape + (1,) * (jnp.ndim(new) - inside.ndim))
    return jnp.where(wide, new, old)


def _charged(account: Account, inside: Array, work: float) -> Account:
    """The account after one more iteration; `inside`: whether the lane is in the loop."""
    share = GAIN / jax.lax.axis_size(LANES)
    lanes = jax.lax.psum(inside.astype(jnp.float32), LANES)
    idle = jnp.maximum(0.0, 1.0 - share * lanes) / jnp.maximum(lanes, 1.0)
    spent, wasted = account.spent + work, account.wasted + work * idle
    return Account(
        spent, wasted, account.left | (wasted > jnp.maximum(ALWAYS, KEEP * share * spent))
    )


def _scan(
    params: Mapping[str, Value], account: Account, values: list[Array]
) -> tuple[Account, list[Array]]:
    fixed, carried = params["num_consts"], params["num_carry"]

    def step(carry: PyTree, x: list[Array]) -> tuple[PyTree, list[Array]]:
        account, held = carry
        account, found = _run(params["jaxpr"], account, [*values[:fixed], *held, *x])
        return (account, found[:carried]), found[carried:]

    (account, last), stacked = jax.lax.scan(
        step,
        (account, values[fixed : fixed + carried]),
        values[fixed + carried :],
        params["length"],
        params["reverse"],
        params["unroll"],
    )
    return account, [*last, *stacked]


def _cond(
    params: Mapping[str, Value], account: Account, values: list[Array]
) -> tuple[Account, list[Array]]:
    index, *operands = values

    def way(number: int, program: ClosedJaxpr) -> Callable[..., tuple[Account, list[Array]]]:
        return lambda a, *v: _run(program, _absent(a, index != number), v)

    ways = [way(number, program) for number, program in enumerate(params["branches"])]
    return jax.lax.switch(index, ways, account, *operands)


def _call(
    params: Mapping[str, Value], account: Account, values: list[Array]
) -> tuple[Account, list[Array]]:
    inner = params["jaxpr"] if "jaxpr" in params else params["call_jaxpr"]
    closed = inner if isinstance(inner, ClosedJaxpr) else ClosedJaxpr(inner, ())
    return _run(closed, account, values)


def _programs(equation: JaxprEqn) -> list[Jaxpr]:
    """The programs among an equation's parameters."""
    found = []
    for value in equation.params.values():
        for inner in value if isinstance(value, list | tuple) else [value]:
            if isinstance(inner, ClosedJaxpr | Jaxpr):
                found.append(inner.jaxpr if isinstance(inner, ClosedJaxpr) else inner)
    return found


def _loops(jaxpr: Jaxpr) -> bool:
    return any(
        eqn.primitive.name == "while" or any(map(_loops, _programs(eqn))) for eqn in jaxpr.eqns
    )


def _work(jaxpr: Jaxpr) -> int:
    """Operations of one pass, on all entries; loops inside count for themselves."""
    total = 0
    for equation in jaxpr.eqns:
        inner = _programs(equation)
        if equation.primitive.name == "while":
            continue
        if inner:
            total += equation.params.get("length", 1) * sum(map(_work, inner))
        else:
            total += max(
                (math.prod(getattr(v.aval, "shape", ())) for v in equation.outvars), default=0
            )
    return total

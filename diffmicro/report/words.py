"""The sentences of a report, for readers who know the device and no optimization."""

from collections.abc import Mapping, Sequence

from diffmicro._device import Device
from diffmicro._json import Json
from diffmicro.design.problem import FEASIBLE
from diffmicro.design.shown import show, unit_of, with_units
from diffmicro.fabrication.deviations import causes_from
from diffmicro.fabrication.surroundings import places_text
from diffmicro.parameters import Fields, Value, describe
from diffmicro.report.claims import Claim, Question
from diffmicro.shapes.features import NAMED
from diffmicro.tolerance import Tolerance
from diffmicro.units import exact

VERDICTS = {
    "certified": "The derivatives at the optimum are certified: ",
    "uncertified": "The derivatives at the optimum are not certified: ",
    "refused": "There is no derivative at the optimum: ",
}

SEARCH = {
    "ok": "The search ended at an optimum: no small change of the free parameters within their bounds makes it "
    "better.",
    "stopped": "The search ended at a design that is better than the start, but not at an optimum.",
    "not_converged": "The search found nothing that keeps the constraints and is better than the start.",
    "interrupted": "The search was interrupted; what it had found by then is shown.",
}


def question_text(device: Device, question: Question) -> str:
    """What was asked, in a sentence."""
    free = ", ".join(
        f"{name} between {show(device, name, low)} and {show(device, name, high)}"
        for name, (low, high) in question.free.items()
    )
    kept = [f"{of} {sense} {show(device, of, bound)}" for of, sense, bound in question.constraints]
    aim = {"maximize": "as large", "minimize": "as small"}.get(question.goal, "as near its target")
    if question.process is not None:
        kept.append(f"the rules of {question.process.name or 'the fabrication process'}")
    text = f"Make {question.objective} {aim} as possible by choosing {free}"
    return text + (f", and keep {' and '.join(kept)}." if kept else ".")


def answer_text(device: Device, question: Question, claims: Sequence[Claim]) -> str:
    """What came out, in a sentence."""
    values = {c.topic: c.value for c in claims if c.name == question.objective}
    first, last = values.get("before"), values.get("after")
    if first is None or last is None:
        return f"{question.objective} is {show(device, question.objective, last)} after the search."
    text = (
        f"{question.objective} goes from {show(device, question.objective, first)} to "
        f"{show(device, question.objective, last)}"
    )
    text += f", {last / first:.3g} times as much." if first > 0 and last > 0 else "."
    start = {c.name: c.value for c in claims if c.topic == "before"}
    for of, sense, bound in question.constraints:
        value = start.get(of)
        if value is not None and (value < bound if sense == ">=" else value > bound):
            text += f" The design before does not keep {of} {sense} {show(device, of, bound)}."
    return text


def limit_texts(
    device: Device, question: Question, claims: Sequence[Claim], status: str
) -> list[str]:
    """What holds the design and what it costs, and then what does not hold it. status: of the search."""
    prices = {c.name.removeprefix("price of "): c for c in claims if c.name.startswith("price of ")}
    doubt = _doubt(claims, status)
    held = []
    for what, claim in prices.items():
        name, bound = _bound_of(question, what)
        room, gain = 0.01 * abs(bound), 0.01 * abs(bound) * claim.value
        worth = "is worth" if not doubt else "would be worth about"
        number = f"{claim.value:.4g} {claim.unit if claim.unit != '1' else ''}".strip()
        held.append(
            f"{_begun(with_units(device, what))} holds the design. 1 % more room there "
            f"({show(device, name, room)}) {worth} {show(device, question.objective, gain)} of "
            f"{question.objective}; its multiplier is {number}.{doubt}"
        )
    loose = []
    for claim in claims:
        name = claim.name.removeprefix("slack of ")
        if name == claim.name or name in prices:
            continue
        of, bound = _bound_of(question, name)
        sense = name.split()[1]
        none = abs(claim.value) <= FEASIBLE * (abs(bound) or 1.0)
        left = "nothing" if none else show(device, of, claim.value)
        loose.append(f"{of} {sense} {show(device, of, bound)}: {left} is left.")
    return (held or ["Nothing binds: the optimum lies inside all bounds."]) + loose


def _doubt(claims: Sequence[Claim], status: str) -> str:
    """Why prices are estimates; empty where they are not."""
    verdict = {c.name: c.value for c in claims if c.topic == "certificate"}.get("verdict")
    reasons = [f"the gradient is {verdict}"] if verdict not in (None, "certified") else []
    reasons += ["the search did not end at an optimum"] if status != "ok" else []
    return f" This price is an estimate: {' and '.join(reasons)}." if reasons else ""


def _begun(text: str) -> str:
    """With a capital where a sentence begins; the names of responses stay as they are."""
    return text[0].upper() + text[1:] if text.startswith("the ") else text


def _bound_of(question: Question, what: str) -> tuple[str, float]:
    """The name and the number of a limit that a price is of."""
    for side, number in (("lower", 0), ("upper", 1)):
        name = what.removeprefix(f"the {side} bound of ")
        if name != what:
            return name, question.free[name][number]
    of = what.split()[0]
    if NAMED.fullmatch(of):
        return of, float(what.split()[2])
    return of, next(b for name, sense, b in question.constraints if what == f"{name} {sense} {b:g}")


def end_texts(claimed: Mapping[str, Value]) -> list[str]:
    """The ends and kinks along each parameter, by the names of their claims."""
    places: dict[str, dict[str, tuple[str, float]]] = {}
    texts = []
    for name, value in claimed.items():
        what, _, key = name.rpartition(" along ")
        if what.startswith("distance of the "):
            continue
        far = claimed.get(f"distance of the {name}")
        if far is None:
            texts.append(f"{key}: {value}")
        else:
            places.setdefault(key, {})[what] = (str(value), float(far))
    return [f"{key}: {places_text(own)}." for key, own in places.items()] + texts


def words_of(device: Device, question: Question, side: str) -> list[str]:
    """key=value words of what differs from the published design and setting."""
    published = {**_fields(device.published_design()), **_fields(device.published_setting())}
    found = []
    for key, value in getattr(question, side).items():
        if value is not None and not _same(value, published.get(key)):
            found.append(f"{key}={_word(value, unit_of(device, key))}")
    return found


def repeat_command(device: Device, question: Question, config: Mapping[str, Json]) -> list[str]:
    """The command that does the search again, in pieces that belong together."""
    parts = ["diffmicro optimize", question.device, *words_of(device, question, "before")]
    parts.append(f"--{question.goal} {question.objective}")
    for name, ends in question.free.items():
        low, high = (exact(end, unit_of(device, name)) for end in ends)
        parts.append(f"--free {name}={low}:{high}")
    for of, sense, bound in question.constraints:
        parts.append(f"--subject '{of}{sense}{exact(bound, unit_of(device, of))}'")
    parts += [_scatter_word(device, cause) for cause in causes_from(question.deviating)]
    if question.rules is not None:
        known = describe(device.Layout) if device.Layout else {}
        words = {k: v for k, v in question.layout.items() if v is not None}
        parts[2:2] = [f"{key}={_word(v, known[key].unit)}" for key, v in words.items()]
        parts.append("--rules rules.toml")
    if config.get("method", "auto") != "auto":
        parts.append(f"--method {config['method']}")
    return [*parts, f"--budget {config['budget']}", f"--seed {config['seed']}"]


def _fields(tree: Fields) -> dict[str, Value]:
    return {name: getattr(tree, name) for name in describe(type(tree))}


def _same(value: Value, other: Value) -> bool:
    import numpy as np

    if isinstance(value, str) or isinstance(other, str) or other is None:
        return value == other
    return np.shape(value) == np.shape(other) and bool(
        np.all(np.asarray(value) == np.asarray(other))
    )


def _word(value: Value, unit: str) -> str:
    if isinstance(value, list):
        rows = value if isinstance(value[0], list) else [value]
        return ";".join(",".join(repr(x) for x in row) for row in rows)
    if isinstance(value, float):
        return exact(value, unit)
    return str(value) if isinstance(value, str) else repr(value)


def _scatter_word(device: Device, cause: Tolerance) -> str:
    """`--scatter rest_gap=+-1um`, or `--common` of a cause that moves several fields."""
    size = exact(100 * cause.size, "-") + "%"
    if not cause.relative:
        size = exact(cause.size, unit_of(device, cause.moves[0][0]))
    size = ("+-" if cause.kind == "interval" else "") + size
    if not cause.common:
        return f"--scatter {cause.variable}={size}"
    moves = ",".join(f"{name}{share:+.17g}" for name, share in cause.moves)
    return f"--common {cause.variable}={size}:{moves}"

"""What `identify` prints for people: the estimates as a table, and line by line what else there is to know."""

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from diffmicro._device import Device
from diffmicro.command import words
from diffmicro.command.output import console
from diffmicro.parameters import Value
from diffmicro.units import readable, readable_unit

if TYPE_CHECKING:
    from diffmicro.identification import Estimate, Identified, Next
    from diffmicro.identification.result import Omitted

MOST_NAMED = 8
"""Points that are named; the others are counted, and named in `--json`."""

EXPLAINED = 0.01
"""Probability of a larger chi-square from which on a model explains its data."""

COLUMNS = ("parameter", "estimate", "95 % interval", "linearized", "standard error", "")


def show(found: "Identified", after: "Next | None") -> None:
    """Print it."""
    page = console()
    if found.parameters:
        table = Table(*COLUMNS, box=None)
        for key, each in found.parameters.items():
            table.add_row(*map(Text, _row(key, each)))
        page.print(table)
    for line in lines_of(found):
        page.print(line, soft_wrap=True)
    if after is not None:
        page.print(_next_line(found, after), soft_wrap=True)


def unit_of(device: Device, key: str) -> str:
    """SI unit of a parameter, an entry of one, or another name of one."""
    if key in device.aliases:
        return device.keys[key].unit
    return words.unit_of_parameter(device, key)


def _row(key: str, each: "Estimate") -> tuple[str, ...]:
    unit = readable_unit(each.value, each.unit)

    def shown(value: float, digits: int = 5) -> str:
        return f"{value * unit.factor:.{digits}g}"

    notes = [] if each.identified else ["not identified"]
    notes += [f"at its {each.bound} bound"] if each.bound else []
    if "bound" in each.endings and not each.bound:
        notes.append("the range ends before the data do")
    if "lost" in each.endings:
        notes.append("cut where points are lost")
    if "part" in each.endings:
        notes.append("points that are lost on the way to its ends are linearized")
    linear = f"{shown(each.linear[0])} to {shown(each.linear[1])}"
    if not abs(each.error) <= each.range[1] - each.range[0]:  # or none at all
        linear = "-"
    return (
        key,
        f"{shown(each.value, 6)} {unit.unit}".strip(),
        f"{shown(each.low)} to {shown(each.high)}",
        linear,
        "-" if linear == "-" else shown(each.error, 3),
        "; ".join(notes),
    )


def lines_of(found: "Identified") -> list[str]:
    """What is said beside the estimates, line by line."""
    lines = [f"status: {found.status}", _quality(found), *_errors(found)]
    if found.ended is None:
        return [
            f"status: not_converged. At none of {found.seen.begun} starts have more points a value than "
            "parameters are free; try other ranges.",
            *_points(found.omitted, "without a value in the middle of the ranges"),
        ]
    lines += [f"the data do not see: {blind}" for blind in found.blind]
    lines.append(f"points: {int(found.used.sum())} of {found.used.size} count")
    lines += _points(found.omitted, "left out")
    lines += _points(found.uncertified, "with a gradient that is not certified")
    if (found.branch != "start").any():
        counted = [f"{(found.branch == word).sum()} {word}" for word in dict.fromkeys(found.branch)]
        lines.append(f"motions of the rows: {', '.join(counted)}")
    seen = found.seen
    costs = ", ".join(f"{each.ended.cost:.4g} from {each.starts}" for each in seen.optima[:5])
    optima = f"{len(seen.optima)} optim{'um' if len(seen.optima) == 1 else 'a'}"
    lines.append(f"{seen.begun} starts came to {optima} (cost {costs})")
    if seen.missed is not None:
        lines[-1] += (
            f"; one more would find another with a probability of {100 * seen.missed:.0f} %"
        )
    return lines


def _quality(found: "Identified") -> str:
    """How well the model explains the data."""
    if found.chi.p is None:
        return f"root mean square of the residuals: {found.residual:.3g} standard errors"
    text = (
        f"chi-square {found.chi.square:.4g} with {found.chi.freedom} degrees of freedom, "
        f"p = {found.chi.p:.3g}: the model "
    )
    if found.chi.p > EXPLAINED:
        return text + "explains the data"
    return text + "does not explain the data within their errors, so the intervals are too short"


def _errors(found: "Identified") -> list[str]:
    """Standard errors that were not given."""
    lines = []
    for column, (name, own) in enumerate(found.estimated.items()):
        if own:
            known = found.question.model.device.responses[name.partition("[")[0]]
            size = readable(float(found.sigma[0, column]), known.unit.split(", ")[0], 3)
            lines.append(
                f"no standard error of {name} is given: {size} is estimated from the residuals"
            )
    return lines


def _points(points: "list[Omitted]", what: str) -> list[str]:
    if not points:
        return []
    lines = [f"{len(points)} {what}:"]
    lines += [
        f"  line {point.line}, {point.response}: {point.why}" for point in points[:MOST_NAMED]
    ]
    more = len(points) - MOST_NAMED
    return [*lines, f"  and {more} more (--json names all)"] if more > 0 else lines


def _next_line(found: "Identified", after: "Next") -> str:
    device = found.question.model.device

    def shown(key: str, value: Value) -> str:
        return readable(value, unit_of(device, key)) if isinstance(value, float) else str(value)

    at = ", ".join(f"{key} = {shown(key, value)}" for key, value in after.at.items())
    sizes = []
    for key, (now, then) in after.errors.items():
        unit = found.parameters[key].unit
        sizes.append(f"{key} {readable(now, unit, 3)} to {readable(then, unit, 3)}")
    doubt = "" if after.certified else "; the gradient there is not certified"
    return (
        f"measure next at {at}: standard errors from {', '.join(sizes)}{doubt} "
        f"({after.candidates} candidates, {after.refused} of them without a value)"
    )

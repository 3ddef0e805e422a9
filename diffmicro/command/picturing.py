"""The figure of `evaluate`: what moves the responses, with verdicts; without a gradient, the motion."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from diffmicro.command import words
from diffmicro.command.evaluation import Answer, Request
from diffmicro.command.sweeping import check_figure
from diffmicro.command.words import BadInput
from diffmicro.parameters import Value, get


def check(plot: Path | None, points: Path | None) -> None:
    """`BadInput` for a figure that cannot be made, before anything is calculated."""
    if plot is not None and points is not None:
        raise BadInput(
            "--plot draws one point; leave out --points, or draw many points with sweep --plot."
        )
    check_figure(plot)


def draw(request: Request, answer: Answer, given: Mapping[str, Value], plot: Path) -> None:
    """Write the figure of one point."""
    point = words.point(request.device, given)
    if request.wrt:
        _elasticities(request, answer, point).savefig(plot)
        return
    from diffmicro.plot.states import plot_motion, traces

    try:
        motion = traces(request.device, point.design, point.setting)
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None
    plot_motion(motion, request.device.title).savefig(plot)


def _elasticities(request: Request, answer: Answer, point: words.Point) -> Value:
    """A panel for each response that was differentiated and is one number."""
    from matplotlib.figure import Figure

    from diffmicro.plot.bars import elasticity_bars

    panels = {}
    for of, slopes in answer.grad.items():
        value = answer.response.get(of)
        if isinstance(value, int | float) and value:
            panels[of] = _shares(value, slopes, answer.certificate[of], point)
    if not panels:
        raise BadInput(
            "--plot: no response that was differentiated is one number other than zero, so there are no "
            "percentages to draw."
        )
    rows = [len(shares) for shares, _ in panels.values()]
    size = (6.4, sum(0.9 + 0.32 * count for count in rows))
    figure = Figure(figsize=size, layout="constrained", dpi=150)
    axes = figure.subplots(len(panels), 1, squeeze=False, height_ratios=[1 + r for r in rows])[:, 0]
    for (of, (shares, verdicts)), own in zip(panels.items(), axes, strict=True):
        elasticity_bars(shares, verdicts, of, own)
    return figure


def _shares(
    value: float, slopes: Mapping[str, Value], certificate: Mapping[str, Value], point: words.Point
) -> tuple[dict[str, float], dict[str, str]]:
    """Percent for one percent of each number, the strongest first, and the verdict of each; vectors by entries."""
    shares, verdicts = {}, {}
    for key, slope in slopes.items():
        at = np.asarray(get(point.design, point.setting, key.partition("[")[0]), float)
        known = np.array(slope, float)  # None becomes NaN
        if at.shape != known.shape:  # one number of a vector that was named as such
            continue
        verdict = certificate["entries"].get(key, certificate)["verdict"]
        for entry in np.ndindex(known.shape):
            name = key + "".join(f"[{i}]" for i in entry)
            shares[name] = float(known[entry] * at[entry] / value)
            verdicts[name] = verdict
    order = sorted(shares, key=lambda name: -abs(np.nan_to_num(shares[name])))
    return {name: shares[name] for name in order}, verdicts

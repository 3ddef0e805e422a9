"""The picture at the top of the README: `python -m tools.readme_picture` writes docs/assets/gradient.svg.

The robot of the README's code, its motion, and the elasticities of its velocity with their verdicts. It is
committed, as a page on a code host cannot make it; `tests/test_documents.py` calculates its numbers again.
"""

import re
import sys
from io import StringIO
from pathlib import Path

import diffmicro

PICTURE = Path(__file__).parents[1] / "docs" / "assets" / "gradient.svg"

SHOWN = ("rest_gap", "mass_ratio", "tethered_frequency", "device_length", "restitution", "friction")
SHOWN += ("field",)


def calculated():
    """Design, setting, elasticities of the velocity, certificate, and the words that the picture states."""
    from diffmicro.devices import wrmma
    from diffmicro.plot.bars import elasticities

    design = wrmma.published_design(mass_ratio=1.5)
    setting = wrmma.published_setting(field=5e-3, load_factor=32.0, frequency_ratio=1.58)
    asked = diffmicro.value_and_gradient(wrmma.respond, wrt=SHOWN, of="velocity")
    value, gradient, certificate, _ = asked(design, setting)
    shares = elasticities(value, gradient, design, setting)
    numbers = [f"velocity {1e3 * float(value):.2f} mm/s"]
    for name, share in shares.items():
        numbers.append(f"{name} {share:+.2f} {diffmicro.verdict_word(certificate.entries[name])}")
    return design, setting, shares, certificate, numbers


def main() -> int:
    """Write the picture."""
    diffmicro.configure(double=True)
    import matplotlib
    from matplotlib.figure import Figure

    from diffmicro.plot import wrmma as drawn
    from diffmicro.plot.bars import plot_elasticities

    design, setting, shares, certificate, numbers = calculated()
    motion = drawn.steady_motion(design, setting, periods=2)
    figure = Figure(figsize=(10.5, 4.0), layout="constrained")
    left, right = figure.subfigures(1, 2, squeeze=False, width_ratios=(1.25, 1), wspace=0.03)[0]
    side, gaps, speeds = left.subplots(3, 1, height_ratios=(1.5, 1, 1))
    drawn.stage(side, design, motion)
    drawn.draw_robot(side, design, motion.position[0], motion.gap[0], alpha=0.18)
    drawn.draw_robot(side, design, motion.position[-1], motion.gap[-1])
    drawn.curves(gaps, speeds, motion)
    speeds.sharex(gaps)
    left.suptitle(f"A robot that bounces itself forward: {numbers[0]}", fontsize=11, weight="bold")
    sure = all(number.endswith("certified") for number in numbers[1:])
    words = "certified through impacts" if sure else "with verdicts"
    right.suptitle(f"What moves its velocity, {words}", fontsize=11, weight="bold")
    axes = right.subplots()
    plot_elasticities(shares, certificate, "velocity", axes)
    text = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "diffmicro"}):
        facts = {"Date": None, "Description": "; ".join(numbers)}
        figure.savefig(text, format="svg", metadata=facts)
    shorter = re.sub(r' d="[^"]*"', _rounded, text.getvalue())
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text("\n".join(line.rstrip() for line in shorter.splitlines()) + "\n")
    return 0


def _rounded(path: re.Match[str]) -> str:
    """Outlines to a hundredth of a point: a file of half the size, and nobody sees it."""
    return re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", path[0])


if __name__ == "__main__":
    sys.exit(main())

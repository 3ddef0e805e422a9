"""Tables 1 and 2: resonances found again in the response, and the range of inputs."""

import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from diffmicro.devices import legs
from diffmicro.devices.legs.measured import foot_response
from diffmicro.identification import fit, response_residual
from diffmicro.results import word
from experiments.outcome import Outcome, Said, incomparable, own, own_number
from experiments.ryou2014.motion import responses

HEXAPOD = (89.5, 134.0, 314.6, 368.5, 660.0, 2910.0)
"""Table 1 [Hz]."""

BOX = dict(boxstyle="round,pad=0.15", facecolor="white", edgecolor="none", alpha=0.8)
"""Behind words on colors."""

NOISE = 1e-10
"""Standard error of the synthetic response [m/V], half a percent of its typical size."""


def table1() -> Outcome:
    """Resonances identified from a noisy synthetic frequency response are the table's."""
    design = legs.published_design()
    drive = jnp.asarray(np.geomspace(20.0, 5000.0, 400))
    exact = foot_response(design, drive)
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(2, drive.size)) * NOISE
    measured = exact + noise[0] + 1j * noise[1]

    def model(parameters: dict) -> jnp.ndarray:
        return foot_response(legs.published_design(**parameters), drive)

    guess = dict(frequency=np.array(HEXAPOD) * np.array([1.02, 0.98, 1.02, 0.98, 1.02, 0.98]))
    guess |= dict(damping=np.full(6, 0.05), gain=np.asarray(design.gain) * 1.2)
    found = fit(response_residual(model, measured, NOISE), guess, positive=("frequency", "damping"))
    frequency = np.asarray(found.parameters["frequency"])
    errors = found.spread[[found.names.index(f"frequency[{k + 1}]") for k in range(6)]]
    unknown = found.unknown()
    synthetic = "identification of a synthetic response made with Table 1's resonances"
    checks = [
        own_number(
            synthetic,
            f"resonance {k + 1}",
            stated,
            float(at),
            max(4 * float(error), 1e-4) * stated,
            "Hz",
        )
        for k, (stated, at, error) in enumerate(zip(HEXAPOD, frequency, errors, strict=True))
    ]
    checks += [
        own(synthetic, "all 18 numbers are identified", "yes", ", ".join(unknown) or "yes", not unknown),
        incomparable(
            Said("Table 1", "resonance frequencies of tested robots"),
            "frequencies of both robots",
            "dimensions and materials from which they would follow are not published; they are inputs here",
        ),
        incomparable(
            Said("section 3.1, Fig. 5", "showing less than 1% error compared to perfect linear outputs"),
            "errors of the structural model, linearity",
            "measured displacements are in the figure alone; the modal model is linear by its equations",
        ),
    ]  # fmt: skip

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.loglog(
            drive, np.abs(measured), ".", color="0.6", markersize=2, label="synthetic, with noise"
        )
        axes.loglog(drive, np.abs(model(found.parameters)), color="tab:orange", label="identified")
        for at in HEXAPOD:
            axes.axvline(at, color="0.4", linestyle="--", linewidth=0.7)
        axes.set(xlabel="drive frequency [Hz]", ylabel="foot per volt [m/V]")
        axes.legend(frameon=False)

    data = dict(frequency=frequency, spread=errors, singular_values=found.singular_values)
    return Outcome(checks, data, draw)


def table2() -> Outcome:
    """The hexapod's range, 20 to 900 Hz and 3 to 30 V, with both waveforms: every input has an answer."""
    frequencies, voltages = (20.0, 60.0, 200.0, 900.0), (3.0, 8.0, 16.0, 30.0)
    words: dict[str, list[str]] = {}
    heights = {}
    for waveform in ("sine", "square"):
        points = [
            ({}, dict(waveform=waveform, drive_frequency=f, voltage=v, window=1.0))
            for f in frequencies
            for v in voltages
        ]
        found = responses(points)
        words[waveform] = [str(word(r.result)) for r in found]
        heights[waveform] = np.array([float(r.mean_height) for r in found]).reshape(4, 4)
    both = words["sine"] + words["square"]
    answered = sum(word in ("ok", "erratic") for word in both)
    finite = all(np.all(np.isfinite(h)) for h in heights.values())
    checks = [
        own(
            "the fitted hexapod within Table 2's range",
            "inputs that have a motion, of 32",
            "32",
            f"{answered}",
            answered == 32 and finite,
        ),
        incomparable(
            Said("Table 2", "QBPZTR, 15-1000 Hz, 2-10 V"),
            "the quadruped's range",
            "the table lists what was tested, not what was found",
        ),
    ]

    def draw(figure: Figure) -> None:
        for axes, (waveform, height) in zip(figure.subplots(1, 2), heights.items(), strict=True):
            shown = axes.pcolormesh(np.arange(5), np.arange(5), 1e6 * height, cmap="viridis")
            axes.set_xticks(np.arange(4) + 0.5, [f"{v:g}" for v in voltages])
            axes.set_yticks(np.arange(4) + 0.5, [f"{f:g}" for f in frequencies])
            axes.set(xlabel="voltage [V]", ylabel="drive frequency [Hz]", title=waveform)
            for k, said in enumerate(words[waveform]):
                axes.text(
                    k % 4 + 0.5, k // 4 + 0.5, said, ha="center", va="center", fontsize=7, bbox=BOX
                )
            figure.colorbar(shown, ax=axes, label="mean height [um]")

    return Outcome(checks, {"status": words, "mean_height": heights}, draw)

"""Figs. 2.1 and 3.35, and hysteresis loops: single-state laws beside a contact of finite size."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from diffmicro.mechanics.loading import sphere_loading
from diffmicro.mechanics.masing import Masing
from diffmicro.mechanics.presliding import SINGLE_STATE_LAWS, single_state
from diffmicro.reference import cattaneo
from experiments.outcome import (
    Check,
    Experiment,
    Outcome,
    Said,
    order,
    own,
    own_number,
    shape,
)
from experiments.reading import SAME

LIMIT = 2 / 3
"""Coulomb's force of a sphere over stiffness times presliding."""


RATED = dict(dynamic=0.7, stribeck=0.5, elastic_damping=0.1, viscous=0.05)
"""LuGre's own terms, ours since the thesis has no numbers: in presliding per radian of a loop, over stiffness."""


def _law(name: str, **rated: float) -> Any:
    one = jnp.asarray(1.0)
    if name == "contact":
        return Masing(sphere_loading, None, one, one, 64)
    return single_state(name, stiffness=one, static=LIMIT * one, **rated)


@jax.jit
def _follow(law: Any, path: jax.Array, pace: float = 1.0) -> jax.Array:
    """Forces along a path of as many points as `pace` in a unit of time."""

    def go(at: Any, target: jax.Array) -> Any:
        state, here = at
        change = target - here
        state = law.move(state, jnp.stack([change]), jnp.stack([pace * change]))
        return (state, target), law.force(state, pace * change)

    return jax.lax.scan(go, (law.rest(), jnp.asarray(0.0)), path)[1]


def figure2_1() -> Outcome:
    """alpha of the elasto-plastic law, read from its own response, to both sides."""
    sides = []
    for sign in (-1, 1):
        way = sign * jnp.linspace(0, 3 * LIMIT, 3001)
        force = np.asarray(_follow(_law("elastoplastic"), way)) / LIMIT
        middle = (force[1:] + force[:-1]) / 2
        slope = np.diff(force) / np.diff(np.asarray(way) / LIMIT)
        sides.append((middle, (1 - slope) / np.maximum(np.abs(middle), 1e-9)))
    (_, mirrored), (middle, alpha) = sides
    rising = alpha[:2000]
    elastic = float(middle[alpha < 1e-6].max())
    definition = "definition of the law (eqs. 2.5 to 2.9, Fig. 2.1), which is implemented"
    checks = [
        own(
            definition,
            "alpha is zero up to an elastic displacement, then rises to one",
            "zero, rising, one",
            f"zero to {elastic:.2f} of the steady displacement, then {rising[-1]:.3f}",
            0 < elastic < 1 and np.all(np.diff(rising) > -1e-3) and abs(alpha[-1] - 1) < 1e-3,
        ),
        own_number(
            definition,
            "the same to the other side, largest difference",
            0,
            np.abs(alpha - mirrored).max(),
            1e-9,
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for x, y in sides:
            axes.plot(x, y, "C0")
        axes.axhline(0, color="0.7", linewidth=0.8)
        axes.set(xlabel="elastic over steady displacement", ylabel="alpha")

    return Outcome(checks, {"ratio": middle, "alpha": alpha}, draw)


LINES = {"contact": "k:"}

LABELS = {"lugre": "lugre, its terms by the rate ours"}


def _lugre_checks(wide: jax.Array, pace: float, dahl: np.ndarray) -> list[Check]:
    """LuGre without its terms by the rate, and in long sliding at one rate with them."""
    plain = np.asarray(_follow(_law("lugre"), wide, pace)) / LIMIT
    share, rate = RATED["dynamic"], 1.5
    steady = share + (1 - share) * np.exp(-((rate / RATED["stribeck"]) ** 2))
    steady += RATED["viscous"] * rate / LIMIT
    ramp = _follow(_law("lugre", **RATED), jnp.linspace(0, 30, 2001), 2000 * rate / 30)
    return [
        own_number(
            "definition of the law (eq. 2.11), which is implemented",
            "lugre without Stribeck effect and viscosity is Dahl's law, largest difference",
            0,
            np.abs(plain - dahl).max(),
            1e-12,
        ),
        own_number(
            "definition of the law (eqs. 2.4, 2.5), with numbers of ours",
            "lugre: force over mu F_n after long sliding at one rate, by its steady curve",
            steady,
            float(ramp[-1]) / LIMIT,
            1e-9,
        ),
    ]


def figure_loops() -> Outcome:
    """Oscillation under a load: Dahl and LuGre creep, the others hold (section 2.1)."""
    path = jnp.asarray(0.25 + 0.05 * np.sin(np.linspace(0, 20 * np.pi, 2001)))
    wide = jnp.asarray(1.5 * np.sin(np.linspace(0, 4 * np.pi, 2001)))
    slow, fast = 2000 / (20 * np.pi), 2000 / (4 * np.pi)
    loops, creep = {}, {}
    for name in (*SINGLE_STATE_LAWS, "contact"):
        law = _law(name, **(RATED if name == "lugre" else {}))
        force = np.asarray(_follow(law, path, slow))
        creep[name] = float((force[50] - force[-151]) / LIMIT)
        loops[name] = np.asarray(_follow(law, wide, fast)) / LIMIT
    come_back = "oscillation by 0.05 about 0.25 of presliding, ten times"
    checks = [
        *(
            order(
                Said("section 2.1", words),
                f"{name}: creeps under an oscillating load",
                "creeps",
                f"by {creep[name]:.3f} of its limit",
                abs(creep[name]) > SAME / 2,
            )
            for name, words in (
                ("dahl", "this model has no presliding, since alpha is not 0 for all x_e"),
                ("lugre", "this model still takes no elastic deformation into account"),
            )
        ),
        *(
            order(
                Said("section 2.1", words),
                f"{name}: comes back under an oscillating load",
                "does not creep",
                f"by {creep[name]:.1e} of its limit",
                abs(creep[name]) < 1e-9,
            )
            for name, words in (
                (
                    "elastoplastic",
                    "elastic displacement x_e allowing this model to describe the effect of presliding",
                ),
                ("ceim", "it can be understood as an extension of the Elasto-Plastic model"),
            )
        ),
        own(
            come_back,
            "a contact of finite size comes back",
            "does not creep",
            f"by {creep['contact']:.1e}",
            abs(creep["contact"]) < 1e-9,
        ),
        *_lugre_checks(wide, fast, loops["dahl"]),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for name, force in loops.items():
            axes.plot(wide, force, LINES.get(name, "-"), label=LABELS.get(name, name))
        axes.set(xlabel="displacement over presliding", ylabel="force over mu F_n")
        axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))

    return Outcome(checks, {"displacement": np.asarray(wide), "force": loops}, draw)


def figure3_35() -> Outcome:
    """Work per turn of an oscillating sphere: simulated, closed form, Mindlin's cubic law (eqs. 3.27 to 3.34)."""
    ratios = np.linspace(0.05, 1.5, 15)
    turn = np.cos(np.linspace(0, 2 * np.pi, 2001))
    work = []
    for ratio in ratios:
        path = jnp.asarray(ratio * np.concatenate([turn, turn]))
        force = np.asarray(_follow(_law("contact"), path))[2001:]
        work.append(np.sum((force[1:] + force[:-1]) / 2 * np.diff(ratio * turn)))
    work = np.array(work)
    exact = np.asarray(cattaneo.dissipation(jnp.asarray(ratios), 1.0, LIMIT))
    cubic = np.asarray(cattaneo.small_dissipation(jnp.asarray(ratios), 1.0, LIMIT))
    apart = float(np.max(np.abs(work / exact - 1)))
    power = float(np.log(work[1] / work[0]) / np.log(ratios[1] / ratios[0]))
    checks = [
        own_number(
            "eq. 3.32 in closed form, against the followed contact",
            "largest deviation",
            0,
            apart,
            1e-3,
        ),
        shape(
            Said(
                "section 3.5.2",
                "if A_v is small this expression can be approximated [...] using only the first dominant element",
            ),
            "eq. 3.34 over eq. 3.32 at a twentieth of presliding",
            f"1 within {SAME:.0%}",
            f"{cubic[0] / exact[0]:.4f}",
            abs(cubic[0] / exact[0] - 1) < SAME,
        ),
        shape(
            Said("eq. 3.34", "W = 2/3 E*/(C_M^2 mu) R^(1/2) d^(-1/2) A_v^3 [approximately]"),
            "power of the amplitude in the simulated work, smallest two",
            f"3 within {SAME:.0%}",
            f"{power:.3f}",
            abs(power / 3 - 1) < SAME,
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.loglog(ratios, exact, label="closed form")
        axes.loglog(ratios, cubic, "k--", label="cubic law")
        axes.loglog(ratios, work, "o", label="simulated")
        axes.set(xlabel="amplitude over presliding", ylabel="work per turn over k u_1^2")
        axes.legend(frameon=False, fontsize=8)

    return Outcome(
        checks, {"ratio": ratios, "simulated": work, "closed": exact, "cubic": cubic}, draw
    )


EXPERIMENTS = {
    "mdr_thesis_fig2_1": Experiment("the elasto-plastic coefficient", figure2_1),
    "mdr_thesis_loops": Experiment("hysteresis loops of all laws (section 2.1)", figure_loops),
    "mdr_thesis_fig3_35": Experiment("work of an oscillating contact", figure3_35),
}

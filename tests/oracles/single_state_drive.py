"""The stick-slip drive under a single-state law by SciPy, in SI units: eqs. 2.3 to 2.5 and 3.2 as they stand.

The integration ends at each corner of the sawtooth and wherever the sliding rate vanishes, and goes on from there.
"""

import numpy as np
from scipy.integrate import solve_ivp

from diffmicro.devices.stickslip.lumped import statics
from diffmicro.parameters import as_arrays

COUNTS = np.array([2.0, 4.0])

ELASTIC = {"elastoplastic": 0.7, "ceim": 0.5}
"""Elastic share of the steady displacement (Fig. 2.1; section 2.1: x_ss = 2 x_ps)."""


def plastic(law, ratio):
    """alpha over z / z_ss along the motion (Fig. 2.1): none, a sine's arc, one."""
    share = ELASTIC.get(law)
    if share is None:
        return np.ones_like(ratio)
    arc = np.sin(np.pi * (np.clip(ratio, share, 1) - (1 + share) / 2) / (1 - share))
    return np.where(ratio <= share, 0.0, (1 + arc) / 2)


def settled(design, setting, periods, sensor=0.0):
    """Way of the runner in the last of some periods from rest, and its mean place in it [m]."""
    contacts = statics(*as_arrays((design, setting)))
    stiffness, static = np.asarray(contacts.stiffness), np.asarray(contacts.friction_force)
    share = 1.0
    if setting.dynamic_friction is not None:
        share = setting.dynamic_friction / setting.friction
    falls = setting.stribeck_velocity or np.inf
    eta_1, eta_2 = setting.contact_viscosity or 0.0, setting.lubricant_viscosity or 0.0
    mass = design.runner_mass
    damping = 2 * design.damping_ratio * np.sqrt(np.sum(COUNTS * stiffness) * mass)

    def rates(_, y, drive, sign):
        rate = y[1] - drive
        steady = static * (share + (1 - share) * np.exp(-((rate / falls) ** 2))) / stiffness
        ratio = sign * y[2:4] / steady
        elastic_rate = rate * (1 - plastic(setting.law, ratio) * ratio)
        force = COUNTS @ (stiffness * y[2:4] + eta_1 * elastic_rate + eta_2 * rate)
        push = (-force - damping * y[1] - sensor * y[0]) / mass
        return [y[1], push, *elastic_rate, y[0]]

    def turns(_, y, drive, sign):
        return y[1] - drive

    turns.terminal = True
    period, fall = setting.period, setting.back_step
    lift = 0.01 * fall  # the time that a shaped move of no height gets
    crest = period - fall - lift
    parts = [(crest, setting.amplitude / crest), (fall, -setting.amplitude / fall), (lift, 0.0)]
    state, begin = np.zeros(5), np.zeros(5)
    scale = contacts.presliding[0]
    for _ in range(periods):
        begin = state.copy()
        for duration, drive in parts:
            now, turned = 0.0, False
            while now < duration:
                # at a reversal the runner's acceleration tells where the rate goes
                sign = (
                    np.sign(rates(0, state, drive, 1.0)[1] if turned else state[1] - drive) or 1.0
                )
                turns.direction = -sign
                found = solve_ivp(
                    rates, (now, duration), state, args=(drive, sign), method="DOP853", rtol=1e-9,
                    atol=[1e-9 * scale, 1e-9 * scale * 1e5, 1e-9 * scale, 1e-9 * scale, 1e-20],
                    events=turns, first_step=1e-3 * (duration - now),
                )  # fmt: skip
                now, state, turned = found.t[-1], found.y[:, -1], found.status == 1
    return state[0] - begin[0], (state[4] - begin[4]) / period

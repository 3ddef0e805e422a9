"""The verdict on a gradient: what the checks found, judged derivative by derivative, and in words.

A certificate has an `Entry` for each derivative, and the worst of them as its own. How the checks are made is in
`recheck` and `differences`; who makes them, `certificate`.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import PyTree

from diffmicro._json import JsonObject, plain
from diffmicro.differences import FLOOR, MATCHED, size_of
from diffmicro.reasons import REASONS, VERDICTS, codes_of, reason_code
from diffmicro.recheck import Evidence
from diffmicro.results import RESULTS, code

REFUSED = VERDICTS.index("refused")

RESOLVED = 1e-3
"""Largest discrepancy of a certified gradient. The finer one is better by a factor of five at least."""


class Entry(eqx.Module):
    """How far one derivative can be trusted; of a vector parameter, each of its derivatives.

    verdict, reason: codes, as in `Certificate` [-].
    discrepancy: relative difference between two resolutions [-].
    mismatch: the most that differences of the value leave to its relative error [-].
    reach: the relative change of the parameter over which it is known to hold to 10 %, while others move too;
    tried up to some 0.1 %; NaN for a parameter at zero [-].
    """

    verdict: Array
    reason: Array
    discrepancy: Array
    mismatch: Array
    reach: Array


class Certificate(eqx.Module):
    """How far a gradient can be trusted. Codes index `VERDICTS` and `REASONS`.

    verdict: code of the verdict, the worst of its entries [-].
    reason: code of the reason of that entry [-].
    residual: distance of the solution from what it has to fulfill, natural units [-].
    margin: distance to the nearest mode change over the period or scale [-].
    multiplier: largest modulus of the Floquet multipliers [-].
    discrepancy: largest relative difference between two resolutions [-].
    mismatch: largest relative disagreement with differences of the value [-].
    error_estimate: relative error that these amount to [-].
    reach: the shortest of its entries' [-].
    entries: each derivative's own, by the parameter's name.
    method: numerical method. checks: what was compared, in words.
    """

    verdict: Array
    reason: Array
    residual: Array
    margin: Array
    multiplier: Array
    discrepancy: Array
    mismatch: Array
    error_estimate: Array
    reach: Array
    entries: dict[str, Entry]
    method: str = eqx.field(static=True)
    checks: tuple[str, ...] = eqx.field(static=True)


def verdict_word(certificate: Certificate | Entry) -> str:
    """The verdict of one concrete certificate, or of one derivative."""
    return VERDICTS[int(certificate.verdict)]


def reason_text(certificate: Certificate) -> str:
    """The reason of one concrete certificate; agreement names the checks that were made."""
    return _words_of(certificate.reason, certificate.checks)


def _words_of(reason: Array | int, checks: Sequence[str]) -> str:
    known = REASONS[int(reason)]
    if known.name != "agree":
        return known.text
    *others, last = checks
    return f"{', '.join(others)} and {last} agree"


def certificate_words(certificate: Certificate) -> JsonObject:
    """A concrete certificate as plain Python values: words, numbers, None for a number that is not there.

    An entry of a vector parameter is the worst of its derivatives, with all of them as `parts`.
    """
    shown = {name: plain(getattr(certificate, name)) for name in NUMBERS}
    return {
        "verdict": verdict_word(certificate),
        "reason": reason_text(certificate),
        "method": certificate.method,
        "checks": list(certificate.checks),
        **shown,
        "entries": {
            name: _entry_words(entry, certificate.checks)
            for name, entry in certificate.entries.items()
        },
    }


def words_of_a_refusal(why: str, wrt: Sequence[str]) -> JsonObject:
    """What `certificate_words` would be where there is not even a calculation."""
    shown = {"verdict": "refused", "reason": why}
    each = {name: shown | dict.fromkeys(ENTRY_NUMBERS) for name in wrt}
    return {**shown, "method": None, "checks": [], **dict.fromkeys(NUMBERS), "entries": each}


def _entry_words(entry: Entry, checks: Sequence[str]) -> JsonObject:
    if jnp.ndim(entry.verdict):
        flat = jax.tree.map(jnp.ravel, entry)
        parts = [
            _entry_words(jax.tree.map(lambda leaf, i=i: leaf[i], flat), checks)
            for i in range(flat.verdict.size)
        ]
        verdict, reason = _worst(flat.verdict, flat.reason)
        worst = Entry(verdict, reason, *(_extreme(flat, name) for name in ENTRY_NUMBERS))
        return _entry_words(worst, checks) | {"parts": parts}
    words = {"verdict": verdict_word(entry), "reason": _words_of(entry.reason, checks)}
    return words | {name: plain(getattr(entry, name)) for name in ENTRY_NUMBERS}


class Checks(NamedTuple):
    """Per derivative: difference of two resolutions, that of gradient and values, how far it holds, whether
    neighbors were found."""

    discrepancy: Array
    mismatch: Array
    reach: Array
    found: Array


def worst_of_components(checks: Checks, first: int, last: int) -> Checks:
    """The checks of some rows of a Jacobian, of each derivative the worst."""
    extremes = zip((jnp.max, jnp.max, jnp.min, jnp.all), checks, strict=True)
    return Checks(*(worst(rows[first:last], axis=0) for worst, rows in extremes))


def unknown_checks(jacobian: Array) -> Checks:
    """Nothing was checked."""
    unknown = jnp.full_like(jacobian, jnp.nan)
    return Checks(unknown, unknown, unknown, jnp.zeros(jacobian.shape, bool))


def weighed(evidence: Evidence) -> Checks:
    """The evidence in the error measure of the module docstring."""
    seen, fine = evidence.differences, evidence.base.jacobian
    discrepancy = jnp.full_like(fine, jnp.nan)
    if evidence.coarse is not None:
        size = size_of(evidence.x, evidence.base.value, fine, FLOOR)
        discrepancy = jnp.abs(fine - evidence.coarse) / size
    reach = jnp.where(evidence.x[None, :] == 0, jnp.nan, seen.reach)
    found = jnp.broadcast_to(seen.found[None, :], fine.shape)
    return Checks(discrepancy, seen.mismatch, reach, found)


def judged_each(
    compared: Sequence[str],
    base: PyTree,
    value: Array,
    gradient: Array,
    checks: Checks,
    against: Array,
) -> Entry:
    """Verdict and reason of each derivative (p): the first thing that speaks against it, of any component."""
    usable = (code(base.result) == code(RESULTS.successful)) | (against != 0)
    if "resolution" in compared:
        fine = checks.discrepancy < RESOLVED
        agree = jnp.where(fine, reason_code("agree"), reason_code("coarse"))
    else:
        agree = jnp.full(checks.mismatch.shape, reason_code("unchecked"))
    # The reach of a parameter at zero is unknown, which is not short.
    reason = jnp.where(checks.reach == 0, reason_code("rugged"), agree)
    reason = jnp.where(checks.mismatch < MATCHED, reason, reason_code("differs"))
    reason = jnp.where(checks.found, reason, reason_code("alone"))
    if gradient.dtype == jnp.float32:
        reason = jnp.full_like(reason, reason_code("single"))
    # A reason to trust it does not outweigh a check that failed; a reason against it does.
    trusted = jnp.isin(against, jnp.array(codes_of("certified")))
    finite = jnp.all(jnp.isfinite(gradient), axis=0) & jnp.all(jnp.isfinite(value))
    reason = jnp.where(finite, reason, reason_code("not_finite"))
    refused = jnp.isin(against, jnp.array(codes_of("refused")))
    flat = jnp.all(gradient == 0, axis=0) & (reason == reason_code("agree"))
    overruled = jnp.where(trusted, flat & (against != 0), finite & (against != 0))
    reason = jnp.where(overruled | refused, against, reason)
    reason = jnp.where(usable, reason, reason_code("no_motion"))
    verdict = jnp.where(jnp.isin(reason, jnp.array(codes_of("refused"))), REFUSED, 1)
    verdict = jnp.where(jnp.isin(reason, jnp.array(codes_of("certified"))), 0, verdict)
    reach = jnp.where(verdict == REFUSED, jnp.nan, checks.reach)
    return Entry(verdict, reason, checks.discrepancy, checks.mismatch, reach)


def summed_up(
    method: str,
    checks: tuple[str, ...],
    base: PyTree,
    entries: Entry,
    by_name: Callable[[Array], dict[str, Array]],
) -> Certificate:
    """The certificate of all derivatives: the worst of each."""
    verdict, reason = _worst(entries.verdict, entries.reason)
    discrepancy, mismatch = _extreme(entries, "discrepancy"), _extreme(entries, "mismatch")
    estimate = mismatch
    if "resolution" in checks:
        estimate = discrepancy / 5 + jnp.where(mismatch > MATCHED, mismatch, 0.0)
    unknown = jnp.full_like(discrepancy, jnp.nan)
    columns = {field: by_name(column) for field, column in vars(entries).items()}
    return Certificate(
        verdict=verdict,
        reason=reason,
        residual=getattr(base, "residual", unknown),
        margin=getattr(base, "margin", unknown),
        multiplier=getattr(base, "multiplier", unknown),
        discrepancy=discrepancy,
        mismatch=mismatch,
        error_estimate=estimate,
        reach=_extreme(entries, "reach"),
        entries={
            name: Entry(**{field: column[name] for field, column in columns.items()})
            for name in columns["verdict"]
        },
        method=method,
        checks=checks,
    )


NUMBERS = ("residual", "margin", "multiplier", "discrepancy", "mismatch", "error_estimate", "reach")
"""The numbers of a certificate."""

ENTRY_NUMBERS = ("discrepancy", "mismatch", "reach")
"""The numbers of an entry."""


def _worst(verdicts: Array, reasons: Array) -> tuple[Array, Array]:
    """The worst of some verdicts with its reason, the first in the order of `REASONS`."""
    verdict = jnp.max(verdicts)
    return verdict, jnp.min(jnp.where(verdicts == verdict, reasons, len(REASONS)))


def _extreme(entries: Entry, name: str) -> Array:
    """The largest of a number, or the shortest reach that is known."""
    values = getattr(entries, name)
    return jnp.nanmin(values) if name == "reach" else jnp.max(values)

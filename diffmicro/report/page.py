"""The page of a report: HTML in one file with its figures inside; it loads nothing, and prints well."""

from collections.abc import Mapping, Sequence
from html import escape

from diffmicro._device import Device
from diffmicro._json import Json
from diffmicro.parameters import describe
from diffmicro.plot.searches import history_figure
from diffmicro.report import words
from diffmicro.report.claims import Claim, Question, deviations_of, layout_of, point_of
from diffmicro.report.figures import bars_figure, design_drawing, embedded

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1d2329 }
body { max-width: 62rem; margin: 2rem auto; padding: 0 1.2rem }
h1 { font-size: 1.5rem; margin-bottom: .2rem }
h2 { font-size: 1.12rem; margin: 2rem 0 .5rem; border-bottom: 1px solid #d5dbe1 }
.wide { overflow-x: auto }
table { border-collapse: collapse; margin: .6rem 0 }
th, td { text-align: left; padding: .2rem 1.1rem .2rem 0; vertical-align: top }
th { font-weight: 600; border-bottom: 1px solid #9aa5b1 }
td { border-bottom: 1px solid #eceff2; font-variant-numeric: tabular-nums }
td:not(:last-child), th { white-space: nowrap }
.lead { font-size: 1.1rem }
figure { margin: 1rem 0 }
img { max-width: 100% }
figcaption, .note { color: #57606a }
.warning { color: #9a3412 }
pre { font: 13px/1.45 ui-monospace, monospace; background: #f4f6f8; padding: .7rem }
pre { white-space: pre-wrap; overflow-wrap: anywhere }
pre span { display: inline-block; max-width: 100% }
@page { margin: 15mm }
@media (max-width: 40rem) { td:last-child { min-width: 11rem } img { width: 100% !important } }
@media print {
  body { margin: 0; padding: 0; max-width: none; font-size: 10.5pt }
  h2, figcaption { break-after: avoid }
  h2 { margin-top: 1.2rem }
  pre { font-size: 8pt }
  table, tr, figure, img, pre, li, .keep { break-inside: avoid }
  .screen { display: none }
  .wide { overflow: visible }
  figure img { width: auto !important; max-height: 210mm }
}
"""

HATCHED = (
    "Hatched bars are derivatives that are not certified: size and sign may be wrong. A parameter with a word in "
    "place of a bar has no derivative here."
)


def page(
    device: Device,
    question: Question,
    claims: Sequence[Claim],
    run: Mapping[str, Json],
    history: Sequence[Mapping[str, str]],
    environment: Mapping[str, Json],
    claimed: str,
) -> str:
    """The whole page. claimed: name of the file with the claims."""
    title = f"{device.name}: {question.goal} {question.objective}"
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="note">{escape(device.title)} ({escape(device.source)})</p>',
        f'<p class="lead">{escape(words.answer_text(device, question, claims))}</p>',
        _section("Question", _paragraph(words.question_text(device, question))),
        _section("Design, before and after", _designs(device, question)),
        _section("What it does, before and after", _responses(device, claims)),
        _section(
            "What holds the optimum, and its price",
            _list(words.limit_texts(device, question, claims, str(run["status"]))),
        ),
        _section("How sure the derivatives are", _certificate(claims)),
        _section("How near it is to where it stops working", _ends(claims)),
        _section("Share of good parts", _yield(device, question, claims)),
        _section("Which parameter matters", _elasticities(question, claims)),
        _section("The search", _search(device, question, run, history)),
        _section("How to repeat it", _repeat(device, question, run, environment, claimed)),
    ]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    head += f"<title>{escape(title)}</title><style>{STYLE}</style>"
    return (
        f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(body)}</body></html>\n'
    )


def _section(title: str, content: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{content}</section>"


def _paragraph(text: str, kind: str = "") -> str:
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def _list(texts: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in texts) + "</ul>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _code(before: str, parts: Sequence[str]) -> str:
    """A sentence and the command that it is about: on one page, and broken between its parts."""
    shown = " ".join(f"<span>{escape(part)}</span>" for part in parts)
    return f'<div class="keep">{_paragraph(before)}<pre>{shown}</pre></div>'


def _designs(device: Device, question: Question) -> str:
    rows = []
    for name, (low, high) in question.free.items():
        key, _, entry = name.rstrip("]").partition("[")
        before = question.before[key]
        if isinstance(before, list):
            flat = [x for row in before for x in (row if isinstance(row, list) else [row])]
            before = flat[int(entry)] if entry else sum(flat) / len(flat)
        ends = f"{words.show(device, name, low)} to {words.show(device, name, high)}"
        after = words.show(device, name, question.variables[name])
        meaning = device.parameters[key].meaning
        rows.append((name, words.show(device, name, before), after, ends, meaning))
    text = _table(("parameter", "before", "after", "allowed", "meaning"), rows)
    pictures = []
    for side, caption in _drawn_sides(device, question).items():
        figure = design_drawing(device, getattr(question, side), layout_of(device, question))
        if figure is not None:
            picture = embedded(figure, f"drawing of the design {caption}", "78%")
            # a sheet of paper has room for one drawing whose dimensions can be read
            kind = ' class="screen"' if side == "before" else ""
            pictures.append(f"<figure{kind}><figcaption>{caption}</figcaption>{picture}</figure>")
    if pictures:
        return text + "".join(pictures)
    return text + _paragraph("This design has no drawing.", "note")


def _drawn_sides(device: Device, question: Question) -> dict[str, str]:
    """The sides to draw, with their captions: one where nothing changed that a drawing depends on."""
    fields = describe(device.Design)
    if all(question.before[key] == question.after[key] for key in fields):
        return {"after": "before and after: only the setting changed"}
    return {"before": "before", "after": "after"}


def _responses(device: Device, claims: Sequence[Claim]) -> str:
    sides = {
        side: {c.name: c.value for c in claims if c.topic == side} for side in ("before", "after")
    }
    rows = []
    for name in sides["after"]:
        known = device.responses.get(name)
        meaning = known.meaning if known else "how the calculation ended"
        cells = [words.show(device, name, sides[side].get(name)) for side in ("before", "after")]
        rows.append((name, *cells, meaning))
    return _table(("response", "before", "after", "meaning"), rows)


def _certificate(claims: Sequence[Claim]) -> str:
    found = {c.name: c.value for c in claims if c.topic == "certificate"}
    if not found:
        return _paragraph("No derivatives were taken.", "note")
    kind = "" if found["verdict"] == "certified" else "warning"
    text = words.VERDICTS[found["verdict"]] + str(found["reason"] or "no reason is known") + "."
    return _paragraph(text, kind)


def _ends(claims: Sequence[Claim]) -> str:
    own = {c.name: c.value for c in claims if c.topic == "ends"}
    start = own.pop("start", None)
    texts = words.end_texts(own)
    if not texts:
        return _paragraph("No ends of what the device does are known for it.", "note")
    lead = f"The robot starts by {start}. Where that start is lost, it no longer gets into this motion."
    return (_paragraph(lead) if start else "") + _list(texts)


def _yield(device: Device, question: Question, claims: Sequence[Claim]) -> str:
    design = point_of(device, question.after)[0]
    by = deviations_of(device, design, question)[0].text(design)
    own = [c for c in claims if c.topic == "yield"]
    if not own:
        return _paragraph(by, "note")
    good, *causes = own
    assert good.low is not None and good.high is not None
    text = f"{100 * good.value:.4g} % of parts are good, "
    text += f"{100 * good.low:.4g} to {100 * good.high:.4g} % with 95 % confidence. {by}"
    bad = [
        f"{words.with_units(device, c.name.removeprefix('bad by '))}: {100 * c.value:.3g} % of all parts"
        for c in causes
    ]
    return _paragraph(text) + (_paragraph("The others fail by:") + _list(bad) if bad else "")


def _elasticities(question: Question, claims: Sequence[Claim]) -> str:
    own = [c for c in claims if c.topic == "elasticity"]
    if not any(isinstance(c.value, int | float) for c in own):
        return _paragraph("There are no derivatives to show.", "note")
    label = f"percent of {question.objective} for one percent of each parameter"
    sure = all(c.value == "certified" for c in claims if c.topic == "elasticity verdict")
    picture = embedded(bars_figure(claims, question.objective), label, "80%")
    return picture + ("" if sure else _paragraph(HATCHED, "warning"))


def _search(
    device: Device,
    question: Question,
    run: Mapping[str, Json],
    history: Sequence[Mapping[str, str]],
) -> str:
    text = _paragraph(words.SEARCH.get(str(run["status"]), str(run["status"])))
    reason = words.with_units(device, str(run["reason"]))
    text += _paragraph(f"{run['evaluations']} evaluations in {run['seconds']} s. {reason}", "note")
    if not history:
        return text
    known = device.responses.get(question.objective)
    limits = {f"{of} {sense} {bound:g}": bound for of, sense, bound in question.constraints}
    limits = {name: bound for name, bound in limits.items() if name in history[0]}
    names = {name: words.with_units(device, name) for name in limits}
    unit = known.unit if known else "-"
    figure = history_figure(history, question.objective, unit, limits, names)
    return text + embedded(figure, "the search", "80%")


def _repeat(
    device: Device,
    question: Question,
    run: Mapping[str, Json],
    environment: Mapping[str, Json],
    claimed: str,
) -> str:
    again = words.repeat_command(device, question, run["config"])
    look = [f"diffmicro evaluate {question.device}", *words.words_of(device, question, "after")]
    place = f" --device path/to/{question.device}" if ".py:" in question.device else ""
    made = ", ".join(f"{name} {value}" for name, value in environment.items())
    process = question.process
    rules = ""
    if process is not None:
        file = f"<pre>{escape(process.toml())}</pre>"
        rules = f'<div class="keep">{_paragraph("with the file rules.toml:")}{file}</div>'
    return (
        _code("The search again:", again)
        + rules
        + _code("The design after, alone:", look)
        + _code("Every number above, on another machine:", [f"diffmicro verify {claimed}{place}"])
        + _paragraph(f"Made with {made}.", "note")
    )

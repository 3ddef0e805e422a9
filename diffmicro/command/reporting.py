"""The subcommands `report` and `verify`: a page about an optimization, and its claims calculated again."""

import json
from pathlib import Path

from rich.text import Text

from diffmicro.command.codes import Code
from diffmicro.command.output import console
from diffmicro.command.words import BadInput


def run_report(run: Path, out: Path) -> int:
    """Write the page and report.json beside it."""
    from diffmicro.report import report

    if not run.is_dir():
        raise BadInput(
            f"{run} is no folder; a report is about one that `diffmicro optimize ... --out DIR` wrote."
        )
    if not out.parent.is_dir():
        raise BadInput(f"The folder {out.parent} does not exist.")
    page = console(stderr=True)
    page.print(Text("calculating what the report claims ..."))
    try:
        content = report(run, out)
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None
    count = len(content["claims"])
    text = f"{out}, and {count} claims in {out.with_suffix('.json')}"
    page.print(Text(text), soft_wrap=True)
    return Code.OK


def run_verify(file: Path, device: str | None, as_json: bool) -> int:
    """Calculate all claims again; exit code 3 where one does not hold or the file was changed."""
    from diffmicro.report import verify

    if not file.is_file():
        folder = f"{file} is a folder" if file.is_dir() else f"There is no file {file}"
        raise BadInput(
            f"{folder}; give the .json file that `diffmicro report RUN --out FILE.html` writes."
        )
    try:
        whole, verdicts = verify(file, device)
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None
    bad = [verdict for verdict in verdicts if not verdict.holds]
    if as_json:
        rows = [
            {
                "topic": v.claim.topic,
                "name": v.claim.name,
                "stated": v.claim.value,
                "found": v.found,
                "holds": v.holds,
                "why": v.why,
            }
            for v in verdicts
        ]
        print(json.dumps({"unchanged": whole, "holds": not bad and whole, "claims": rows}))
        return Code.NOT_CONVERGED if bad or not whole else Code.OK
    page = console()
    for verdict in verdicts:
        claim = verdict.claim
        word = "holds" if verdict.holds else "FAILS"
        value = f"{claim.value:.6g}" if isinstance(claim.value, float) else str(claim.value)
        unit = f" {claim.unit}" if claim.unit not in ("", "-") else ""
        text = f"{word}  {claim.topic}: {claim.name} = {value}{unit}"
        page.print(Text(text + (f" ({verdict.why})" if verdict.why else "")), soft_wrap=True)
    if not whole:
        page.print(Text("The file is not as it was written: its digest does not match."))
    page.print(Text(f"{len(verdicts) - len(bad)} of {len(verdicts)} claims hold"))
    return Code.NOT_CONVERGED if bad or not whole else Code.OK

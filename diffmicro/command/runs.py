"""What the folder of an optimization holds, for commands that go on from its result."""

import json
from pathlib import Path
from typing import Any

from diffmicro.command.words import BadInput


def of_run(folder: Path) -> tuple[str, dict[str, Any], list[str]]:
    """Device, values of all fields and limits of an optimization's result."""
    try:
        config = json.loads((folder / "config.json").read_text())
        result = json.loads((folder / "result.json").read_text())
        (point,) = config["about"]["points"]
        best = result["optimized"]
        fields = {**best["design"], **best["setting"]}
        # A search for a yield keeps more of a limit than its parts have to.
        limits = config["about"].get("limits", list(result["constraints"]))
        return point["device"], fields, [text for text in limits if not text.startswith("margin(")]
    except (OSError, ValueError, KeyError, TypeError):
        raise BadInput(
            f"{folder} is no folder of a finished optimization of one device; it needs config.json and "
            "result.json."
        ) from None

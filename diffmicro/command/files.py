"""Files in place of words: `outline=body.dxf`; and what every complaint about words is."""

from collections.abc import Mapping
from typing import Any

from diffmicro._device import Device, hooked


class BadInput(ValueError):
    """Words that mean nothing, or what is not allowed. `status` is the status word for results."""

    def __init__(self, text: str, status: str = "invalid_input"):
        super().__init__(text)
        self.status = status


DRAWINGS = (".dxf", ".gds", ".csv")
"""Endings of files that may stand in place of a word."""


def from_files(
    module: Device, given: Mapping[str, Any]
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """The values with what files stand for, as `outline=body.dxf`, and what was made of these."""
    notes = []
    for key, value in given.items():
        if key not in module.files or not str(value).lower().endswith(DRAWINGS):
            continue
        try:
            fields, note = hooked(module.files[key])(str(value))
        except ValueError as complaint:
            raise BadInput(f"{key}: {complaint}") from None
        twice = [name for name in fields if name in given and name != key]
        if twice:
            raise BadInput(
                f"{key}={value} gives {', '.join(twice)} too; leave {twice[0]}={given[twice[0]]} out."
            )
        given = {**given, **fields}
        notes.append(note)
    return given, tuple(notes)

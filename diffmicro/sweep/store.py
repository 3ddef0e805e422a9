"""Finished chunks of a sweep in a folder beside its file, so that nothing is calculated twice.

`FILE.part/` holds `sweep.json` (the fingerprint: what the chunks depend on) and a file a chunk. Each is
written under another name and renamed, and begins with a digest of the fingerprint, its number and its
content. So a chunk that is torn, or of another sweep, is not loaded but calculated again. A
folder with another fingerprint is an error that lists what differs; so is one that another program works in.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np

from diffmicro._files import Claim, Taken, digest, replace, sealed, unsealed
from diffmicro._json import Json
from diffmicro.parameters import Value


class StoreError(ValueError):
    """A folder of chunks that cannot be used in this way."""


class Store:
    """The chunks of one sweep. Nothing is on disk before the first chunk is.

    path: the folder. resume: go on with what is there; otherwise there must be nothing.
    kept, torn: how many chunks were loaded, and how many had to be thrown away.
    """

    def __init__(self, path: Path, resume: bool = False):
        self.path, self.resume = path, resume
        self.kept = self.torn = 0
        self._known = path / "sweep.json"
        self._mark = b""
        self._text = ""
        self._claim: Claim | None = None

    def begin(self, fingerprint: Mapping[str, Json], count: int) -> None:
        """Look whether the folder is of this sweep of `count` chunks."""
        self._text = json.dumps(fingerprint, indent=1, sort_keys=True) + "\n"
        self._mark = digest(self._text.encode())
        if not self.path.exists():
            return
        self._take()
        if self._is_blank():
            return
        try:
            there = json.loads(self._known.read_text())
        except (OSError, ValueError):
            raise StoreError(
                f"{self.path} is not the folder of an unfinished sweep: sweep.json is missing or "
                "not readable. Move it away, or delete it to start anew."
            ) from None
        different = differences(there, json.loads(self._text))
        if self.resume and different:
            raise StoreError(
                f"{self.path} is of another sweep: {'; '.join(different)}. Resume with the same "
                "words, or delete the folder to start anew."
            )
        if not self.resume:
            done = len(list(self.path.glob("chunk-*.bin")))
            if different:
                raise StoreError(
                    f"{self.path} holds {done} chunks of another sweep that did not end "
                    f"({different[0]}). Write to another file, or delete the folder."
                )
            raise StoreError(
                f"{self.path} holds {done} of {count} chunks of this sweep, which did not end. Go on "
                "with --resume, or delete the folder to start anew."
            )

    def load(self, number: int) -> dict[str, np.ndarray] | None:
        """The arrays of a finished chunk; None where it has to be calculated."""
        try:
            content = self._file(number).read_bytes()
        except FileNotFoundError:
            return None
        arrays = unsealed(content, self._mark_of(number))
        self.torn += arrays is None
        self.kept += arrays is not None
        return arrays

    def save(self, number: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Keep a finished chunk."""
        if self._claim is None:
            self.path.mkdir(exist_ok=True)
            self._take()
            if not self._is_blank():
                raise StoreError(
                    f"Another program began a sweep in {self.path} meanwhile. Write to another file."
                )
        if not self._known.exists():
            replace(self._known, self._text.encode())
        # A chunk that a power cut tears is found by its digest, so nobody waits for the disk (20 ms).
        replace(self._file(number), sealed(arrays, self._mark_of(number)), wait=False)

    def remove(self) -> None:
        """Delete all that this class wrote, and the folder if nothing else is in it."""
        self.release()
        if not self.path.is_dir():
            return
        for pattern in ("chunk-*.bin", "*.partial", "sweep.json"):
            for file in self.path.glob(pattern):
                file.unlink()
        with suppress(OSError):
            self.path.rmdir()

    def release(self) -> None:
        """Let other programs work in the folder; happens by itself where the sweep or the program ends."""
        if self._claim is not None:
            self._claim.release()
        self._claim = None

    def _take(self) -> None:
        """Claim the folder, once."""
        try:
            self._claim = self._claim or Claim(self.path)
        except Taken as complaint:
            raise StoreError(str(complaint)) from None

    def _is_blank(self) -> bool:
        """Whether nothing was kept yet: the sweep was killed, or the disk was full, before the first file."""
        return self.path.is_dir() and all(
            file.name.endswith(".partial") and file.name.startswith(("chunk-", "sweep.json"))
            for file in self.path.iterdir()
        )

    def _file(self, number: int) -> Path:
        return self.path / f"chunk-{number:06d}.bin"

    def _mark_of(self, number: int) -> bytes:
        return self._mark + str(number).encode()


def beside(out: Path) -> Path:
    """The folder of the chunks of the sweep that is written to `out`."""
    return out.with_name(out.name + ".part")


def differences(there: Json, here: Mapping[str, Json]) -> list[str]:
    """What differs between two fingerprints, in words."""
    if not isinstance(there, dict):
        return ["sweep.json is none of a sweep"]
    keys = dict.fromkeys([*here, *there])
    return [
        f"{key} is {_short(there.get(key))} there, {_short(here.get(key))} here"
        for key in keys
        if there.get(key) != here.get(key)
    ]


def _short(value: Value) -> str:
    if isinstance(value, list) and len(value) > 4:
        return f"[{value[0]}, {value[1]}, ..., {value[-1]}] ({len(value)} values)"
    return str(value)

"""Files that are there whole or not at all."""

import os
from pathlib import Path


def replace(path: Path, content: bytes, wait: bool = True) -> None:
    """Write a file under another name and rename it; `wait`: so that it survives a power cut too."""
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as file:
        file.write(content)
        if wait:
            file.flush()
            os.fsync(file.fileno())
    os.replace(partial, path)

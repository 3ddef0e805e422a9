"""Values as JSON has them: one home for what leaves the library as text."""

from typing import Any

import numpy as np

Json = Any
"""What JSON has: a number, a word, a flag or None, or a list or an object of these."""

JsonObject = dict[str, Json]


def plain(value: object) -> Json:
    """Python numbers, words, lists and dictionaries; None for a number that is not finite."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    array = np.asarray(value)
    if array.ndim:
        return [plain(entry) for entry in array]
    number = array.item()
    return None if isinstance(number, float) and not np.isfinite(number) else number

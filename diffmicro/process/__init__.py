"""The rules of a fabrication process: what it can make, what etching takes, and how far that scatters.

`read_process` reads them from a file, `limits` turns them into bounds of a design's features, and
`etch_tolerances` turns the scatter of the etch into common tolerances of the design's parameters. Drawn and etched
geometry are `drawing.drawn` and `drawing.geometry`.
"""

from diffmicro.process.deviations import etch_tolerances
from diffmicro.process.limits import Limit, features, kinds, limits
from diffmicro.process.reading import process_from, read_process
from diffmicro.process.values import LayerRules, Process

__all__ = [
    "LayerRules",
    "Limit",
    "Process",
    "etch_tolerances",
    "features",
    "kinds",
    "limits",
    "process_from",
    "read_process",
]

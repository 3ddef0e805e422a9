"""The sources' figures and tables, computed again and compared: `python -m experiments`.

One folder a source. An experiment is a function that computes, compares with what the source
states, and knows how to draw the source's figure; `experiments.outcome` writes it down and judges
it.
"""

from importlib import import_module

from experiments.outcome import Experiment

SOURCES = ("nagy2012", "xie2019", "ryou2014", "mdr_thesis", "verotti2022")
"""The folders; each has `EXPERIMENTS`, name -> experiment, all names beginning with the folder's."""


def known_experiments() -> dict[str, Experiment]:
    """All experiments by name, source after source."""
    found: dict[str, Experiment] = {}
    for source in SOURCES:
        found |= import_module(f"experiments.{source}").EXPERIMENTS
    return found

"""The sources' figures and tables, computed again and compared: `python -m experiments`.

One folder a source. An experiment is a function that computes, compares with what the source
states, and knows how to draw the source's figure; `experiments.outcome` writes it down and judges
it.
"""

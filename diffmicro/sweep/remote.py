"""One chunk of a sweep in another process: packed here, unpacked and calculated there.

A parcel has no class of a device's module and no array of JAX, so that unpacking needs neither a module that only
this process has (a device from a file) nor a JAX that has started: the worker configures it first, once. The
worker then compares what the numbers depend on with what the sender says, and refuses where it differs.
"""

import dataclasses
import os
import pickle
import platform
import threading
from collections.abc import Mapping
from pathlib import Path

import jax
import numpy as np
from jaxtyping import PyTree

from diffmicro._configure import configure, has_started
from diffmicro._json import Json
from diffmicro._programs import keep_programs
from diffmicro._types import Tree
from diffmicro.devices import device, reference_of
from diffmicro.parameters import Fields, as_arrays
from diffmicro.sweep.chunks import Arrays, Load, Recipe, calculate_chunk
from diffmicro.sweep.plan import environment
from diffmicro.sweep.store import differences

THREADS = "PJRT_NPROC"
"""Read by XLA when it starts: how many threads it may use."""

_STARTING = threading.Lock()


class ClusterError(ValueError):
    """A cluster that cannot be used in this way; the message says what to change."""


def parcel_of(
    recipe: Recipe, load: Load, first: tuple[Fields, Fields], before: Arrays | None
) -> bytes:
    """What `calculate_parcel` takes. first: a point (design, setting) of the load, which has its words."""
    place = reference_of(recipe.device)
    if ".py:" in place:
        file, _, name = place.rpartition(":")
        place = f"{Path(file).resolve()}:{name}"
    points = load.points if not load.width else [first]
    fields = [tuple(_on_host(vars(part)) for part in point) for point in points]
    stacked = None if not load.width else _on_host(jax.tree.leaves(load.points))
    numerics = _on_host(dict(recipe.numerics))
    asked = (recipe.wanted, numerics, recipe.wrt, recipe.of)
    starts = None if load.starts is None else _on_host(jax.tree.leaves(load.starts))
    return pickle.dumps((place, asked, fields, load.width, stacked, starts, before))


def calculate_parcel(
    parcel: bytes, there: Mapping[str, Json], double: bool, keep: bool = False
) -> Arrays:
    """The arrays of a chunk. there: `environment` of the sender; double: whether it calculates in 64 bits; keep:
    whether it keeps compiled programs, in which case this process does, in the cache folder of its own user."""
    with _STARTING:
        if not has_started():
            os.environ[THREADS] = "1"
            os.environ["XLA_FLAGS"] = there["XLA_FLAGS"]
            configure()
            if keep:
                keep_programs()
        jax.config.update("jax_enable_x64", double)
    different = differences(environment(), there)
    if different:
        raise ClusterError(
            f"A worker on {platform.node()} differs from this process: {'; '.join(different)} "
            "(there: the worker, here: this process). Give both the same packages; a Python program calls "
            "diffmicro.configure() before JAX starts, and workers start anew."
        )
    place, asked, fields, width, stacked, states, before = pickle.loads(parcel)
    robot, (wanted, numerics, wrt, of) = device(place), asked
    recipe, starts = Recipe(robot, wanted, numerics, wrt, of), None
    points: PyTree = [
        (
            dataclasses.replace(robot.published_design(), **design),
            dataclasses.replace(robot.published_setting(), **setting),
        )
        for design, setting in fields
    ]
    if width:
        if states is not None:
            shape = jax.eval_shape(recipe.build(), *as_arrays(points[0])).state
            starts = jax.tree.unflatten(jax.tree.structure(shape), states)
        points = jax.tree.unflatten(jax.tree.structure(points[0]), stacked)
    return calculate_chunk(recipe, Load(width, points, starts), before)


def _on_host(values: Tree) -> Tree:
    """JAX arrays as NumPy's."""
    return jax.tree.map(lambda x: np.asarray(x) if isinstance(x, jax.Array) else x, values)

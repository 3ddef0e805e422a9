"""Whole calculations on disk: what a process compiled, the next one runs without tracing it again.

`_programs` keeps what XLA compiled, found by the program's text. To get that text a function is traced, which
takes seconds for a search of orbits with its derivatives. Here the key is what decides that text: the function's
name with all its words, the shapes of its arguments, the source of this package, the versions of the packages it
stands on, and JAX's settings. So it serves functions of this package alone, whose source it knows.

Entries lie among the programs, with their digests and their limit of size. What cannot be loaded is compiled.

Left out: functions of devices that others wrote.
"""

import os
import pickle
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, lru_cache
from importlib import metadata
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.experimental import serialize_executable
from jax.stages import Compiled
from jaxtyping import PyTree

from diffmicro import _programs
from diffmicro._sources import sources
from diffmicro._types import Tree

PACKAGES = ("jax", "jaxlib", "equinox", "optax", "numpy")
"""What a traced function depends on beside this package."""

QUICK = 1
"""Level of compression: most of what there is to gain, in a tenth of a second."""


def call(
    function: Callable[..., Tree],
    given: tuple[PyTree, ...],
    options: Mapping[str, object],
    name: str | None = None,
) -> Tree:
    """`function(*given)`, compiled with XLA's `options`.

    name: whatever decides what the function is, beside this package's source; None: nothing is kept on disk.
    """
    programs = _programs.in_use()
    if programs is None or name is None or _watched():
        return _jitted(function, tuple(options.items()))(*given)
    leaves, tree = jax.tree.flatten(given)
    leaves = [jnp.asarray(leaf) for leaf in leaves]
    key = _key(f"{name} {dict(options)} {tree} {[jax.typeof(leaf) for leaf in leaves]}")
    found = _READY.get(key) or _loaded(programs.get(key))
    if found is not None:
        executable, shape = found
        # A part that is missing in what was loaded shows when it runs: then it is compiled again.
        with suppress(jax.errors.JaxRuntimeError):
            values = jax.block_until_ready(executable(*leaves))
            _keep_ready(key, found)
            return jax.tree.unflatten(jax.tree.structure(shape), values)
    with programs.set_aside():
        executable, shape, lapack = _compiled(function, leaves, tree, dict(options))
    programs.put(key, _stored(executable, shape, lapack))
    _keep_ready(key, (executable, shape))
    return jax.tree.unflatten(jax.tree.structure(shape), executable(*leaves))


_READY: dict[str, tuple[Compiled, PyTree]] = {}
"""What this process has run, by key, the latest behind."""

MOST_READY = 64
"""How many executables a process holds."""


def _keep_ready(key: str, found: tuple[Compiled, PyTree]) -> None:
    _READY.pop(key, None)
    _READY[key] = found
    if len(_READY) > MOST_READY:
        del _READY[next(iter(_READY))]


@lru_cache(MOST_READY)
def _jitted(function: Callable, options: tuple) -> Callable:
    """Compiled once in a process, as long as the function is the same."""
    return jax.jit(function, compiler_options=dict(options))


def _watched() -> bool:
    """Whether JAX looks into calculations: it cannot look into a kept one."""
    return any(
        getattr(jax.config, name)
        for name in ("jax_disable_jit", "jax_debug_nans", "jax_debug_infs")
    )


def _key(text: str) -> str:
    settings = {name: value for name, value in os.environ.items() if name.startswith("JAX_")}
    flags = os.environ.get("XLA_FLAGS", "")
    switches = [
        getattr(jax.config, name) for name in ("jax_enable_x64", "jax_default_matmul_precision")
    ]
    return f"executable {sources()} {versions()} {settings} {flags} {switches} {text}"


@cache
def versions() -> str:
    """The versions of all that a traced function depends on."""
    return " ".join(f"{name} {metadata.version(name)}" for name in PACKAGES)


def _compiled(
    function: Callable, leaves: list, tree: Any, options: dict
) -> tuple[Compiled, PyTree, bool]:
    """The executable of the flat function, its result's shape as a tree of numbers, whether it calls LAPACK."""
    shape: PyTree = None

    def flat(*leaves: Array) -> list[Array]:
        nonlocal shape
        out, structure = jax.tree.flatten(function(*jax.tree.unflatten(tree, leaves)))
        shape = jax.tree.unflatten(structure, range(len(out)))
        return out

    lowered = jax.jit(flat).lower(*leaves)
    return lowered.compile(options), shape, "lapack" in lowered.as_text()


def _stored(executable: Compiled, shape: PyTree, lapack: bool) -> bytes:
    """What is written; nothing where XLA cannot write it."""
    try:
        payload, given, taken = serialize_executable.serialize(executable)
    except Exception:  # whatever a version of JAX raises: then it is compiled again
        return b""
    return pickle.dumps((zlib.compress(payload, QUICK), given, taken, shape, lapack))


def _loaded(content: bytes | None) -> tuple[Compiled, PyTree] | None:
    """What `_stored` wrote, ready to run; None where there is nothing, or nothing that this process can load."""
    if not content:
        return None
    try:
        payload, given, taken, shape, lapack = pickle.loads(content)
        if lapack:
            # Lowering such a call is what makes JAX load LAPACK; a loaded executable would call nothing.
            jax.jit(jnp.linalg.svd).lower(np.eye(2))
        return serialize_executable.deserialize_and_load(
            zlib.decompress(payload), given, taken
        ), shape
    except Exception:  # whatever a version of JAX raises: then it is compiled again
        return None

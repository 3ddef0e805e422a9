"""Compiling a device's response, and its gradient, for a GPU that is not there.

It takes JAX's CUDA plugin and NVIDIA's assembler (the extra `gpu-check`), in an environment of its own: beside a
CPU's jaxlib the plugin complains at every start. Its settings count only before JAX's first calculation.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
from jax import Array
from jaxtyping import PyTree

from diffmicro._device import Device
from diffmicro.gpu.program import Loop, read
from diffmicro.gpu.targets import Target
from diffmicro.parameters import as_arrays

MISSING = (
    "Compiling for a GPU needs JAX's CUDA plugin and NVIDIA's assembler. Make an environment of its own and "
    "install them there: python -m venv gpu-check && gpu-check/bin/pip install 'diffmicro[gpu-check]', then "
    "gpu-check/bin/diffmicro doctor --target a100. No GPU and no driver are needed."
)


class NoCompiler(RuntimeError):
    """What compiling for a GPU needs is not installed. The message says how to get it."""


class Compiled(NamedTuple):
    """A program for a target: its launches, temporary bytes, and registers and spilled bytes of each kernel."""

    program: Loop
    temporary: int
    registers: dict[str, int]
    spills: int


class Compiler:
    """XLA's compiler for one target. Make it before JAX's first calculation."""

    def __init__(self, target: Target, double: bool = True) -> None:
        tools = find_spec("nvidia.cuda_nvcc") if find_spec("nvidia") else None
        if not (tools and tools.submodule_search_locations and find_spec("jax_plugins.xla_cuda12")):
            raise NoCompiler(MISSING)
        from jax._src import xla_bridge
        from jax.experimental import topologies

        if xla_bridge.backends_are_initialized():
            raise NoCompiler("JAX has started and reads no settings: use a process of its own.")
        self.target = target
        self.tools = Path(next(iter(tools.submodule_search_locations)))
        self.dump = tempfile.TemporaryDirectory()
        os.environ["JAX_SKIP_CUDA_CONSTRAINTS_CHECK"] = "1"
        flags = (
            f"--xla_gpu_autotune_level=0 --xla_gpu_cuda_data_dir={self.tools} "
            f"--xla_dump_to={self.dump.name} --xla_dump_hlo_as_text --xla_dump_hlo_module_re=jit_for_gpu.*"
        )
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flags}".strip()
        jax.config.update("jax_platforms", "cpu")  # without it the plugin looks for a driver
        jax.config.update("jax_enable_x64", double)
        place = topologies.get_topology_desc(
            platform="cuda", target_config=target.text(), topology="1x1x1"
        )
        self.sharding = jax.sharding.SingleDeviceSharding(place.devices[0])

    def compile(self, function: Callable, lanes: PyTree, count: int) -> Compiled:
        """`function` of one lane, for a batch. lanes: arrays of one lane, for their shapes."""

        def for_gpu(given: Array) -> jax.ShapeDtypeStruct:
            return jax.vmap(function)(given)

        specs = jax.tree.map(
            lambda x: jax.ShapeDtypeStruct((count, *x.shape), x.dtype, sharding=self.sharding),
            lanes,
        )
        for old in Path(self.dump.name).glob("*.ptx"):
            old.unlink()
        lowered = jax.jit(for_gpu).trace(specs).lower(lowering_platforms=("cuda",))
        compiled = lowered.compile()
        registers, spills = self._assembled()
        memory: Any = compiled.memory_analysis()
        text = compiled.as_text() or ""
        return Compiled(read(text), memory.temp_size_in_bytes, registers, spills)

    def _assembled(self) -> tuple[dict[str, int], int]:
        """Registers by kernel, and bytes spilled, of the programs in the dump."""
        registers, spills = {}, 0
        for code in sorted(Path(self.dump.name).glob("*.ptx")):
            words = [self.tools / "bin" / "ptxas", "-v", f"-arch={self.target.architecture}"]
            done = subprocess.run(
                [*map(str, words), "-o", os.devnull, str(code)], capture_output=True, text=True
            )
            names = re.findall(r"entry function '([^']+)'", done.stderr)
            used = re.findall(r"Used (\d+) registers", done.stderr)
            registers |= {name: int(n) for name, n in zip(names, used, strict=True)}
            spills += sum(map(int, re.findall(r"(\d+) bytes spill stores", done.stderr)))
        return registers, spills


def programs(device: Device) -> Iterator[tuple[str, Callable, PyTree]]:
    """The device's usual response at its published point, and its gradient: name, function of a lane, a lane.

    The gradient is the first response's, by every number of design and setting, in reverse mode.
    """
    point = as_arrays((device.published_design(), device.published_setting()))
    numbers, rest = eqx.partition(point, eqx.is_inexact_array)
    first = device.usual_responses[0]

    def value(numbers: PyTree) -> PyTree:
        response = device.respond(*eqx.combine(numbers, rest), throw=False)
        return eqx.filter(response, eqx.is_array)

    def one(numbers: PyTree) -> PyTree:
        return getattr(value(numbers), first).sum()

    yield "value", value, numbers
    yield f"{first} and gradient", jax.value_and_grad(one), numbers

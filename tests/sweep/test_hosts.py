"""One batch over two processes that know each other by jax.distributed: the program of docs/sweeps.md."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

from diffmicro.devices import device

PAGE = Path(__file__).parents[2] / "docs" / "sweeps.md"
COUNT = 64

CLOSE = 8
"""Units in the last place between a lane of two processes and the same lane of one."""


@pytest.mark.slow
def test_two_processes_calculate_one_batch(tmp_path):
    found = re.search(r'```python title="hosts.py"\n(.*?)^```', PAGE.read_text(), re.S | re.M)
    assert found is not None
    (tmp_path / "hosts.py").write_text(found[1])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        coordinator = f"127.0.0.1:{free.getsockname()[1]}"
    root = Path(__file__).parents[2]
    around = os.environ | {"PYTHONPATH": str(root), "JAX_PLATFORMS": "cpu"}
    hosts = [
        subprocess.Popen(
            [sys.executable, "hosts.py", coordinator, "2", str(host), str(COUNT)],
            cwd=tmp_path,
            env=around,
            stderr=subprocess.PIPE,
            text=True,
        )
        for host in (0, 1)
    ]
    for host in hosts:
        err = host.communicate(timeout=300)[1]
        assert host.returncode == 0, err[-2000:]
    parts = [dict(np.load(tmp_path / f"host{host}.npz")) for host in (0, 1)]
    assert all(len(part["slope"]) == COUNT // 2 for part in parts)
    robot = device("tribometer")

    def sliding_velocity(friction):
        setting = robot.published_setting(friction=friction)
        return robot.respond(robot.published_design(), setting, throw=False).sliding_velocity

    friction = np.linspace(0.1, 0.9, COUNT)
    expected = jax.jit(jax.vmap(jax.value_and_grad(sliding_velocity)))(friction)
    for name, values in zip(("velocity", "slope"), expected, strict=True):
        joined = np.concatenate([part[name] for part in parts])
        np.testing.assert_array_max_ulp(joined, np.asarray(values), CLOSE)

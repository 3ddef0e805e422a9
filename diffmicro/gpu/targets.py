"""GPUs as XLA's compiler wants them described, with numbers from NVIDIA's data sheets."""

from typing import NamedTuple


class Target(NamedTuple):
    """A GPU. title: its whole name. capability: CUDA's compute capability. cores: multiprocessors. lanes: for
    float32 in each. threads: most in each at a time. shared, optin: bytes of shared memory of each, and the most
    that one block can have. bandwidth [B/s]. cache, memory [B]. clock [GHz]."""

    title: str
    capability: tuple[int, int]
    cores: int
    lanes: int
    threads: int
    shared: int
    optin: int
    bandwidth: float
    cache: int
    memory: int
    clock: float

    @property
    def architecture(self) -> str:
        """As ptxas names it."""
        return f"sm_{self.capability[0]}{self.capability[1]}"

    def text(self) -> str:
        """XLA's `GpuTargetConfig`, as protocol buffer text."""
        device = {
            "threads_per_block_limit": 1024,
            "threads_per_warp": 32,
            "shared_memory_per_block": 49152,
            "shared_memory_per_core": self.shared,
            "threads_per_core_limit": self.threads,
            "core_count": self.cores,
            "fpus_per_core": self.lanes,
            "block_dim_limit_x": 2**31 - 1,
            "block_dim_limit_y": 65535,
            "block_dim_limit_z": 65535,
            "memory_bandwidth": int(self.bandwidth),
            "l2_cache_size": self.cache,
            "clock_rate_ghz": self.clock,
            "device_memory_size": self.memory,
            "shared_memory_per_block_optin": self.optin,
            "registers_per_core_limit": 65536,
            "registers_per_block_limit": 65536,
        }
        major, minor = self.capability
        fields = " ".join(f"{name}: {value}" for name, value in device.items())
        return (
            f"gpu_device_info {{ {fields} cuda_compute_capability {{ major: {major} minor: {minor} }} }} "
            'platform_name: "CUDA" dnn_version_info { major: 9 minor: 7 } '
            f'runtime_version {{ major: 12 minor: 8 patch: 0 }} device_description_str: "{self.title}"'
        )


KIB, MIB, GIB = 2**10, 2**20, 2**30

TARGETS = {
    "a100": Target(
        "A100-SXM4-40GB", (8, 0), 108, 64, 2048, 164 * KIB, 163 * KIB, 1.555e12, 40 * MIB, 40 * GIB, 1.41
    ),
    "h100": Target(
        "H100-SXM5-80GB", (9, 0), 132, 128, 2048, 228 * KIB, 227 * KIB, 3.35e12, 50 * MIB, 80 * GIB, 1.98
    ),
    "l4": Target(
        "L4-24GB", (8, 9), 58, 128, 1536, 100 * KIB, 99 * KIB, 3.0e11, 48 * MIB, 24 * GIB, 2.04
    ),
}  # fmt: skip

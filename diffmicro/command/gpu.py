"""`diffmicro doctor --target`: what a device's program would launch on a GPU, by XLA's compiler for it."""

from collections.abc import Sequence

from diffmicro.command import words
from diffmicro.command.output import console
from diffmicro.devices import OWN
from diffmicro.gpu.compiling import Compiled, Compiler, NoCompiler, programs
from diffmicro.gpu.targets import TARGETS, Target

COLUMNS = {
    "device": 10,
    "program": 28,
    "kernels a pass": 0,
    "waits": 0,
    "registers": 10,
    "spilled bytes": 0,
    "bytes a lane": 0,
    "least us a pass": 0,
    "library calls": 0,
}
"""Columns with their widths; that of the title at least."""


def report(name: str, devices: Sequence[str], lanes: int, double: bool) -> None:
    """Compile each device's response and gradient for the target, and print a line for each."""
    target = TARGETS[name]
    try:
        compiler = Compiler(target, double)
    except NoCompiler as missing:
        raise words.BadInput(str(missing)) from None
    page = console()
    page.print(
        f"{target.title}, {lanes} lanes, float{64 if double else 32}: compiled for, not run on, a GPU.\n"
        "A pass is one of the time loop that launches most. The host waits for the GPU once for each branch,\n"
        "and for each pass of a loop of unknown length. Least time: 5 us a launch and 8 us a wait, or what\n"
        "is written by the bandwidth."
    )
    page.print(_line(*COLUMNS), soft_wrap=True)
    for device in devices or OWN:
        for program, function, lane in programs(words.device(device)):
            compiled = compiler.compile(function, lane, lanes)
            page.print(_line(device, program, *_row(compiled, target, lanes)), soft_wrap=True)


def _line(*cells: str) -> str:
    """A line of the table: each is printed as soon as its program is compiled."""
    return "  ".join(
        cell.ljust(max(width, len(title)))
        for cell, (title, width) in zip(cells, COLUMNS.items(), strict=True)
    ).rstrip()


def _row(compiled: Compiled, target: Target, lanes: int) -> list[str]:
    loops = compiled.program.time_loops() or [compiled.program]
    hot = max(loops, key=lambda loop: loop.launches())
    calls = sorted({call for loop in compiled.program.all() for call in loop.calls})
    registers = compiled.registers.values()
    return [
        str(hot.launches()),
        str(hot.waits()),
        f"{min(registers)} to {max(registers)}",
        str(compiled.spills),
        f"{compiled.temporary / lanes:,.0f}",
        f"{1e6 * hot.least_time(target.bandwidth):.0f}",
        ", ".join(calls) or "-",
    ]

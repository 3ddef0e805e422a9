"""`diffmicro doctor --target`: what a device's program would launch on a GPU, by XLA's compiler for it."""

from collections.abc import Sequence

from rich.table import Table

from diffmicro.command import words
from diffmicro.command.output import console
from diffmicro.devices import OWN
from diffmicro.gpu.compiling import Compiled, Compiler, NoCompiler, programs
from diffmicro.gpu.targets import TARGETS, Target


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
    table = Table(box=None)
    for title in (
        "device",
        "program",
        "kernels a pass",
        "waits",
        "library calls",
        "registers",
        "spilled bytes",
    ):
        table.add_column(title)
    table.add_column("bytes a lane", justify="right")
    table.add_column("least time a pass [us]", justify="right")
    for device in devices or OWN:
        for program, function, lane in programs(words.device(device)):
            page.print(f"compiling {device}, {program} ...", style="dim")
            table.add_row(
                device, program, *_row(compiler.compile(function, lane, lanes), target, lanes)
            )
    page.print(table)


def _row(compiled: Compiled, target: Target, lanes: int) -> list[str]:
    loops = compiled.program.time_loops() or [compiled.program]
    hot = max(loops, key=lambda loop: loop.launches())
    calls = sorted({call for loop in compiled.program.all() for call in loop.calls})
    registers = compiled.registers.values()
    return [
        str(hot.launches()),
        str(hot.waits()),
        ", ".join(calls) or "-",
        f"{min(registers)} to {max(registers)}",
        str(compiled.spills),
        f"{compiled.temporary / lanes:,.0f}",
        f"{1e6 * hot.least_time(target.bandwidth):.0f}",
    ]

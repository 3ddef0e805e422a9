"""What fields of Design and Setting have to keep together."""

from diffmicro.rules import Rule

RULES = (
    Rule(
        lambda design, _: design.rest_gap < design.device_length,
        lambda design, _: (
            f"Design.rest_gap = {design.rest_gap} m is not allowed; it has to be below device_length = "
            f"{design.device_length} m, which contains it. Make the gap smaller or the device longer."
        ),
    ),
)

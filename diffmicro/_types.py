"""Names for the array types in signatures.

A name gives the rank of one sample; batches come from `jax.vmap`, or are `Lanes` where a function
works on any batch shape elementwise. `ScalarLike` also takes Python and NumPy numbers.
Within one call, axes of the same name have the same length; `tests/test_annotations.py` checks it.

What may be anything has a name too: `jaxtyping.PyTree` is somebody's tree of arrays, `_json.Json` what is written
as text, `parameters.Value` the value of a field or an argument, `parameters.Fields` a Design, a Setting or a
Layout, `_extras.Foreign` an object of another package.
"""

from typing import TypeVar

from jaxtyping import Array, ArrayLike, Bool, Float, Int

Tree = TypeVar("Tree")  # a pytree, where what comes out has the structure of what goes in

Real = Array | float  # a number of a design, a setting or a layout
Scalar = Float[Array, ""]
ScalarLike = Float[ArrayLike, ""]
Vector = Float[Array, "_"]
Matrix = Float[Array, "_ _"]
PerUnknown = Float[Array, "unknowns"]
Square = Float[Array, "unknowns unknowns"]
PerMode = Float[Array, "modes"]
PerFlexure = Float[Array, "flexures"]
PerPush = Float[Array, "pushes"]
Pair = Float[Array, "2"]
Planar = Float[Array, "3"]  # two components and a rotation in the plane, or two forces and a moment
PlanarMatrix = Float[Array, "3 3"]
Lanes = Float[Array, "..."]
Flag = Bool[Array, ""]
Count = Int[Array, ""]

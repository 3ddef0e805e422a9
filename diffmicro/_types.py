"""Names for the array types in signatures.

A name gives the rank of one sample; batches come from `jax.vmap`, or are `Lanes` where a function
works on any batch shape elementwise. `ScalarLike` also takes Python and NumPy numbers.
"""

from jaxtyping import Array, ArrayLike, Bool, Float, Int

Scalar = Float[Array, ""]
ScalarLike = Float[ArrayLike, ""]
Vector = Float[Array, "n"]
Matrix = Float[Array, "n m"]
Lanes = Float[Array, "..."]
Flag = Bool[Array, ""]
Count = Int[Array, ""]

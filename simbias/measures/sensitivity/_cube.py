"""The class of a network at every string, or at a sample of them."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.core import Dataset
from simbias.errors import BadInput
from simbias.introspection.outputs import outputs
from simbias.numerics.walsh_hadamard import cube

# Above this a sample of strings stands for all of them, as in the published code.
MOST_BITS = 12


def is_one(network: Any, x: Float[Array, "s n"]) -> Bool[Array, " s"]:
    """Whether sigmoid(f) ≥ ½, that is f ≥ 0, of every row.

    Raises:
        ValueError: for a network of several outputs.
    """
    f = outputs(network, x)
    if f.shape[1] != 1:
        raise BadInput(
            "this measure needs one output, whose sign is the class, got "
            f"{f.shape[1]} of them."
        )
    return f[:, 0] >= 0


def all_strings(data: Dataset) -> Float[Array, "p n"]:
    """{−1, +1}ⁿ, n the bits of an input.

    Raises:
        ValueError: for more than 12 bits.
    """
    n = data.x.shape[1]
    if n > MOST_BITS:
        raise BadInput(
            f"all 2ⁿ strings are enumerated up to n = {MOST_BITS}, got inputs of {n} "
            "bits. Example: Sensitivity(samples=1000)."
        )
    return jnp.asarray(cube(n), data.x.dtype)

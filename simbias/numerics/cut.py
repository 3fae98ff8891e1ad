"""Arrays of several shapes out of one vector, such as one draw for a whole network.

A program compiles as many draws as there are.
"""

import math
from collections.abc import Iterable, Sequence

import jax
from jaxtyping import Array, Float

Shape = tuple[int, ...]


def numbers(shapes: Iterable[Shape]) -> int:
    """How many numbers arrays of these shapes hold."""
    return sum(math.prod(shape) for shape in shapes)


def cut(vector: Float[Array, " s"], shapes: Sequence[Shape]) -> list[jax.Array]:
    """Arrays of these shapes, one after another, out of all their numbers."""
    out, begin = [], 0
    for shape in shapes:
        end = begin + math.prod(shape)
        out.append(vector[begin:end].reshape(shape))
        begin = end
    return out

"""One draw for all arrays of a network: a program compiles as many as there are."""

import math
from collections.abc import Iterable, Sequence

import jax
from jaxtyping import Array, Float

Shape = tuple[int, ...]


def numbers(shapes: Iterable[Shape]) -> int:
    """How many numbers arrays of these shapes hold."""
    return sum(math.prod(shape) for shape in shapes)


def cut(draw: Float[Array, " s"], shapes: Sequence[Shape]) -> list[jax.Array]:
    """Arrays of these shapes, one after another, out of a draw of all their numbers."""
    out, begin = [], 0
    for shape in shapes:
        end = begin + math.prod(shape)
        out.append(draw[begin:end].reshape(shape))
        begin = end
    return out

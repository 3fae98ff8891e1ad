"""Initial laws of the matrices of a network of layers, each q inputs to p outputs."""

import itertools
import math
from collections.abc import Callable
from typing import Literal, get_args

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key, PRNGKeyArray

from simbias.errors import BadInput
from simbias.numerics.cut import cut, numbers
from simbias.numerics.haar_frame import haar_frame
from simbias.validation.values import positive_integer

# Of any size: the matrices of a network do not share one.
Matrix = Float[Array, "_ _"]
LayerLaw = Literal["kaiming", "glorot", "lecun", "torch", "orthogonal", "balanced"]
_VARIANCES: dict[str, Callable[[int, int], float]] = {
    "kaiming": lambda p, q: 2 / q,  # noqa: ARG005
    "glorot": lambda p, q: 2 / (p + q),
    "lecun": lambda p, q: 1 / q,  # noqa: ARG005
}


def layer_weights(
    key: PRNGKeyArray, widths: tuple[int, ...], law: LayerLaw
) -> tuple[Matrix, ...]:
    """One matrix per layer, independent but for "balanced".

    "kaiming" N(0, 2/q), "glorot" N(0, 2/(p+q)), "lecun" N(0, 1/q), "torch" U(±1/√q);
    "orthogonal" has orthonormal rows or columns, whichever are fewer, uniformly drawn.
    "balanced" draws one matrix k × d with entries N(0, 1/d), A = U S Vᵀ, and gives each
    of the N layers S^{1/N} between frames that are random but shared by neighbours, so
    that W_N ⋯ W_1 = A and W_{j+1}ᵀ W_{j+1} = W_j W_jᵀ.

    Raises:
        ValueError: for widths that are no sizes, an unknown law, or a hidden layer too
            narrow to be balanced.

    References: He et al. (2015), arXiv:1502.01852; Glorot & Bengio (2010); Saxe et al.
    (2014), arXiv:1312.6120; Arora, Cohen & Hazan (2018), arXiv:1802.06509, procedure 1.
    """
    if not isinstance(widths, tuple) or len(widths) < 2:
        raise BadInput(
            "`widths` must be the sizes of input, hidden layers and output, got "
            f"{widths!r}. Example: widths=(2, 100, 1)."
        )
    for size in widths:
        positive_integer("widths", size)
    if law not in get_args(LayerLaw):
        raise BadInput(f"`law` must be one of {get_args(LayerLaw)}, got {law!r}.")
    keys = jax.random.split(key, len(widths))
    if law == "balanced":
        return _balanced(keys, widths)
    shapes = [(p, q) for q, p in itertools.pairwise(widths)]
    if law == "orthogonal":
        return tuple(
            _frame(k, *shape) for k, shape in zip(keys[1:], shapes, strict=True)
        )
    size = numbers(shapes)
    if law == "torch":
        draws = jax.random.uniform(keys[0], (size,), jnp.float64, minval=-1, maxval=1)
        deviation = lambda p, q: q**-0.5  # noqa: ARG005
    else:
        draws = jax.random.normal(keys[0], (size,), jnp.float64)
        deviation = lambda p, q: math.sqrt(_VARIANCES[law](p, q))
    pieces = zip(shapes, cut(draws, shapes), strict=True)
    return tuple(deviation(*shape) * piece for shape, piece in pieces)


def _balanced(keys: Key[Array, " l"], widths: tuple[int, ...]) -> tuple[Matrix, ...]:
    d, *hidden, k = widths
    rank = min(d, k)
    if min(hidden, default=rank) < rank:
        raise BadInput(
            f'`widths`: a "balanced" start needs hidden layers of {rank} neurons or '
            f"more, the least of input and output, got {widths}."
        )
    whole = jax.random.normal(keys[0], (k, d), jnp.float64) / math.sqrt(d)
    left, values, right = jnp.linalg.svd(whole, full_matrices=False)
    root = values ** (1 / (len(widths) - 1))
    frames = [
        right.T,
        *(_frame(key, m, rank) for key, m in zip(keys[1:], hidden, strict=False)),
        left,
    ]
    return tuple((b * root[None, :]) @ a.T for a, b in itertools.pairwise(frames))


def _frame(key: PRNGKeyArray, p: int, q: int) -> Matrix:
    """Orthonormal columns, or rows if there are more columns; by Haar's measure."""
    frame = haar_frame(key, max(p, q), min(p, q))
    return frame if p >= q else frame.T

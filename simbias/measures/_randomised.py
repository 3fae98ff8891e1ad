"""Test inputs with the part in some directions taken from another sample.

The other sample is given by a permutation of the test sample that is the same in every
call: two measures of one member, and all networks on one dataset, see the same inputs.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from simbias.core import Dataset
from simbias.errors import BadInput
from simbias.introspection.outputs import outputs, second_sample

# What is exchanged, in the order of the rows of `three_logits`.
RANDOMISED = ("nothing", "simple", "complex")


def three_logits(network: Any, data: Dataset, simple: int) -> Float[Array, "3 n"]:
    """Logits on the test inputs: as they are, S exchanged, all but S.

    S is the span of the first `simple` features.

    Raises:
        ValueError: without a test sample, for several outputs, or too few features.
    """
    test = second_sample(data)
    there, basis = test.x[exchange(test)], simple_basis(data, simple)
    inside, inside_there = _part(test.x, basis), _part(there, basis)
    inputs = (
        test.x,
        test.x - inside + inside_there,
        there - inside_there + inside,
    )
    return logit(network, jnp.concatenate(inputs)).reshape(3, -1)


def logit(network: Any, x: Float[Array, "n d"]) -> Float[Array, " n"]:
    """The single output, for every row.

    Raises:
        ValueError: if there are several.
    """
    found = outputs(network, x)
    if found.shape[1] != 1:
        raise BadInput(
            "this measure needs a network of one output, positive for y > 0, got "
            f"{found.shape[1]} outputs."
        )
    return found[:, 0]


def exchange(test: Dataset) -> Int[Array, " n"]:
    """A random permutation of the real rows, always the same; padding stays."""
    is_real = test.weight > 0
    # Draw i depends on i alone, not on how many rows follow.
    draw = jax.random.uniform(jax.random.key(0), is_real.shape, jnp.float32)
    order = jnp.argsort(jnp.where(is_real, draw, 2))
    rank = jnp.cumsum(is_real, dtype=jnp.int32) - 1
    place = jnp.arange(is_real.shape[0], dtype=jnp.int32)
    return jnp.where(is_real, order[rank].astype(jnp.int32), place)


def dependence(network: Any, data: Dataset) -> Float[Array, "p 2"]:
    """1 − AUC, and E(f(x) − f(xⱼ))² / 2 Var f, with feature j alone exchanged.

    Raises:
        ValueError: without a test sample, or for several outputs.
    """
    test = second_sample(data)
    here = logit(network, test.x)
    move = test.x[exchange(test)] - test.x
    mean = lambda v: jnp.sum(test.weight * v) / jnp.sum(test.weight)
    twice = 2 * mean((here - mean(here)) ** 2)

    def of(feature: Float[Array, " d"]) -> Float[Array, "2"]:
        basis = orthonormal(feature[None, :])
        there = logit(network, test.x + _part(move, basis))
        auc = area_under_curve(there, test.y[:, 0] > 0, test.weight)
        share = mean((there - here) ** 2) / jnp.where(twice > 0, twice, 1)
        return jnp.stack([1 - auc, jnp.where(twice > 0, share, jnp.nan)])

    return jax.lax.map(of, data.features)


def simple_basis(data: Dataset, simple: int) -> Float[Array, "s d"]:
    """Orthonormal rows that span the first `simple` features.

    Raises:
        ValueError: if there are not so many.
    """
    if simple > data.features.shape[0]:
        raise BadInput(
            f"`simple` must be at most the number of features, got {simple} and "
            f"`data.features` of shape {data.features.shape}."
        )
    return orthonormal(data.features[:simple])


def orthonormal(directions: Float[Array, "s d"]) -> Float[Array, "s d"]:
    """Orthonormal rows with the same span."""
    if directions.shape[0] == 1:
        return directions / jnp.linalg.norm(directions)
    return jnp.linalg.qr(directions.T)[0].T


def area_under_curve(
    score: Float[Array, " n"], is_positive: Array, weight: Float[Array, " n"]
) -> Float[Array, ""]:
    """P(score₊ > score₋) + ½ P(score₊ = score₋) over pairs of the two classes; exact.

    NaN if a class is empty.
    """
    wide = jnp.result_type(float)
    order = jnp.argsort(score)
    ranked = score[order]
    negative = jnp.where(is_positive, 0, weight).astype(wide)
    below = jnp.concatenate([jnp.zeros(1, wide), jnp.cumsum(negative[order])])
    less = below[jnp.searchsorted(ranked, score, side="left")]
    not_more = below[jnp.searchsorted(ranked, score, side="right")]
    positive = jnp.where(is_positive, weight, 0).astype(wide)
    pairs = jnp.sum(positive) * jnp.sum(negative)
    won = jnp.sum(positive * (less + not_more)) / 2
    share = jnp.where(pairs > 0, won / jnp.where(pairs > 0, pairs, 1), jnp.nan)
    return share.astype(score.dtype)


def _part(x: Float[Array, "n d"], basis: Float[Array, "s d"]) -> Float[Array, "n d"]:
    dot = lambda a, b: jnp.matmul(a, b, precision="highest")
    return dot(dot(x, basis.T), basis)

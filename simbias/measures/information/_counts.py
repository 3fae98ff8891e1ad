"""Mutual informations of three truth values, from their counts."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

# Counts of (f, l, y).
Counts = Float[Array, "2 2 2"]


def counts(
    f: Bool[Array, " n"],
    l: Bool[Array, " n"],
    y: Bool[Array, " n"],
    weight: Float[Array, " n"],
) -> Counts:
    """Weight of the rows with each of the eight values of (f, l, y)."""
    cell = 4 * f.astype(jnp.int32) + 2 * l.astype(jnp.int32) + y.astype(jnp.int32)
    is_there = cell[:, None] == jnp.arange(8, dtype=jnp.int32)[None, :]
    return jnp.sum(jnp.where(is_there, weight[:, None], 0), axis=0).reshape(2, 2, 2)


def network_information(table: Counts) -> Float[Array, ""]:
    """I(F;Y) in bits."""
    return _information(jnp.sum(table, axis=1))


def explainer_information(table: Counts) -> Float[Array, ""]:
    """I(L;Y) in bits."""
    return _information(jnp.sum(table, axis=0))


def unexplained_information(table: Counts) -> Float[Array, ""]:
    """I(F;Y|L) = Σ p(f,l,y) log₂ [p(f,l,y) p(l) / (p(f,l) p(l,y))] in bits."""
    p = table / jnp.sum(table)
    of_l = jnp.sum(p, axis=(0, 2), keepdims=True)
    of_fl = jnp.sum(p, axis=2, keepdims=True)
    of_ly = jnp.sum(p, axis=0, keepdims=True)
    return jnp.sum(_term(p, p * of_l, of_fl * of_ly))


def _information(table: Float[Array, "2 2"]) -> Float[Array, ""]:
    p = table / jnp.sum(table)
    of_a, of_b = jnp.sum(p, axis=1, keepdims=True), jnp.sum(p, axis=0, keepdims=True)
    return jnp.sum(_term(p, p, of_a * of_b))


def _term(p: Array, above: Array, below: Array) -> Array:
    """Of p log₂(above/below); 0 where p is 0, no matter what stands beside."""
    is_seen = p > 0
    ratio = jnp.where(is_seen, above, 1) / jnp.where(is_seen, below, 1)
    return jnp.where(is_seen, p * jnp.log2(ratio), 0)

"""Euclidean norms of weights whose squares may underflow."""

import jax.numpy as jnp
from jaxtyping import Array, Float


def norm(*parts: Float[Array, "..."]) -> Float[Array, ""]:
    """Of all entries of all parts together.

    A small start of 1e-40 is usual here, and nothing forbids 1e-200: what is squared is
    taken in units of the largest entry.
    """
    return norm_of_rows(*(part.reshape(1, -1) for part in parts))[0]


def norm_of_rows(*parts: Float[Array, "m _"]) -> Float[Array, " m"]:
    """Of every row, all parts side by side."""
    largest = [jnp.max(jnp.abs(part), axis=1) for part in parts]
    unit = jnp.stack(largest).max(axis=0)
    unit = jnp.where(unit > 0, unit, 1)
    square = sum(jnp.sum((part / unit[:, None]) ** 2, axis=1) for part in parts)
    return unit * jnp.sqrt(square)


def positive_or_one(v: Float[Array, "*s"]) -> Float[Array, "*s"]:
    """A divisor: v where it is positive, 1 elsewhere."""
    return jnp.where(v > 0, v, 1)


def unit_rows(w: Float[Array, "m e"]) -> Float[Array, "m e"]:
    """The direction of every row; 0 stays 0."""
    size = norm_of_rows(w)[:, None]
    return w / jnp.where(size > 0, size, 1)


def direction_change(
    before: Float[Array, "m e"], after: Float[Array, "m e"]
) -> Float[Array, " m"]:
    """|ŵ' − ŵ| of the directions ŵ = w/|w| of every row."""
    return norm_of_rows(unit_rows(after) - unit_rows(before))


def largest_of_rows(*vectors: Float[Array, "m e"]) -> Float[Array, " m"]:
    """The largest norm of each row among several arrays."""
    return jnp.stack([norm_of_rows(v) for v in vectors]).max(axis=0)


def rounding_of(w: Float[Array, "m e"]) -> Float[Array, "m 1"]:
    """Values of w·u, u a unit vector, below this have no sign."""
    return rounding(w) * norm_of_rows(w)[:, None]


def rounding(like: Float[Array, "..."]) -> Float[Array, ""]:
    """The same for a w of length 1."""
    return jnp.asarray(32 * jnp.finfo(like.dtype).eps, like.dtype)

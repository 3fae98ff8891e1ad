"""Chains of square matrices whose length may be traced."""

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from simbias.core import Index, Real
from simbias.errors import BadInput
from simbias.experiments.rank._stack import Stack
from simbias.networks import identity, layer_weights
from simbias.validation.values import positive, positive_integer


def chain(
    key: PRNGKeyArray, *, depth: Index, most: int, m: int, scale: Real = 1.0
) -> Stack:
    """The map W_N ⋯ W_1 of N = `depth` matrices m × m with entries N(0, scale²/m).

    `most` matrices are drawn; the first ones and the last do not depend on the depth.

    Raises:
        ValueError: for a size or number out of range.
    """
    for name, size in (("most", most), ("m", m)):
        positive_integer(name, size)
    positive("scale", scale)
    if isinstance(depth, int) and not 1 <= depth <= most:
        raise BadInput(
            f"`depth` must be from 1 to {most}, the matrices that are drawn (`most`), "
            f"got {depth}. Example: depth={most}."
        )
    factor = jnp.asarray(scale, jnp.float64)
    head, *others = (factor * w for w in layer_weights(key, (m,) * (most + 1), "lecun"))
    # At least one layer, which a chain of one matrix does not use.
    hidden = jnp.stack(others or [jnp.zeros((m, m), jnp.float64)])
    return Stack(hidden, head, jnp.asarray(depth, jnp.int32) - 1, identity)

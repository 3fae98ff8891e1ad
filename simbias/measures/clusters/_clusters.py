"""Clusters of neurons by direction: single linkage at an angle, and their masses."""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.errors import BadInput
from simbias.measures._neurons import directions, incoming, mass_shares

# Pairs looked at together: bounds the memory at any width.
_PAIRS = 2**18


def check_clusters(angle: float, share: float) -> None:
    """Refuse an angle or a share that cannot be meant.

    Raises:
        ValueError: naming the field.
    """
    if not 0.1 <= angle < 90:
        raise BadInput(
            f"`angle` is in degrees and must lie in [0.1, 90), got {angle}: below, "
            "float32 cannot tell directions apart. Example: angle=1.0."
        )
    if not 0 <= share < 1:
        raise BadInput(
            f"`share` of the mass must lie in [0, 1), got {share}. Example: share=1e-3."
        )


def cluster_shares(network: Any, angle: float, share: float) -> Float[Array, " m"]:
    """Share of the mass Σⱼ |aⱼ|‖vⱼ‖ in each cluster of directions vⱼ/‖vⱼ‖.

    Two neurons belong together if a chain of neurons links them with no step wider
    than `angle`.  Neurons lighter than share/m are left out, for they would bridge
    clusters: together they hold less than `share`, so that they hide no cluster
    heavier than `share`.

    Returns:
        At the first neuron of each cluster its share, 0 at the others; NaN for a
        network of zeros.
    """
    return _sums(*clustered(network, angle, share))


def clustered(
    network: Any, angle: float, share: float
) -> tuple[Int[Array, " m"], Float[Array, " m"]]:
    """The first neuron of each neuron's cluster, and its own share of the mass.

    As in `cluster_shares`: one that is left out is alone, and its share is 0.
    """
    shares = mass_shares(network)
    is_member = shares > share / shares.shape[0]
    labels = single_linkage(directions(incoming(network)), is_member, angle)
    return labels, jnp.where(is_member | jnp.isnan(shares), shares, 0)


def single_linkage(
    u: Float[Array, "m e"], is_member: Bool[Array, " m"], angle: float
) -> Int[Array, " m"]:
    """Connected components of the graph uᵢ·uⱼ ≥ cos(angle) on the members.

    Every neuron takes the lowest label in sight, hands it to the neuron its own label
    points to, and follows the pointers: about log m rounds, each over all pairs in
    blocks of rows.  Labels only fall, so it ends.

    Args:
        u: unit vectors; rows that are no members may hold anything.
        is_member: neurons that take part; the others are components of their own.
        angle: in degrees, less than 90.

    Returns:
        Index of the first neuron of the component.
    """
    m = u.shape[0]
    cosine = math.cos(math.radians(angle))
    # A zero row is further than 90° from everything, itself included.
    u = jnp.where(is_member[:, None], u, 0)

    def spread(carry):
        labels, _ = carry

        def lowest_in_sight(rows):
            is_close = jnp.matmul(rows, u.T, precision="highest") >= cosine
            return jnp.min(jnp.where(is_close, labels[None, :], m), axis=1)

        seen = jnp.minimum(labels, _over_rows(lowest_in_sight, u))
        new = jnp.minimum(labels.at[labels].min(seen), seen)
        new = new[new]
        new = new[new]
        return new, jnp.any(new != labels)

    start = jnp.arange(m, dtype=jnp.int32), jnp.array(True)
    return jax.lax.while_loop(lambda carry: carry[1], spread, start)[0]


def _sums(labels: Int[Array, " m"], mass: Float[Array, " m"]) -> Float[Array, " m"]:
    # Not a scatter: on a GPU its order, and with it the last bit, changes by the run.
    def of_labels(rows):
        is_mine = labels[None, :] == rows
        return jnp.sum(jnp.where(is_mine, mass[None, :], 0), axis=1)

    return _over_rows(of_labels, jnp.arange(labels.shape[0], dtype=jnp.int32)[:, None])


def _over_rows(function, rows: Array) -> Array:
    """`function` of (rows of a block, …) -> (values of those rows), block by block."""
    m = rows.shape[0]
    size = min(m, max(1, _PAIRS // m))
    count = -(-m // size)
    padding = ((0, count * size - m), (0, 0))
    blocks = jnp.pad(rows, padding).reshape(count, size, -1)
    return jax.lax.map(function, blocks).reshape(-1)[:m]

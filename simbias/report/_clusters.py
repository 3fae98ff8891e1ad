"""Clusters of the neurons of one member over time, as `EffectiveWidth` counts them."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from simbias.measures.clusters._clusters import clustered
from simbias.measures.clusters.effective_width import EffectiveWidth

# Rank of a neuron of a cluster that does not count, or of none; ranks below are exact.
NONE = 255
_COUNTS = EffectiveWidth()


class _Neurons(NamedTuple):
    """What the measure looks at: (wⱼ, bⱼ) as one vector, and aⱼ."""

    w: Any
    a: Any
    b: None = None


def clusters(v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which cluster every neuron is in at every time, and how many there are.

    Args:
        v: (wⱼ, bⱼ), of (time, neuron, input).
        a: aⱼ, or its norm, of (time, neuron).

    Returns:
        Ranks by mass, the heaviest is 0, of (time, neuron), and numbers of clusters
        that count, of (time,), NaN where a weight is.
    """
    labels, shares = map(np.asarray, _clustered(jnp.asarray(v), jnp.asarray(a)))
    ranks = np.full(labels.shape, NONE, np.uint8)
    counts = np.full(len(labels), np.nan)
    for t, (label, share) in enumerate(zip(labels, shares, strict=True)):
        if np.isnan(share).any():
            continue
        mass = np.bincount(label, share, minlength=label.size)
        heaviest = np.argsort(-mass, kind="stable")
        counts[t] = count = int(np.sum(mass > _COUNTS.share))
        rank = np.full(label.size, NONE)
        rank[heaviest[:count]] = np.minimum(np.arange(count), NONE - 1)
        ranks[t] = np.where(share > 0, rank[label], NONE)
    return ranks, counts


@jax.jit
def _clustered(v: jax.Array, a: jax.Array) -> tuple[jax.Array, jax.Array]:
    def at(now: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        network = _Neurons(now[0], now[1][:, None])
        return clustered(network, _COUNTS.angle, _COUNTS.share)

    return jax.lax.map(at, (v, a))

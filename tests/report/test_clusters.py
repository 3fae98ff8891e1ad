"""Clusters of neurons on a page are those that `EffectiveWidth` counts."""

from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np

from simbias.measures.clusters._clusters import cluster_shares
from simbias.report._clusters import NONE, clusters


def turned(degrees, sizes=1.0):
    angle = np.radians(degrees)
    return np.stack([np.cos(angle), np.sin(angle)], -1) * np.reshape(sizes, (-1, 1))


def test_neurons_of_one_direction_are_one_cluster_the_heaviest_first():
    v = turned([0.0, 90.0, 90.5, 91.0, 200.0], [1.0, 1.0, 1.0, 1.0, 1e-9])
    ranks, counts = clusters(v[None], np.ones((1, 5)))
    assert ranks.tolist() == [[1, 0, 0, 0, NONE]]
    assert counts.tolist() == [2]


def test_a_member_that_failed_has_no_clusters_from_there_on():
    v = np.stack([turned([0.0, 90.0]), np.full((2, 2), np.nan)])
    ranks, counts = clusters(v, np.ones((2, 2)))
    assert ranks.tolist() == [[0, 1], [NONE, NONE]]
    assert counts[0] == 2
    assert np.isnan(counts[1])


def test_there_are_as_many_as_the_measure_counts():
    rng = np.random.default_rng(0)
    v, a = rng.normal(size=(4, 30, 2)), rng.normal(size=(4, 30))
    _, counts = clusters(v, a)
    for t in range(4):
        network = SimpleNamespace(
            w=jnp.asarray(v[t]), b=None, a=jnp.asarray(a[t, :, None])
        )
        shares = np.asarray(cluster_shares(network, 1.0, 1e-3))
        assert np.sum(shares > 1e-3) == counts[t]

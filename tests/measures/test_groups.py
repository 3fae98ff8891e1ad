"""Neurons by the feature that they are nearest to."""

import jax.numpy as jnp
import numpy as np

from simbias.measures._groups import group_vectors
from simbias.networks.two_layer import TwoLayer


def test_vectors_of_groups_are_in_units_of_the_largest_output_weight():
    rng = np.random.default_rng(0)
    w, a = rng.standard_normal((5, 3)), np.array([3.0, -1.0, 0.0, 0.5, -4.0])
    member = jnp.asarray(np.eye(2)[[0, 1, 1, 0, 1]])
    expected = np.stack([np.abs(a)[g] @ w[g] for g in ([0, 3], [1, 2, 4])])
    for scale in (1.0, 1e-200):
        network = TwoLayer(jnp.asarray(w), jnp.asarray(scale * a)[:, None])
        vectors, size = group_vectors(network, member)
        assert float(size) == 4 * scale
        np.testing.assert_allclose(vectors, expected / 4, rtol=1e-12)

"""The closest neurons of unlike signs, also through a mirror image."""

import jax.numpy as jnp
import numpy as np
import pytest

from simbias.core import Dataset
from simbias.measures import ChannelPair
from simbias.networks import TwoLayer, erf, gelu, quadratic

X = jnp.zeros((1, 2))
DATA = Dataset(X, X[:, :1], jnp.ones(1), X[:, :1], jnp.zeros((0, 2)))


def of(w, a, activation=gelu):
    net = TwoLayer(jnp.asarray(w), jnp.asarray(a)[:, None], activation=activation)
    return np.asarray(ChannelPair()(net, DATA))


def test_a_gated_unit_is_a_pair_whose_slope_has_a_limit():
    """w ± ε v with a = ±1/2ε + c/2: the slope is |v| for every ε."""
    w, v, c = np.array([1.0, 2.0]), np.array([0.3, -0.4]), 0.7
    other = [[-3.0, 0.0]]
    for eps in (1e-1, 1e-4):
        rows = [w + eps * v, w - eps * v, *other]
        found = of(rows, [0.5 / eps + c / 2, -0.5 / eps + c / 2, 1.0])
        length = sum(np.linalg.norm(r) for r in rows[:2])
        np.testing.assert_allclose(found[0], 2 * eps * 0.5 / length, rtol=1e-9)
        np.testing.assert_allclose(found[1:], [0.5 / eps, 0.5], rtol=1e-9)


@pytest.mark.parametrize(
    ("activation", "signs", "is_near"),
    [
        (gelu, (1.0, -1.0), False),
        (erf, (1.0, 1.0), True),
        (erf, (1.0, -1.0), False),
        (quadratic, (1.0, -1.0), True),
        (quadratic, (1.0, 1.0), None),
    ],
)
def test_a_mirror_image_counts_where_it_is_the_same_neuron(activation, signs, is_near):
    distance = of([[1.0, 0.0], [-1.0, 0.1]], signs, activation)[0]
    assert np.isnan(distance) == (is_near is None)
    assert (distance < 0.1) == bool(is_near)

"""Measures of strings, of clones and of the plane keep the contract of all measures."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias import measures
from simbias.core import Dataset
from simbias.datasets import gaussian_teacher
from simbias.ensemble.padding import padded
from simbias.networks import mlp
from simbias.networks.dense.mlp import Mlp
from simbias.numerics.walsh_hadamard import cube

KEYS = jax.random.split(jax.random.key(0), 5)
KINDS = ("real", "mean")


class Several(eqx.Module):
    """Two networks side by side, as a member that is trained on clones has them."""

    stack: eqx.Module
    count: int = eqx.field(static=True, default=2)

    def __call__(self, x):
        rows = x.reshape(self.count, -1)
        return jax.vmap(lambda f, one: f(one))(self.stack, rows).reshape(-1)


class OfALaw(eqx.Module):
    """A network that knows others of its law."""

    key: jax.Array

    def other(self, key):
        return mlp(key, (3, 4, 1))


def rows(key, n, d, k):
    x = jax.random.normal(key, (n, d))
    y = jax.nn.one_hot(jnp.arange(n) % k, k, dtype=x.dtype)
    y = jnp.tile(y, (1, 2))
    return Dataset(x, y, jnp.ones(n), y, jnp.zeros((0, d)))


def whole_cube(d):
    x = jnp.asarray(cube(d))
    y = jnp.prod(x[:, :2], axis=1, keepdims=True)
    return Dataset(x, y, jnp.ones(len(x)), y, jnp.array([[1.0, 1.0, 0.0]]))


PLANE = gaussian_teacher(KEYS[0], n=9, d=2, sigma=0.5, n_test=1)
CLONES = rows(KEYS[1], 12, 6, 3)
CLONES = dataclasses.replace(
    CLONES, others={"real": rows(KEYS[2], 9, 6, 3), "shift": rows(KEYS[3], 6, 6, 3)}
)
ONE = mlp(KEYS[4], (3, 5, 3))
TWO = Several(jax.tree.map(lambda v: jnp.stack([v, 2 * v]), ONE))
CUBE = whole_cube(3)
STRINGS = jax.tree.map(lambda v: v[:3], dataclasses.replace(CUBE, features=CUBE.x))
STRINGS = dataclasses.replace(STRINGS, features=CUBE.features, test=CUBE)
DRAWN = OfALaw(jax.random.key_data(KEYS[4]))
CASES = [
    (measures.ExtremaCounts(), ONE, PLANE),
    (measures.ExtremaCounts((("a", 0.5, 0), ("b", 0.0, 0))), ONE, PLANE),
    (measures.RealAccuracy(KINDS), TWO, CLONES),
    (measures.RealError(KINDS), TWO, CLONES),
    (measures.RealOutputs(KINDS, 4), TWO, CLONES),
    (measures.TargetAccuracy(("shift",)), TWO, CLONES),
    (measures.GradientOverParities(5), mlp(KEYS[4], (3, 5, 1)), CUBE),
    (measures.ParityCorrelations(), ONE, CUBE),
    (measures.Guesses(100), DRAWN, STRINGS),
    (measures.SlidingPairs(tolerance=0.05), mlp(KEYS[4], (2, 9, 9, 1)), PLANE),
]
# Of all points of the cube, which has no padding; and coins, which are others with it.
UNPADDED = (measures.GradientOverParities, measures.ParityCorrelations)
all_cases = pytest.mark.parametrize(
    ("measure", "network", "data"), CASES, ids=lambda v: type(v).__name__
)


@all_cases
def test_a_measure_is_finite_has_the_axes_it_names_and_sees_no_padding(
    measure, network, data
):
    of = jax.jit(measure)
    found = np.asarray(of(network, data))
    assert found.ndim == len(measure.dims)
    assert np.all(np.isfinite(found))
    for axis, coordinate in measure.coords().items():
        assert len(coordinate) == found.shape[measure.dims.index(axis)]
    if isinstance(measure, UNPADDED):
        return
    wider = np.asarray(of(network, padded(data, data.x.shape[0] + 5)))
    if isinstance(measure, measures.Guesses):
        found, wider = found[1], wider[1]
    np.testing.assert_allclose(wider, found, rtol=1e-9, atol=1e-12)


@all_cases
def test_a_measure_keeps_single_precision(measure, network, data):
    if isinstance(measure, measures.Guesses):
        return  # The networks that it draws are of float64.
    cast = lambda v: v.astype(jnp.float32) if eqx.is_inexact_array(v) else v
    found = jax.jit(measure)(*jax.tree.map(cast, (network, data)))
    assert found.dtype == jnp.float32
    expected = jax.jit(measure)(network, data)
    # 1e-5 is a hundred roundings of float32.
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_a_pair_slides_at_0_but_not_where_all_inputs_of_the_neuron_are_0():
    # On (1, 0): layer 1 is at 0, 1 and −1.  Layer 2 is at 0 twice: 1 − 1 with a bias,
    # and with no weight on the one input that is not 0.
    weights = (
        jnp.array([[0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]]),
        jnp.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]),
        jnp.ones((1, 2)),
    )
    network = Mlp(weights, (None, jnp.array([-1.0, 0.0]), None))
    data = rows(KEYS[0], 1, 2, 1)
    data = dataclasses.replace(data, x=jnp.array([[1.0, 0.0]]))
    pairs = measures.SlidingPairs()
    assert pairs(network, padded(data, 4)) == 3
    without = Mlp(weights, (None, None, None))
    assert pairs(without, data) == 2
    # One neuron at −1, one at 0, one without weights; layer 2 has inputs of 0.
    silent = eqx.tree_at(lambda f: f.weights[0], without, -jnp.eye(3, 2))
    assert pairs(silent, data) == 1


def test_errors_and_outputs_are_those_of_each_network_alone():
    real = CLONES.others["real"]
    alone = [jax.vmap(ONE)(real.x[:, :3]), jax.vmap(ONE)(real.x[:, 3:])]
    last = jax.tree.map(lambda v: v[1], TWO.stack)
    alone[1] = jax.vmap(last)(real.x[:, 3:])
    error = measures.RealError(KINDS)(TWO, CLONES)
    expected = [np.mean(np.sum((f - real.y[:, :3]) ** 2, 1)) / 2 for f in alone]
    np.testing.assert_allclose(error, expected, rtol=1e-12)
    outputs = measures.RealOutputs(KINDS, 4)(TWO, CLONES)
    np.testing.assert_allclose(outputs[:, 1], alone[1][:8:2], rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: measures.GradientOverParities(0), "count"),
        (lambda: measures.RealOutputs(KINDS, 0), "rows"),
        (lambda: measures.Guesses(150), "draws"),
    ],
)
def test_a_setting_out_of_range_is_refused_by_name(call, named):
    with pytest.raises(ValueError, match=f"`{named}`"):
        call()

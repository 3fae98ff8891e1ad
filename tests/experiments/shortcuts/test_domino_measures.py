"""Probe and block accuracy against scikit-learn and networks that see one block."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float
from sklearn.linear_model import LogisticRegression

from simbias.core import AbstractNetwork, Dataset
from simbias.measures.risk._classes import exchanged
from simbias.measures.risk.block_accuracy import BlockAccuracy
from simbias.measures.risk.last_layer_probe import LastLayerProbe
from simbias.numerics.softmax_regression import softmax_regression

# Nearly all the time is compiling: not optimising saves a third of it.
fast = {"xla_backend_optimization_level": 0}
solve = jax.jit(softmax_regression, static_argnums=(3,), compiler_options=fast)
value = jax.jit(
    lambda measure, *of: measure(*of), static_argnums=0, compiler_options=fast
)


@pytest.mark.parametrize(("classes", "penalty"), [(2, 1e3), (4, 1.0)])
def test_the_regression_is_that_of_scikit_learn(classes, penalty):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90, 3))
    noise = rng.normal(size=(90, classes))
    label = (x @ rng.normal(size=(3, classes)) + noise).argmax(1)
    weight = (np.arange(90) % 5 != 0).astype(float)
    w, b = solve(
        jnp.asarray(x), jnp.asarray(label, jnp.int32), weight, classes, penalty
    )
    # Of two classes scikit-learn fits v = w₁ − w₀, and Σ|w|² is |v|²/2.
    of_two = classes == 2
    model = LogisticRegression(C=penalty * (1 + of_two), tol=1e-10, max_iter=10_000)
    model.fit(x, label, sample_weight=weight)
    if of_two:
        w, b = w[1:] - w[:1], b[1:] - b[:1]
    # Its solver stops at a gradient of 1e-10, and ours is exact to 1e-10.
    np.testing.assert_allclose(w, model.coef_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(b, model.intercept_, rtol=1e-4, atol=1e-5)


class Sees(AbstractNetwork):
    """A linear classifier; of its two features one is seen · x and one is dead."""

    a: Float[Array, "2 2"]
    seen: Float[Array, " 2"]

    def features(self, x):
        h = self.seen @ x
        return jnp.stack([h, jnp.zeros_like(h)])

    def __call__(self, x):
        return self.a @ self.features(x)


def two_blocks(n=4000):
    """Two coordinates; each is the class, the second with an error in ten."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, n)
    seen = np.where(rng.random(n) < 0.1, 1 - label, label)
    x = jnp.asarray(np.stack([2.0 * label - 1, 2.0 * seen - 1], 1))
    y = jax.nn.one_hot(jnp.asarray(label), 2, dtype=jnp.float64)
    part = Dataset(x, y, jnp.ones(n), y, jnp.eye(2))
    return dataclasses.replace(part, test=part)


def sees(place):
    return Sees(jnp.array([[-1.0, 0.0], [1.0, 0.0]]), jnp.eye(2)[place])


def test_accuracy_falls_to_chance_when_the_block_that_is_seen_is_exchanged():
    data = two_blocks()
    # Bands of five standard errors of 4000 samples.
    for place, expected in ((0, (1.0, 0.5, 1.0)), (1, (0.9, 0.9, 0.5))):
        found = value(BlockAccuracy(), sees(place), data)
        np.testing.assert_allclose(found, expected, atol=0.04)


def test_the_probe_finds_what_the_features_hold_of_either_block():
    data = two_blocks()
    for target, expected in (("complex", (0.5, 0.9)), ("simple", (1.0, 0.5))):
        probe = LastLayerProbe(target=target)
        found = [float(value(probe, sees(place), data)[0]) for place in (0, 1)]
        # A quarter of the sample is scored.
        np.testing.assert_allclose(found, expected, atol=0.08)


def test_the_scale_is_that_of_the_coefficients_at_features_of_norm_one():
    data = two_blocks()
    probe = LastLayerProbe()
    accuracy, scale = value(probe, sees(1), data)
    # The class is right with odds 9 : 1, so the logits differ by ±ln 9: coefficients
    # of ±ln(9)/2 of the feature ±1 and 0 of the dead one.
    assert scale == pytest.approx(np.log(9) / 2 / np.sqrt(2), rel=0.1)
    # Features of another scale are brought back to it.
    tiny = dataclasses.replace(
        data, test=dataclasses.replace(data.test, x=data.x / 1e6)
    )
    found = value(probe, sees(1), tiny)
    np.testing.assert_allclose(found, [accuracy, scale], rtol=1e-8)


def test_features_that_are_all_zero_are_at_chance_with_coefficients_of_zero():
    data = two_blocks()
    nothing = dataclasses.replace(
        data, test=dataclasses.replace(data.test, x=0 * data.x)
    )
    accuracy, scale = value(LastLayerProbe(), sees(0), nothing)
    assert abs(float(accuracy) - 0.5) < 0.08
    assert scale == 0


def test_an_exchange_moves_one_block_and_every_row_is_used_once():
    data = two_blocks(50)
    for block, place in (("simple", 0), ("complex", 1)):
        x, order = exchanged(data, block)
        assert sorted(np.asarray(order).tolist()) == list(range(50))
        np.testing.assert_array_equal(x[:, place], data.x[order, place])
        np.testing.assert_array_equal(x[:, 1 - place], data.x[:, 1 - place])

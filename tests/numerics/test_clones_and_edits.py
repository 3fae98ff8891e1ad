"""Clones share what they say; edits reach the moments of their target."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.errors import BadInput
from simbias.numerics.clones import (
    by_class,
    gaussian_clone,
    isotropic_clone,
    marginal_clone,
)
from simbias.numerics.edits import (
    gaussian_transport,
    quantile_normalised,
    shifted,
    transported,
)

KEY = jax.random.key(0)
RNG = np.random.default_rng(0)
X = RNG.exponential(size=(60, 4)) @ RNG.normal(size=(4, 4))
TARGET = RNG.normal(size=(80, 4)) @ RNG.normal(size=(4, 4)) + 2


def covariance(x):
    return np.cov(np.asarray(x).T, bias=True)


def test_the_gaussian_clone_has_the_mean_and_covariance_of_the_rows_exactly():
    clone = gaussian_clone(KEY, jnp.asarray(X))
    np.testing.assert_allclose(clone.mean(axis=0), X.mean(axis=0), atol=1e-13)
    np.testing.assert_allclose(covariance(clone), covariance(X), atol=1e-12)
    assert np.abs(clone - X).max() > 1


def test_the_isotropic_clone_has_the_mean_and_the_mean_variance():
    clone = isotropic_clone(KEY, jnp.asarray(X))
    np.testing.assert_allclose(clone.mean(axis=0), X.mean(axis=0), atol=1e-13)
    variance = X.var(axis=0).mean()
    np.testing.assert_allclose(covariance(clone), variance * np.eye(4), atol=1e-12)


def test_the_marginal_clone_has_the_values_of_every_input_in_another_order():
    clone = np.asarray(marginal_clone(KEY, jnp.asarray(X)))
    np.testing.assert_array_equal(np.sort(clone, axis=0), np.sort(X, axis=0))
    correlations = np.corrcoef(clone.T) - np.eye(4)
    assert np.abs(correlations).max() < 0.5 < np.abs(np.corrcoef(X.T) - np.eye(4)).max()


def test_the_clone_of_rows_without_variance_in_a_direction_is_flat_there():
    flat = X.copy()
    flat[:, 2] = 5.0
    clone = gaussian_clone(KEY, jnp.asarray(flat))
    np.testing.assert_allclose(clone[:, 2], 5.0, atol=1e-7)


@pytest.mark.parametrize("clone", [gaussian_clone, isotropic_clone])
def test_too_few_rows_are_refused(clone):
    with pytest.raises(BadInput, match="too few samples"):
        clone(KEY, jnp.asarray(X[:4]))


def test_rows_are_sorted_by_class_in_their_order():
    y = jax.nn.one_hot(jnp.arange(60) % 3, 3, dtype=jnp.float64)
    found = by_class(jnp.asarray(X), y, 5)
    for c in range(3):
        np.testing.assert_array_equal(found[c], X[c::3][:5])


def test_one_class_or_one_that_is_too_small_is_refused():
    x = jnp.asarray(X)
    with pytest.raises(BadInput, match="one class"):
        by_class(x, jnp.ones((60, 1)), 5)
    y = jax.nn.one_hot(jnp.arange(60) % 3, 3, dtype=jnp.float64)
    with pytest.raises(BadInput, match="`rows` must be at most 20"):
        by_class(x, y, 21)
    with pytest.raises(BadInput, match="`rows` must be 1"):
        by_class(x, y, 0)


def test_transport_reaches_mean_and_covariance_exactly_and_is_a_gradient():
    found = transported(jnp.asarray(X), jnp.asarray(X), jnp.asarray(TARGET))
    np.testing.assert_allclose(found.mean(axis=0), TARGET.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(covariance(found), covariance(TARGET), atol=1e-11)
    a = gaussian_transport(jnp.asarray(covariance(X)), jnp.asarray(covariance(TARGET)))
    np.testing.assert_allclose(a, a.T, atol=1e-12)
    assert np.linalg.eigvalsh(a).min() > 0


def test_transport_between_diagonal_covariances_scales_every_input():
    one, other = (jnp.diag(jnp.array(v)) for v in ([1.0, 4.0], [9.0, 1.0]))
    a = gaussian_transport(one, other)
    np.testing.assert_allclose(a, np.diag([3.0, 0.5]), atol=1e-14)


def test_a_singular_source_is_refused():
    with pytest.raises(BadInput, match="`covariance` is singular"):
        gaussian_transport(jnp.diag(jnp.array([1.0, 0.0])), jnp.eye(2))


def test_a_shift_moves_the_mean_and_nothing_else():
    found = np.asarray(shifted(jnp.asarray(X), jnp.asarray(X), jnp.asarray(TARGET)))
    np.testing.assert_allclose(found.mean(axis=0), TARGET.mean(axis=0), atol=1e-13)
    np.testing.assert_allclose(found - found[:1], X - X[:1], atol=1e-13)


def test_quantiles_are_those_of_numpy():
    found = quantile_normalised(jnp.asarray(X), jnp.asarray(X), jnp.asarray(TARGET))
    level = (np.argsort(np.argsort(X, axis=0), axis=0) + 0.5) / len(X)
    expected = np.stack(
        [
            np.quantile(TARGET[:, j], level[:, j], method="hazen")
            for j in range(X.shape[1])
        ],
        axis=1,
    )
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_as_many_rows_get_the_very_values_of_the_target():
    found = quantile_normalised(*map(jnp.asarray, (X, X, TARGET[:60])))
    np.testing.assert_allclose(
        np.sort(found, axis=0), np.sort(TARGET[:60], axis=0), atol=1e-12
    )


def test_a_quantile_among_one_row_is_refused():
    with pytest.raises(BadInput, match="`source` must have two rows"):
        quantile_normalised(*map(jnp.asarray, (X, X[:1], TARGET)))

"""Sensitivity of Boolean functions against closed forms, counting and Walsh weights."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.core import AbstractNetwork, Dataset
from simbias.measures import DegreeWeights, Sensitivity
from simbias.numerics.boolean_sensitivity import degree_weights, sensitivity
from simbias.numerics.walsh_hadamard import cube

N = 7


class Sign(AbstractNetwork):
    """f(x) = Σ of the first k bits − `offset`, or their product."""

    k: int = eqx.field(static=True)
    is_product: bool = eqx.field(static=True, default=False)
    offset: float = eqx.field(static=True, default=0.0)
    outputs: int = eqx.field(static=True, default=1)

    def __call__(self, x):
        first = x[: self.k]
        value = jnp.prod(first) if self.is_product else jnp.sum(first) - self.offset
        return jnp.broadcast_to(value, (self.outputs,))


def strings(n):
    x = jnp.ones((3, n))
    return Dataset(x, jnp.ones((3, 1)), jnp.ones(3), jnp.ones((3, 1)), x[:1])


MAJORITY = math.comb(N - 1, (N - 1) // 2) / 2 ** (N - 1)
EXACT = {
    "constant": (Sign(N, offset=-100.0), 0),
    "dictator": (Sign(1), 1 / N),
    "3-parity": (Sign(3, is_product=True), 3 / N),
    "parity": (Sign(N, is_product=True), 1),
    "majority": (Sign(N), MAJORITY),
    # Flips at the one string of all +1, and at its n neighbours: 2n of the n 2ⁿ.
    "and": (Sign(N, offset=N - 1.0), 2 / 2**N),
}


@pytest.mark.parametrize("name", EXACT)
def test_sensitivity_is_that_of_the_closed_form_and_of_the_walsh_weights(name):
    network, expected = EXACT[name]
    assert Sensitivity()(network, strings(N)) == pytest.approx(expected, abs=1e-15)
    weights = DegreeWeights()(network, strings(N))
    assert weights.shape == (N + 1,)
    assert np.sum(weights) == pytest.approx(1, abs=1e-13)
    by_weights = np.sum(np.arange(N + 1) / N * weights)
    assert by_weights == pytest.approx(expected, abs=1e-13)


def test_a_string_and_its_neighbours_counted_one_by_one_give_the_same():
    is_one = np.random.default_rng(0).random(2**5) < 0.3
    points = cube(5)
    number = {tuple(x): i for i, x in enumerate(points)}
    changes = 0
    for x in points:
        for b in range(5):
            other = np.array(x)
            other[b] *= -1
            changes += is_one[number[tuple(x)]] != is_one[number[tuple(other)]]
    assert sensitivity(jnp.asarray(is_one)) == changes / (5 * 2**5)


@pytest.mark.slow
def test_random_functions_change_with_half_of_the_bits():
    draws = np.random.default_rng(1).random((300, 2**8)) < 0.5
    found = jax.vmap(sensitivity)(jnp.asarray(draws))
    # 8 · 2⁷ pairs a function; every one changes with odds ½, independent in pairs.
    error = 0.5 / math.sqrt(300 * 8 * 2**7)
    assert abs(np.mean(found) - 0.5) < 5 * error


def test_a_parity_has_the_weight_of_its_degree_alone():
    values = jnp.asarray(np.prod(cube(N)[:, 2:6], axis=1))
    np.testing.assert_allclose(degree_weights(values), np.eye(N + 1)[4], atol=1e-15)


@pytest.mark.slow
def test_a_sample_of_strings_has_the_sensitivity_of_all_within_its_error():
    measure = Sensitivity(samples=2000)
    assert measure(Sign(3, is_product=True), strings(16)) == 3 / 16
    expected = math.comb(14, 7) / 2**14
    error = 0.5 / math.sqrt(2000)
    assert abs(measure(Sign(15), strings(15)) - expected) < 5 * error
    assert measure(Sign(15), strings(15)) == measure(Sign(15), strings(15))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: Sensitivity()(Sign(1), strings(13)), "up to n = 12, got .* 13"),
        (lambda: DegreeWeights()(Sign(1), strings(13)), "up to n = 12"),
        (lambda: Sensitivity(samples=0), "`samples`"),
        (lambda: Sensitivity()(Sign(1, outputs=2), strings(3)), "one output"),
        (lambda: sensitivity(jnp.ones(6, bool)), "`is_one`"),
        (lambda: sensitivity(jnp.ones(1, bool)), "`is_one`"),
    ],
)
def test_what_cannot_be_counted_is_said(call, named):
    with pytest.raises(ValueError, match=named):
        call()

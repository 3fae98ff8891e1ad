"""Networks of every kind and law."""

import jax
import jax.numpy as jnp
import pytest

from simbias.experiments.sensitivity import random_sensitivity
from simbias.experiments.sensitivity._networks import network_of


@pytest.mark.parametrize("law", ["uniform", "normal", "xavier", "default"])
def test_a_perceptron_has_the_law_of_the_others(law):
    key = jax.random.key(0)
    network = network_of(key, "mlp", n=3, width=200, depth=2, law=law)
    weights, biases = network.weights[1], network.biases[1]
    size = {"uniform": 10 / 3**0.5, "normal": 10.0, "xavier": 200**-0.5}
    law_of_default = (3 * 200) ** -0.5
    assert jnp.std(weights) == pytest.approx(size.get(law, law_of_default), rel=0.02)
    assert bool(jnp.any(biases != 0)) == (law == "default")


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"n": 0}, "`n`"),
        ({"width": 0}, "`width`"),
        ({"depth": -1}, "`depth`"),
    ],
)
def test_what_makes_no_sense_is_named(wrong, named):
    with pytest.raises(ValueError, match=named):
        random_sensitivity.make(jax.random.key(0), **wrong)

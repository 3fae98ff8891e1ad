"""Who looks at the main directions of a layer, and who does not."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float

from simbias.core import AbstractNetwork
from simbias.datasets.shortcuts.slabs import slabs
from simbias.measures.randomised.projected_scores import ProjectedScores


class Layer(AbstractNetwork):
    w: Float[Array, "m d"]
    seen: Float[Array, " d"]
    is_even: bool = eqx.field(static=True, default=False)

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " 1"]:
        value = self.seen @ x
        return (value**2 - 1 if self.is_even else value)[None]


@pytest.fixture
def data():
    return slabs(jax.random.key(0), n=4, d=6, others=3, n_test=2000, is_rotated=False)


@pytest.mark.slow
def test_a_network_of_its_main_direction_loses_its_labels_inside_alone(data):
    first = jnp.eye(6, dtype=jnp.float64)[0]
    seen = ProjectedScores(rank=1)(Layer(5 * first[None], first), data)
    np.testing.assert_allclose(seen[:, 0], [1, 0.5, 1], atol=0.04)
    np.testing.assert_allclose(seen[0, 1], 0, atol=1e-12)
    assert seen[1, 1] > 1
    np.testing.assert_allclose(seen[2, 1], 0, atol=1e-12)


@pytest.mark.slow
def test_one_that_looks_elsewhere_is_told_by_the_outside(data):
    one = jnp.eye(6, dtype=jnp.float64)
    seen = ProjectedScores(rank=1)(Layer(one[1:2], one[0]), data)
    np.testing.assert_allclose(seen[:, 0], [1, 1, 0.5], atol=0.04)


@pytest.mark.parametrize("layer", ["v", "seen"])
def test_a_layer_that_there_is_not_is_named(data, layer):
    one = jnp.eye(6, dtype=jnp.float64)
    with pytest.raises(ValueError, match="`layer`.*'w'"):
        ProjectedScores(layer=layer)(Layer(one, one[0]), data)


def test_more_directions_than_there_are_is_refused(data):
    one = jnp.eye(6, dtype=jnp.float64)
    with pytest.raises(ValueError, match="2 directions at least.*(1, 6)"):
        ProjectedScores(rank=2)(Layer(one[:1], one[0]), data)
    with pytest.raises(ValueError, match="`rank`"):
        ProjectedScores(rank=0)

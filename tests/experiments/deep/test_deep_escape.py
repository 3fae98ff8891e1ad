"""Escape in depth: which matrices are small, and times in closed form."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from _deep_problems import advance, sample, started
from scipy.integrate import quad

from simbias import losses
from simbias.core import Status
from simbias.errors import BadInput
from simbias.experiments._by_kinks import ByKinks
from simbias.experiments.deep._until_escape import UntilEscape
from simbias.experiments.deep.deep_escape import make, numbers
from simbias.flows import GradientFlow
from simbias.networks import Mlp
from simbias.networks.activations import identity


def test_the_last_matrices_are_small_and_the_others_are_not():
    sizes = {"depth": 4, "n": 4, "m": 3}
    _, large = make(jax.random.key(0), small=4, scale=1.0, **sizes)
    _, net = make(jax.random.key(0), small=2, scale=0.1, **sizes)
    for layer, factor in enumerate((1, 1, 0.1, 0.1)):
        expected = factor * large.weights[layer]
        np.testing.assert_allclose(net.weights[layer], expected, rtol=1e-14)


def test_squares_count_a_matrix_before_them_twice():
    """f is of degree 1 in the last matrix and of degree 2 in the one before."""
    data, net = make(jax.random.key(0), activation="squares", small=1, n=4, m=3)
    twice = lambda layer: dataclasses.replace(
        net,
        weights=tuple(w * (1 + (i == layer)) for i, w in enumerate(net.weights)),
    )
    for layer, factor in ((4, 2), (3, 4)):
        ratio = jax.vmap(twice(layer))(data.x) / jax.vmap(net)(data.x)
        np.testing.assert_allclose(ratio, factor, rtol=1e-12)


@pytest.mark.parametrize("small", [0, 6])
def test_a_number_of_small_matrices_out_of_range_is_refused(small):
    with pytest.raises(BadInput, match=r"`small` must be from 1 to `depth` = 5"):
        make(jax.random.key(0), small=small)


@pytest.mark.parametrize(
    ("degree", "time"),
    [(1, lambda e: 3 + e), (2, lambda e: 3 - np.log(e)), (4, lambda e: 3 + 2 / e**2)],
)
def test_the_degree_is_that_of_the_times(degree, time):
    scale = np.array([0.16, 0.04, 0.01])
    ds = xr.Dataset(
        {
            "end_time": ("scale", time(scale)),
            "status": ("scale", [int(Status.CONVERGED)] * 3),
            "shares": (("scale", "time", "layer", "value"), np.ones((3, 2, 2, 2))),
        },
        coords={"scale": scale, "layer": [0, 1], "depth": 3},
    )
    np.testing.assert_allclose(numbers(ds)["degree"], degree, rtol=1e-12)


@pytest.mark.slow
def test_one_small_matrix_among_large_ones_escapes_at_the_time_of_the_closed_form():
    """q₁ = q₂ = p and q₃ = q: q' = (1 − p²q) p², p' = (1 − p²q) p q, p² − q² fixed."""
    small, large = 0.01, 1.0
    weights = tuple(jnp.full((1, 1), w) for w in (large, large, small))
    net = Mlp(weights, (None,) * 3, identity)
    data = sample(jnp.ones((1, 1)), jnp.ones((1, 1)))
    flow = UntilEscape(ByKinks(smooth=GradientFlow(rtol=1e-9)), of_each=True)
    state = started(flow, net, data, losses.half_mse)
    state = advance(flow, state, data, losses.half_mse, jnp.asarray(1e6))
    assert state.status == Status.CONVERGED
    end = float(state.network.weights[2][0, 0])
    squared = lambda q: q**2 + large**2 - small**2
    slowness = lambda q: 1 / ((1 - squared(q) * q) * squared(q))
    time = quad(slowness, small, end, epsrel=1e-10)[0]
    assert float(state.time) == pytest.approx(time, rel=1e-6)
    assert (1 - squared(end) * end) ** 2 <= 0.9

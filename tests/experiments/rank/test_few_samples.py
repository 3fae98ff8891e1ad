"""Fewer samples than inputs: maps, chains, what the errors are made of, the search."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import simbias
from simbias.core import Dataset
from simbias.ensemble.padding import padded
from simbias.experiments.rank import low_rank_random_search as search
from simbias.experiments.rank import low_rank_regression as regression
from simbias.experiments.rank._matrices import too_few_samples
from simbias.experiments.rank._stack import chain
from simbias.losses import half_mse
from simbias.measures.linear.effective_rank import EffectiveRank
from simbias.measures.linear.map_errors import MapErrors
from simbias.networks.dense.deep_linear import DeepLinear

KEY = jax.random.key(0)


def truth(data: Dataset) -> np.ndarray:
    assert data.test is not None
    return np.asarray(data.test.y).T / data.x.shape[1] ** 0.5


@pytest.mark.parametrize("rank", [1, 3])
def test_the_map_behind_too_few_samples_has_its_rank(rank):
    data = too_few_samples(KEY, n=4, m=5, rank=rank)
    w = truth(data)
    np.testing.assert_allclose(data.y, data.x @ w.T, rtol=1e-12)
    assert np.linalg.matrix_rank(w) == rank


def test_the_matrices_of_a_chain_are_the_same_at_every_depth():
    chains = {n: chain(KEY, depth=n, most=3, m=4, scale=0.5) for n in (1, 2, 3)}
    first, second = chains[1].weights
    last = chains[1].head
    products = {1: last, 2: last @ first, 3: last @ second @ first}
    x = jnp.arange(1.0, 5.0)
    for n, network in chains.items():
        np.testing.assert_allclose(network(x), products[n] @ x, rtol=1e-12)
        np.testing.assert_allclose(network.product, products[n], rtol=1e-12)
    alone = chain(KEY, depth=1, most=1, m=4)
    np.testing.assert_allclose(alone(x), alone.head @ x, rtol=1e-12)


def test_errors_are_those_of_the_matrices():
    data = too_few_samples(KEY, n=3, m=5, rank=2)
    w, x = truth(data), np.asarray(data.x)
    found = np.asarray(jax.random.normal(jax.random.key(1), (5, 5)))
    span = np.linalg.pinv(x) @ x
    off = np.eye(5) - span
    parts = (found - w, (found - w) @ span, found @ off, w @ off)
    expected = [np.sum(v**2) / np.sum(w**2) for v in parts]
    network = DeepLinear((jnp.asarray(found),))
    for sample in (data, padded(data, 8)):
        seen = MapErrors()(network, sample)
        np.testing.assert_allclose(seen, expected, rtol=1e-9)
    cross = -2 * np.sum((found @ off) * (w @ off)) / np.sum(w**2)
    assert float(seen[0] - seen[1:].sum()) == pytest.approx(cross)
    values = np.linalg.svd(found, compute_uv=False)
    p = values / values.sum()
    rank = float(EffectiveRank(is_log=True)(network, data))
    assert rank == pytest.approx(-np.sum(p * np.log(p)))


def test_what_no_sample_sees_is_as_often_of_either_sign():
    # Of a fixed network, over maps: the mean of the cross term is 0, 5 errors of 2000.
    network = DeepLinear((jax.random.normal(KEY, (4, 4)),))

    def parts(key):
        return MapErrors()(network, too_few_samples(key, n=2, m=4, rank=1))

    seen = np.asarray(jax.lax.map(parts, jax.random.split(KEY, 2000)))
    cross = seen[:, 0] - seen[:, 1:].sum(1)
    # Of the sign: ‖W‖² in the denominator may be small.
    assert abs(np.sign(cross).mean()) < 5 / 2000**0.5


def test_the_best_of_all_tries_is_taken():
    arguments = {"rank": 1, "depth": 2, "most": 2, "m": 3, "n": 2}
    data, found = search.make(KEY, tries=500, **arguments)
    key = jax.random.split(KEY)[1]
    tried = functools.partial(chain, depth=2, most=2, m=3)
    keys = jax.vmap(lambda i: jax.random.fold_in(key, i))(jnp.arange(500))
    error = lambda f: jnp.sum((jax.vmap(f)(data.x) - data.y) ** 2)
    errors = jax.vmap(lambda k: error(tried(k)))(keys)
    best = tried(keys[jnp.argmin(errors)])
    x = data.x
    np.testing.assert_allclose(jax.vmap(found)(x), jax.vmap(best)(x))
    np.testing.assert_allclose(error(found), errors.min(), rtol=1e-12)
    # A prefix of the tries: one alone is the first, 7 divides no number at once.
    _, first = search.make(KEY, tries=1, **arguments)
    np.testing.assert_allclose(jax.vmap(first)(x), jax.vmap(tried(keys[0]))(x))
    _, of_seven = search.make(KEY, tries=7, **arguments)
    np.testing.assert_allclose(error(of_seven), errors[:7].min(), rtol=1e-12)


def test_one_matrix_from_a_small_start_finds_the_solution_of_least_norm():
    chosen = regression.experiment("smoke", seeds=1, scale=1e-6, depth=1, rank=1)
    chosen = dataclasses.replace(chosen, loss=half_mse)
    cell = {**chosen.cell, "flow.optimiser": "gd", "flow.rate": 0.2}
    times = (0.0, 2000.0)
    ds = simbias.simulate(dataclasses.replace(chosen, cell=cell, times=times))
    errors = ds["errors"].isel(seed=0, time=-1).squeeze()
    assert float(errors.sel(part="on span")) < 1e-3
    unseen = float(errors.sel(part="unseen"))
    assert float(errors.sel(part="test")) == pytest.approx(unseen, abs=1e-3)


def test_claims_are_on_slopes_and_their_differences():
    depth = np.array([1, 2, 4])
    # Slopes of eight seeds, a tenth around their mean.
    spread = 1 + np.linspace(-0.1, 0.1, 8)[None, :, None]
    log = np.log(depth) * spread * np.ones((2, 1, 1))
    rank = np.array([0.5, 0.2])[:, None, None] * -log
    test = np.array([0.3, -0.1])[:, None, None] * -log
    zero = np.zeros_like(test)
    off = np.linspace(-0.01, 0.01, 8)[None, :, None] + zero
    errors = np.stack([test, zero, off, test], axis=-1)
    dims = ("rank", "seed", "depth")
    ds = xr.Dataset(
        {"map_rank": (dims, rank), "errors": ((*dims, "part"), errors)},
        {"rank": [1, 4], "depth": depth, **MapErrors().coords()},
    )
    found = [c.estimate.value for c in regression.of_depth("", ds)]
    np.testing.assert_allclose(found, [-0.5, -0.3, -0.3, -0.4], atol=1e-12)
    turned = regression.of_depth("", ds.isel(rank=[1, 0]))
    verdicts = ["supported", "contradicted", "contradicted", "contradicted"]
    assert [c.verdict for c in turned] == verdicts


def test_the_search_is_told_from_what_is_drawn_and_what_is_trained():
    values = np.zeros((2, 2))
    values[:, 1] = [1, 2]
    both = {"map_rank": (("time", "tries"), values.T)}
    ds = xr.Dataset({**both, "errors": both["map_rank"]}, {"time": [0.0, 1.0]})
    seen = search.ways(ds)["map_rank"]
    assert dict(zip(seen["way"].values, seen.values, strict=True)) == {
        "drawn": 0,
        "random search": 0,
        "GD": 1,
    }

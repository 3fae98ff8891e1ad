"""Principal components: the law by hand, frames, names."""

import jax
import numpy as np
import pytest
import xarray as xr

import simbias
from simbias.experiments.linear import principal_components as plain
from simbias.experiments.linear._principal import (
    half_times,
    isotropic_layers,
    law_of_columns,
)
from simbias.losses import half_mse


@pytest.mark.parametrize("depth", [2, 3])
def test_both_factors_of_the_gradient_start_at_one_in_the_mean(depth):
    widths = (3, *[400] * (depth - 1), 2)
    layers = isotropic_layers(jax.random.key(0), widths)
    first, last = layers[0], layers[-1]
    assert [w.shape for w in layers][-1] == (2, 400)
    np.testing.assert_allclose(first.T @ first, np.eye(3), atol=0.25)
    np.testing.assert_allclose(last @ last.T, np.eye(2), atol=0.25)


def test_the_law_by_hand_and_that_of_the_run_are_one():
    cell = {"depth": 1, "m": 4, "n": 6, "d": 3}
    small = simbias.Experiment(
        name="one",
        make=plain.make,
        cell=cell,
        seeds=2,
        flow=plain.experiment("smoke").flow,
        loss=plain.half_mse,
        times=(0.0, 0.1, 0.2, 1.0),
        measures={"columns": plain.PrincipalColumns()},
        final={"optimum": plain.PrincipalColumns(of_target=True)},
    )
    ds = simbias.simulate(small)
    data, network = simbias.initial(ds, small, seed=1)
    frame = np.asarray(data.features)
    w = np.asarray(network.weights[0])
    for step in range(10):
        if step == 2:
            seen = ds["columns"].sel(seed=1, time=0.2).transpose("output", ...)
            np.testing.assert_allclose(seen, w @ frame.T, atol=1e-12)
        w = w - 0.1 * (w @ data.x.T - data.y.T) @ data.x / 6
    law = law_of_columns(ds, 0.1)
    np.testing.assert_allclose(law, ds["columns"].transpose(*law.dims), atol=1e-12)
    np.testing.assert_allclose(
        law.sel(seed=1, time=1.0).transpose("output", ...), w @ frame.T, atol=1e-12
    )
    best = np.linalg.lstsq(np.asarray(data.x), np.asarray(data.y), rcond=None)[0].T
    np.testing.assert_allclose(ds["optimum"].sel(seed=1), best @ frame.T, atol=1e-12)


def test_half_of_the_way_is_where_the_distance_has_halved():
    time = np.linspace(0, 4, 41)
    rate = np.array([1.0, 0.5, 0.1])
    gap = np.exp(-time[:, None, None] * rate)
    ds = xr.Dataset(
        {
            "columns": (("time", "output", "component"), 2 - gap),
            "optimum": (("output", "component"), np.full((1, 3), 2.0)),
        },
        coords={"time": time},
    )
    law = np.log(2) / rate
    np.testing.assert_allclose(half_times(ds)[:2], law[:2], rtol=1e-12)
    assert np.isnan(half_times(ds)[2])


def test_a_frame_or_a_scale_changes_what_it_says():
    key = jax.random.key(1)
    raw, network = plain.make(key, n=8, d=4, m=5)
    rotated, turned = plain.make(key, inputs="rotated", n=8, d=4, m=5)
    white, _ = plain.make(key, inputs="white", n=8, d=4, m=5)
    shuffled, _ = plain.make(key, labels="shuffled", n=8, d=4, m=5)
    np.testing.assert_allclose(
        jax.vmap(network)(raw.x), jax.vmap(turned)(rotated.x), atol=1e-12
    )
    # Training does not know the axes: they are the same after a step, too.
    step = lambda net, data: jax.tree.map(
        lambda w, g: w - 0.1 * g,
        net,
        jax.grad(lambda f: half_mse(jax.vmap(f)(data.x), data.y, data.weight))(net),
    )
    np.testing.assert_allclose(
        jax.vmap(step(network, raw))(raw.x),
        jax.vmap(step(turned, rotated))(rotated.x),
        atol=1e-12,
    )
    np.testing.assert_allclose(white.x.T @ white.x / 8, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(
        rotated.x.T @ rotated.x / 8, np.diag([1, 1 / 2, 1 / 3, 1 / 4]), atol=1e-12
    )
    assert np.array_equal(raw.x, shuffled.x)
    assert np.array_equal(raw.y.sum(0), shuffled.y.sum(0))


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (plain.make, {"depth": 0}),
        (plain.make, {"n": 3, "d": 4}),
        (plain.make, {"m": 0}),
        (plain.make, {"classes": 1}),
        (plain.make, {"d": 2}),
        (plain.make, {"d": 1}),
        (plain.make, {"exponent": -1.0}),
        (plain.make, {"m": -1}),
    ],
)
def test_what_makes_no_sense_is_named(make, wrong):
    with pytest.raises(ValueError, match=f"`{next(iter(wrong))}`"):
        make(jax.random.key(0), **wrong)

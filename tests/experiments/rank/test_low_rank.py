"""Low rank: samples, measures, clocks, laws of the flows, and the claims."""

import inspect
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import simbias
from simbias.analysis.slope_along import slope_in_log
from simbias.core import Dataset
from simbias.datasets.separable.blobs import blobs
from simbias.experiments._slow_losses import slow_cross_entropy, slow_logistic
from simbias.experiments.rank import (
    low_rank_classes,
    low_rank_embeddings,
    low_rank_linear,
    low_rank_random_search,
    low_rank_regression,
    low_rank_squared,
    low_rank_targets,
    low_rank_weights,
)
from simbias.experiments.rank._layers import drift
from simbias.experiments.rank._matrices import low_rank_target
from simbias.experiments.rank._samples import two_classes
from simbias.experiments.rank._stack import stack
from simbias.experiments.rank.low_rank_targets import best_depth
from simbias.flows.gradient_flow import GradientFlow
from simbias.losses import cross_entropy, logistic
from simbias.measures.rank.feature_rank import FeatureRank
from simbias.measures.rank.input_rank import InputRank
from simbias.measures.rank.layer_alignment import LayerAlignment
from simbias.measures.rank.singular_shares import SingularShares
from simbias.networks.dense.deep_linear import DeepLinear, deep_linear
from simbias.theory.max_margin import max_margin

KEY = jax.random.key(0)


# Samples


@pytest.mark.parametrize("classes", [2, 4])
def test_blobs_are_balls_that_a_hyperplane_tells_apart(classes):
    data = blobs(KEY, n=400, d=5, classes=classes, distance=1.0, radius=0.6)
    x, y = np.asarray(data.x), np.asarray(data.y)
    if classes == 2:
        assert max_margin(data).margin >= 0.4
        off = x - y * np.eye(5)[:1]
    else:
        scores = x[:, :classes]
        np.testing.assert_array_equal(scores.argmax(1), y.argmax(1))
        off = x - y @ np.eye(classes, 5)
    radius = np.linalg.norm(off, axis=1)
    assert radius.max() <= 0.6
    # Uniform in a ball of dimension 5: E r⁵ = ½, 5 standard errors of 400.
    assert abs(np.mean((radius / 0.6) ** 5) - 0.5) < 5 * 12**-0.5 / 20


def test_noise_flips_as_many_labels_as_it_says():
    clean, noisy = blobs(KEY, n=2000), blobs(KEY, n=2000, noise=0.2)
    np.testing.assert_array_equal(clean.x, noisy.x)
    share = float(jnp.mean(clean.y != noisy.y))
    assert abs(share - 0.2) < 5 * (0.16 / 2000) ** 0.5
    np.testing.assert_allclose(noisy.mean, 0.6 * clean.y)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"n": 0}, "n"),
        ({"classes": 1}, "classes"),
        ({"classes": 50}, "classes"),
        ({"classes": 6}, "d"),
        ({"distance": 0.0}, "distance"),
        ({"radius": -1.0}, "radius"),
        ({"noise": 1.5}, "noise"),
    ],
)
def test_blobs_that_cannot_be_are_refused_by_name(changes, named):
    with pytest.raises(ValueError, match=f"`{named}`"):
        blobs(KEY, **changes)


def test_the_digits_are_zeros_and_ones_alone():
    data = two_classes(KEY, "digits", 60, 5)
    assert data.x.shape == (60, 64)
    assert set(np.unique(data.y)) == {-1.0, 1.0}
    # A zero has a hole in its middle, a one has ink.
    middle = np.asarray(data.x).reshape(60, 8, 8)[:, 3:5, 3:5].mean((1, 2))
    y = np.asarray(data.y)[:, 0]
    assert middle[y > 0].mean() > middle[y < 0].mean() + 0.5
    assert max_margin(data).margin > 0
    with pytest.raises(ValueError, match="`n` must be at most 200"):
        two_classes(KEY, "digits", 201, 5)
    with pytest.raises(ValueError, match="`source`"):  # without the types' own check
        inspect.unwrap(two_classes)(KEY, "letters", 20, 5)


@pytest.mark.parametrize("rank", [1, 3])
def test_a_target_of_low_rank_has_that_rank(rank):
    data = low_rank_target(KEY, n=500, d=6, k=4, rank=rank)
    values = np.linalg.svd(np.asarray(data.y), compute_uv=False)
    assert np.sum(values > 1e-10 * values[0]) == rank
    with pytest.raises(ValueError, match="`rank` must be from 1 to 4"):
        low_rank_target(KEY, n=5, d=6, k=4, rank=5)


def test_targets_are_of_one_size_whatever_their_rank():
    size = lambda key, rank: low_rank_target(key, n=8, d=6, k=4, rank=rank).y
    keys = jax.random.split(KEY, 4000)
    for rank in (1, 4):
        seen = jax.vmap(lambda key, r=rank: jnp.sum(size(key, r) ** 2) / 8)(keys)
        error = float(jnp.std(seen)) / 4000**0.5
        assert abs(float(jnp.mean(seen)) - 4) < 5 * error


# Measures


def test_layers_of_rank_one_that_share_directions_are_aligned():
    rng = np.random.default_rng(0)
    unit = [v / np.linalg.norm(v) for v in (rng.normal(size=k) for k in (3, 5, 4, 1))]
    chain = [2.0 * np.outer(b, a) for a, b in itertools.pairwise(unit)]
    net = DeepLinear(tuple(map(jnp.asarray, chain)))
    data = blobs(KEY, n=4, d=3)
    np.testing.assert_allclose(LayerAlignment()(net, data), 1, rtol=1e-12)
    np.testing.assert_allclose(rank_one_bound(net.weights), 0, atol=1e-12)
    shares = SingularShares()(net, data)
    np.testing.assert_allclose(shares, np.eye(6)[[0, 0, 0]], atol=1e-12)
    c, s = np.cos(0.3), np.sin(0.3)
    turned = (jnp.diag(jnp.array([2.0, 1.0])), jnp.array([[3 * c, 3 * s], [-s, c]]))
    found = LayerAlignment()(DeepLinear(turned), blobs(KEY, n=4, d=2))
    np.testing.assert_allclose(found, [c], rtol=1e-12)
    zeros = jax.tree.map(jnp.zeros_like, net)
    assert np.isnan(LayerAlignment()(zeros, data)).all()


def rank_one_bound(weights):
    """Of ‖W_k‖²_F − ‖W_k‖²_op, the last layer having rank 1 (Ji & Telgarsky, 2019).

    ‖W_k‖²_F − ‖W_N‖²_F + Σ_{j≥k} ‖W_jW_jᵀ − W_{j+1}ᵀW_{j+1}‖_op, which no exact flow
    changes.
    """
    norms = np.array([np.sum(w**2) for w in weights])
    pairs = itertools.pairwise(weights)
    gaps = [np.linalg.norm(a @ a.T - b.T @ b, ord=2) for a, b in pairs]
    return norms - norms[-1] + np.cumsum([*gaps, 0.0][::-1])[::-1]


def test_no_layer_of_a_random_network_exceeds_its_bound():
    for i in range(20):
        net = deep_linear(jax.random.key(i), (5, 7, 6, 8, 1), law="lecun")
        excess = [jnp.sum(w**2) - jnp.linalg.norm(w, ord=2) ** 2 for w in net.weights]
        assert np.min(rank_one_bound(net.weights) - np.array(excess)) > -1e-12


@pytest.mark.parametrize(
    "pair", [(slow_logistic, logistic), (slow_cross_entropy, cross_entropy)]
)
def test_the_slow_clock_goes_the_way_of_the_loss(pair):
    slow, loss = pair
    f = jax.random.normal(KEY, (6, 1 if loss is logistic else 3))
    y = jnp.sign(f[::-1]) if loss is logistic else jnp.eye(3)[jnp.arange(6) % 3]
    one = jnp.ones(6)
    value, grad = jax.value_and_grad(slow)(f, y, one)
    plain, other = jax.value_and_grad(loss)(f, y, one)
    expected = -jnp.log(jnp.log1p(1 / plain))
    assert float(value) == pytest.approx(float(expected), rel=1e-12)
    ratio = 1 / (jnp.log1p(1 / plain) * plain * (1 + plain))
    np.testing.assert_allclose(grad, ratio * other, rtol=1e-10)


# Networks


def test_a_stack_is_the_product_of_the_layers_it_uses_and_trains_no_other():
    net = stack(KEY, kind="linear", depth=2, most=4, m=3, k=2)
    x = jnp.arange(1.0, 4.0)
    expected = net.head @ net.weights[1] @ net.weights[0] @ x
    np.testing.assert_allclose(net(x), expected, rtol=1e-12)
    pulled = jax.grad(lambda w: jnp.sum(_with(net, w)(x) ** 2))(net.weights)
    assert float(jnp.abs(pulled[2:]).max()) == 0
    assert float(jnp.abs(pulled[:2]).min()) > 0
    with pytest.raises(ValueError, match="`depth` must be from 1 to 4"):
        stack(KEY, kind="linear", depth=5, most=4, m=3, k=2)
    with pytest.raises(ValueError, match="`kind`"):
        stack(KEY, kind="cubic", depth=1, most=4, m=3, k=2)


def _with(net, weights):
    return type(net)(weights, net.head, net.depth, net.activation)


@pytest.mark.parametrize("depth", [1, 8])
def test_orthogonal_layers_keep_the_rank_of_the_inputs(depth):
    data = low_rank_target(KEY, n=20, d=6, k=2, rank=1)
    net = stack(KEY, kind="orthogonal", depth=depth, most=8, m=6, k=2)
    gap = FeatureRank()(net, data) - InputRank()(net, data)
    assert abs(float(gap)) < 1e-12


# Analysis


def test_the_slope_and_the_best_depth_are_those_of_a_power_law():
    depth = xr.DataArray([1, 2, 4], dims="depth", coords={"depth": [1, 2, 4]})
    values = 3 - 0.5 * xr.ufuncs.log(depth.astype(float))
    assert float(slope_in_log(values, "depth")) == pytest.approx(-0.5)
    loss = abs(depth.astype(float) - 2)
    assert float(best_depth(loss)) == pytest.approx(np.log(2))
    assert np.isnan(float(best_depth(loss.where(loss > 0))))


# Experiments


@pytest.mark.parametrize(
    "phenomenon",
    [
        low_rank_linear,
        low_rank_weights,
        low_rank_squared,
        low_rank_classes,
        low_rank_embeddings,
        low_rank_targets,
        low_rank_regression,
        low_rank_random_search,
    ],
    ids=lambda v: v.__name__.rsplit(".", 1)[-1],
)
def test_the_sample_and_the_network_of_every_cell_fit(phenomenon):
    chosen = phenomenon.experiment("smoke")
    cell = {
        k: v[0] if isinstance(v, tuple) else v
        for k, v in chosen.cell.items()
        if not k.startswith("flow.")
    }
    data, network = chosen.make(KEY, **cell)
    assert isinstance(data, Dataset)
    out = network(data.x[0])
    assert out.shape == data.y.shape[1:]


@pytest.mark.parametrize(
    ("make", "changes", "named"),
    [
        (low_rank_linear.make, {"points": "odd"}, "points"),
        (low_rank_linear.make, {"depth": 1}, "depth"),
        (low_rank_linear.make, {"scale": 0.0}, "scale"),
        (low_rank_classes.make, {"classes": 2}, "classes"),
        (low_rank_classes.make, {"classes": 8}, "d"),
        (low_rank_weights.make, {"linear": 6}, "linear"),
        (low_rank_weights.make, {"linear": 0}, "linear"),
        (low_rank_weights.make, {"scale": -1.0}, "scale"),
        (low_rank_embeddings.make, {"depth": 17}, "depth"),
        (low_rank_embeddings.make, {"network": "lstm"}, "network"),
        (low_rank_embeddings.make, {"m": 0}, "m"),
        (low_rank_targets.make, {"rank": 17}, "rank"),
        (low_rank_regression.make, {"n": 16}, "n"),
        (low_rank_regression.make, {"n": 0}, "n"),
        (low_rank_regression.make, {"rank": 17}, "rank"),
        (low_rank_regression.make, {"depth": 5}, "depth"),
        (low_rank_regression.make, {"depth": 0}, "depth"),
        (low_rank_regression.make, {"scale": 0.0}, "scale"),
        (low_rank_random_search.make, {"tries": 0}, "tries"),
        (low_rank_random_search.make, {"most": 0}, "most"),
    ],
)
def test_what_no_experiment_has_is_refused_by_name(make, changes, named):
    with pytest.raises(ValueError, match=f"`{named}`"):
        make(KEY, **changes)


@pytest.mark.parametrize(
    ("count", "missing"),
    [
        (1, ("|v·u| of neighbours", "least of them")),
        (3, ("least of them",)),
        (4, ("of the ReLU layers",)),
        (5, ("of the ReLU layers",)),
    ],
)
def test_a_network_of_one_kind_of_layers_has_claims_of_these_alone(count, missing):
    ones = lambda **sizes: xr.DataArray(np.ones([*sizes.values()]), dims=[*sizes])
    shape = {"seed": 2, "time": 2}
    ds = xr.Dataset(
        {
            "stable_rank": ones(**shape, layer=5),
            "norm": ones(**shape, layer=5),
            "alignment": ones(**shape, pair=4),
            "margin": ones(**shape),
        },
        {"time": [0.0, 20.0], "source": "blobs", "linear": count, "flow.rate": 0.1},
    )
    claims = low_rank_weights.claims(ds.expand_dims([*low_rank_weights.AXES]))
    needs = {c.statement: c.needs for c in claims if "rate" not in c.statement}
    asked = [any(name in text for name in missing) for text in needs]
    assert asked == [bool(n) for n in needs.values()]


@pytest.mark.parametrize("margins", [(1.0, 1.0), (0.3, 1.0), (2.0, 0.7)])
def test_two_paths_of_largest_margin_have_the_rank_that_margins_say(margins):
    # Singular values p, q of M layers, and a line of norm √(p² + q²) behind them: of
    # one norm, the least of both margins γ₊ p^{M+1} and γ₋ q^{M+1} is largest where?
    layers = 3
    p = np.linspace(0.01, 0.99, 200_001)
    q = np.sqrt(1 - p**2)
    least = np.minimum(margins[0] * p ** (layers + 1), margins[1] * q ** (layers + 1))
    best = int(np.argmax(least))
    law = (margins[1] / margins[0]) ** (1 / (layers + 1))
    assert p[best] / q[best] == pytest.approx(law, rel=1e-3)
    small, large = sorted((p[best], q[best]))
    rank = 1 + (min(margins) / max(margins)) ** (2 / (layers + 1))
    assert 1 + (small / large) ** 2 == pytest.approx(rank, rel=1e-3)


def test_the_flow_of_a_linear_network_conserves_what_bounds_its_ranks():
    times = (0.0, 1.0, 20.0, 40.0)
    flow = GradientFlow(rtol=1e-8)
    changes = {"scale": 1.0, "m": 4, "depth": 3, "n": 12, "seeds": 1, "flow": flow}
    ds = simbias.simulate(low_rank_linear.experiment("smoke", times=times, **changes))
    # Differences of the norms, and with them the bound of the start.
    assert float(drift(ds["norm"]).max()) < 1e-7
    norm = ds["norm"].isel(seed=0).sum("layer").values
    # ‖θ‖² grows like 2Nt once margins are large.
    assert (norm[-1] - norm[-2]) / 20.0 == pytest.approx(2 * 3, rel=0.05)
    claims = simbias.check(low_rank_linear, ds)
    assert {c.verdict for c in claims} == {"not applicable"}

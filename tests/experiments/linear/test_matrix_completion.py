"""Entries that are not seen: of a 2 × 2 matrix, and of one of low rank."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from scipy.integrate import solve_ivp

import simbias
from simbias.ensemble.plan import make_plan
from simbias.experiments.linear import matrix_completion, unseen_entry
from simbias.experiments.linear._entries import (
    Factors,
    half_sum,
)
from simbias.experiments.linear.matrix_completion import make as completed
from simbias.experiments.linear.unseen_entry import bound
from simbias.experiments.linear.unseen_entry import make as unseen
from simbias.measures.linear.determinant_sign import DeterminantSign
from simbias.measures.linear.layer_balance import LayerBalance
from simbias.measures.linear.log_determinant import LogDeterminant
from simbias.measures.linear.unseen_error import UnseenError
from simbias.numerics.end_to_end import end_to_end

KEY = jax.random.key(0)
SIGNS = {"positive": 1, "negative": -1}
SMALL = {"size": 8, "rank": 2, "seen": 20}


def gradient_of(matrix):
    """Of ½ ((w₁₂ − 1)² + (w₂₁ − 1)² + w₂₂²)."""
    target = jnp.array([[0.0, 1.0], [1.0, 0.0]])
    return (matrix - target) * jnp.array([[0.0, 1.0], [1.0, 1.0]])


# One entry of four


@pytest.mark.parametrize(("det", "depth"), [("positive", 2), ("negative", 3)])
def test_both_forms_begin_at_the_same_balanced_matrix(det, depth):
    data, whole = unseen(KEY, det=det, depth=depth)
    other, factors = unseen(KEY, det=det, depth=depth, form="factors")
    np.testing.assert_allclose(whole.product, factors.product, atol=1e-16)
    assert np.sign(np.linalg.det(whole.product)) == SIGNS[det]
    for net in (whole, factors):
        assert float(DeterminantSign()(net, data)) == SIGNS[det]
        log = float(LogDeterminant()(net, data))
        assert log == pytest.approx(np.linalg.slogdet(whole.product).logabsdet)
    assert len(factors.weights) == depth
    assert float(LayerBalance()(factors, data)) < 1e-15
    np.testing.assert_array_equal(data.x, other.x)


@pytest.mark.parametrize("depth", [2, 3, 4])
@pytest.mark.parametrize("det", ["positive", "negative"])
def test_singular_values_and_angles_move_by_the_law_of_the_product(det, depth):
    data, net = unseen(KEY, det=det, depth=depth, scale=1.5)
    value, slope = net.value_and_gradient(half_sum, data.x, data.y, data.weight)
    back = jax.tree.map(jnp.negative, slope)
    matrix, velocity = jax.jvp(lambda net: net.product, (net,), (back,))
    law = -end_to_end(matrix, gradient_of(matrix), depth)
    np.testing.assert_allclose(velocity, law, atol=1e-13)
    w = np.asarray(matrix)
    loss = ((w[0, 1] - 1) ** 2 + (w[1, 0] - 1) ** 2 + w[1, 1] ** 2) / 2
    assert float(value) == pytest.approx(loss, rel=1e-12)


@pytest.mark.parametrize("depth", [2, 3])
def test_the_product_alone_is_integrated_to_the_same_matrix(depth):
    data, net = unseen(KEY, depth=depth)

    @jax.jit
    def turned(flat):
        now = type(net)(flat[:2], flat[2:], depth, True)
        slope = now.value_and_gradient(half_sum, data.x, data.y, data.weight)[1]
        return -jnp.concatenate([slope.logs, slope.angles]), now.product

    law = jax.jit(lambda w: -end_to_end(w, gradient_of(w), depth))
    run = functools.partial(
        solve_ivp, t_span=(0, 5), method="DOP853", rtol=1e-10, atol=1e-12
    )
    start = np.concatenate([net.logs, net.angles])
    first = run(lambda _, v: np.asarray(turned(v)[0]), y0=start).y[:, -1]
    alone = lambda _, v: np.asarray(law(v.reshape(2, 2))).ravel()
    second = run(alone, y0=np.ravel(net.product)).y[:, -1]
    # Steps of 1e-10, some of them near equal singular values.
    np.testing.assert_allclose(np.ravel(turned(first)[1]), second, atol=1e-7)


def test_no_matrix_of_positive_determinant_is_below_the_bound():
    rng = np.random.default_rng(0)
    drawn = np.array([[0.0, 1.0], [1.0, 0.0]]) + 0.3 * rng.normal(size=(20_000, 2, 2))
    drawn[:, 0, 0] *= 10
    kept = drawn[np.linalg.det(drawn) > 0]
    error = (kept - [[0, 1], [1, 0]])[:, [0, 1, 1], [1, 0, 1]]
    loss = xr.DataArray((error**2).sum(1) / 2)
    ratio = np.abs(kept[:, 0, 0]) / bound(loss).values
    assert np.isfinite(ratio).sum() > 1000
    assert np.nanmin(ratio) >= 1
    # Without the sign nothing holds.
    assert np.isnan(bound(xr.DataArray(0.6)))
    assert abs(drawn[np.linalg.det(drawn) < 0][:, 0, 0]).min() < 0.1


def test_the_loss_is_a_sum_over_the_entries_without_their_number():
    data, net = unseen(KEY)
    outputs = jax.vmap(net)(data.x)
    by_hand = np.sum((np.asarray(outputs) - np.asarray(data.y)) ** 2) / 2
    assert float(half_sum(outputs, data.y, data.weight)) == pytest.approx(by_hand)
    hidden = data.weight.at[0].set(0.0)
    assert float(half_sum(outputs, data.y, hidden)) < by_hand


def test_descent_steps_over_the_determinant_of_zero_that_the_flow_never_passes():
    data, net = unseen(KEY, form="factors")
    risk = lambda net: half_sum(jax.vmap(net)(data.x), data.y, data.weight)

    @jax.jit
    def run(net):
        step = lambda net, _: (
            jax.tree.map(lambda w, g: w - 0.1 * g, net, jax.grad(risk)(net)),
            net.orientation,
        )
        return jax.lax.scan(step, net, length=2000)

    last, signs = run(net)
    assert float(signs[0]) == 1
    assert float(last.orientation) == -1
    # Then the loss falls to 0 and the entry stands, far below what it should reach.
    assert float(risk(last)) < 1e-20
    assert abs(float(last.product[0, 0])) < 10


@pytest.mark.parametrize(
    ("changes", "named"),
    [({"det": "zero"}, "det"), ({"form": "layers"}, "form"), ({"depth": 5}, "depth")],
)
def test_a_start_that_is_not_known_is_refused_by_name(changes, named):
    with pytest.raises((ValueError, TypeError), match=named):
        unseen(KEY, **changes)


@pytest.mark.parametrize("scale", [0.0, -1.0])
def test_a_scale_of_no_size_is_refused_by_name(scale):
    with pytest.raises(simbias.BadInput, match="`scale` must be finite and positive"):
        unseen(KEY, scale=scale)
    with pytest.raises(simbias.BadInput, match="`scale` must be finite and positive"):
        make_plan(unseen_entry.experiment("smoke", scale=(0.1, scale)))


def grown(starts=3):
    """A result as the law has it: |w₁₁| grows from det > 0 and rests from det < 0."""
    time = np.array([0.0, *np.geomspace(0.1, 1e5, 31)])
    e = np.maximum(np.geomspace(0.9, 1e-3, 32), 1e-3)
    size = {"positive": 1.1 * (1 - e) ** 2 / e, "negative": np.full(32, 0.3)}
    entry = np.stack([np.broadcast_to(size[det], (2, starts, 32)) for det in size])
    entry = entry.copy()
    entry[0, 1, :, 20:] = entry[0, 1, :, 20][:, None]
    sign = np.stack([np.full((2, starts, 32), v) for v in SIGNS.values()]) * 1.0
    sign[0, 1, :, 15:] = -1
    rank = np.stack([np.full((2, starts, 32), v) for v in (1.0, 2.0)])
    dims = ("det", "form", "seed", "time")
    arrays = {
        "entry": entry,
        "loss": np.broadcast_to(e**2 / 2, entry.shape),
        "effective_rank": rank,
        "orientation": sign,
    }
    ds = xr.Dataset({k: (dims, v) for k, v in arrays.items()})
    ds = ds.assign(status=xr.zeros_like(ds["loss"].isel(time=0), int))
    forms = ["singular values", "factors"]
    axes = {"det": list(size), "form": forms, "seed": range(starts)}
    return ds.assign_coords(time=time, depth=2, **axes)


def verdicts(module, ds):
    return {c.statement: c.verdict for c in simbias.check(module, ds)}


def test_a_start_that_failed_leaves_every_claim_undecided():
    ds = grown()
    assert {*verdicts(unseen_entry, ds).values()} == {"supported"}
    for lost in (ds.where(ds["seed"] > 0), ds.where(ds["seed"] > 2)):
        assert {*verdicts(unseen_entry, lost).values()} == {"inconclusive"}
        assert len(simbias.draw(unseen_entry, lost)) == 1


def test_what_is_said_of_a_sign_that_changed_is_of_those_that_have():
    ds, told = grown(), "N = 2, det > 0: sign of det of factors at the end, largest"
    ratio = (
        "N = 2, det > 0: |w₁₁| of factors, whose det has changed sign, over that of "
        "the flow, at the end, largest"
    )
    # One that keeps its sign stays with the flow, and is not one of these.
    kept = ds.copy(deep=True)
    kept["orientation"][{"det": 0, "form": 1, "seed": 0}] = 1.0
    kept["entry"][{"det": 0, "form": 1, "seed": 0}] = ds["entry"][
        {"det": 0, "form": 0, "seed": 0}
    ]
    found = verdicts(unseen_entry, kept)
    assert (found[told], found[ratio]) == ("contradicted", "supported")
    none = ds.copy(deep=True)
    none["orientation"][{"det": 0}] = 1.0
    found = verdicts(unseen_entry, none)
    assert (found[told], found[ratio]) == ("contradicted", "not applicable")


def filled_in():
    """A result in which depth helps at the low rank."""
    rng = np.random.default_rng(0)
    shape = (2, 2, 7, 3)
    error = np.exp(0.1 * rng.normal(size=shape)) * 1.5
    error[0] *= np.array([0.1, 0.01])[:, None, None]
    dims = ("rank", "depth", "seed", "time")
    arrays = {
        "unseen_error": error,
        "effective_rank": 2 + error,
        "train_risk": np.full(shape, 1e-8),
    }
    ds = xr.Dataset({k: (dims, v) for k, v in arrays.items()})
    ds = ds.assign(status=xr.zeros_like(ds["train_risk"].isel(time=0), int))
    axes = {"rank": [2, 30], "depth": [2, 3], "seed": range(7)}
    return ds.assign_coords(time=[1.0, 10.0, 1000.0], size=30, **axes)


def test_a_result_in_which_depth_helps_supports_every_claim():
    assert {*verdicts(matrix_completion, filled_in()).values()} == {"supported"}


def test_factors_give_the_entries_of_their_product():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(3, 4)), rng.normal(size=(5, 3))
    net = Factors((jnp.asarray(first), jnp.asarray(second)))
    assert float(net(jnp.array([4.0, 1.0]))[0]) == pytest.approx((second @ first)[4, 1])


# Many entries


def filled(data, size):
    """The matrix of which both samples are parts; NaN where there is no entry."""
    out = np.full((size, size), np.nan)
    for part in (data, data.test):
        rows, columns = np.asarray(part.x, int).T
        assert np.isnan(out[rows, columns]).all()
        out[rows, columns] = np.asarray(part.y)[:, 0]
    return out


def test_the_target_has_its_rank_and_every_entry_is_seen_or_not():
    data, _ = completed(KEY, **SMALL)
    assert data.x.shape == (20, 2)
    target = filled(data, 8)
    values = np.linalg.svd(target, compute_uv=False)
    assert values[1] > 0.1
    assert values[2] < 1e-13
    assert np.mean(target**2) == pytest.approx(1)
    other, _ = completed(jax.random.key(1), **SMALL)
    assert not np.array_equal(data.x, other.x)


@pytest.mark.parametrize("depth", [1, 3])
def test_every_depth_has_the_same_target_and_a_balanced_start_of_one_size(depth):
    data, net = completed(KEY, depth=depth, **SMALL)
    first, _ = completed(KEY, depth=1, **SMALL)
    np.testing.assert_array_equal(filled(data, 8), filled(first, 8))
    np.testing.assert_array_equal(data.x, first.x)
    assert len(net.weights) == depth
    assert float(LayerBalance()(net, data)) < 1e-15
    assert np.sqrt(np.mean(np.square(net.product))) == pytest.approx(1e-3)


@pytest.mark.parametrize("depth", [1, 3])
def test_one_matrix_has_no_gradient_where_nothing_is_seen_and_layers_have(depth):
    data, net = completed(KEY, depth=depth, scale=0.5, **SMALL)
    risk = lambda net: half_sum(jax.vmap(net)(data.x), data.y, data.weight)
    step = jax.tree.map(lambda w, g: w - 0.1 * g, net, jax.grad(risk)(net))
    rows, columns = np.asarray(data.test.x, int).T
    moved = float(jnp.max(jnp.abs((step.product - net.product)[rows, columns])))
    assert moved == 0 if depth == 1 else moved > 0.01


def test_the_error_of_what_is_not_seen_is_relative_to_its_size():
    data, _ = completed(KEY, **SMALL)
    target = filled(data, 8)
    error = lambda w: float(UnseenError()(Factors((jnp.asarray(w),)), data))
    assert error(np.zeros((8, 8))) == pytest.approx(1)
    assert error(target) == 0
    assert error(1.5 * target) == pytest.approx(0.5)
    # What is seen does not count.
    rows, columns = np.asarray(data.x, int).T
    target[rows, columns] = 7
    assert error(target) == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"rank": 9},
        {"rank": 0},
        {"seen": 64},
        {"seen": 0},
        {"size": 0},
        {"depth": 0},
        {"scale": 0.0},
    ],
)
def test_a_completion_that_cannot_be_is_refused_by_name(changes):
    (name,) = changes
    with pytest.raises(ValueError, match=f"`{name}`"):
        completed(KEY, **{**SMALL, **changes})


def test_a_single_entry_is_no_completion_and_no_example_that_would_be_refused():
    with pytest.raises(simbias.BadInput, match="`size` must be 2 or more, got 1"):
        completed(KEY, size=1, rank=1, seen=1)
    with pytest.raises(simbias.BadInput, match="`seen` .* Example: seen=1"):
        completed(KEY, size=2, rank=1, seen=4)
    completed(KEY, size=2, rank=1, seen=1)

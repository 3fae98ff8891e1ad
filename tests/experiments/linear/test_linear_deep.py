"""Deep linear networks: closed forms, the law of the product, tied layers."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from scipy.integrate import quad, solve_ivp

import simbias
from simbias.core import Dataset
from simbias.datasets.linear.linear_modes import linear_modes
from simbias.ensemble.plan import make_plan
from simbias.experiments.linear import deep_linear as deep
from simbias.experiments.linear import tied_layers
from simbias.experiments.linear._deep_linear import (
    STRENGTHS,
    Tied,
    started,
)
from simbias.experiments.linear.deep_linear import make
from simbias.flows.gradient_flow import PRECISE, GradientFlow
from simbias.losses import half_mse
from simbias.measures.linear.early_strengths import EarlyStrengths
from simbias.measures.linear.effective_rank import EffectiveRank
from simbias.measures.linear.end_to_end_error import EndToEndError
from simbias.measures.linear.layer_balance import LayerBalance
from simbias.measures.linear.mode_strengths import ModeStrengths
from simbias.measures.linear.tied_velocity import TiedVelocity
from simbias.networks import deep_linear
from simbias.networks.dense.deep_linear import DeepLinear
from simbias.numerics.end_to_end import end_to_end, metric
from simbias.theory.mode_strength import mode_strength, mode_time
from simbias.verbs.simulate import solve

KEY = jax.random.key(0)
DATA = linear_modes(KEY, n=8, d=4, k=3)


def chain(factors):
    return functools.reduce(lambda total, w: w @ total, factors)


def with_singular_values(values, seed=0):
    rng = np.random.default_rng(seed)
    u, v = (np.linalg.qr(rng.normal(size=(len(values),) * 2))[0] for _ in "uv")
    return u, v, (u * values) @ v.T


# The target


def test_inputs_are_white_and_modes_those_of_the_target():
    np.testing.assert_allclose(DATA.x.T @ DATA.x / 8, np.eye(4), atol=1e-14)
    target = np.asarray(DATA.y).T @ np.asarray(DATA.x) / 8
    values = np.linalg.svd(target, compute_uv=False)
    np.testing.assert_allclose(values, [4, 2, 1], rtol=1e-13)
    measured = ModeStrengths()(DeepLinear((jnp.asarray(target),)), DATA)
    np.testing.assert_allclose(measured, [4, 2, 1], rtol=1e-13)
    even = linear_modes(KEY, n=8, is_symmetric=True)
    target = np.asarray(even.y).T @ np.asarray(even.x) / 8
    np.testing.assert_allclose(target, target.T, atol=1e-14)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"n": 2}, "n"),
        ({"n": 0}, "n"),
        ({"d": 5, "n": 9, "is_symmetric": True}, "k"),
        ({"strengths": (2.0, 2.0)}, "strengths"),
        ({"strengths": (1.0, 2.0)}, "strengths"),
        ({"strengths": (4.0, 3.0, 2.0, 1.0)}, "strengths"),
        ({"strengths": ()}, "strengths"),
        ({"strengths": (1.0, -1.0)}, "strengths"),
    ],
)
def test_targets_that_cannot_be_are_refused_by_name(changes, named):
    with pytest.raises(ValueError, match=f"`{named}`"):
        linear_modes(KEY, **changes)


# One mode


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 7])
def test_the_time_of_a_mode_is_the_integral_of_its_equation(depth):
    rate = lambda u: depth * u ** (2 - 2 / depth) * (3.0 - u)
    found = mode_time(2.5, 1e-3, 3.0, depth)
    # In ln u, in which the integrand is even.
    by_hand = quad(lambda z: np.exp(z) / rate(np.exp(z)), np.log(1e-3), np.log(2.5))
    np.testing.assert_allclose(found, by_hand[0], rtol=1e-9)


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 7])
def test_the_strength_of_a_mode_solves_its_equation(depth):
    rate = lambda t, u: depth * u ** (2 - 2 / depth) * (3.0 - u)
    final = 1.5 * mode_time(2.5, 1e-2, 3.0, depth)
    run = solve_ivp(rate, (0, final), [1e-2], "DOP853", rtol=1e-11, atol=1e-13)
    found = mode_strength(run.t, 1e-2, 3.0, depth)
    np.testing.assert_allclose(found, run.y[0], rtol=1e-8)
    assert mode_strength(1e6, 1e-2, 3.0, depth) == pytest.approx(3, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: mode_strength(1.0, 0.0, 2.0, 3), "start"),
        (lambda: mode_strength(1.0, 2.0, 2.0, 3), "start"),
        (lambda: mode_strength(1.0, 0.1, -2.0, 3), "s"),
        (lambda: mode_strength(1.0, 0.1, 2.0, 0), "depth"),
        (lambda: mode_time(2.0, 0.1, 2.0, 3), "level"),
        (lambda: mode_time(0.05, 0.1, 2.0, 3), "level"),
    ],
)
def test_a_mode_that_cannot_be_is_refused_by_name(call, named):
    with pytest.raises(ValueError, match=f"`{named}`"):
        call()


def test_of_a_member_that_failed_the_strength_is_not_known_and_others_are():
    time, start = np.linspace(0, 2, 5), np.array([[0.1], [np.nan], [0.3]])
    for depth in (1, 2, 3, 4):
        found = mode_strength(time, start, 2.0, depth)
        assert np.isnan(found[1]).all()
        whole = mode_strength(time, start[::2], 2.0, depth)
        np.testing.assert_array_equal(found[::2], whole)
    assert np.isnan(mode_time(1.5, np.nan, 2.0, 3))
    with pytest.raises(ValueError, match="`start` must lie .* got 0.1 to 5:"):
        mode_strength(1.0, np.array([0.1, np.nan, 5.0]), 2.0, 3)


# The law of the product


def test_the_law_is_that_of_fractional_powers_of_the_singular_values():
    u, v, matrix = with_singular_values([3.0, 1.0, 1e-7])
    gradient = np.random.default_rng(1).normal(size=(3, 3))
    power = lambda frame, p: (frame * np.array([3.0, 1.0, 1e-7]) ** p) @ frame.T
    law = sum(
        power(u, 2 * j / 3) @ gradient @ power(v, 2 * (2 - j) / 3) for j in (0, 1, 2)
    )
    found = np.asarray(end_to_end(jnp.asarray(matrix), jnp.asarray(gradient), 3))
    # A singular value of 1e-7 is known to 1e-9 of it, and its power 2/3 alike.
    np.testing.assert_allclose(found, law, atol=1e-12)
    # By the eigenvalues of WWᵀ, of which 1e-14 is near the rounding of 9: a thousand
    # times as far off, and more or less so by the version of LAPACK.
    values, vectors = np.linalg.eigh(matrix @ matrix.T)
    rooted = (vectors * np.maximum(values, 0) ** (1 / 3)) @ vectors.T
    assert abs(rooted - power(u, 2 / 3)).max() > 1e-9


def test_the_metric_has_these_eigenvalues_and_none_is_negative():
    _, _, matrix = with_singular_values([2.0, 0.5, 0.0])
    basis = np.eye(9).reshape(9, 3, 3)
    apply = lambda e: np.asarray(end_to_end(jnp.asarray(matrix), jnp.asarray(e), 4))
    whole = np.stack([apply(e).ravel() for e in basis])
    np.testing.assert_allclose(whole, whole.T, atol=1e-13)
    values = jnp.array([2.0, 0.5, 0.0])
    expected = np.sort(np.ravel(metric(values, values, 4)))
    np.testing.assert_allclose(np.linalg.eigvalsh(whole), expected, atol=1e-12)
    assert expected.min() >= 0
    np.testing.assert_allclose(np.diag(metric(values, values, 4)), 4 * values**1.5)


def test_two_layers_move_as_the_sum_of_two_square_roots():
    # −(∇ (WᵀW)^½ + (WWᵀ)^½ ∇), also where k and d differ.
    rng = np.random.default_rng(0)
    matrix, gradient = rng.normal(size=(2, 3, 5))
    u, s, vt = np.linalg.svd(matrix, full_matrices=False)
    law = gradient @ (vt.T * s) @ vt + (u * s) @ u.T @ gradient
    found = end_to_end(jnp.asarray(matrix), jnp.asarray(gradient), 2)
    np.testing.assert_allclose(found, law, rtol=1e-12)


def jacobian(field, at, step=1e-5):
    """Of a field of 3 × 3 matrices, by central differences."""
    basis = step * np.eye(9).reshape(9, 3, 3)
    rows = [np.ravel(field(at + e) - field(at - e)) / (2 * step) for e in basis]
    return np.stack(rows)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_flow_of_the_product_descends_no_penalised_loss(depth):
    # The Jacobian of a gradient is symmetric, that of ∇(L + λR) for every R and λ.  Of
    # ψ_W(∇L) it is not, so that this is the gradient of no function of W at all.
    rng = np.random.default_rng(0)
    at, target = rng.normal(size=(2, 3, 3))
    asymmetry = lambda j: np.linalg.norm(j - j.T) / np.linalg.norm(j)
    law = jax.jit(lambda w: end_to_end(w, w - target, depth))
    found = asymmetry(jacobian(lambda w: np.asarray(law(jnp.asarray(w))), at))

    def penalised(w):
        u, s, vt = np.linalg.svd(w)
        # λ|W|² and the nuclear norm, and one of a high power of singular values.
        return w - target + 0.3 * w + 0.7 * u @ vt + 0.1 * (u * s**3) @ vt

    # Differences of 1e-5 are known to 1e-10.
    assert asymmetry(jacobian(penalised, at)) < 1e-8
    assert found < 1e-8 if depth == 1 else found > 0.05


@pytest.mark.parametrize("depth", [2, 3])
def test_factors_and_the_product_alone_are_integrated_to_the_same(depth):
    net = deep_linear(KEY, (3, *[4] * (depth - 1), 3), scale=0.5)
    target = np.asarray(with_singular_values([4.0, 2.0, 1.0])[2])
    shapes = [w.shape for w in net.weights]
    ends = np.cumsum([p * q for p, q in shapes])[:-1]

    def factors(_, flat):
        parts = np.split(flat, ends)
        weights = [v.reshape(s) for v, s in zip(parts, shapes, strict=True)]
        error, out = chain(weights) - target, []
        for j in range(depth):
            above = chain([np.eye(len(weights[j])), *weights[j + 1 :]])
            below = chain([np.eye(3), *weights[:j]])
            out.append(-above.T @ error @ below.T)
        return np.concatenate([v.ravel() for v in out])

    law = jax.jit(lambda w: -end_to_end(w, w - target, depth))
    alone = lambda _, flat: np.asarray(law(flat.reshape(3, 3))).ravel()
    run = functools.partial(solve_ivp, t_span=(0, 3), method="DOP853")
    tight = {"rtol": 1e-11, "atol": 1e-13}
    start = np.concatenate([np.ravel(w) for w in net.weights])
    parts = np.split(run(factors, y0=start, **tight).y[:, -1], ends)
    first = chain([v.reshape(s) for v, s in zip(parts, shapes, strict=True)])
    second = run(alone, y0=np.ravel(net.product), **tight).y[:, -1].reshape(3, 3)
    np.testing.assert_allclose(first, second, atol=1e-8)
    # Neither passes a determinant of 0.
    assert np.linalg.det(first) * np.linalg.det(net.product) > 0


# Starts and measures


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("start", ["aligned", "balanced"])
def test_balanced_starts_follow_the_law_and_others_do_not(start, depth):
    net = started(KEY, DATA, start=start, depth=depth, m=6, scale=1.0)
    assert float(LayerBalance()(net, DATA)) < 1e-14
    # Aligned modes of 1e-8 are known to 1e-16 of the largest weight, 1e-4.
    assert float(jnp.max(EndToEndError()(net, DATA))) < 1e-9
    if start == "aligned":
        inside = np.asarray(ModeStrengths()(net, DATA))
        assert inside.min() > 0
        values = np.linalg.svd(net.product, compute_uv=False)
        np.testing.assert_allclose(np.sort(inside)[::-1], values, rtol=1e-9)
    if depth > 1:
        other = started(KEY, DATA, start="unbalanced", depth=depth, m=6, scale=1.0)
        assert float(LayerBalance()(other, DATA)) > 0.1
        assert float(EndToEndError()(other, DATA)[0]) > 0.05


def test_what_grows_early_grows_by_the_law_of_the_small():
    # a′ = sb, b′ = sa for the two ends of a mode: |(a + b)/2|² ∝ e^{2st}.
    net = started(KEY, DATA, start="small", depth=2, m=6, scale=1e-6)
    risk = lambda net: jnp.sum((net.product - DATA.y.T @ DATA.x / 8) ** 2) / 2
    rate = jax.jvp(
        lambda net: EarlyStrengths()(net, DATA),
        (net,),
        (jax.tree.map(jnp.negative, jax.grad(risk)(net)),),
    )
    np.testing.assert_allclose(rate[1] / rate[0], [8, 4, 2], rtol=1e-6)


def test_one_step_of_descent_loses_balance_of_second_order():
    # What is of first order in η cancels, which is why the flow keeps the balance.
    net = started(KEY, DATA, start="balanced", depth=3, m=6, scale=1.0)
    risk = lambda net: half_mse(jax.vmap(net)(DATA.x), DATA.y, DATA.weight)
    gradient, rates = jax.grad(risk)(net), np.array([1e-1, 1e-2, 1e-3])
    step = lambda rate: jax.tree.map(lambda w, g: w - rate * g, net, gradient)
    lost = [float(LayerBalance()(step(rate), DATA)) for rate in rates]
    slopes = np.diff(np.log(lost)) / np.diff(np.log(rates))
    # Differences of 1 that are 1e-7 of it.
    np.testing.assert_allclose(slopes, 2, rtol=1e-6)


@pytest.mark.parametrize(("depth", "scale"), [(2, 1e6), (3, 1e2)])
def test_an_aligned_start_has_the_closed_form_and_keeps_its_balance(depth, scale):
    net = started(KEY, DATA, start="aligned", depth=depth, m=6, scale=scale)
    measures = {
        "strengths": ModeStrengths(),
        "balance": LayerBalance(),
        "law": EndToEndError(),
    }
    times, flow = (0.0, 0.5, 1.5), GradientFlow(PRECISE, rtol=1e-10)
    seen = solve(net, DATA, flow, half_mse, times, measures).records
    first, time = seen["strengths"][0], np.array(times)
    law = [
        mode_strength(time, float(u), s, depth)
        for u, s in zip(first, STRENGTHS, strict=True)
    ]
    np.testing.assert_allclose(seen["strengths"], np.stack(law, axis=1), rtol=1e-7)
    assert np.max(seen["balance"]) < 1e-10
    # The velocity is that of the law, and the loss falls as it says.
    assert np.max(seen["law"]) < 1e-8


def test_effective_rank_of_known_matrices():
    rank = lambda w: float(EffectiveRank()(DeepLinear((jnp.asarray(w),)), DATA))
    assert rank(np.eye(3)) == pytest.approx(3)
    assert rank(np.outer([1.0, 2.0], [3.0, 4.0, 5.0])) == pytest.approx(1, rel=1e-12)
    assert rank(np.diag([1.0, 1.0, 0.0])) == pytest.approx(2)
    assert np.isnan(rank(np.zeros((2, 2))))


@pytest.mark.parametrize("changes", [{"start": "tiny"}, {"depth": 0}, {"depth": 9}])
def test_a_start_that_is_not_known_is_refused_by_name(changes):
    (name,) = changes
    # Where types are checked, an unknown name does not come as far as the check.
    with pytest.raises((ValueError, TypeError), match=name):
        make(KEY, **changes)


@pytest.mark.parametrize("depth", [2, 4])
@pytest.mark.parametrize("start", ["aligned", "balanced", "small", "unbalanced"])
def test_layers_too_narrow_for_the_modes_are_refused_by_name(start, depth):
    for m in (-1, 0, 1, 2):
        with pytest.raises(simbias.BadInput, match="`m` must be"):
            make(KEY, start=start, depth=depth, m=m)
    assert make(KEY, start=start, depth=depth, m=3)[1].product.shape == (3, 5)
    # One matrix has no hidden layers.
    assert make(KEY, start=start, depth=1, m=1)[1].product.shape == (3, 5)


def test_inputs_too_few_for_the_modes_are_refused_by_name():
    with pytest.raises(simbias.BadInput, match="`d` must be 3 or more, one for each"):
        make(KEY, d=2)


@pytest.mark.parametrize("module", [deep, tied_layers])
@pytest.mark.parametrize("scale", [0, -1, -0.5])
def test_a_scale_of_no_size_is_refused_by_name(module, scale):
    with pytest.raises(simbias.BadInput, match="`scale` must be finite and positive"):
        make_plan(module.experiment("smoke", scale=scale))
    with pytest.raises(simbias.BadInput, match="`scale` must be finite and positive"):
        make_plan(module.experiment("smoke", scale=(0.1, float(scale))))


# Claims


def drawn(arrays, axes):
    """A result of these arrays, with what a run has beside them."""
    ds = xr.Dataset(arrays)
    ds = ds.assign_coords(time=TIME, seed=[0, 1, 2], **axes)
    return ds.assign(status=xr.zeros_like(ds["train_loss"].isel(time=0), int))


TIME = np.round(np.linspace(0, 30, 1201), 3)


def modes_by_law(start, depth, clock=1.0):
    first = start * np.array([1.0, 1.1, 1.2])[:, None]
    rows = [mode_strength(clock * TIME, first, s, depth) for s in STRENGTHS]
    return np.stack(rows, axis=-1)


@pytest.fixture
def layers():
    starts, depths = deep.experiment().cell["start"], (2,)
    u = np.stack(
        [[modes_by_law(1e-8, depth) for depth in depths] for _ in starts]
    )  # start, depth, seed, time, mode
    dims = ("start", "depth", "seed", "time")
    p = u / u.sum(-1, keepdims=True)
    gap = np.zeros((*u.shape[:-1], 2))
    gap[starts.index("unbalanced")] = 0.5
    arrays = {
        "strengths": ((*dims, "mode"), u),
        "early_strengths": ((*dims, "mode"), u),
        "effective_rank": (dims, np.exp(-np.sum(p * np.log(p), -1))),
        "end_to_end": ((*dims, "law"), gap),
        "train_loss": (dims, np.zeros(u.shape[:-1])),
    }
    axes = {"start": list(starts), "depth": list(depths)}
    return drawn(arrays, {**axes, "law": ["velocity", "descent"]})


@pytest.fixture
def tied():
    u = np.stack([modes_by_law(1e-2, 2, clock=2.0)] * 2)
    dims = ("start", "seed", "time")
    gap = np.zeros((*u.shape[:-1], 2))
    gap[1, ..., 1] = 0.1
    zero = (dims, np.zeros(u.shape[:-1]))
    arrays = {
        "strengths": ((*dims, "mode"), u),
        "velocity_gap": ((*dims, "law"), gap),
        "train_loss": zero,
    }
    axes = {"start": ["commuting", "random"], "law": ["exact", "slide"]}
    return drawn(arrays, axes)


@pytest.mark.parametrize(("module", "name"), [(deep, "layers"), (tied_layers, "tied")])
def test_members_that_failed_leave_every_claim_undecided(module, name, request):
    ds = request.getfixturevalue(name)
    assert {c.verdict for c in simbias.check(module, ds)} == {"supported"}
    for lost in (ds.where(ds["seed"] > 0), ds.where(ds["seed"] > 2)):
        verdicts = [c.verdict for c in simbias.check(module, lost)]
        assert set(verdicts) == {"inconclusive"}
        assert len(simbias.draw(module, lost)) == 1


# Tied layers


def test_tied_layers_that_are_not_balanced_are_refused_by_name():
    with pytest.raises(ValueError, match=r"`root` must be symmetric.*not balanced"):
        Tied(jnp.array([[1.0, 0.5], [0.0, 1.0]]))
    with pytest.raises(ValueError, match="`root` must be a square"):
        Tied(jnp.ones((2, 3)))


def test_a_traced_start_that_is_not_balanced_has_no_law():
    # Where a member is made it is traced, and `Tied` cannot look at it.
    data = linear_modes(KEY, n=8, d=2, k=2, strengths=(2.0, 1.0), is_symmetric=True)
    uneven = jnp.array([[1.0, 0.5], [0.0, 1.0]])
    seen = jax.jit(lambda root: TiedVelocity()(Tied(root), data))
    assert np.isnan(seen(uneven)).all()
    assert np.isfinite(seen((uneven + uneven.T) / 2)).all()
    # Rounding is not asymmetry.
    assert np.isfinite(seen(jnp.eye(2).at[0, 1].set(1e-14) * 0.3)).all()


def test_the_law_of_the_slide_is_exact_where_all_commutes_only():
    data = linear_modes(KEY, n=8, is_symmetric=True)
    frame = np.asarray(data.features).T
    inside = Tied(jnp.asarray((frame * [0.3, 0.5, 0.2]) @ frame.T))
    np.testing.assert_allclose(TiedVelocity()(inside, data), 0, atol=1e-13)
    # The factor of the slide is 4 there, and both modes and matrix stay as they are.
    flow, times = GradientFlow(PRECISE, rtol=1e-10), (0.0, 0.1, 0.3)
    measures = {"strengths": ModeStrengths(), "a": lambda net, _: net.root}
    seen = solve(inside, data, flow, half_mse, times, measures).records
    first, time = seen["strengths"][0], 2 * np.array(times)
    law = [
        mode_strength(time, float(u), s, 2)
        for u, s in zip(first, STRENGTHS, strict=True)
    ]
    np.testing.assert_allclose(seen["strengths"], np.stack(law, axis=1), rtol=1e-7)
    np.testing.assert_allclose(seen["a"], np.swapaxes(seen["a"], 1, 2), atol=1e-14)
    other = Tied(jnp.diag(jnp.array([0.3, 0.5, 0.2])))
    exact, slide = np.asarray(TiedVelocity()(other, data))
    assert exact < 1e-14
    assert slide > 0.01


def test_the_sample_of_the_experiment_is_a_dataset():
    data, net = make(KEY, depth=3, m=5)
    assert isinstance(data, Dataset)
    assert net.product.shape == (3, 5)

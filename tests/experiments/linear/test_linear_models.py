"""Linear regression: where descent ends, and what random samples look like."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from scipy import integrate, stats

import simbias
from simbias.analysis.median_shares import median_shares
from simbias.core import Dataset, Status
from simbias.ensemble.padding import padded
from simbias.experiments.linear import min_norm, random_design
from simbias.experiments.linear._methods import LARGEST, RATES, Methods, distance, leak
from simbias.experiments.linear._spectra import best_ridge, kolmogorov, spectrum
from simbias.losses import half_mse
from simbias.measures.linear.gram_eigenvalues import GramEigenvalues
from simbias.measures.linear.input_eigenvalues import InputEigenvalues
from simbias.measures.linear.least_norm import LeastNorm
from simbias.measures.linear.outside_span import OutsideSpan
from simbias.measures.linear.ridge_distance import RidgeDistance
from simbias.measures.linear.ridge_risk import RidgeRisk
from simbias.measures.linear.span_error import SpanError
from simbias.theory.random_matrices import (
    least_eigenvalue,
    marchenko_pastur,
    ridgeless_risk,
)
from simbias.verbs.simulate import solve

KEY = jax.random.key(0)
RNG = np.random.default_rng(0)


def small(n=5, d=9, **changes):
    return min_norm.make(KEY, n=n, d=d, **changes)


# Facts of the lecture


def test_the_gradient_of_a_square_is_the_lectures_formula():
    x, w, y = RNG.normal(size=7), RNG.normal(size=7), 0.3
    found = jax.grad(lambda w: (x @ w - y) ** 2)(jnp.asarray(w))
    np.testing.assert_allclose(found, 2 * x * (x @ w) - 2 * y * x, rtol=1e-13)
    # And of the whole sample; half of the mean is what is descended.
    data, _ = small()
    loss = lambda w: half_mse((data.x @ w)[:, None], data.y, data.weight)
    w = jnp.asarray(RNG.normal(size=9))
    expected = data.x.T @ (data.x @ w - data.y[:, 0]) / 5
    np.testing.assert_allclose(jax.grad(loss)(w), expected, rtol=1e-12)


def sag(f, strength=0.0):
    """Least of t f(u) + (1 − t) f(v) − f(tu + (1 − t)v) − strength t(1 − t)|u − v|²."""
    u, v = RNG.normal(size=(2, 2000, 4))
    t = RNG.uniform(size=2000)
    between = t[:, None] * u + (1 - t[:, None]) * v
    square = np.sum((u - v) ** 2, axis=1)
    chord = t * f(u) + (1 - t) * f(v)
    return np.min(chord - f(between) - strength * t * (1 - t) * square)


def test_the_four_facts_of_convexity():
    power = lambda w: np.sum(w**4, axis=-1)
    matrix, shift = RNG.normal(size=(4, 4)), RNG.normal(size=4)
    square = lambda w: np.sum(w**2, axis=-1)
    # x² is convex; a convex function of a linear one; sums with weights ≥ 0.
    assert sag(square) >= -1e-12
    assert sag(lambda w: power(w @ matrix)) >= -1e-9
    assert sag(lambda w: 0.3 * power(w) + 2 * np.abs(w @ shift)) >= -1e-9
    # With λ|x|² it is strongly convex, by λ; without it a plane is not.
    plane = lambda w: w @ shift
    assert sag(lambda w: plane(w) + 0.7 * square(w), strength=0.7) >= -1e-12
    assert sag(plane, strength=0.7) < -0.1
    # What is not convex is seen: a weight below 0.
    assert sag(lambda w: power(w) - 5 * square(w)) < -0.1


# Measures


def test_measures_of_the_span_agree_with_the_pseudo_inverse():
    data, network = small(start=1.0)
    x, y, w = np.asarray(data.x), np.asarray(data.y)[:, 0], np.asarray(network.product)
    inverse, w = np.linalg.pinv(x), w[0]
    outside = w - inverse @ x @ w
    values = np.linalg.eigvalsh(x @ x.T / 5)[::-1]
    np.testing.assert_allclose(OutsideSpan()(network, data), outside, atol=1e-13)
    np.testing.assert_allclose(InputEigenvalues()(network, data), values, rtol=1e-12)
    np.testing.assert_allclose(values[0], LARGEST, rtol=1e-13)
    found = float(LeastNorm()(network, data))
    np.testing.assert_allclose(found, np.linalg.norm(inverse @ y), rtol=1e-12)
    error = np.linalg.norm(w - outside - inverse @ y)
    found = jnp.linalg.norm(SpanError()(network, data))
    np.testing.assert_allclose(found, error, rtol=1e-12)
    ridge = np.linalg.solve(x.T @ x / 5 + 0.3 * np.eye(9), x.T @ y / 5)
    found = RidgeDistance((0.3,))(network, data)
    np.testing.assert_allclose(found, [np.linalg.norm(w - ridge)], rtol=1e-12)


def test_padding_moves_no_measure_of_the_span():
    data, network = small(start=1.0)
    grown = lambda v: jnp.pad(v, ((0, 3), (0, 0)), constant_values=2.0)
    weight = jnp.pad(data.weight, (0, 3))
    padded = Dataset(
        grown(data.x), grown(data.y), weight, grown(data.mean), data.features
    )
    for measure in (OutsideSpan(), LeastNorm(), RidgeDistance((0.1, 1.0))):
        np.testing.assert_allclose(
            measure(network, padded), measure(network, data), rtol=1e-12
        )
    norm = lambda data: jnp.linalg.norm(SpanError()(network, data))
    np.testing.assert_allclose(norm(padded), norm(data), rtol=1e-12)


def test_a_step_shrinks_every_mode_by_its_factor_and_stays_in_the_span():
    data, network = small(start=1.0)
    risk = lambda net: half_mse(jax.vmap(net)(data.x), data.y, data.weight)
    rate, gradient = RATES["gd_1.9"], jax.grad(risk)(network)
    moved = jax.tree.map(lambda w, g: w - rate * g, network, gradient)
    before, after = (SpanError()(net, data)[:5] for net in (network, moved))
    factors = 1 - rate * InputEigenvalues()(network, data)[:5]
    np.testing.assert_allclose(after, factors * before, atol=1e-12)
    left = OutsideSpan()(moved, data) - OutsideSpan()(network, data)
    np.testing.assert_allclose(left, 0, atol=1e-13)


def test_the_least_norm_is_the_limit_of_the_ridge_in_proportion_to_the_penalty():
    data, network = small()
    least = (np.linalg.pinv(data.x) @ np.asarray(data.y))[:, 0]
    network = jax.tree.map(lambda w: jnp.asarray(least).reshape(w.shape), network)
    away = np.asarray(RidgeDistance((1e-6, 1e-5, 1e-4))(network, data))
    np.testing.assert_allclose(away[1:] / away[:-1], 10, rtol=1e-3)


# Where descent ends


@pytest.mark.parametrize("start", [0.0, 1.0])
@pytest.mark.parametrize("method", ["flow", "gd_1.9", "sgd"])
def test_descent_ends_at_the_interpolator_next_to_its_start(method, start):
    data, network = small(n=4, d=40, start=start)
    run = solve(
        network,
        data,
        Methods(method),
        half_mse,
        (4.0,),
        {"w": lambda f, _: f.product[0]},
    )
    assert run.status is Status.REACHED_TIME
    inverse, w0 = np.linalg.pinv(data.x), np.asarray(network.product)[0]
    nearest = w0 + inverse @ (np.asarray(data.y)[:, 0] - data.x @ w0)
    np.testing.assert_allclose(run.records["w"][0], nearest, atol=1e-6)


def test_sign_descent_moves_every_weight_by_its_rate():
    data, network = small()
    weights = {"w": lambda f, _: f.product[0]}
    run = solve(network, data, Methods("sign"), half_mse, (0.01,), weights)
    gradient = data.x.T @ -data.y[:, 0]
    expected = -0.01 * np.sign(gradient)
    np.testing.assert_allclose(run.records["w"][0], expected, rtol=1e-12)


@pytest.fixture(scope="module")
def result():
    cell = {"n": 8, "d": 40, "exponent": 0.0, "flow.method": ("gd_2.1", "adam")}
    experiment = min_norm.experiment("smoke")
    cell = {**cell, "start": (0.0, 1.0)}
    return simbias.simulate(dataclasses.replace(experiment, cell=cell))


def test_controls_leave_and_claims_without_members_do_not_apply(result):
    end = result.isel(time=[0, -1])
    assert float(leak(end).sel({"flow.method": "adam"}).isel(time=-1).min()) > 0.05
    grown = distance(end).sel({"flow.method": "gd_2.1"})
    assert float((grown.isel(time=-1) / grown.isel(time=0)).min()) > 1e10
    verdicts = [c.verdict for c in simbias.check(min_norm, result)]
    # Nobody here converges, and there is no end of gradient descent.
    assert verdicts[:5] == ["not applicable"] * 5
    assert verdicts[5:7] == ["supported"] * 2
    assert verdicts[7] == "not applicable"


def test_a_member_that_failed_leaves_its_claims_undecided(result):
    is_first = xr.DataArray(np.arange(2) == 0, dims="seed")
    lost = result.where(~is_first)
    verdicts = {c.verdict for c in simbias.check(min_norm, lost)}
    assert verdicts == {"inconclusive", "not applicable"}


def needs(module, ds):
    return {c.statement: c.needs for c in simbias.check(module, ds)}


def test_claims_of_theorems_ask_for_float64(result):
    with np.errstate(over="ignore"):
        low = result.assign_coords({"flow.method": ["gd", "adam"]}).astype(np.float32)
    found = [t for t, why in needs(min_norm, low).items() if why == "float64"]
    assert found == ["GD, η = 1/λ₁: distance to X⁺y + P⊥w₀ over ‖X⁺y‖, largest"]


def test_claims_of_the_end_ask_for_an_end_and_for_a_span_that_is_not_all(result):
    # As if what diverges had converged: only what is needed of a run is looked at.
    method = {"flow.method": ["gd", "adam"]}
    ends = needs(min_norm, result.assign_coords(method))
    kinds = ("GD, η = 1/λ₁: dist", "control, Adam")
    of = lambda found: [w for k in kinds for t, w in found.items() if t.startswith(k)]
    assert of(ends) == ["", ""]
    slow = result.assign_coords(method)
    slow["eigenvalues"] = slow["eigenvalues"] * 1e-3
    assert of(needs(min_norm, slow)) == ["t·λₙ ≥ 20", ""]
    square = of(needs(min_norm, result.assign_coords(**method, d=8)))
    assert square == ["", "d > n"]


def test_a_run_of_time_zero_alone_is_judged_and_drawn(result):
    first = result.isel(time=[0])
    assert {c.verdict for c in simbias.check(min_norm, first)} == {"not applicable"}
    assert len(simbias.draw(min_norm, first)) == 1


def test_rates_are_those_of_the_lecture():
    assert RATES["gd"] * LARGEST == pytest.approx(1)
    assert RATES["gd_1.9"] * LARGEST == pytest.approx(1.9)
    assert RATES["gd_2.1"] * LARGEST == pytest.approx(2.1)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n": 10, "d": 9}, "`n` must be at most d, got n=10 and d=9: X has rank 9"),
        ({"exponent": 40.0}, "`exponent` must leave X of rank n, got 40.0"),
        ({"exponent": -1.0}, "`exponent` must be finite and 0 or more"),
        ({"sigma": -1.0}, "`sigma` must be finite and 0 or more"),
        ({"start": float("nan")}, "`start` must be finite and 0 or more"),
        ({"n": 0}, "`n` must be a positive integer"),
        ({"n": 1, "d": 0}, "`d` must be a positive integer"),
    ],
)
def test_a_sample_that_nothing_interpolates_is_refused(changes, words):
    with pytest.raises(simbias.BadInput, match=words.replace("*", r"\*")):
        small(**changes)


def test_a_way_that_there_is_not_is_refused_by_name():
    experiment = min_norm.experiment("smoke", **{"flow.method": "gd_3"})
    with pytest.raises(simbias.BadInput, match=r"`cell.flow.method` must be one of"):
        simbias.simulate(experiment)


# Random designs: laws


@pytest.mark.parametrize("ratio", [0.1, 0.5, 1.0, 2.0, 10.0])
def test_marchenko_pastur_is_the_integral_of_its_density(ratio):
    density = lambda x: marchenko_pastur(np.array([x]), ratio=ratio)[0][0]
    low, high = (1 - ratio**0.5) ** 2, (1 + ratio**0.5) ** 2
    at_zero, whole = max(0.0, 1 - 1 / ratio), lambda f: integrate.quad(f, low, high)[0]
    for x in np.linspace(low, high, 5)[1:]:
        expected = at_zero + integrate.quad(density, low, x)[0]
        np.testing.assert_allclose(
            marchenko_pastur(np.array([x]), ratio=ratio)[1], [expected], atol=1e-8
        )
    # Its mean is that of a squared entry, and its second moment 1 + γ.
    assert whole(lambda x: x * density(x)) == pytest.approx(1, abs=1e-8)
    assert whole(lambda x: x**2 * density(x)) == pytest.approx(1 + ratio, rel=1e-8)
    _, outside = marchenko_pastur(np.array([-0.1, 0, high + 1]), ratio=ratio)
    np.testing.assert_allclose(outside, [0, at_zero, 1], atol=1e-15)
    with pytest.raises(simbias.BadInput, match="`ratio` must be finite and positive"):
        marchenko_pastur(np.ones(1), ratio=0.0)


def test_the_least_eigenvalue_has_edelmans_law():
    shares = np.array([0.0, 0.1, 0.5, 0.99])
    t = least_eigenvalue(shares)
    np.testing.assert_allclose(-np.expm1(-t / 2 - np.sqrt(t)), shares, atol=1e-14)
    assert t[2] == pytest.approx(0.2967, abs=1e-4)
    x = RNG.normal(size=(2000, 20, 20))
    seen = 20 * np.linalg.svd(x, compute_uv=False)[:, -1] ** 2
    below = lambda t: -np.expm1(-t / 2 - np.sqrt(t))
    assert stats.kstest(seen, below).pvalue > 1e-3


@pytest.mark.parametrize("draws", [1, 6, 7])
def test_the_median_of_draws_lies_where_it_is_said_to(draws):
    low, high = median_shares(draws, level=0.9)
    medians = np.median(RNG.uniform(size=(20_000, draws)), axis=1)
    share = np.mean((low <= medians) & (medians <= high))
    # Exactly so for an odd number; the range of an even number is wider.
    assert 0.89 < share < (0.91 if draws % 2 else 0.99)
    with pytest.raises(simbias.BadInput, match="`draws` must be a positive integer"):
        median_shares(0)
    with pytest.raises(simbias.BadInput, match="`level` must lie in"):
        median_shares(5, level=1.0)


@pytest.mark.parametrize(("n", "d"), [(20, 5), (5, 20)])
def test_the_risk_of_least_norm_is_that_of_drawn_samples(n, d):
    x, noise = RNG.normal(size=(4000, n, d)), RNG.normal(size=(4000, n))
    teacher = np.eye(d)[0]
    y = x @ teacher + 0.7 * noise
    learned = np.einsum("bdn,bn->bd", np.linalg.pinv(x), y)
    seen = np.sum((learned - teacher) ** 2, axis=1)
    error = seen.std() / len(seen) ** 0.5
    assert abs(seen.mean() - sum(ridgeless_risk(n, d, sigma=0.7))) < 4 * error


def test_the_risk_of_least_norm_is_infinite_at_the_peak():
    for d in (9, 10, 11):
        assert ridgeless_risk(10, d, sigma=0.5)[1] == np.inf
    assert ridgeless_risk(10, 5, sigma=2.0) == (0, pytest.approx(5))
    bias, variance = ridgeless_risk(10, 21, sigma=2.0, norm=3.0)
    assert (bias, variance) == (pytest.approx(9 * 11 / 21), pytest.approx(4))
    with pytest.raises(simbias.BadInput, match="`d` must be a positive integer"):
        ridgeless_risk(10, 0, sigma=0.5)
    with pytest.raises(simbias.BadInput, match="`sigma` must be finite and 0 or more"):
        ridgeless_risk(10, 5, sigma=-1.0)


# Random designs: measures


@pytest.mark.parametrize("d", [3.0, 5.0, 9.0])
@pytest.mark.parametrize("rows", [5, 8])
def test_ridge_risk_and_spectrum_agree_with_explicit_matrices(d, rows):
    data, network = random_design.make(KEY, n=5, d=d, width=12)
    size = int(d)
    x, teacher = np.asarray(data.x)[:, :size], np.asarray(data.features)[0, :size]
    assert not np.asarray(data.x)[:, size:].any()
    grown = padded(data, rows)
    found = RidgeRisk((0.0, 0.3))(network, grown)
    for s, got in zip((0.0, 0.3), found, strict=True):
        inverse = np.linalg.pinv(x.T @ x + s * size * np.eye(size), rcond=1e-10)
        bias = np.sum(((inverse @ x.T @ x - np.eye(size)) @ teacher) ** 2)
        variance = np.trace(inverse @ x.T @ x @ inverse)
        np.testing.assert_allclose(got, [bias, variance], rtol=1e-8, atol=1e-12)
    values = GramEigenvalues()(network, grown)
    rank = min(5, size)
    expected = np.linalg.svd(x, compute_uv=False)[::-1] ** 2 / 5
    np.testing.assert_allclose(values[-rank:], expected, rtol=1e-9)
    np.testing.assert_array_equal(values[:-rank], 0)


@pytest.mark.parametrize("d", [3.0, 9.0])
def test_the_best_penalty_is_the_variance_of_the_noise(d):
    data, network = random_design.make(KEY, n=5, d=d, width=9)
    variance, near = 0.4, (0.38, 0.4, 0.42)
    # The mean over an orthonormal frame is that over all directions of w*.
    frame = np.linalg.qr(RNG.normal(size=(int(d), int(d))))[0]
    risks = []
    for teacher in np.pad(frame, ((0, 0), (0, 9 - int(d)))):
        turned = dataclasses.replace(data, features=jnp.asarray(teacher)[None])
        risks.append(RidgeRisk(near)(network, turned) @ jnp.array([1.0, variance]))
    low, best, high = np.mean(risks, axis=0)
    assert best < min(low, high)


def test_the_kolmogorov_distance_is_that_of_scipy_and_counts_the_zeros():
    values = RNG.uniform(0.1, 4, size=(7, 11))
    law = lambda x: marchenko_pastur(x, ratio=1.0)[1]
    expected = stats.kstest(values.ravel(), law).statistic
    assert kolmogorov(values, ratio=1.0) == pytest.approx(expected, rel=1e-12)
    # Half of the eigenvalues are 0: what is above is half as far.
    law = lambda x: 2 * marchenko_pastur(x, ratio=2.0)[1] - 1
    expected = stats.kstest(values.ravel(), law).statistic / 2
    assert kolmogorov(values, ratio=2.0) == pytest.approx(expected, rel=1e-12)
    assert np.isnan(kolmogorov(np.full((2, 3), np.nan), ratio=2.0))


# Random designs: claims


@pytest.fixture(scope="module")
def designs():
    cell = {"n": (8, 10), "d": (5.0, 10.0, 20.0), "width": 20}
    return simbias.simulate(random_design.experiment("smoke", **cell))


def test_every_size_of_a_run_has_its_own_spectrum(designs):
    for n in (8, 10):
        for d in (5, 10, 20):
            values = spectrum(designs.sel(n=n, d=d))
            assert values.shape == (40, min(n, d))
            assert (values > 1e-9).all()
            # The trace of XᵀX/n is d on average.
            error = (2 * d / n / 40) ** 0.5
            assert abs(values.sum(1).mean() - d) < 5 * error


def test_claims_say_what_they_need_and_failures_leave_them_open(designs):
    claims = simbias.check(random_design, designs)
    assert [c.verdict for c in claims[:3]] == ["not applicable"] * 3
    assert claims[0].needs == "n ≥ 200"
    # n = 8 has no d = 8, and 5 is too near: one side is left, beside all of n = 10.
    of = lambda n: [c for c in claims if f"n = {n}" in c.statement]
    assert [c.statement.split(":")[0] for c in of(8) if not c.needs] == ["n = 8, d > n"]
    assert {c.needs for c in of(8)} == {"", "d = 8", "d = 16, d = 8"}
    assert [c.needs for c in of(10)] == [""] * 6
    lost = designs.where(designs["seed"] > 39)
    verdicts = {c.verdict for c in simbias.check(random_design, lost)}
    assert verdicts == {"inconclusive", "not applicable"}
    # One that is lost is counted by nothing that pools all.
    part = designs.where(designs["seed"] > 0).sel(n=10, d=10)
    assert np.isnan(kolmogorov(spectrum(part), ratio=1.0))
    whole = best_ridge(designs.sel(n=10, d=10)).isel(seed=slice(1, None))
    np.testing.assert_array_equal(best_ridge(part).isel(seed=slice(1, None)), whole)


def test_claims_that_divide_by_the_noise_ask_for_some(designs):
    # d = 5, 10 and 20 at n = 8 and 10; of these few only n = 10 has a d < n − 3.
    assert all("noise" not in c.needs for c in simbias.check(random_design, designs))
    quiet = designs.assign_coords(sigma=0.0)
    claims = simbias.check(random_design, quiet)
    without = [c.statement for c in claims if c.needs == "noise, σ > 0"]
    assert [text.split(":")[0] for text in without] == [
        "n = 10, d = n",
        "n = 10, d < n",
        "n = 10",
    ]
    rest = [c for c in claims if c.statement.startswith("n = 10, d > n")]
    assert np.isfinite(rest[0].estimate.value)
    assert len(simbias.draw(random_design, quiet)) == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"d": 401.0}, "`d` must be a whole number from 1 to width=400, got 401"),
        ({"d": 2.5}, "`d` must be a whole number from 1 to width=400, got 2.5"),
        ({"d": 0.0}, "`d` must be a whole number"),
        ({"n": 0}, "`n` must be a positive integer"),
        ({"width": -1}, "`width` must be a positive integer"),
        ({"sigma": -0.1}, "`sigma` must be finite and 0 or more"),
    ],
)
def test_a_design_that_cannot_be_is_refused(changes, words):
    with pytest.raises(simbias.BadInput, match=words):
        random_design.make(KEY, **changes)


def test_an_axis_of_inputs_is_refused_where_one_is_too_wide():
    experiment = random_design.experiment("smoke", d=(8.0, 81.0))
    with pytest.raises(simbias.BadInput, match=r"from 1 to width=80, got 81"):
        simbias.simulate(experiment)

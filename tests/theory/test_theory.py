"""The oracles themselves, against other libraries, Monte Carlo and brute force."""

import dataclasses
import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import lsq_linear, minimize
from scipy.stats import binom
from sklearn.linear_model import LinearRegression

from simbias.core import Dataset
from simbias.datasets.orthogonality.orthogonal import orthogonal
from simbias.datasets.orthogonality.orthogonal_toy import orthogonal_toy
from simbias.datasets.teachers.gaussian_teacher import gaussian_teacher
from simbias.datasets.teachers.three_points import three_points
from simbias.losses import exponential, half_mse, hinge, logistic, mse
from simbias.networks.two_layer import TwoLayer
from simbias.theory._sphere import critical_on_sphere
from simbias.theory.early_phase import early_drive, early_phase
from simbias.theory.extremal_vectors import extremal_vectors
from simbias.theory.minimum_norm import minimum_norm
from simbias.theory.ols import ols
from simbias.theory.sequential_fit import sequential_fit
from simbias.theory.two_group import ols_law, two_group_fit, two_group_law

KEY = jax.random.key(0)


def sample(x, y, weight=None):
    """A dataset of given points, with one output."""
    x, y = np.asarray(x, float), np.asarray(y, float)[:, None]
    weight = np.ones(len(x)) if weight is None else np.asarray(weight, float)
    arrays = (jnp.asarray(v) for v in (x, y, weight, y, np.eye(x.shape[1])))
    return Dataset(*arrays)


def random_sample(seed, n, d):
    rng = np.random.default_rng(seed)
    return sample(rng.normal(size=(n, d)), rng.normal(size=n))


def padded(data, rows):
    """The same sample with rows of zeros that weigh nothing."""
    fill = lambda v: jnp.concatenate([v, jnp.zeros((rows, *v.shape[1:]))])
    return dataclasses.replace(
        data,
        x=fill(data.x),
        y=fill(data.y),
        mean=fill(data.mean),
        weight=fill(data.weight),
    )


def value_of(data, w):
    """G(w) of the rows of w."""
    pull = np.asarray(data.weight * data.y[:, 0] / data.weight.sum())
    return np.maximum(w @ np.asarray(data.x).T, 0) @ pull


# ols


def test_ols_agrees_with_numpy_and_with_scikit_learn():
    data = random_sample(0, 30, 4)
    expected = np.linalg.lstsq(np.asarray(data.x), np.asarray(data.y), rcond=None)[0]
    np.testing.assert_allclose(ols(data), expected, rtol=1e-12)
    other = LinearRegression(fit_intercept=False).fit(data.x, data.y)
    np.testing.assert_allclose(ols(data).T, other.coef_, rtol=1e-12)


def test_ols_weighs_samples_as_scikit_learn_does():
    weight = np.random.default_rng(1).uniform(0.5, 2, 30)
    data = dataclasses.replace(random_sample(0, 30, 4), weight=jnp.asarray(weight))
    other = LinearRegression(fit_intercept=False)
    other.fit(data.x, data.y, sample_weight=weight)
    np.testing.assert_allclose(ols(data).T, other.coef_, rtol=1e-12)


def test_ols_does_not_see_padding_in_a_compiled_batch():
    batch = [padded(random_sample(seed, 20, 3), 12) for seed in range(3)]
    stacked = jax.tree.map(lambda *v: jnp.stack(v), *batch)
    together = jax.jit(jax.vmap(ols))(stacked)
    for seed, beta in enumerate(together):
        np.testing.assert_allclose(beta, ols(random_sample(seed, 20, 3)), rtol=1e-12)


def test_ols_of_fewer_samples_than_inputs_is_the_interpolator_of_least_norm():
    data = random_sample(0, 3, 6)
    expected = np.linalg.pinv(np.asarray(data.x)) @ np.asarray(data.y)
    np.testing.assert_allclose(ols(data), expected, rtol=1e-12)


def test_the_three_points_have_the_published_line_and_loss():
    data = three_points(KEY)
    beta = ols(data)
    # As many digits as are published.
    np.testing.assert_allclose(beta[:, 0], [-0.06154, 0.64359], atol=5e-6)
    np.testing.assert_allclose(
        mse(data.x @ beta, data.y, data.weight), 0.175043, atol=5e-7
    )


# two_group


def test_a_two_group_fit_is_least_squares_on_each_side():
    data, direction = random_sample(0, 40, 3), np.array([1.0, -0.5, 0.2])
    fitted = two_group_fit(padded(data, 5), jnp.asarray(direction))
    x, y = np.asarray(data.x), np.asarray(data.y)
    for group, beta in ((x @ direction > 0, fitted[0]), (x @ direction < 0, fitted[1])):
        expected = np.linalg.lstsq(x[group], y[group], rcond=None)[0]
        np.testing.assert_allclose(beta, expected, rtol=1e-12)


@functools.cache
def errors_of_many_fits(n, d=5, draws=4000):
    """Train and test errors in units of σ² of both fits; exact over x ~ N(0, I)."""

    @jax.jit
    @jax.vmap
    def errors(key):
        data = gaussian_teacher(key, n=n, d=d, sigma=0.3, n_test=1)
        direction = data.features[0]
        one, two = ols(data), two_group_fit(data, direction)
        is_up = (data.x @ direction > 0)[:, None]
        split = jnp.where(is_up, data.x @ two[0], data.x @ two[1])
        train_one = mse(data.x @ one, data.y, data.weight)
        train_two = mse(split, data.y, data.weight)
        # On each side E[x xᵀ] = I, because x xᵀ does not tell x from −x.
        test_one = 0.09 + jnp.sum((one[:, 0] - direction) ** 2)
        test_two = 0.09 + jnp.sum((two[..., 0] - direction[None, :]) ** 2) / 2
        return jnp.stack([train_one, test_one, train_two, test_two]) / 0.09

    return np.asarray(errors(jax.random.split(KEY, draws)))


def mean_and_band(values):
    """Mean, and 4 standard errors of it."""
    return values.mean(0), 4 * values.std(0) / np.sqrt(len(values))


@pytest.mark.long
@pytest.mark.parametrize("n", [50, 100, 300])
def test_monte_carlo_meets_the_law_of_least_squares(n):
    mean, band = mean_and_band(errors_of_many_fits(n)[:, :2])
    law = np.ravel(ols_law(np.array([float(n)]), 5, 1.0))
    assert np.all(np.abs(mean - law) < band)


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 100, 300])
def test_monte_carlo_meets_the_two_group_law(n):
    mean, band = mean_and_band(errors_of_many_fits(n)[:, 2:])
    train, test = np.ravel(two_group_law(np.array([float(n)]), 5, 1.0))
    assert abs(mean[0] - train) < band[0]
    # The law takes n/2 for the size of a group; its mean over the binomial sizes is
    # what the draws show, and larger by Jensen.
    size = np.arange(8, n - 7)
    chance = binom.pmf(size, n, 0.5)
    averaged = 1 + np.sum(chance * 5 / (size - 6)) / np.sum(chance)
    assert abs(mean[1] - averaged) < band[1]
    # As its docstring has it.
    assert 0 < averaged / test - 1 < {50: 9e-3, 100: 2e-3, 300: 1e-3}[n]


def test_the_laws_are_as_published():
    # d = 5, in units of σ².
    train, test = two_group_law(np.array([50.0, 100, 300]), 5, 1.0)
    np.testing.assert_allclose(train, [0.8, 0.9, 0.967], atol=5e-4)
    np.testing.assert_allclose(test, [1.263, 1.114, 1.035], atol=5e-4)


def test_the_laws_are_nan_where_the_mean_does_not_exist():
    train, test = two_group_law(np.array([1.0, 12, 13]), 5, 1.0)
    np.testing.assert_array_equal(np.isnan(train), [True, True, False])
    np.testing.assert_array_equal(np.isnan(test), [True, True, False])
    train, test = ols_law(np.array([1.0, 6, 7]), 5, 1.0)
    np.testing.assert_array_equal(np.isnan(train), [True, True, False])
    np.testing.assert_array_equal(np.isnan(test), [True, True, False])


# extremal_vectors


def extrema_on_a_grid(data, size):
    """Angles of the strict local extrema of G on a dense grid, and their kinds."""
    angle = 2 * np.pi * (np.arange(size) + 0.5) / size
    value = value_of(data, np.stack([np.cos(angle), np.sin(angle)], axis=1))
    before, after = np.roll(value, 1), np.roll(value, -1)
    # Three points of a flat cell are equal up to rounding; those are no extrema.
    top = (value > before + 1e-15) & (value >= after)
    bottom = (value < before - 1e-15) & (value <= after)
    is_flat = np.abs(value) < 1e-13
    found = (top | bottom) & ~is_flat
    return angle[found], np.where(top, 1, -1)[found]


@pytest.mark.parametrize("n", [1, 2, 3, 6, 12])
@pytest.mark.parametrize("seed", range(6))
def test_in_the_plane_all_extrema_are_found_and_none_besides(n, seed):
    data, size = random_sample(seed, n, 2), 40_000
    angle, kind = extrema_on_a_grid(data, size)
    exact = extremal_vectors(data)
    found = np.arctan2(exact.direction[:, 1], exact.direction[:, 0]) % (2 * np.pi)
    order = np.argsort(found)
    np.testing.assert_array_equal(exact.kind[order], kind)
    # An extremum is within one spacing of the best grid point.
    np.testing.assert_allclose(found[order], angle, atol=2 * np.pi / size)


def test_in_the_plane_parallel_samples_share_their_kinks():
    x = [[1.0, 2], [2, 4], [-1, -2], [0.3, -1], [-3, 10]]
    y = [1.0, -0.4, 0.7, -1, 0.2]
    merged = [[1.0, 2], [-1, -2], [0.3, -1], [-0.3, 1]]
    a = extremal_vectors(sample(x, y, [0.2] * 5))
    b = extremal_vectors(sample(merged, [0.2, 0.7, -1, 2], [0.2] * 4))
    np.testing.assert_allclose(a.direction, b.direction, atol=1e-14)
    np.testing.assert_allclose(a.value * 5, b.value * 4, rtol=1e-13)
    np.testing.assert_array_equal(a.kind, b.kind)


def test_all_positive_neurons_of_the_three_points_turn_to_one_direction():
    data = three_points(KEY)
    found = extremal_vectors(data)
    assert found.kind.tolist() == [1]
    # All three points are active there, and the direction is that of Σ y_k x_k.
    assert np.all(np.asarray(data.x) @ found.direction[0] > 0)
    drive = np.asarray(data.x).T @ np.asarray(data.y)[:, 0] / 3
    unit = drive / np.linalg.norm(drive)
    np.testing.assert_allclose(found.direction[0], unit, rtol=1e-14)
    np.testing.assert_allclose(found.value[0], np.linalg.norm(drive), rtol=1e-14)
    line = np.asarray(ols(data))[:, 0]
    # Four digits are published.
    np.testing.assert_allclose(unit @ line / np.linalg.norm(line), 0.9626, atol=5e-5)


def test_the_toy_has_one_maximum_and_one_minimum_at_the_two_points():
    data = orthogonal_toy(KEY)
    found = extremal_vectors(data)
    sums = minimum_norm(data)
    expected = [sums.positive, -sums.negative]
    expected = [v / np.linalg.norm(v) for v in expected]
    np.testing.assert_array_equal(found.kind, [1, -1])
    np.testing.assert_allclose(found.direction, expected, atol=1e-15)


def test_orthogonal_points_of_one_sign_hold_neurons_from_the_dead_side_of_each_other():
    found = extremal_vectors(sample([[1.0, 0], [0, 2]], [1.0, 1]))
    np.testing.assert_array_equal(found.kind, [1, 0, 0])
    expected = [[0.2**0.5, 0.8**0.5], [0, 1], [1, 0]]
    np.testing.assert_allclose(found.direction, expected, atol=1e-15)


@pytest.mark.slow
def test_on_orthogonal_data_every_set_of_one_sign_has_its_own_direction():
    data = orthogonal(KEY, n=5, d=7, n_test=1)
    up = int(np.sum(np.asarray(data.y) > 0))
    found = extremal_vectors(data, samples=400)
    # Those with all samples of a sign are extrema, the others hold from one side only.
    assert len(found.value) == (2**up - 1) + (2 ** (5 - up) - 1)
    assert sorted(found.kind[found.kind != 0].tolist()) == [-1, 1]
    best = found.direction[found.kind != 0]
    np.testing.assert_allclose(best, best[0] @ best[0] * _signed(data), atol=1e-12)


def _signed(data):
    """Directions of ±Σ± y x, larger value of G first."""
    x, y = np.asarray(data.x), np.asarray(data.y)[:, 0]
    sums = [np.maximum(y, 0) @ x, -np.minimum(y, 0) @ x]
    sums.sort(key=np.linalg.norm, reverse=True)
    return np.array([s / np.linalg.norm(s) for s in sums])


def test_extremal_vectors_do_not_see_padding_or_samples_without_pull():
    for d in (2, 3):
        data = random_sample(3, 8, d)
        silent = sample(np.ones((1, d)), [0.0])
        longer = jax.tree.map(
            lambda u, v: jnp.concatenate([u, v]),
            eqx.tree_at(lambda s: s.features, data, jnp.zeros((0, d))),
            eqx.tree_at(lambda s: s.features, silent, data.features),
        )
        plain, other = extremal_vectors(data), extremal_vectors(padded(longer, 4))
        np.testing.assert_allclose(plain.direction, other.direction, atol=1e-12)
        # One more sample that weighs: G is a mean over nine.
        np.testing.assert_allclose(plain.value * 8, other.value * 9, rtol=1e-12)
        np.testing.assert_array_equal(plain.found, other.found)


def test_on_a_line_the_two_directions_are_known():
    found = extremal_vectors(sample([[1.0], [2], [-1]], [1.0, -3, -2]), samples=20)
    # G(1) = (1 − 6)/3 and G(−1) = −2/3.
    np.testing.assert_allclose(found.direction, [[1], [-1]])
    np.testing.assert_allclose(found.value, [-5 / 3, -2 / 3], rtol=1e-15)
    np.testing.assert_array_equal(found.kind, [-1, -1])


@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_sample_without_pull_has_no_extremal_vector(d):
    found = extremal_vectors(sample(np.ones((4, d)), np.zeros(4)), samples=5)
    assert found.direction.shape == (0, d)
    assert found.value.shape == found.kind.shape == found.found.shape == (0,)


def test_several_outputs_are_refused():
    data = random_sample(0, 5, 2)
    two = dataclasses.replace(data, y=jnp.ones((5, 2)), mean=jnp.ones((5, 2)))
    for oracle in (extremal_vectors, minimum_norm):
        with pytest.raises(ValueError, match="`data.y` must have one column"):
            oracle(two)
    with pytest.raises(ValueError, match="`data.y` must have one column"):
        early_drive(two, half_mse, jnp.ones((3, 2)))


@pytest.mark.parametrize("seed", range(5))
def test_climbing_from_random_starts_agrees_with_sorting_angles(seed):
    data = random_sample(seed, 9, 2)
    exact = extremal_vectors(data)
    grows = exact.value * exact.kind > 0
    starts = np.random.default_rng(0).normal(size=(300, 2))
    pull = np.asarray(data.y)[:, 0] / 9
    direction, kind, found = critical_on_sphere(np.asarray(data.x), pull, starts)
    order = np.argsort(-np.abs(value_of(data, direction)))
    np.testing.assert_allclose(direction[order], exact.direction[grows], atol=1e-12)
    np.testing.assert_array_equal(kind[order], exact.kind[grows])
    assert np.all(found > 0)


@functools.cache
def noisy_linear(n, d):
    data = gaussian_teacher(KEY, n=n, d=d, sigma=0.3, n_test=1)
    return data, extremal_vectors(data)


@pytest.mark.parametrize(("n", "d"), [(30, 3), (80, 5), (60, 10)])
def test_each_direction_is_a_subgradient_there_and_a_strict_extremum(n, d):
    data, found = noisy_linear(n, d)
    x, pull = np.asarray(data.x), np.asarray(data.y)[:, 0] / n
    rng = np.random.default_rng(0)
    for w, value, kind in zip(found.direction, found.value, found.kind, strict=True):
        side = x @ w
        # Rounding of w against the hyperplanes; the others are 1e-4 away or more.
        on = np.abs(side) < 1e-9
        rest = value * w - pull[side * ~on > 0] @ x[side * ~on > 0]
        if on.any():
            fit = lsq_linear((pull[on][:, None] * x[on]).T, rest, bounds=(0, 1))
            rest = fit.fun
        assert np.linalg.norm(rest) < 1e-9
        near = w + 1e-6 * rng.normal(size=(200, d))
        near /= np.linalg.norm(near, axis=1, keepdims=True)
        assert np.all(kind * (value_of(data, near) - value) < 0)


@pytest.mark.parametrize(("n", "d"), [(30, 3), (80, 5)])
def test_gradient_ascent_on_the_sphere_ends_at_the_listed_vectors(n, d):
    data, found = noisy_linear(n, d)
    x, pull = np.asarray(data.x), np.asarray(data.y)[:, 0] / n
    for sign in (1, -1):
        w = np.random.default_rng(5).normal(size=(100, d))
        for t in range(3000):
            w /= np.linalg.norm(w, axis=1, keepdims=True)
            w += sign * 8 / (10 + t) * ((w @ x.T > 0) * pull[None, :]) @ x
        w /= np.linalg.norm(w, axis=1, keepdims=True)
        listed = found.direction[found.kind == sign]
        gap = np.linalg.norm(w[:, None] - listed[None], axis=2)
        # Steps of 8/t leave t^(−8|G|) of a start, 2e-6; chatter at a kink is smaller
        # than the last step, 3e-3 |D|.
        assert gap.min(axis=1).max() < 3e-3
        assert set(gap.argmin(axis=1)) == set(range(len(listed)))


@pytest.mark.slow
def test_extremal_vectors_of_a_linear_teacher_close_in_on_it_like_root_d_over_n():
    def angle(n, seed):
        data = gaussian_teacher(jax.random.key(seed), n=n, d=3, sigma=0.3, n_test=1)
        found = extremal_vectors(data, samples=40)
        cosine = found.direction @ np.asarray(data.features[0])
        np.testing.assert_array_equal(np.sign(cosine), found.kind)
        return np.arccos(np.abs(cosine).min())

    few, many = (np.mean([angle(n, s) for s in range(12)]) for n in (100, 1600))
    # 4 by the law; the mean of 12 angles has a relative error near 15 %.
    assert 2.5 < few / many < 6.5


def test_the_alignment_rate_of_a_linear_teacher_is_half_its_length():
    data = gaussian_teacher(KEY, n=100_000, d=2, n_test=1)
    found = extremal_vectors(data)
    best = found.value[found.kind * found.value > 0]
    # |G| = |Σβ*|/2 = 1/2; the standard error of a mean of y (w·x)₊ is 0.004.
    np.testing.assert_allclose(np.abs(best), 0.5, atol=0.015)


# early_drive and early_phase


@pytest.mark.parametrize("loss", [half_mse, mse, logistic, exponential, hinge])
def test_the_drive_is_what_the_gradient_of_a_small_network_shows(loss):
    data = padded(random_sample(0, 12, 3), 4)
    data = dataclasses.replace(data, y=jnp.sign(data.y))
    rng = np.random.default_rng(1)
    w, a = jnp.asarray(rng.normal(size=(6, 3))), jnp.asarray(rng.normal(size=(6, 1)))
    small = 1e-9

    def objective(network):
        return loss(jax.vmap(network)(data.x), data.y, data.weight)

    gradient = eqx.filter_grad(objective)(TwoLayer(w=small * w, a=small * a))
    drive = early_drive(data, loss, w)
    # f is of order 1e-18 · 6: the gradient is linear in it to 16 digits.
    np.testing.assert_allclose(-gradient.w / small, a * drive, atol=1e-13)
    np.testing.assert_allclose(
        -gradient.a[:, 0] / small, jnp.sum(w * drive, axis=1), atol=1e-13
    )


def test_the_loss_sets_the_clock_of_the_drive():
    data = random_sample(0, 12, 3)
    data = dataclasses.replace(data, y=jnp.sign(data.y))
    w = jax.random.normal(KEY, (5, 3), jnp.float64)
    drive = early_drive(data, half_mse, w)
    for loss, factor in ((mse, 2), (logistic, 0.5), (exponential, 1), (hinge, 1)):
        np.testing.assert_allclose(
            early_drive(data, loss, w), factor * drive, rtol=1e-14
        )


def test_an_extremal_vector_is_parallel_to_its_drive_and_g_is_its_length():
    data = random_sample(4, 9, 2)
    found = extremal_vectors(data)
    inside = np.abs(np.asarray(data.x) @ found.direction.T).min(axis=0) > 1e-9
    assert inside.any()
    drive = early_drive(data, half_mse, jnp.asarray(found.direction[inside]))
    expected = found.value[inside][:, None] * found.direction[inside]
    np.testing.assert_allclose(drive, expected, atol=1e-14)


def frozen(seed=0, m=5, d=3):
    rng = np.random.default_rng(seed)
    return tuple(
        jnp.asarray(v)
        for v in (rng.normal(size=(m, d)), rng.normal(size=m), rng.normal(size=(m, d)))
    )


def test_the_early_phase_solves_its_equation():
    w, a, drive = frozen()
    drives = np.asarray(drive)

    def field(_, state):
        weights, outputs = state[:15].reshape(5, 3), state[15:]
        return np.concatenate(
            [(outputs[:, None] * drives).ravel(), np.sum(weights * drives, axis=1)]
        )

    start = np.concatenate([np.asarray(w).ravel(), np.asarray(a)])
    solution = solve_ivp(
        field, (0, 1.7), start, method="DOP853", rtol=1e-12, atol=1e-13
    )
    moved_w, moved_a = early_phase(w, a, drive, 1.7)
    # The tolerance of the integrator, times the growth e^(|D| t) ≈ 100.
    np.testing.assert_allclose(moved_w.ravel(), solution.y[:15, -1], rtol=1e-9)
    np.testing.assert_allclose(moved_a, solution.y[15:, -1], rtol=1e-9)


def test_the_early_phase_conserves_balancedness():
    w, a, drive = frozen()
    before = a**2 - jnp.sum(w**2, axis=1)
    w, a = early_phase(w, a, drive, 1.0)
    scale = float(jnp.max(a**2))
    np.testing.assert_allclose(a**2 - jnp.sum(w**2, axis=1), before, atol=1e-14 * scale)


def test_the_early_phase_is_a_flow_and_runs_backwards():
    w, a, drive = frozen()
    twice = early_phase(*early_phase(w, a, drive, 0.4), drive, 0.3)
    for got, expected in zip(twice, early_phase(w, a, drive, 0.7), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-13)
    back = early_phase(*early_phase(w, a, drive, 0.7), drive, -0.7)
    for got, expected in zip(back, (w, a), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_a_neuron_without_drive_rests():
    w, a, drive = frozen()
    moved_w, moved_a = early_phase(w, a, 0 * drive, 3.0)
    np.testing.assert_array_equal(moved_w, w)
    np.testing.assert_array_equal(moved_a, a)


def test_the_decaying_mode_keeps_its_digits():
    drive = jnp.asarray([[5.0, 0.0]])
    w, a = jnp.asarray([[1.0, 0.0]]), jnp.asarray([-1.0])
    moved_w, moved_a = early_phase(w, a, drive, 6.0)
    # cosh − sinh would leave nothing of e^(−30).
    np.testing.assert_allclose(moved_a, [-np.exp(-30)], rtol=1e-13)
    np.testing.assert_allclose(moved_w, [[np.exp(-30), 0]], atol=1e-15)


# minimum_norm


def test_the_toy_has_the_published_group_sums_and_norm():
    found = minimum_norm(padded(orthogonal_toy(KEY), 3))
    np.testing.assert_allclose(found.positive, [0.4, 0.2], rtol=1e-15)
    np.testing.assert_allclose(found.negative, [0.4, -0.8], rtol=1e-15)
    # √0.2 + √0.8 exactly; six digits are published.
    np.testing.assert_allclose(found.half_squared_norm, 0.2**0.5 + 0.8**0.5, rtol=1e-15)
    np.testing.assert_allclose(found.half_squared_norm, 1.341641, atol=5e-7)


@pytest.mark.slow
def test_two_balanced_neurons_with_the_group_sums_interpolate_with_that_norm():
    data = orthogonal(KEY, n=9, d=12)
    found = minimum_norm(data)
    sums = jnp.stack([found.positive, -found.negative])
    root = jnp.sqrt(jnp.linalg.norm(sums, axis=1))[:, None]
    network = TwoLayer(w=sums / root, a=root * jnp.asarray([[1.0], [-1.0]]))
    np.testing.assert_allclose(jax.vmap(network)(data.x), data.y, atol=1e-14)
    squared = jnp.sum(network.w**2) + jnp.sum(network.a**2)
    np.testing.assert_allclose(squared / 2, found.half_squared_norm, rtol=1e-14)
    y = np.asarray(data.y)[:, 0]
    by_groups = sum(np.sqrt(np.sum(y[s] ** 2 / 12)) for s in (y > 0, y < 0))
    np.testing.assert_allclose(found.half_squared_norm, by_groups, rtol=1e-13)


@pytest.mark.slow
def test_no_pair_of_opposite_neurons_interpolates_with_less_than_the_least_norm():
    # To interpolate with (v₊·x)₊ − (v₋·x)₊, v₊·x ≥ y where y > 0 and v₋·x ≥ −y where
    # y < 0 are necessary.  These two convex problems alone cost as much.
    data = orthogonal(KEY, n=4, d=5, labels="random", n_test=1)
    x, y = np.asarray(data.x), np.asarray(data.y)[:, 0]
    least = 0.0
    for group, sign in ((y > 0, 1), (y < 0, -1)):
        rows, bound = x[group], sign * y[group]
        result = minimize(
            lambda v: v @ v,
            np.ones(5),
            jac=lambda v: 2 * v,
            method="SLSQP",
            constraints={
                "type": "ineq",
                "fun": lambda v, rows=rows, bound=bound: rows @ v - bound,
            },
            options={"ftol": 1e-14},
        )
        assert result.success
        least += float(np.linalg.norm(result.x))
    # The solver's tolerance, on the square of the norm.
    found = minimum_norm(data).half_squared_norm
    np.testing.assert_allclose(found, least, rtol=1e-6)


@pytest.mark.slow
def test_padding_and_compilation_leave_the_least_norm_as_it_is():
    data = orthogonal(KEY, n=9, d=12)
    plain, compiled = minimum_norm(data), jax.jit(minimum_norm)(padded(data, 7))
    for got, expected in zip(compiled, plain, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-15)


# sequential_fit


def test_groups_are_fitted_in_the_order_in_which_neurons_arrive():
    # Pulls 4, 3 and 1 over n = 3; neurons see {0, 1}, {1, 2} and {2}.
    data = sample(np.eye(3), [4.0, 3, 1])
    w = np.array([[1.0, 1, -1], [-1, 1, 1], [-1, -1, 1]])
    found = sequential_fit(padded(data, 5), w, np.ones(3))
    np.testing.assert_array_equal(found.group, [0, 0, 1] + 5 * [-1])
    np.testing.assert_array_equal(found.sign, [1, 1])
    np.testing.assert_allclose(found.mass, [5.0, 1.0], rtol=1e-14)
    # The first takes 3/5; the second has gone √10/5 of its way by then.
    second = 3 / 5 + (1 - 10**0.5 / 5) * 3
    np.testing.assert_allclose(found.time, [3 / 5, second], rtol=1e-14)


def test_a_neuron_that_sees_its_sign_makes_it_one_group_and_the_norm_the_least():
    data = orthogonal(KEY, n=9, d=12)
    sums = minimum_norm(data)
    w = np.stack([sums.positive, -sums.negative, sums.negative])
    found = sequential_fit(data, w, np.array([0.5, -2.0, 1.0]))
    y = np.asarray(data.y)[:, 0]
    np.testing.assert_array_equal(found.sign[found.group], np.sign(y))
    np.testing.assert_allclose(found.mass.sum(), sums.half_squared_norm, rtol=1e-13)
    # Without the second neuron no sample with a negative label is ever fitted.
    fewer = sequential_fit(data, w[[0, 2]], np.ones(2))
    np.testing.assert_array_equal(fewer.group, np.where(y > 0, 0, -1))


def test_the_groups_are_those_of_eulers_method_from_a_tiny_start():
    rng, log_scale, step = np.random.default_rng(3), 200.0, 0.02
    n, m = 6, 8
    # Products that are 0 but for rounding would wake neurons that sleep.
    x, y = 2 * np.eye(n), rng.normal(size=n)
    w, signs = rng.normal(size=(m, n)), np.sign(rng.normal(size=m))
    law = sequential_fit(sample(x, y), w, signs)
    assert (law.group >= 0).all()
    assert len(law.mass) == 3
    w = w * np.exp(-log_scale)
    a = signs * np.linalg.norm(w, axis=1)
    half = np.full(n, np.nan)
    for k in range(int(1.2 * log_scale * law.time[-1] / step)):
        active = x @ w.T > 0
        residual = y - (active * (x @ w.T)) @ a
        half[np.isnan(half) & (np.abs(residual) < np.abs(y) / 2)] = k * step
        drive = (active * residual[:, None]).T @ x / n
        w, a = w + step * a[:, None] * drive, a + step * np.sum(w * drive, axis=1)
    np.testing.assert_allclose(residual, 0, atol=1e-3)
    # What is left out is of the order 1/ln(1/λ) on the clock.
    np.testing.assert_allclose(half, log_scale * law.time[law.group], rtol=0.05)
    np.testing.assert_allclose((w**2).sum(), law.mass.sum(), rtol=1e-3)

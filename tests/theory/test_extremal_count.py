"""Laws of the number of extremal vectors, against lists, walks and closed forms."""

import math
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import k1e
from tree import ROOT

from simbias.core import Dataset
from simbias.theory.extremal_count import (
    extremal_chance,
    extremal_count,
    extremal_count_at,
    extremal_spread,
)
from simbias.theory.extremal_vectors import extremal_vectors
from simbias.theory.plane_extrema import plane_extrema


def teacher(seed, n, d, sigma=1.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    return x, x[:, 0] + sigma * rng.normal(size=n)


def listed(x, y, samples=200):
    arrays = x, y[:, None], np.ones(len(x)), y[:, None], np.eye(x.shape[1])[:1]
    return extremal_vectors(Dataset(*map(jnp.array, arrays)), samples=samples)


counts = jax.jit(jax.vmap(plane_extrema))


@pytest.mark.parametrize("n", [1, 3, 60])
def test_the_numbers_in_the_plane_are_those_of_the_complete_list(n):
    x, y = map(np.stack, zip(*(teacher(seed, n, 2) for seed in range(12)), strict=True))
    seen = jax.device_get(counts(jnp.array(x), jnp.array(y / n)))
    for seed in range(12):
        found = listed(x[seed], y[seed])
        for i, sign in enumerate((1, -1)):
            grows = sign * found.value > 0
            tops = found.direction[grows & (found.kind == sign)]
            assert (seen.inside + seen.on_kinks)[seed, i] == len(tops)
            assert seen.between[seed, i] == np.sum(grows & (found.kind == -sign))
            if n == 60 and len(tops):
                angle = np.arccos(np.clip(tops @ tops.T, -1, 1)).max()
                np.testing.assert_allclose(seen.spread[seed, i], angle, atol=1e-7)


def test_rows_without_a_pull_and_other_samples_change_no_number():
    x, y = map(jnp.array, teacher(0, 40, 2, sigma=3.0))
    alone = counts(x[None], y[None])
    x, y = jnp.pad(x, ((0, 9), (0, 0))), jnp.pad(y, (0, 9))
    for one, two in zip(
        alone, counts(jnp.stack([x, -x]), jnp.stack([y, y])), strict=True
    ):
        np.testing.assert_allclose(one[0], two[0], atol=1e-12)


def test_without_a_kink_there_is_one_maximum_of_each_sign():
    x, y = map(jnp.array, teacher(1, 30, 2, sigma=3.0))
    found = jax.jit(plane_extrema)(x, y, 1.0)
    np.testing.assert_array_equal(found.inside, [1, 1])
    np.testing.assert_array_equal(found.on_kinks, [0, 0])


@pytest.mark.parametrize("sigma", [0.0, 0.3, 1.0, 10.0])
@pytest.mark.parametrize("slope", [0.0, 0.5])
def test_the_probabilities_sum_to_one_and_have_the_mean_of_the_law(sigma, slope):
    chance = extremal_chance(2000, sigma, slope=slope)
    assert chance.sum() == pytest.approx(1, abs=1e-12)
    mean = chance @ np.arange(1, 2001)
    assert mean == pytest.approx(extremal_count(2, sigma, slope=slope), rel=1e-10)


def test_a_walk_with_a_drift_and_laplace_jumps_has_these_laws():
    # Down-crossings of 0 by a walk that starts far above.
    rng, sigma, walks, steps = np.random.default_rng(0), 1.0, 4000, 400
    gap = rng.exponential(size=(walks, steps))
    jump = sigma * rng.laplace(size=(walks, steps))
    after = 40 + np.cumsum(jump - math.pi / 2 * gap, axis=1)
    before = after - jump  # after the drift, before the jump
    start = np.concatenate([np.full((walks, 1), 40), after[:, :-1]], axis=1)
    time = np.cumsum(gap, axis=1)
    drifted, jumped = (start > 0) & (before < 0), (before > 0) & (after < 0)
    number = drifted.sum(1) + jumped.sum(1)
    assert after[:, -1].max() < -20
    share = np.bincount(number, minlength=5)[1:4] / walks
    law = extremal_chance(3, sigma)
    np.testing.assert_allclose(share, law, atol=4 * (law.max() / walks) ** 0.5)
    # The time of a crossing by the drift is inside the step.
    moment = np.where(drifted, time - gap + start / (math.pi / 2), time)
    moment = np.where(drifted | jumped, moment, np.nan)
    several = moment[number > 1]
    spread = np.nanmax(several, axis=1) - np.nanmin(several, axis=1)
    error = spread.std() / len(spread) ** 0.5
    assert abs(spread.mean() - extremal_spread(sigma)) < 4 * error
    assert error < 0.1


@pytest.mark.parametrize("sigma", [0.01, 0.3, 3.0])
def test_the_mean_at_finite_n_has_a_closed_form_in_the_plane(sigma):
    n, signal = 70, 1 + sigma**2
    z = n * sigma**2 / (8 * signal)
    closed = 1 + 4 * math.sqrt(signal / (math.pi * n)) / math.pi * z * k1e(z)
    assert extremal_count_at(n, sigma) == pytest.approx(closed, rel=1e-7)


@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_the_mean_at_finite_n_goes_to_that_of_the_limit(d):
    assert extremal_count_at(10**9, 0.7, d=d) == pytest.approx(
        extremal_count(d, 0.7), rel=1e-6
    )
    clean = [extremal_count_at(n, 0.0, d=d) - 1 for n in (10**6, 10**8)]
    np.testing.assert_allclose(clean[0], 10 * clean[1], rtol=1e-2)


def test_in_three_dimensions_a_search_finds_what_the_complete_list_has(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from _exact_sphere import maxima_on_sphere  # pyright: ignore

    for seed in range(8):
        x, y = teacher(seed, 25, 3)
        found = listed(x, y, samples=400)
        up = (found.kind == 1) & (found.value > 0)
        assert maxima_on_sphere(x, y / 25).sum() == up.sum()
    sys.modules.pop("_exact_sphere")


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: extremal_count(0, 1.0), "`d`"),
        (lambda: extremal_count(2, -1.0), "`sigma`"),
        (lambda: extremal_count(2, 1.0, slope=-1.0), "`slope`"),
        (lambda: extremal_chance(0, 1.0), "`most`"),
        (lambda: extremal_spread(0.0), "`sigma`"),
        (lambda: extremal_count_at(0, 1.0), "`n`"),
    ],
)
def test_sizes_and_numbers_out_of_range_are_refused_by_name(call, name):
    with pytest.raises(ValueError, match=name):
        call()

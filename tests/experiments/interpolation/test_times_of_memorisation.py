"""Times and exponents of histories in closed form."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

from simbias.core import Status
from simbias.experiments.interpolation.times_of_memorisation import (
    CASES,
    claims,
    experiment,
    make,
    numbers,
)
from simbias.numerics.exact_numerics import exact_numerics

D = 16
SIZES = np.array([32, 64, 128, 256])


def made(power=1.0, seeds=12):
    """Train error (1 − d/n)σ² e^{−t/τ}, τ ∝ n^power/λ²; the excess risk is a parabola.

    In the logarithm of t, with its least value at t = 1; it is constant for σ = 0.
    """
    times = np.asarray(experiment("quick").times)
    n, case = SIZES[:, None, None, None], list(CASES)
    scale, _, sigma = (
        np.array([CASES[k][i] for k in case])[None, :, None, None] for i in range(3)
    )
    factor = np.linspace(0.9, 1.1, seeds)[None, None, :, None]
    tau = 0.01 * factor * n**power / scale**2
    train = sigma**2 * (1 - D / n) * np.exp(-times / tau)
    log = np.log(np.maximum(times, 1e-3))
    excess = np.exp(0.1 * log**2 * (sigma > 0)) + 0 * train
    dims = ("n", "case", "seed", "time")
    return xr.Dataset(
        {
            "train_risk": (dims, train),
            "excess_risk": (dims, excess),
            "status": (dims[:3], np.full(train.shape[:3], int(Status.REACHED_TIME))),
        },
        {"n": SIZES, "case": case, "seed": np.arange(seeds), "time": times, "d": D},
    )


def test_times_are_those_of_the_histories():
    seen = numbers(made()).sel(case="base", seed=0)
    tau = 0.01 * 0.9 * SIZES
    np.testing.assert_allclose(seen["mem"], tau * np.log(2), rtol=1e-2)
    np.testing.assert_allclose(
        seen["gen"], np.exp(-np.sqrt(np.log(1.1) / 0.1)), rtol=0.05
    )
    np.testing.assert_allclose(
        seen["over"], np.exp(np.sqrt(np.log(1.2) / 0.1)), rtol=0.05
    )


def test_a_level_that_is_not_reached_is_the_final_time_in_the_bound_only():
    seen = numbers(made()).sel(case="small", n=256)
    assert bool(seen["mem"].isnull().all())
    assert bool((seen["bound"] == 1000).all())
    assert float(seen["is_fitted"].max()) == 0


def test_a_network_that_failed_has_no_time_and_no_bound():
    ds = made()
    ds["status"][{"seed": 0}] = int(Status.MAX_STEPS)
    seen = numbers(ds).sel(seed=0)
    for name in ("mem", "bound", "is_fitted", "rises"):
        assert bool(seen[name].isnull().all())


def test_without_noise_nothing_rises_and_nothing_is_memorised():
    seen = numbers(made()).sel(case="clean")
    assert float(seen["rises"].max()) == 0
    assert bool(seen["mem"].isnull().all())


@pytest.mark.parametrize(
    ("power", "verdict"), [(1.0, "supported"), (0.3, "contradicted")]
)
def test_exponents_are_those_of_the_histories(power, verdict):
    by = {c.statement: c for c in claims(made(power))}
    n = by["exponent of τ_mem in n"]
    assert n.verdict == verdict
    assert n.estimate.value == pytest.approx(power, abs=0.02)
    scale = by["exponent of τ_mem in λ"].estimate.value
    assert scale == pytest.approx(-2, abs=0.05)


def test_networks_of_one_seed_share_sample_and_teacher():
    with exact_numerics():
        key = jax.random.key(0)
        small, one = make(key, n=4, d=2, n_test=3)
        large, wide = make(key, n=9, d=2, n_test=3, case="wide")
    np.testing.assert_array_equal(large.x[:4], small.x)
    np.testing.assert_allclose(wide.w[:100] * jnp.sqrt(2), one.w, rtol=1e-14)

"""The slow clock, and exponents of distances that are put in by hand."""

import jax
import numpy as np
import pytest
import xarray as xr

from simbias.experiments.interpolation.norm_drift import (
    DECAY,
    SLOW,
    claims,
    experiment,
    make,
    slow,
)


def made(power=1.0, left=0.5, seeds=12):
    """θ_μ(τ/μ) = e^{−τ} + μ^power on the times of the quick preset."""
    quick = experiment("quick")
    decays, times = np.asarray(quick.cell[DECAY]), np.asarray(quick.times)
    tau = times * decays[:, None]
    shape = (2, len(decays), seeds, len(times))
    factor = np.linspace(0.9, 1.1, seeds)[None, None, :, None]
    off = decays[:, None, None] ** power * factor[0]
    weight = np.broadcast_to(np.exp(-tau)[:, None, :] + off, shape)
    risk = np.broadcast_to(
        1 - (1 - left) * tau.clip(0.1, 3) / 3, shape[1:2] + shape[3:]
    )
    risk = np.broadcast_to(risk[:, None], shape).copy()
    risk[0] = 1.0
    dims = ("m", DECAY, "seed", "time")
    loss = np.full(shape, 1e-6)
    loss[..., 0] = 1.0
    return xr.Dataset(
        {
            "weights": ((*dims, "neuron", "weight"), weight[..., None, None]),
            "norm": (dims, weight**2),
            "excess_risk": (dims, risk),
            "train_loss": (dims, loss),
        },
        {"m": [1, 40], DECAY: decays, "seed": np.arange(seeds), "time": times},
    )


def test_records_of_all_decays_meet_on_the_slow_clock():
    ds = made()
    ds["norm"] = xr.zeros_like(ds["norm"]) + ds["time"] * ds[DECAY]
    seen = slow(ds)["norm"]
    expected = xr.zeros_like(seen) + np.asarray(SLOW)
    np.testing.assert_allclose(seen.transpose(*expected.dims), expected, rtol=1e-12)


def test_a_result_that_ends_early_has_no_slow_clock():
    seen = slow(made().sel(time=slice(0, 1000)))["norm"]
    assert bool(seen.isel({DECAY: 0, "tau": -1}).isnull().all())
    assert bool(seen.isel({DECAY: -1, "tau": -1}).notnull().all())


@pytest.mark.parametrize(
    ("power", "verdict"), [(1.0, "supported"), (0.2, "contradicted")]
)
def test_the_exponent_is_that_of_the_distance(power, verdict):
    first = claims(made(power))[0]
    assert first.verdict == verdict
    # Over the last power of ten; the reference is at the least μ, not at 0.
    least, _, low, _, high = np.sort(experiment("quick").cell[DECAY])
    distance = lambda decay: decay**power - least**power
    exponent = np.log(distance(high) / distance(low)) / np.log(high / low)
    assert abs(first.estimate.value - exponent) < 1e-6


def test_a_risk_that_stays_contradicts_the_slow_phase():
    by_name = {c.statement: c.verdict for c in claims(made(left=1.0))}
    text = "excess risk at τ = 3.2 over that at τ = 0.1"
    assert by_name[text] == "contradicted"
    assert by_name[f"control, one neuron: {text}"] == "supported"


def test_the_teacher_is_linear_and_without_noise():
    data, _ = make(jax.random.key(0), m=3, n=4, d=2, n_test=5)
    np.testing.assert_allclose(data.y, data.mean)

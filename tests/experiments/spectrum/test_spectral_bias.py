"""Sums of waves, and the order in which they are learned."""

import jax
import numpy as np
import pytest
import xarray as xr

from simbias.analysis.rank_correlation import rank_correlation
from simbias.experiments.spectrum import spectral_bias as bias
from simbias.experiments.spectrum._waves import (
    check_waves,
    frequencies,
    order_of_medians,
    places,
    shares,
    times_to,
)
from simbias.networks.dense.mlp import Mlp

KEY = jax.random.key(0)


@pytest.mark.parametrize("sizes", ["equal", "rising"])
def test_the_target_has_the_amplitudes_it_names(sizes):
    data, net = bias.make(KEY, sizes=sizes, m=3, count=4, spacing=5, n=50)
    seen = 2 * np.abs(np.fft.rfft(np.asarray(data.y[:, 0]))) / 50
    expected = np.zeros(26)
    expected[5:21:5] = 1 if sizes == "equal" else np.arange(1, 5) / 4
    np.testing.assert_allclose(seen, expected, atol=1e-13)
    np.testing.assert_allclose(data.x[:, 0], np.arange(50) / 50)
    assert isinstance(net, Mlp)
    assert [w.shape[0] for w in net.weights] == [3] * 5 + [1]
    ds = xr.Dataset(
        {"amplitudes": ("frequency", seen)}, {"sizes": sizes, "count": 4, "spacing": 5}
    )
    np.testing.assert_allclose(shares(ds), 1, rtol=1e-12)
    np.testing.assert_array_equal(shares(ds)["frequency"], frequencies(4, 5))


def test_both_kinds_of_amplitudes_are_told_apart_along_their_axis():
    ds = xr.Dataset(
        {"amplitudes": (("frequency", "sizes"), np.array([[9, 9], [1, 0.5], [1, 1]]))},
        {"sizes": ["equal", "rising"], "count": 2},
    )
    np.testing.assert_allclose(shares(ds), 1)


def test_places_are_times_and_then_what_is_missing_at_the_end():
    time = np.array([0.0, 1.0, 2.0])
    rows = [[0, 0.6, 0.9], [0, 0.3, 0.6], [0, 0.1, 0.4], [0, 0.2, 0.2]]
    share = xr.DataArray(rows, {"time": time}, ("frequency", "time"))
    assert np.isnan(times_to(share)[2:]).all()
    seen = places(share)
    np.testing.assert_allclose(seen[:2], times_to(share)[:2])
    np.testing.assert_allclose(seen[2:], [2 * 1.1, 2 * 1.3])
    assert float(rank_correlation(seen, "frequency")) == pytest.approx(1)
    failed = places(share.where(share["time"] < 2))
    assert np.isnan(failed).all()


def test_medians_are_in_order_where_single_nets_are_not():
    rng = np.random.default_rng(0)
    k = np.arange(1, 11)
    late = xr.DataArray(k + rng.normal(size=(40, 10)), dims=("seed", "frequency"))
    seen = order_of_medians(late)
    assert float(rank_correlation(late, "frequency").mean()) < 0.97
    assert seen.value > 0.98
    assert 0.9 < seen.low <= seen.value <= seen.high <= 1
    turned = order_of_medians(late.isel(frequency=slice(None, None, -1)))
    assert turned.value == pytest.approx(-seen.value)
    # A net without a result is left out.
    gap = late.copy()
    gap[0, 0] = np.nan
    assert order_of_medians(gap).low == order_of_medians(late[1:]).low
    assert order_of_medians(late[:5]).low == -np.inf


@pytest.mark.parametrize("steps", [[9e3] * 3 + [np.nan] * 5, [9e3] * 7 + [np.nan]])
def test_a_net_that_never_learns_a_frequency_is_late_and_not_left_out(steps):
    share = np.zeros((1, 8, 121, 101))
    time = np.arange(0, 60_001, 500)
    for i, late in enumerate(steps):
        share[0, i, :, 10] = np.clip(0.95 * time / late, 0, 1) if late == late else 0.5
    ds = xr.Dataset(
        {"amplitudes": (("sizes", "seed", "time", "frequency"), share)},
        {"sizes": ["equal"], "time": bias.RATE * time},
    ).assign_coords({"m": 256, "depth": 5, "count": 10, "spacing": 5, "n": 200})
    (claim,) = (c for c in bias.claims(ds) if "k = 10 " in c.statement)
    assert claim.estimate.high == np.inf
    assert np.isinf(claim.estimate.value) == (np.isnan(steps).sum() > 4)
    assert claim.verdict == "inconclusive"


@pytest.mark.parametrize(
    "wrong",
    [
        {"n": 20},
        {"n": 0},
        {"count": 0},
        {"spacing": -1},
        {"m": 0},
        {"depth": 0},
    ],
)
def test_what_makes_no_sense_is_named(wrong):
    with pytest.raises(ValueError, match=f"`{next(iter(wrong))}`"):
        bias.make(KEY, **wrong)


def test_amplitudes_of_no_known_kind_are_named():
    with pytest.raises(ValueError, match="`sizes`"):
        check_waves("falling", 4, 1, 50)


def test_published_times_are_asked_for_in_the_sizes_of_the_paper_alone():
    preset = bias.experiment("paper")
    k = list(frequencies(10, 5))
    shape = ("sizes", "seed", "time", "frequency")
    steps = np.arange(0, 60_001, 500)
    late = np.array([bias.PUBLISHED.get(f, 60_000) for f in k])
    rng = np.random.default_rng(0)
    late = late * rng.uniform(0.95, 1.05, (1, 8, 1, 1))
    ramp = np.zeros((1, 8, len(steps), 101))
    ramp[..., k] = np.clip(0.95 * steps[:, None] / late, 0, 1)
    ds = xr.Dataset(
        {"amplitudes": (shape, ramp)},
        {"sizes": ["equal"], "time": bias.RATE * steps},
    ).assign_coords({"m": 256, "depth": 5, "count": 10, "spacing": 5, "n": 200})
    assert preset.times[-1] == pytest.approx(bias.RATE * 60_000)
    _, _, _, *times = bias.claims(ds)
    assert len(times) == 5
    assert {c.verdict for c in times} == {"supported"}
    _, _, _, *others = bias.claims(ds.assign_coords(m=64))
    assert {c.verdict for c in others} == {"not applicable"}

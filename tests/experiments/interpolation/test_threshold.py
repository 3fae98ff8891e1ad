"""Claims of the threshold tell two groups of neurons from what resembles them."""

import numpy as np
import pytest
import xarray as xr

from simbias.core import Estimate, Status
from simbias.experiments import threshold, threshold_scaling
from simbias.experiments.interpolation._exponents import Exponent
from simbias.figures import Estimates, Panels, without_laws
from simbias.theory.two_group import two_group_threshold

SEEDS = 20
SIGMA = 0.3
# Ends of a curve; gap and excess are in units of σ²d/n, by which the laws of one
# regression for all samples and of two differ.
ENDS = {
    "two groups": {"gap": 0.0, "excess": 0.0, "width": 2.0, "aligned": 1.0},
    "one regression": {"gap": 1.0, "excess": -1.0, "width": 2.0, "aligned": 1.0},
    "many groups": {"gap": -4.0, "excess": 3.0, "width": 12.0, "aligned": 0.5},
}


def result(kind, scale=1e-8, noise=0.3, sizes=(5, 20, 200, 400)):
    """A result over (n, seed, time) with such ends; all interpolate at n = 5 only."""
    rng, end = np.random.default_rng(0), ENDS[kind]
    n = np.array(sizes)
    unit = SIGMA**2 * 5 / n[:, None]
    shape = (len(n), SEEDS)
    spread = lambda: noise * rng.standard_normal(shape)
    columns = {
        "train_risk": np.where(n[:, None] < 10, 1e-6, SIGMA**2) * np.ones(shape),
        "two_group_gap": unit * (end["gap"] + spread()),
        "two_group_excess": unit * (end["excess"] + spread()),
        "alignment": np.full(shape, end["aligned"]),
    }
    dims = ("n", "seed", "time")
    variables = {k: (dims, v[..., None]) for k, v in columns.items()}
    variables["effective_width"] = (dims[:2], np.full(shape, end["width"]))
    variables["status"] = (dims[:2], np.full(shape, int(Status.REACHED_TIME)))
    cell = {"d": 5, "sigma": SIGMA, "scale": scale, "initial": "balanced"}
    return xr.Dataset(variables, {"n": n, "time": [3000.0], **cell})


def verdicts(ds):
    claims = threshold.claims(ds)
    assert claims[0].statement.startswith("n*")
    return [c.verdict for c in claims[1:]]


def test_two_groups_hold_at_every_size_from_d_cubed_on():
    # Five claims at 200 and at 400; 20 is below d³ = 125.
    assert verdicts(result("two groups")) == ["supported"] * 10


def test_one_regression_for_all_samples_fails_in_both_errors():
    assert verdicts(result("one regression"))[:3] == ["contradicted"] * 3


def test_a_network_of_many_groups_fails_everywhere():
    assert verdicts(result("many groups")) == ["contradicted"] * 10


def test_a_few_members_of_many_groups_open_the_means_and_not_the_medians():
    ds, other = result("two groups"), result("many groups")
    for name in ("two_group_gap", "two_group_excess", "effective_width"):
        ds[name][:, :3] = other[name][:, :3]
    expected = ["supported", "inconclusive", "inconclusive", "supported", "supported"]
    assert verdicts(ds) == expected * 2


def test_too_few_or_too_noisy_members_leave_the_errors_open():
    noisy = verdicts(result("two groups", noise=3.0))
    assert noisy[:3] == noisy[5:8] == ["inconclusive"] * 3
    one = verdicts(result("two groups").isel(seed=[0]))
    assert one == ["inconclusive"] * 10
    small = verdicts(result("two groups", sizes=(5, 20)))
    assert small == ["not applicable"]


def test_a_large_start_is_a_control_in_which_two_groups_must_not_appear():
    assert verdicts(result("many groups", scale=1e-3)) == ["supported"] * 6
    assert verdicts(result("two groups", scale=1e-3)) == ["contradicted"] * 6


def test_a_start_that_the_theorem_excludes_is_a_contrast():
    ds = result("many groups").assign_coords(initial="standard", scale=1.0)
    n_star, *others = threshold.claims(ds)
    assert len(others) == 10
    for claim in others:
        assert claim.statement.startswith("contrast, a start that theorem 2 excludes")
        assert claim.source.endswith("whose start theorem 2 excludes")
        assert claim.verdict == "contradicted"
    assert "theorem" not in n_star.source


def test_n_star_is_above_what_two_regressions_interpolate_and_from_a_large_start_d3():
    # Of the grid 5, 20, 200, 400 all interpolate up to one size, and none beyond.
    def n_star(upto, scale):
        ds = result("many groups", scale=scale)
        fitted = np.where(ds["n"].values[:, None, None] <= upto, 1e-6, SIGMA**2)
        ds["train_risk"][:] = fitted * np.ones((1, SEEDS, 1))
        return threshold.claims(ds)[0]

    seen = n_star(20, 1e-8)
    assert (seen.low, seen.high) == (two_group_threshold(5), 125)
    assert seen.verdict == "inconclusive"  # the gap of the grid, 20 to 200
    assert n_star(200, 1e-8).verdict == "contradicted"
    large = n_star(400, 1.0)
    assert large.statement.startswith("control: share that interpolates at n = 200")
    assert large.verdict == "supported"
    assert n_star(20, 1.0).verdict == "contradicted"


@pytest.mark.parametrize("d", [1, 2, 5, 9])
def test_two_regressions_interpolate_up_to_d_samples_each(d):
    rng, tries = np.random.default_rng(d), 4000
    share = lambda n: np.mean(
        [abs(2 * k - n) <= 2 * d - n for k in rng.binomial(n, 0.5, tries)]
    )
    at = two_group_threshold(d)
    assert share(int(np.floor(at))) >= 0.5 - 0.03
    assert share(int(np.floor(at)) + 1) < 0.5 + 0.03


def test_a_failed_member_is_left_out_and_not_counted_as_zero():
    ds = result("two groups")
    ds["two_group_gap"][:, 0] = np.nan
    ds["effective_width"][:, 0] = np.nan
    assert verdicts(ds) == ["supported"] * 10


def drawn(ds):
    shares = np.full((4, ds.sizes["seed"], 2), 0.5)
    ds["test_risk"] = ds["train_risk"] + SIGMA**2
    ds["cosine_histogram"] = (("n", "seed", "cosine"), shares)
    return threshold.figure(ds.assign_coords(cosine=[-0.5, 0.5]))


def test_without_a_teacher_three_sizes_have_a_histogram_each():
    with without_laws():
        above, below = drawn(result("two groups")).subfigs
    assert (len(above.axes), len(below.axes)) == (2, 3)


@pytest.mark.parametrize(("seeds", "bands"), [(SEEDS, 1), (2, 0)])
def test_a_band_of_n_star_is_drawn_only_of_enough_seeds(seeds, bands):
    ds = result("two groups").isel(seed=slice(seeds))
    train = drawn(ds).subfigs[0].axes[0]
    assert len(train.patches) == bands
    (label,) = [line.get_label() for line in train.lines if "n*" in line.get_label()]
    assert ("few seeds: 2" in label) == (not bands)


@pytest.mark.parametrize(
    ("ratio", "low", "high", "verdict"),
    [
        (1.02, 0.9, 1.1, "supported"),
        (1.06, 1.01, 1.51, "inconclusive"),
        (1.5, 1.3, 1.7, "contradicted"),
        (np.nan, 0.0, np.inf, "inconclusive"),
    ],
)
def test_the_width_does_not_matter_only_if_its_interval_says_so(
    ratio, low, high, verdict
):
    with np.errstate(divide="ignore"):
        exponents = np.log([ratio, low, high]) / np.log(16)
    p = Exponent(Estimate(*map(float, exponents), "by hand"), over=(50.0, 800.0))
    claim = threshold_scaling.ratio("m", p, (50.0, 800.0), "t = 1")
    assert claim.verdict == verdict


def scaled(alike, seeds=8):
    """Train errors over σ² at two sizes from two λ, of which so many pairs agree."""
    first = np.zeros((2, seeds))
    second = first.copy()
    second.ravel()[alike:] = 1
    values = xr.DataArray(
        [first, second], {"scale": [1e-14, 1e-12], "n": [8, 40]}, ("scale", "n", "seed")
    )
    return xr.Dataset({"train_risk": values})


@pytest.mark.parametrize(
    ("alike", "scale", "verdict"),
    [
        (64, 1e-12, "supported"),
        (4, 1e-12, "contradicted"),
        (62, 1e-12, "inconclusive"),
        (64, 0.1, "not applicable"),
    ],
)
def test_starts_that_are_both_small_end_alike_or_not(alike, scale, verdict):
    errors = scaled(alike, seeds=32).assign_coords(scale=[1e-14, scale])
    (claim,) = threshold_scaling.alike(errors, "t = 1")
    assert claim.verdict == verdict


@pytest.mark.parametrize(("left", "mark"), [(0.9, "v"), (0.0, "^")])
def test_a_threshold_outside_of_the_grid_is_drawn_at_its_end(left, mark):
    errors = xr.full_like(scaled(0), left)
    stars = threshold_scaling.thresholds(errors, "scale")
    kind = Estimates("stars", colour="series", x="scale", xscale="log")
    (panel,) = Panels(kind)(xr.Dataset({"stars": stars})).get_axes()
    panel.figure.canvas.draw()
    ends = [line for line in panel.lines if line.get_marker() == mark]
    assert any(np.isfinite(line.get_ydata()).all() for line in ends)
    other = [line for line in panel.lines if line.get_marker() in {"v", "^"} - {mark}]
    assert not any(np.isfinite(line.get_ydata()).any() for line in other)

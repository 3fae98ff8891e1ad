"""Claims about who interpolates, when, and who is left behind can fail."""

import numpy as np
import xarray as xr

from simbias.core import Status
from simbias.experiments import interpolating_samples, order_of_limits, stragglers
from simbias.theory.straggler_share import straggler_share

DRAWS = 32


def verdicts(claims):
    return [claim.verdict for claim in claims]


def test_a_prediction_that_is_right_but_for_one_of_either_kind_holds():
    is_there = np.arange(DRAWS) % 2 * 1.0
    is_yes = is_there == 1
    is_yes[[0, 17]] = [True, False]
    found = verdicts(interpolating_samples._of_small_start(is_there, is_yes, ""))
    # Of the sample before, which here is always of the other kind: not even chance.
    assert found == ["holds"] * 4


def test_a_prediction_by_a_coin_fails():
    is_there = np.arange(DRAWS) % 2 * 1.0
    is_yes = np.arange(DRAWS) % 4 < 2
    found = verdicts(interpolating_samples._of_small_start(is_there, is_yes, ""))
    assert found[:3] == ["undecided", "undecided", "fails"]


def test_members_of_one_kind_say_nothing_of_the_prediction():
    ones, is_yes = np.ones(DRAWS), np.arange(DRAWS) % 2 == 0
    found = verdicts(interpolating_samples._of_small_start(ones, is_yes, ""))
    assert found == ["not applicable"] * 4


def histories(exponent, status=Status.STATIONARY):
    """Draws that interpolate at n = 20, at t ∝ ln(1/λ) to a power, and not at 180."""
    scale = np.array([1e-20, 1e-10, 1e-5])
    time = np.array(order_of_limits.experiment().times)
    first = 30 * np.geomspace(1, 3, DRAWS) * (-np.log(scale[:, None])) ** exponent
    few = np.where(time >= first[:, :, None], 1e-9, 0.09)
    risk = np.stack([few, np.full_like(few, 0.09)])
    dims = ("n", "scale", "draw", "seed", "time")
    cell = {"n": [20, 180], "scale": scale, "draw": range(DRAWS), "seed": [0]}
    status = np.full(risk.shape[:-1], int(status))
    return xr.Dataset(
        {
            "train_risk": (dims, risk[:, :, :, None]),
            "status": (dims[:-1], status[..., None]),
        },
        {**cell, "time": time, "sigma": 0.3, "d": 10},
    )


def test_times_that_follow_the_logarithm_of_the_start_hold():
    claims = order_of_limits.claims(histories(1))
    assert {*verdicts(claims)} == {"holds", "not applicable"}
    assert all("two sizes" not in c.needs for c in claims)


def test_times_that_do_not_know_of_the_start_fail_and_so_does_their_control():
    failed = [
        c.statement
        for c in order_of_limits.claims(histories(0))
        if c.verdict == "fails"
    ]
    assert len(failed) == 4
    assert {s.split(", λ")[0] for s in failed} == {
        "t/ln(1/λ) of interpolation",
        "control: t",
    }


def test_what_only_ended_by_the_clock_is_not_proven():
    claims = order_of_limits.claims(histories(1, Status.REACHED_TIME))
    # Those that interpolate stay there, whatever the clock says: one half.
    proven = [c for c in claims if c.statement.startswith("ends that")]
    assert verdicts(proven) == ["fails"] * 3


def left_behind(power):
    """Poisson numbers with the mean of the law times λ to a power."""
    rng, scale, m, d = np.random.default_rng(0), [0.03, 0.1, 0.3], [100, 400], [2, 3]
    share = np.array([straggler_share(np.array(scale), one) for one in d])
    mean = share[:, None] * np.array(m)[:, None] * (np.array(scale) / 0.3) ** power
    seen = np.zeros((2, 2, 2, 3, 60, 3))
    seen[0] = rng.poisson(mean[..., None, None], (2, 2, 3, 60, 3))
    seen[0, ..., :2] += 4 * share[:, None, :, None, None] * 400
    dims = ("initial", "d", "m", "scale", "draw", "time")
    cell = {"initial": ["balanced", "dominated"], "d": d, "m": m, "scale": scale}
    cell |= {"draw": range(60), "time": [0.0, 1.0, 40.0], "sigma": 0.0}
    return xr.Dataset({"stragglers": (dims, seen)}, cell).expand_dims("seed")


def test_numbers_of_stragglers_by_the_law_hold():
    found = verdicts(stragglers.claims(left_behind(0)))
    assert {*found} <= {"holds", "undecided"}
    assert found.count("holds") >= 10


def test_numbers_of_another_power_of_the_start_fail():
    claims = stragglers.claims(left_behind(1))
    exponents = [c for c in claims if c.statement.startswith("exponent of λ")]
    assert verdicts(exponents) == ["fails"] * 2

"""The rule of the matrix of biases."""

import numpy as np
import pytest

from simbias.analysis.mean_interval import mean_interval
from simbias.analysis.verdicts import effect_interval, expected_errors, verdict
from simbias.core import Estimate


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.3, 0.5, "observed"),
        (0.25, 0.25, "observed"),
        (-0.5, -0.3, "reversed"),
        (-0.2, 0.2, "absent"),
        (0.05, 0.2, "absent"),
        (0.1, 0.4, "open"),
        (-0.4, 0.4, "open"),
        (-0.4, 0.1, "open"),
        (-np.inf, np.inf, "open"),
    ],
)
def test_a_verdict_needs_the_whole_interval(low, high, said):
    middle = (low + high) / 2 if np.isfinite(low) else 1.0
    assert verdict(Estimate(middle, low, high, "given"), 0.25) == said


def test_without_a_value_there_is_nothing_to_say():
    assert verdict(Estimate(np.nan, -np.inf, np.inf, "none"), 0.25) == "undefined"
    few = effect_interval([1.0] * 9 + [np.nan] * 11, low=-1, high=1)
    assert verdict(few, 0.25) == "undefined"
    enough = effect_interval([1.0] * 10 + [np.nan] * 10, low=-1, high=1)
    assert verdict(enough, 0.25) == "observed"


@pytest.mark.parametrize("least", [0.0, -1.0, np.nan, np.inf])
def test_the_smallest_effect_is_a_positive_number(least):
    with pytest.raises(ValueError, match="`least`"):
        verdict(Estimate(0.0, 0.0, 0.0, "given"), least)


def test_values_that_differ_have_the_interval_of_their_mean():
    values = np.linspace(-0.2, 0.9, 20)
    assert effect_interval(values, low=-1, high=1) == mean_interval(values)


def test_of_equal_values_the_interval_is_that_of_the_binomial_law():
    seen = effect_interval(np.ones(20), low=-1, high=1)
    # Another value with probability q would have been missed 20 times: (1−q)²⁰ = 0.05.
    q = 1 - 0.05 ** (1 / 20)
    assert (seen.value, seen.high) == (1.0, 1.0)
    assert seen.low == pytest.approx(1 - 2 * q)
    unbounded = effect_interval(np.ones(20))
    assert (unbounded.low, unbounded.high) == (-np.inf, np.inf)


def test_of_nearly_equal_values_the_ends_are_what_all_values_leave_out():
    values = [1.0] * 19 + [0.9]
    assert mean_interval(values).low == -np.inf
    seen = effect_interval(values, low=-1, high=1)
    # Below 0.9 with probability q nothing is seen 20 times: (1−q)²⁰ = 0.025.
    q = 1 - 0.025 ** (1 / 20)
    assert seen.low == pytest.approx(0.9 * (1 - q) - q)
    assert (seen.value, seen.high) == (pytest.approx(0.995), 1.0)
    assert effect_interval(values).low == -np.inf


@pytest.mark.long
def test_a_mean_of_bounded_values_is_covered_where_the_bootstrap_has_no_end():
    rng, missed, tried = np.random.default_rng(3), 0, 0
    for _ in range(1500):
        values = np.where(rng.random(20) < 0.1, rng.choice([-1.0, 0.8], 20), 1.0)
        if np.isinf(mean_interval(values).low) and np.ptp(values) > 0:
            seen = effect_interval(values, low=-1, high=1)
            tried += 1
            missed += not seen.low <= 0.89 <= seen.high
    assert tried > 300
    assert missed <= 0.05 * tried


def test_a_rare_value_that_is_not_seen_is_in_the_interval():
    rng, missed = np.random.default_rng(0), 0
    for _ in range(400):
        values = np.where(rng.random(20) < 0.1, -1.0, 1.0)
        if np.ptp(values) == 0:
            seen = effect_interval(values, low=-1, high=1)
            missed += not seen.low <= 0.8 <= seen.high
    assert missed == 0


def test_an_effect_at_the_edge_is_judged_falsely_as_often_as_stated():
    rng, cells = np.random.default_rng(1), 300
    said = [
        verdict(effect_interval(0.25 + rng.normal(size=20)), 0.25) for _ in range(cells)
    ]
    # Observed and absent are both possible by one half of the level each.
    wrong = sum(v in ("observed", "reversed") for v in said)
    assert wrong <= 2 * expected_errors(cells)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"share": 0.0}, "`share`"),
        ({"low": 0.5}, "`values`"),
        ({"level": 2.0}, "level"),
    ],
)
def test_what_makes_no_sense_is_named(wrong, named):
    with pytest.raises(ValueError, match=named):
        effect_interval([0.1] * 3 + [0.2] * 7, **wrong)

"""Intervals at every number of seeds: closed forms, oracles, coverage of a path."""

import numpy as np
import pytest
import scipy

from simbias.analysis.confidence_sequences import (
    mean_sequence,
    median_sequence,
    share_sequence,
)
from simbias.analysis.jackknife_interval import jackknife_interval
from simbias.analysis.looks import level_of_look, look
from simbias.analysis.mean_interval import mean_interval
from simbias.analysis.median_interval import median_interval
from simbias.analysis.share_difference import share_difference
from simbias.analysis.wilson import wilson


def test_the_ends_of_a_share_are_where_the_mixture_is_twenty():
    seen = share_sequence(7, 30)
    mixture = lambda p: scipy.integrate.quad(
        lambda q: (
            (q / p) ** 7 * ((1 - q) / (1 - p)) ** 23 * scipy.stats.beta.pdf(q, 0.5, 0.5)
        ),
        0,
        1,
    )[0]
    assert mixture(seen.low) == pytest.approx(20, rel=1e-6)
    assert mixture(seen.high) == pytest.approx(20, rel=1e-6)
    assert share_sequence(0, 30).low == 0
    assert share_sequence(30, 30).high == 1


def test_the_ends_of_a_mean_are_where_the_bayes_factor_is_twenty():
    """Jeffreys' scale prior, and effects N(0, ¼): integrated by quadrature."""
    x = np.random.default_rng(0).normal(size=12)
    x = np.concatenate([x, -x]) + 0.3  # not skewed
    seen = mean_sequence(x)
    n = x.size

    def factor(mu):
        t = n**0.5 * (x.mean() - mu) / x.std(ddof=1)
        of_effect = lambda d: scipy.stats.nct.pdf(t, n - 1, n**0.5 * d)
        prior = lambda d: scipy.stats.norm.pdf(d, 0, 0.5)
        top = scipy.integrate.quad(lambda d: of_effect(d) * prior(d), -4, 4)[0]
        return top / scipy.stats.t.pdf(t, n - 1)

    assert factor(seen.low) == pytest.approx(20, rel=1e-4)
    assert factor(seen.high) == pytest.approx(20, rel=1e-4)


def test_a_skewed_mean_reaches_further_to_the_side_of_the_tail():
    x = np.random.default_rng(0).exponential(size=60)
    seen, back = mean_sequence(x), mean_sequence(-x)
    assert seen.high - seen.value > 1.1 * (seen.value - seen.low)
    assert (back.low, back.high) == pytest.approx((-seen.high, -seen.low))


def test_a_median_lies_between_values_of_which_half_is_a_share():
    x = np.arange(40.0)
    seen = median_sequence(x)
    below = int(seen.low) + 1
    assert share_sequence(below, 40).high >= 0.5 > share_sequence(below - 1, 40).high
    assert seen.low + seen.high == 39


def test_bounded_means_hold_for_every_law():
    x = np.random.default_rng(1).beta(2, 3, 300)
    seen = mean_sequence(x, within=(0, 1))
    assert seen.low < 0.4 < seen.high
    assert seen.high - seen.low < 0.1
    twice = mean_sequence(2 * x - 1, within=(-1, 1))
    assert twice.low == pytest.approx(2 * seen.low - 1)
    assert twice.high == pytest.approx(2 * seen.high - 1)
    with pytest.raises(ValueError, match="`within` must hold all values"):
        mean_sequence([0.5] * 8 + [1.5], within=(0, 1))


def test_what_says_nothing_has_no_ends():
    assert mean_sequence([1.0] * 30).high == np.inf
    assert mean_sequence([1.0, 2.0, 3.0]).high == np.inf
    assert mean_sequence(np.arange(6.0)).high == np.inf  # of which six are too few
    assert median_sequence([1.0, 2.0, 3.0]).high == np.inf
    assert mean_sequence([np.inf] * 8).high == np.inf
    with pytest.raises(ValueError, match="`successes` must be a count"):
        share_sequence(3, 2)


def test_intervals_inside_a_look_are_of_all_looks():
    x = np.random.default_rng(0).normal(size=40)
    with look(2):
        assert level_of_look(0.95) == pytest.approx(1 - 0.05 / 6)
        assert mean_interval(x) == mean_sequence(x)
        assert median_interval(x) == median_sequence(x)
        assert wilson(3, 20) == share_sequence(3, 20)
        pooled = jackknife_interval(np.mean, x)
        apart = share_difference([1, 1, 0, 1], [0, 0, 1, 0])
    assert pooled == jackknife_interval(np.mean, x, level=1 - 0.05 / 6)
    assert apart == share_difference([1, 1, 0, 1], [0, 0, 1, 0], level=1 - 0.05 / 6)
    assert level_of_look(0.95) == 0.95
    with pytest.raises(ValueError, match="`number` of a look"), look(0):
        pass


@pytest.mark.parametrize("law", ["normal", "exponential", "share"])
def test_the_truth_seldom_ever_leaves(law):
    """benchmarks/sequence_coverage.py does this at length."""
    rng, missed, trials = np.random.default_rng(0), 0, 200
    for _ in range(trials):
        u = rng.random(320)
        if law == "share":
            ends = [
                share_sequence(int((u[:n] < 0.1).sum()), n) for n in (5, 20, 80, 320)
            ]
            truth = 0.1
        else:
            x = scipy.stats.norm.ppf(u) if law == "normal" else -np.log(u)
            ends = [mean_sequence(x[:n]) for n in (20, 40, 80, 160, 320)]
            truth = float(law == "exponential")
        missed += not all(end.low <= truth <= end.high for end in ends)
    assert missed / trials < 0.05

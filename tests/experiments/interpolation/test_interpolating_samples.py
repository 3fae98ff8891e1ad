"""A prediction of who interpolates can be right, and it can fail."""

import numpy as np

from simbias.experiments import interpolating_samples

SEEDS = 32


def verdicts(claims):
    return [claim.verdict for claim in claims]


def test_a_prediction_that_is_right_but_for_one_of_either_kind_holds():
    is_there = np.arange(SEEDS) // 2 % 2 * 1.0
    is_yes = is_there == 1
    is_yes[[0, 18]] = [True, False]
    found = verdicts(interpolating_samples._of_small_start(is_there, is_yes, ""))
    # The sample before is of the same kind in one of two.
    assert found == ["inconclusive"] + ["supported"] * 4


def test_a_prediction_by_a_coin_fails():
    is_there = np.arange(SEEDS) % 2 * 1.0
    is_yes = np.arange(SEEDS) % 4 < 2
    found = verdicts(interpolating_samples._of_small_start(is_there, is_yes, ""))
    assert found[:4] == ["contradicted", "inconclusive", "inconclusive", "contradicted"]


def test_members_of_one_kind_say_nothing_of_the_prediction():
    ones, is_yes = np.ones(SEEDS), np.arange(SEEDS) % 2 == 0
    found = verdicts(interpolating_samples._of_small_start(ones, is_yes, ""))
    assert found == ["not applicable"] * 5

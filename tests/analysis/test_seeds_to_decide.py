"""How many seeds would decide, from the sides of an interval."""

import numpy as np

from simbias.analysis.seeds_to_decide import seeds_to_decide
from simbias.core import Claim, Estimate


def claim(low, high, band, level=0.95):
    return Claim("a", Estimate(1.0, low, high, "mean", level), *band, "ours")


def test_a_side_that_reaches_twice_as_far_takes_four_times_the_seeds():
    assert seeds_to_decide(claim(0.0, 2.0, (0.5, np.inf)), 20) == 80
    # Inside the band both ends must lie within, outside the nearer one before it.
    assert seeds_to_decide(claim(0.0, 2.0, (0.5, 1.25)), 20) == 320
    assert seeds_to_decide(claim(0.0, 2.0, (1.5, 1.75)), 20) == 80
    assert seeds_to_decide(claim(0.0, 2.0, (-1.0, 0.5)), 21) == 84


def test_some_claims_are_decided_by_no_number_of_seeds():
    assert seeds_to_decide(claim(0.9, 1.1, (0.5, 1.25)), 20) is None  # it is supported
    assert seeds_to_decide(claim(0.0, 2.0, (1.0, np.inf)), 20) is None
    assert seeds_to_decide(claim(0.0, 2.0, (0.99, np.inf)), 20) is None
    assert seeds_to_decide(claim(-np.inf, np.inf, (0.5, np.inf)), 20) is None
    assert seeds_to_decide(claim(0.0, 2.0, (0.5, np.inf), level=1.0), 20) is None

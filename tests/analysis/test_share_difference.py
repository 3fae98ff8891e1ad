"""How much more often something is true of one group than of another."""

import numpy as np
import pytest

from simbias.analysis.share_difference import share_difference
from simbias.errors import BadInput


@pytest.mark.parametrize(
    ("won", "of", "lost", "out_of", "low", "high"),
    [(56, 70, 48, 80, 0.0428, 0.3422), (9, 10, 3, 10, 0.1013, 0.8387)],
)
def test_ends_are_those_of_newcombe(won, of, lost, out_of, low, high):
    # Newcombe (1998), Stat. Med. 17, 873, table II, method 11.
    seen = share_difference(np.arange(of) < won, np.arange(out_of) < lost)
    assert (round(seen.low, 4), round(seen.high, 4)) == (low, high)


def test_groups_without_a_result_say_nothing_and_other_values_are_refused():
    for groups in (([np.nan], [1.0]), ([True], [])):
        nothing = share_difference(*groups)
        assert np.isnan(nothing.value)
        assert nothing.low == -np.inf
    with pytest.raises(BadInput, match="`first` and `second`"):
        share_difference([0.5], [1])

"""Limits that are claimed, against the flow without the stop and against Euler in C."""

import pytest
from _euler import NoCompiler
from proof_attack import attacked

# Of the ReLU networks without bias; in single precision are a quarter.
SEEDS = [seed for seed in range(150) if seed % 5 in (0, 3)]


@pytest.mark.long
@pytest.mark.parametrize("seeds", [SEEDS[:12], SEEDS[12:]], ids=len)
def test_no_claimed_limit_is_left_by_the_flow_or_by_descent(seeds):
    try:
        rows = list(attacked(seeds, descent_time=100.0))
    except NoCompiler as error:
        pytest.skip(str(error))
    claimed = [row for row in rows if "flow" in row]
    assert len(rows) == len(seeds)
    assert len(claimed) > 2 * len(seeds) / 3
    assert [row for row in claimed if not row["holds"]] == []
    assert sum(row["is_judged"] for row in claimed) > 0.9 * len(claimed)

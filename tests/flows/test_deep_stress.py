"""The exact flow of deep networks against Euler in C, on the cases of the benchmark."""

import shutil

import pytest
from _deep_cases import PROGRAMS, cases_of
from deep_stress import judged

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs C")


def ends_well(program, count):
    rows = judged(program, cases_of(program, count))
    assert len(rows) == count
    return all(row["verdict"] in ("right", "chosen", "not well posed") for row in rows)


# Seeds 5 and 11 of the prototype, where a sliding unit is the only live input; then
# one of every kind.
@pytest.mark.slow
def test_degenerate_deep_networks_go_where_small_euler_steps_go():
    assert ends_well(PROGRAMS[0], 9)


@pytest.mark.long
@pytest.mark.parametrize("program", PROGRAMS[1:16], ids=str)
def test_networks_of_other_depths_losses_and_slopes_do_too(program):
    assert ends_well(program, 8)

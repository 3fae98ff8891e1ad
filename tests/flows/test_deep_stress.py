"""The exact flow of deep networks against Euler in C, on the cases of the benchmark."""

import shutil

import pytest
from _deep_cases import PROGRAMS, Program, cases_of
from deep_stress import judged

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs C")


def verdicts(program, cases):
    return [row["verdict"] for row in judged(program, cases)]


# Seeds 5 and 11 of the prototype, where a sliding unit is the only live input; then
# one of every kind.
@pytest.mark.slow
def test_degenerate_networks_go_where_small_euler_steps_go():
    assert verdicts(PROGRAMS[0], cases_of(PROGRAMS[0], 9)) == ["right"] * 9


# Many events in one step: the time of the last one had an error of first order.
@pytest.mark.slow
def test_an_event_behind_crossings_is_where_it_is():
    program = Program(4)
    assert verdicts(program, cases_of(program, 5)[-1:]) == ["right"]


@pytest.mark.long
@pytest.mark.parametrize("program", PROGRAMS[1:8], ids=str)
def test_other_depths_losses_and_slopes_are_no_worse(program):
    ends = {"right", "chosen", "not well posed"}
    assert {*verdicts(program, cases_of(program, 5))} <= ends

"""The exact flow of deep networks against Euler in C, on the cases of the benchmark."""

import shutil

import numpy as np
import pytest
from _deep_cases import PROGRAMS, Program, cases_of
from _deep_euler import DeepProblem, reference
from _deep_problems import distance, flat, flowed, network, sample
from deep_stress import judged

from simbias.core import Status
from simbias.ensemble.grid import make_cell
from simbias.ensemble.keys import member_keys
from simbias.experiments.deep import deep_threshold

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs C")


def verdicts(program, cases):
    return [row["verdict"] for row in judged(program, cases)]


# Seeds 5 and 11 of the prototype, where a sliding unit is the only live input; then
# one of every kind.
@pytest.mark.long
def test_degenerate_networks_go_where_small_euler_steps_go():
    assert verdicts(PROGRAMS[0], cases_of(PROGRAMS[0], 9)) == ["right"] * 9


# Many events in one step: the time of the last one had an error of first order.
@pytest.mark.long
def test_an_event_behind_crossings_is_where_it_is():
    program = Program(4)
    assert verdicts(program, cases_of(program, 5)[-1:]) == ["right"]


@pytest.mark.slow
# A crossing shortly before an event: the correction of the time of the event took it
# back, its side stayed, and the step after that was rejected at every length.
def test_a_crossing_that_a_correction_takes_back_stops_nothing():
    end, values = 1.0, {"n": 20, "waiting": 5.0}
    by = deep_threshold.experiment("quick")
    cell = make_cell(by.make, values, by.shared)
    data, net = by.make(member_keys(0, cell, 2)[0], **values)
    one = sample(data.x, data.y)
    state = flowed(net, one, (end,), rtol=1e-4)[0]
    assert state.status == Status.RUNNING
    x, y, widths = np.asarray(one.x), np.asarray(one.y), (5, 10, 10, 1)
    start = DeepProblem(x, y, widths, False, 0.0, "half_mse", flat(net))
    assert distance(flat(state.network), reference(start, end, 1e-4).end) < 1e-4


# Deeper than the benchmark.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("layers", "end"),
    [
        pytest.param(6, 2.0, marks=pytest.mark.long),
        (7, 2.0),
        pytest.param(8, 4.0, marks=pytest.mark.long),
    ],
)
def test_six_to_eight_layers_go_where_small_euler_steps_go(layers, end):
    rng, widths = np.random.default_rng(9), (3, *[5] * (layers - 1), 1)
    x, y = rng.standard_normal((8, 3)), rng.standard_normal((8, 1))
    shapes = zip(widths[1:], widths, strict=False)
    parts = [rng.standard_normal((b, a)) * np.sqrt(2 / a) for b, a in shapes]
    theta = np.concatenate([part.ravel() for part in parts])
    state = flowed(network(widths, theta), sample(x, y), (end,))[0]
    assert state.status == Status.RUNNING
    assert int(state.stats["crossings"]) + int(state.stats["slides"]) > 5
    known = reference(
        DeepProblem(x, y, widths, False, 0.0, "half_mse", theta), end, 8e-5
    )
    assert distance(flat(state.network), known.end) < max(1e-6, 10 * known.error)


@pytest.mark.long
@pytest.mark.parametrize("program", PROGRAMS[1:8], ids=str)
def test_other_depths_losses_and_slopes_are_no_worse(program):
    ends = {"right", "chosen", "not well posed"}
    assert {*verdicts(program, cases_of(program, 5))} <= ends

"""Laws of the memory that a run is said to need."""

import sys
import types

import jax
import jax.numpy as jnp
import pytest
from small import PlainDescent, small

from simbias.ensemble import compiling, memory
from simbias.ensemble.events import Progress
from simbias.ensemble.footprint import equations, footprint
from simbias.ensemble.lanes import idle
from simbias.ensemble.members import maker
from simbias.ensemble.plan import make_plan
from simbias.ensemble.programs import Programs
from simbias.flows.descent import Descent
from simbias.flows.gradient_flow import GradientFlow
from simbias.flows.relu_flow import ReluFlow
from simbias.measures.neurons.dead_neurons import DeadNeurons
from simbias.measures.risk.train_risk import TrainRisk
from simbias.networks.two_layer_init import balanced
from simbias.numerics.exact_numerics import exact_numerics
from simbias.verbs.simulate import simulate


def smooth(key, *, n: int, m: int, d: int = 5):
    data, _ = small().make(key, n=n, d=d)
    return data, balanced(key, m=m, d=d, scale=0.1, activation="tanh")


def planned(flow, measures=None, **cell):
    measures = measures or {"risk": TrainRisk()}
    experiment = small(make=smooth, cell=cell, flow=flow, seeds=1, measures=measures)
    return make_plan(experiment)


def reserved(lowered):
    return lowered.compile().compiled.memory_analysis()


def test_a_process_that_has_32_bits_is_told_the_same_without_a_warning():
    plan = planned(PlainDescent(), n=6, m=7)
    told = {}
    for has_64 in (True, False):
        with jax.enable_x64(has_64):
            told[has_64] = memory.bytes_in_flight(plan, jax.local_devices()[:1])
    assert told[True] == told[False] > 0


WIDE = {"n": 100, "m": 200}


@pytest.mark.bits
@pytest.mark.parametrize(
    ("width", "flow", "measure", "cell"),
    [
        (8, PlainDescent(), TrainRisk(), WIDE),
        (8, Descent(optimiser="adam"), TrainRisk(), WIDE),
        # Of these the estimate once said a tenth to a half of what is taken.
        (1, Descent(batch=10), DeadNeurons(), {"n": 2000, "m": 500}),
        (1, GradientFlow(), TrainRisk(), {"n": 4, "m": 5000, "d": 40}),
    ],
)
def test_the_memory_of_a_lane_is_within_a_quarter_of_what_is_reserved(
    width, flow, measure, cell
):
    plan = planned(flow, {"measure": measure}, **cell)
    with exact_numerics():
        programs = Programs(plan, "cpu" if width == 1 else "gpu", Progress())
        lanes = idle(plan.groups[0].lane, width)
        used = reserved(programs._advance.lower(jnp.int32(8), lanes))
    # The lanes are donated: what comes out lies where they lay.
    total = used.argument_size_in_bytes + used.temp_size_in_bytes
    assert memory.bytes_per_lane(plan.groups[0]) * width == pytest.approx(total, 0.25)


@pytest.mark.bits
def test_the_memory_of_a_run_counts_what_drawing_takes():
    plan = planned(Descent(batch=10), n=2000, m=5, d=200)
    cell = plan.grid.cells[0]
    fixed = (maker(plan.experiment), cell.sizes)
    with exact_numerics():
        programs = Programs(plan, "cpu", Progress())
        keys = jnp.zeros((1, 3), jnp.uint32)
        numbers, _ = programs._traced(0)
        used = reserved(programs._draw.lower(fixed, numbers, keys, jnp.int32(1)))
    lane = sum(v.size * v.dtype.itemsize for v in jax.tree.leaves(plan.groups[0].lane))
    total = lane + used.output_size_in_bytes + used.temp_size_in_bytes
    said = memory.bytes_in_flight(plan, jax.devices())
    assert said == pytest.approx(total, 0.25)


def test_products_count_once_however_often_they_are_asked_for_and_loops_one_turn():
    x, w = jnp.ones((6, 3)), jnp.ones((3, 5))
    product = lambda x, w: jnp.sum(jax.nn.relu(x @ w))
    turns = lambda x, w: jax.lax.map(lambda row: jnp.sum(row @ w), x)
    assert footprint(product, x, w) == 30
    assert footprint(lambda x, w: product(x, w) * product(x, w), x, w) == 30
    assert footprint(lambda x, w: product(x, w) * product(2 * x, w), x, w) == 60
    assert footprint(turns, x, w) == 5
    assert footprint(lambda x, w: turns(x, w) + turns(x, w), x, w) == 5


def test_a_run_whose_stations_do_not_fit_together_is_refused(monkeypatch):
    monkeypatch.setattr(memory.os, "sched_getaffinity", lambda _: range(4))
    plan = make_plan(small())
    four = memory.bytes_in_flight(plan, jax.devices() * 4)
    monkeypatch.setattr(memory, "physical_memory", lambda: four * 3 // 4)
    with pytest.raises(ValueError, match="networks in progress"):
        simulate(small())


def test_a_member_that_no_accelerator_can_hold_is_refused(monkeypatch):
    plan = make_plan(small())
    needed = memory.bytes_per_lane(plan.groups[0])
    device = types.SimpleNamespace(platform="gpu")
    monkeypatch.setattr(memory, "station_devices", lambda *_: [device])
    monkeypatch.setattr(memory, "bytes_in_flight", lambda *_: 0)
    monkeypatch.setattr(memory, "_memory_of", lambda _: needed)
    memory.check_memory(plan)
    monkeypatch.setattr(memory, "_memory_of", lambda _: needed // 2)
    with pytest.raises(ValueError, match="one network needs about"):
        memory.check_memory(plan)


def test_equations_are_counted_inside_loops_and_branches_too():
    twice = lambda x: x * 2.0 + 1.0
    assert equations(twice, 1.0) == 2
    looped = lambda x: jax.lax.fori_loop(0, 3, lambda i, v: twice(v), x)
    assert equations(looped, 1.0) > equations(twice, 1.0) + 1


@pytest.mark.bits
def test_a_flow_that_says_its_equations_says_about_as_many_as_there_are(monkeypatch):
    plan = planned_relu(100)
    said = compiling._equations(plan, plan.groups[0])
    monkeypatch.setattr(ReluFlow, "step_equations", lambda *_: None)
    assert said == pytest.approx(compiling._equations(plan, plan.groups[0]), rel=0.2)


def planned_relu(m):
    return make_plan(small(cell={"n": 3, "m": m}, flow=ReluFlow(), seeds=1))


def test_more_equations_take_more_memory_and_stations_compile_side_by_side():
    one = compiling.bytes_of_compiling(planned(PlainDescent(), n=6, m=7), 4)
    assert 1 < compiling.bytes_of_compiling(planned_relu(50), 4) / one < 100
    shapes = make_plan(small(make=smooth, cell={"n": (6, 20), "m": 7}, seeds=1))
    one, two, three = (compiling.bytes_of_compiling(shapes, n) for n in (1, 2, 3))
    assert two == pytest.approx(2 * one)
    # A station that is left compiles what draws and starts members.
    assert one < three - two + one < two


def test_a_run_beyond_the_limit_of_the_process_is_refused_and_says_which(monkeypatch):
    """XLA would end the process by `abort`, and nothing could be said."""
    plan = make_plan(small())
    needed = memory.bytes_at_most(plan, jax.local_devices() * 2)
    assert needed > memory.bytes_in_flight(plan, jax.local_devices() * 2)
    monkeypatch.setattr(memory, "memory_limit_left", lambda: 10 * needed)
    memory.check_memory(plan)
    monkeypatch.setattr(memory, "memory_limit_left", lambda: needed // 10)
    with pytest.raises(ValueError, match="`ulimit -v` leaves this process"):
        memory.check_memory(plan)


@pytest.mark.skipif(sys.platform != "linux", reason="no such limit")
def test_the_limit_of_the_process_is_read(monkeypatch):
    import resource

    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    assert memory.memory_limit_left() is None
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1 << 50, 1 << 50))
    left = memory.memory_limit_left()
    assert left is not None
    assert 1 << 49 < left < 1 << 50
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1, 1))
    assert memory.memory_limit_left() == 0


def test_programs_are_counted_and_what_spares_some_is_said():
    alone = make_plan(small(cell={"n": 6, "m": 7}, seeds=1))
    assert "one program to compile, about " in compiling.describe_programs(alone, 2)
    sizes = make_plan(small(make=smooth, cell={"n": (6, 12), "m": 7}, seeds=1))
    said = compiling.describe_programs(sizes, 2)
    assert said.startswith("2 programs to compile")
    assert "(`--pad-to 12` makes 1 of them)" in said
    # Networks of other shapes have programs of their own, however samples are padded.
    widths = make_plan(small(make=smooth, cell={"n": 6, "m": (7, 9)}, seeds=1))
    assert "--pad-to" not in compiling.describe_programs(widths, 2)
    # More than three times the rows are not worth it.
    apart = make_plan(small(make=smooth, cell={"n": (6, 20, 28, 200), "m": 7}, seeds=1))
    assert "--pad-to" not in compiling.describe_programs(apart, 2)

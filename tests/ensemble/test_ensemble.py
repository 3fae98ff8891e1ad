import dataclasses
import threading
from typing import ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import Norms, PlainDescent, Risk, RiskBelow, make, small

from simbias.core import AbstractMeasure, Index, Status
from simbias.ensemble import programs as programs_
from simbias.ensemble.calls import Calls
from simbias.ensemble.engine import run_members
from simbias.ensemble.events import Progress
from simbias.ensemble.grid import make_grid
from simbias.ensemble.keys import member_key, member_keys
from simbias.ensemble.lane import advance_all, start
from simbias.ensemble.lanes import idle
from simbias.ensemble.members import draw, maker, member_flow
from simbias.ensemble.padding import bucket, padded
from simbias.ensemble.plan import make_plan
from simbias.ensemble.programs import Programs
from simbias.ensemble.table import empty_table
from simbias.flows.descent import Descent
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import half_mse
from simbias.numerics import program_cache
from simbias.numerics.exact_numerics import exact_numerics
from simbias.validation.cell_value import checked_value
from simbias.validation.factorisations import may_hang
from simbias.verbs.simulate import simulate, solve

pytestmark = pytest.mark.bits


def drawn_from(experiment, cell, key):
    return draw(maker(experiment), cell.sizes, cell.numbers, key)


def outcomes(experiment, members=None, **options):
    plan = make_plan(experiment)
    members = set(range(plan.size)) if members is None else members
    return {o.member: o for o in run_members(plan, members, **options)}


def same(a, b):
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for left, right in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_array_equal(left, right)


def test_a_member_of_an_ensemble_equals_the_member_alone():
    every = outcomes(small())
    for member in (0, 5, 11):
        same(vars(outcomes(small(), {member})[member]), vars(every[member]))


def test_a_member_does_not_depend_on_the_number_of_lanes_or_on_refilling():
    one, many = outcomes(small(), lanes=1), outcomes(small(), lanes=7)
    for member, outcome in one.items():
        same(vars(outcome), vars(many[member]))


def test_a_member_does_not_depend_on_the_other_cells_or_on_the_number_of_seeds():
    ds = simulate(small())
    alone = simulate(small(cell={"n": 20, "scale": 0.5}, seeds=5))
    np.testing.assert_array_equal(
        ds["risk"].sel(n=20, scale=0.5), alone["risk"].isel(seed=slice(3))
    )


def test_side_by_side_and_in_turn_agree_to_rounding():
    experiment = small(seeds=4, cell={"n": 20, "scale": 0.5})
    plan = make_plan(experiment)
    cell = plan.cell(0)
    with exact_numerics():
        lanes = []
        for seed in range(4):
            data, network = drawn_from(experiment, cell, member_key(0, cell, seed))
            flow = member_flow(experiment, cell)
            lanes.append(
                start(plan.recorder, flow, network, data, jax.random.key(seed))
            )
        lanes = jax.tree.map(lambda *v: jnp.stack(v), *lanes)
        turn, side = (
            eqx.filter_jit(advance_all)(plan.recorder, lanes, jnp.int32(1000), layout)
            for layout in ("in turn", "side by side")
        )
    np.testing.assert_array_equal(turn.state.status, side.state.status)
    # Batched products are summed in another order.
    np.testing.assert_allclose(
        turn.records["risk"], side.records["risk"], rtol=1e-12, atol=1e-15
    )


def test_splitting_a_run_into_rounds_changes_nothing():
    experiment = small(cell={"n": 20, "scale": 0.5}, seeds=1)
    plan = make_plan(experiment)
    cell = plan.cell(0)
    with exact_numerics():
        data, network = drawn_from(experiment, cell, member_key(0, cell, 0))
        flow = member_flow(experiment, cell)
        lane = start(plan.recorder, flow, network, data, jax.random.key(0))
        lanes = jax.tree.map(lambda v: v[None], lane)
        step = eqx.filter_jit(advance_all)
        whole = step(plan.recorder, lanes, jnp.int32(50), "in turn")
        parts = lanes
        for attempts in (1, 7, 20, 50):
            parts = step(plan.recorder, parts, jnp.int32(attempts), "in turn")
    same(jax.device_get(whole), jax.device_get(parts))


@pytest.fixture
def traces(monkeypatch):
    """How often a round has been traced, which is once per program."""
    count = []

    def counted(*arguments):
        count.append(arguments)
        return advance_all(*arguments)

    monkeypatch.setattr(programs_, "advance_all", counted)
    return count


def test_one_program_is_compiled_per_shape(traces):
    # n = 6 and 7 share a bucket, and floats never need a program of their own.
    outcomes(small(cell={"n": (6, 7, 20), "scale": (0.1, 0.2, 0.5)}))
    assert len(traces) == 2


def test_samples_of_all_sizes_share_a_program_if_asked(traces):
    alone = outcomes(small(cell={"n": (6, 7, 20)}))
    assert len(traces) == 2
    padded = outcomes(small(cell={"n": (6, 7, 20)}, pad_to=20))
    assert len(traces) == 3
    for member, ours in padded.items():
        np.testing.assert_allclose(
            ours.records["risk"], alone[member].records["risk"], rtol=1e-12
        )


def test_who_waits_for_a_program_draws_meanwhile(monkeypatch):
    compiling, drawn = threading.Event(), threading.Event()
    prepare, begin = Programs.prepare, Programs.begin

    def slow(self, lanes):
        is_first = not compiling.is_set()
        compiling.set()
        assert not is_first or drawn.wait(60)
        return prepare(self, lanes)

    def begun(*arguments):
        drawn.set()
        return begin(*arguments)

    monkeypatch.setattr(Programs, "prepare", slow)
    monkeypatch.setattr(Programs, "begin", begun)
    found = outcomes(small(cell={"n": 6}), devices=2 * jax.local_devices()[:1])
    assert len(found) == 3


def test_computing_is_not_told_as_compiling(monkeypatch):
    asked, called = [], Calls.__call__

    def asking(self, program, *arguments):
        if isinstance(arguments[0], jax.Array):  # how many attempts, of a round alone
            asked.append(int(arguments[0]))
        return called(self, program, *arguments)

    monkeypatch.setattr(Calls, "__call__", asking)
    outcomes(small(seeds=1, cell={"n": 6}))
    assert asked[0] == 0
    assert len(asked) > 1
    assert 0 not in asked[1:]


def test_programs_are_forgotten_before_the_process_has_no_room(monkeypatch):
    cleared = []
    monkeypatch.setattr(jax, "clear_caches", lambda: cleared.append(True))
    outcomes(small(seeds=1))
    assert not cleared
    monkeypatch.setattr(program_cache, "_FULL", 0.0)
    outcomes(small(seeds=1))
    assert cleared


factor = 1.0


def scaled(key, *, n: int):
    data, network = small().make(key, n=n)
    return dataclasses.replace(data, y=factor * data.y), network


def test_a_run_sees_what_its_functions_read_now(monkeypatch):
    experiment = small(make=scaled, cell={"n": 6}, seeds=1)
    before = simulate(experiment)
    monkeypatch.setitem(globals(), "factor", 2.0)
    assert (simulate(experiment)["risk"] != before["risk"]).all()


def test_the_keys_of_a_member_are_those_of_its_cell_and_seed():
    for root in (0, 2**32 - 1):
        for cell in make_plan(small(root=root)).grid.cells:
            expected = jax.random.split(member_key(root, cell, 3))
            for got, key in zip(member_keys(root, cell, 3), expected, strict=True):
                assert jax.random.key_data(got).tolist() == (
                    jax.random.key_data(key).tolist()
                )


def drawn(key, *, n: int, draw: Index):
    traced.append(draw)
    return small().make(jax.random.key(draw), n=n, d=5)


traced = []


def test_a_number_that_shapes_nothing_costs_no_program_of_its_own():
    experiment = small(make=drawn, cell={"n": 6, "draw": (0, 1, 2, 3)}, seeds=1)
    plan = make_plan(experiment)
    # With the first value and the last, which are checked, and without: once for its
    # shapes, and once for its factorisations where they may hang.  Twice more to see
    # that it draws the same again.
    before = len(traced)
    assert before == 5 + may_hang()
    with exact_numerics():
        programs = Programs(plan, "cpu", Progress())
        for member in range(plan.size):
            lanes = programs.begin([(member, 0)], idle(plan.groups[0].lane, 1))
            data, _ = small().make(jax.random.key(member), n=6, d=5)
            np.testing.assert_allclose(lanes.data.x[0, :6], data.x, rtol=1e-14)
    assert len(traced) == before + 1


def test_a_diverging_member_ends_alone_and_changes_nobody():
    ds = simulate(small(cell={"n": 6, "scale": (0.5, 1e200)}))
    assert (ds["status"].sel(scale=0.5) == Status.REACHED_TIME).all()
    assert (ds["status"].sel(scale=1e200) == Status.NONFINITE).all()
    alone = simulate(small(cell={"n": 6, "scale": 0.5}))
    np.testing.assert_array_equal(ds["risk"].sel(scale=0.5), alone["risk"])
    assert ds["norms"].sel(scale=1e200).isnull().all()
    assert ds["norms"].sel(scale=0.5).notnull().all()


def test_cells_that_differ_in_the_flow_alone_share_data_and_start():
    cell = {"n": 6, "scale": 0.5, "flow.rate": (0.1, 0.01)}
    ds = simulate(small(cell=cell))
    start_risk = ds["risk"].sel(time=0)
    np.testing.assert_array_equal(*start_risk.transpose("flow.rate", "seed"))


def test_a_whole_number_of_the_flow_may_be_an_axis(traces):
    cell = {"n": 20, "scale": 0.5, "flow.batch": (4, 8)}
    ds = simulate(small(cell=cell, flow=Descent()))
    assert len(traces) == 2
    alone = simulate(small(cell={"n": 20, "scale": 0.5}, flow=Descent(batch=8)))
    np.testing.assert_array_equal(ds["risk"].sel({"flow.batch": 8}), alone["risk"])
    assert (ds["risk"].sel({"flow.batch": 4}) != alone["risk"])[:, 1:].all()


def test_which_method_the_exact_flow_takes_may_be_an_axis():
    cell = {"n": 6, "flow.stabilise": (True, False)}
    plan = make_plan(small(cell=cell, flow=ReluFlow()))
    assert [len(list(group.members)) for group in plan.groups] == [3, 3]


class Repeated(PlainDescent):
    """A flow with a whole number that shapes nothing."""

    times: Index = 1

    def step(self, state, data, loss, until):
        def again(_, state):
            return PlainDescent.step(self, state, data, loss, until)

        return jax.lax.fori_loop(0, self.times, again, state)


def test_a_whole_number_of_the_flow_that_is_not_static_is_traced(traces):
    cell = {"n": 6, "scale": 0.5, "flow.times": (1, 2)}
    ds = simulate(small(cell=cell, flow=Repeated(), times=(0.1,)))
    assert len(traces) == 1
    assert (ds["accepted"].sel({"flow.times": 2}) == 2).all()


def test_a_round_grows_only_if_members_needed_more_of_it(monkeypatch):
    # Else the first long member after many short ones would be one endless round.
    asked, advance = [], Programs.advance

    def noted(programs, attempts, lanes):
        asked.append(attempts)
        return advance(programs, attempts, lanes)

    monkeypatch.setattr(Programs, "advance", noted)
    ds = simulate(small(cell={"n": 6}, seeds=24), lanes=1)
    assert max(asked) <= 4 * int(ds["accepted"].max())


def test_a_member_at_rest_keeps_its_last_record():
    ds = simulate(small(stop=RiskBelow(1e9)))
    assert (ds["status"] == Status.CONVERGED).all()
    assert (ds["risk"] == ds["risk"].isel(time=0)).all()
    assert (ds["end_time"] == 0).all()


def test_what_a_failed_member_did_not_reach_is_nan():
    with pytest.warns(UserWarning, match="all 3 networks ended with status NONFINITE"):
        ds = simulate(small(cell={"n": 6, "scale": 1e200}))
    assert (ds["status"] == Status.NONFINITE).all()
    assert ds["risk"].sel(time=5).isnull().all()


def test_widths_may_differ_within_a_run():
    ds = simulate(small(cell={"m": (4, 8)}))
    assert ds["norms"].sizes["neuron"] == 8
    assert ds["norms"].sel(m=4).isnull().sum() == 4 * 3
    assert not ds["norms"].sel(m=8).isnull().any()


def test_draws_are_the_same_in_both_precisions():
    double = simulate(small(times=(0.0, 1.0)))
    single = simulate(small(times=(0.0, 1.0), dtype="float32"))
    assert single["risk"].dtype == np.float32
    # One rounding of every number to 24 bits.
    np.testing.assert_allclose(double["risk"], single["risk"], rtol=1e-5)


def test_a_draw_depends_on_its_place_and_not_on_how_many_follow():
    with exact_numerics():
        few, many = (jax.random.normal(jax.random.key(0), (n,)) for n in (4, 9))
    np.testing.assert_array_equal(many[:4], few)


def test_solve_gives_the_trajectory_of_the_member():
    experiment = small(cell={"n": 8, "scale": 0.5}, seeds=1)
    plan = make_plan(experiment)
    cell = plan.cell(0)
    with exact_numerics():
        key_draw, _ = jax.random.split(member_key(0, cell, 0))
        data, network = drawn_from(experiment, cell, key_draw)
    out = solve(
        network,
        data,
        experiment.flow,
        experiment.loss,
        experiment.times,
        {"risk": Risk(), "norms": Norms()},
    )
    assert out.status == Status.REACHED_TIME
    ds = simulate(experiment)
    np.testing.assert_allclose(out.records["risk"], ds["risk"][0], rtol=1e-12)
    assert out.records["norms"].shape == (3, 8)


def test_solve_refuses_mixed_dtypes():
    experiment = small(cell={"n": 8}, seeds=1)
    cell = make_plan(experiment).cell(0)
    data, network = drawn_from(experiment, cell, member_key(0, cell, 0))
    data = jax.tree.map(lambda v: v.astype(jnp.float32), data)
    with pytest.raises(ValueError, match="have the same dtype"):
        solve(network, data, experiment.flow, experiment.loss, (1.0,), {})


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 16, 17, 100, 127, 128, 129, 1000])
def test_padding_costs_at_most_a_quarter(n):
    for least in (8, 64):
        assert n <= bucket(n, least) <= max(least, 1.25 * n)


def test_padding_changes_no_risk():
    cell = make_plan(small(cell={"n": 6})).cell(0)
    data, network = small().make(member_key(0, cell, 0), **cell.arguments)
    assert Risk()(network, padded(data, 16)) == pytest.approx(Risk()(network, data))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cell": {"nn": 5}}, r"`cell.nn` is not an argument.*Did you mean `n`"),
        ({"cell": {"n": ()}}, r"`cell.n` is empty"),
        ({"cell": {"n": (5, 5)}}, r"`cell.n` has the value 5 more than once"),
        ({"cell": {"n": "five"}}, r"`cell.n` must be a number, got 'five'"),
        ({"cell": {"n": 5.5}}, r"`cell.n` must be an integer, got 5.5"),
        ({"cell": {"n": True}}, r"`cell.n` must be a number, got True"),
        ({"cell": {"sigma": float("nan")}}, r"`cell.sigma` must be finite"),
        ({"cell": {"m": 0}}, r"`m` must be a positive integer, got 0"),
        (
            {"dtype": "float32", "cell": {"scale": (1e-3, 1e-100)}},
            r"`cell.scale` = 1e-100 is below 1.2e-38, .* float32",
        ),
        ({"cell": {"sigma": 1e-310}}, r"`cell.sigma` = 1e-310 is below .* float64"),
        (
            {"cell": {"flow.rat": 1.0}},
            r"`cell.flow.rat` is not .*mean `flow.rate`",
        ),
        ({"flow": Descent(), "cell": {"flow.batch": (4, 2.5)}}, r"must be an integer"),
        ({"flow": Descent(), "cell": {"flow.batch": (4, 0)}}, r"`batch` must be"),
        ({"flow": Descent(), "cell": {"flow.schedule": 1.0}}, r"is not a field of"),
        ({"seeds": 0}, r"`seeds` must be a positive integer"),
        ({"times": ()}, r"`times` must be finite, 0 or more, and not empty"),
        ({"times": (1.0, 0.5)}, r"`times` must increase"),
        ({"times": (1.0, 1.0)}, r"`times` must increase"),
        ({"times": (0.0, 2.0, 1.0, 3.0)}, r"`times` must increase"),
        ({"keep": (0.0, 5.0, 1.0)}, r"`keep` must increase"),
        ({"times": (-1.0, 1.0)}, r"`times` must be finite, 0 or more"),
        ({"dtype": "float16"}, r"`dtype` must be"),
        ({"seeds": 10**11}, r"too large: .* networks need about"),
        ({"seeds": True}, r"`seeds` must be a positive integer, got True"),
        ({"cell": {"n": 10**12}}, r"`cell.n` must be at most"),
        ({"cell": {"n": 2**31 - 1}}, r"too large: .* networks need about"),
        ({"pad_to": -1}, r"`pad_to` must be an integer, 0 or more, got -1"),
        ({"pad_to": 2**31 - 1}, r"too large: .* networks need about"),
        ({"root": -1}, r"`root` must be an integer from 0 to"),
        ({"root": 2**70}, r"`root` must be an integer from 0 to"),
        ({"measures": {"status": Risk()}}, r"cannot be called `status`"),
        ({"measures": {"n": Risk()}}, r"cannot be called `n`"),
        ({"measures": {"neuron": Norms()}}, r"cannot be called `neuron`"),
        ({"measures": {"accepted": Risk()}}, r"`accepted` is the name of a count"),
        ({"measures": {"sigma": Risk()}}, r"cannot be called `sigma`"),
        ({"make": lambda key, *, time=1: make(key), "cell": {}}, r"an argument `time`"),
    ],
)
def test_bad_input_is_named_before_anything_runs(changes, message):
    with pytest.raises(ValueError, match=message):
        simulate(small(**changes))


class Refusing(AbstractMeasure):
    dims: ClassVar[tuple[str, ...]] = ()

    def __call__(self, network, data):
        total = jnp.sum(network.w)
        return eqx.error_if(total, jnp.isfinite(total), "no sum\nto be had")


def test_what_a_measure_says_of_its_error_is_heard():
    experiment = small(cell={"n": 6}, seeds=1, measures={"sum": Refusing()})
    with pytest.raises(RuntimeError, match="could not be computed: no sum\nto be had$"):
        simulate(experiment)


def test_a_wrong_value_on_an_axis_of_the_flow_is_found_before_anything_runs():
    with pytest.raises(ValueError, match="`rate` must be"):
        make_plan(small(flow=Descent(), cell={"flow.rate": (0.1, -0.2)}))


def test_numbers_of_numpy_are_numbers_and_a_list_is_not():
    assert type(checked_value("cell.n", np.int64(5), int)) is int
    assert type(checked_value("cell.sigma", np.float32(1), float)) is float
    with pytest.raises(ValueError, match="or a tuple of numbers for an axis"):
        checked_value("cell.n", [5, 6], int)


def test_a_choice_is_one_of_those_that_are_named():
    kinds = Literal["plain", "noisy", 1]
    assert checked_value("cell.kind", "noisy", kinds) == "noisy"
    with pytest.raises(
        ValueError, match="`cell.kind` must be one of 'plain', .*'nosy'"
    ):
        checked_value("cell.kind", "nosy", kinds)
    # Equal to 1, and not meant.
    with pytest.raises(ValueError, match="got True"):
        checked_value("cell.kind", True, kinds)


def test_measures_are_traced_once_for_members_that_look_alike():
    seen = []

    def counted(network, data):
        seen.append(data.x.shape)
        return Risk()(network, data)

    def traced(**cell):
        seen.clear()
        plan = make_plan(
            small(
                cell={"n": 20, "scale": 0.5} | cell,
                flow=Descent(is_shared=True),
                measures={"risk": counted},
            )
        )
        assert len(plan.groups) == len({shape for shape in seen})
        return len(seen)

    one = traced()
    assert traced(**{"flow.optimiser": ("gd", "adam")}) == one
    # n = 19 and 20 share a bucket.
    assert traced(n=(19, 20)) == one
    again = 2  # of the first cell alone, to see that it measures the same again
    assert traced(n=(6, 20)) == 2 * (one - again) + again


class CountsMore(PlainDescent):
    """Counts its evaluations too, if asked to."""

    has_evaluations: bool = eqx.field(static=True, default=False)

    def init(self, network, data, loss, key):
        state = PlainDescent.init(self, network, data, loss, key)
        return self._counted(state)

    def step(self, state, data, loss, until):
        return self._counted(PlainDescent.step(self, state, data, loss, until))

    def _counted(self, state):
        if not self.has_evaluations:
            return state
        stats = {**state.stats, "evaluations": 2 * state.stats["accepted"]}
        return eqx.tree_at(lambda s: s.stats, state, stats)


def test_a_count_that_only_some_flows_have_is_minus_one_for_the_others():
    cell = {"n": 6, "flow.has_evaluations": (False, True)}
    plan = make_plan(small(cell=cell, flow=CountsMore(), seeds=1))
    table = empty_table(plan)
    for outcome in run_members(plan, {0, 1}):
        table.put(outcome, outcome.member)
    steps = table.members["accepted"].values
    assert steps[0] == steps[1] > 0
    np.testing.assert_array_equal(
        table.members["evaluations"].values, [-1, 2 * steps[1]]
    )


def test_a_loss_is_asked_of_every_look_of_a_sample():
    def of_few(prediction, target, weight):
        if len(target) > 8:
            raise TypeError("too many")
        return half_mse(prediction, target, weight)

    with pytest.raises(ValueError, match="too many"):
        make_plan(small(cell={"n": (6, 20), "scale": 0.5}, loss=of_few))


def test_the_dearest_shapes_come_first():
    plan = make_plan(small(cell={"n": 6, "m": (4, 64, 16)}))
    costs = [group.cost for group in plan.groups]
    assert len(costs) == 3
    assert costs == sorted(costs, reverse=True)


def test_the_grid_is_in_the_order_it_was_given():
    grid = make_grid(small())
    assert list(grid.axes) == ["n", "scale"]
    points = [(c.arguments["n"], c.arguments["scale"]) for c in grid.cells]
    assert points == [(6, 0.1), (6, 0.5), (20, 0.1), (20, 0.5)]

"""Members of a result are taken up again: kept networks, and functions of them."""

import dataclasses
import hashlib
import io
import json

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from small import Norms, Risk, small
from toy import assert_same_bits

import simbias
from simbias.core import Status
from simbias.ensemble.configuration import configuration
from simbias.flows._relu.events import no_events, no_log
from simbias.results import open_result
from simbias.store.layout import open_store
from simbias.verbs.origin import _flow
from simbias.verbs.simulate import simulate

KEPT = (0.0, 5.0)


def shift(network, data, other, _):
    return jnp.sqrt(jnp.sum((network.w - other.w) ** 2)) + 0 * data.x[0, 0]


@pytest.fixture(scope="module")
def ds():
    return simulate(small(keep=KEPT))


@pytest.mark.bits
def test_a_kept_network_is_that_of_the_run_to_the_last_bit(ds):
    plain = simulate(small())
    without = ds[list(plain.data_vars)].assign_attrs(plain.attrs)
    xr.testing.assert_identical(plain, without)
    assert ds["network.w"].dims[:4] == ("n", "scale", "seed", "kept")
    risk = simbias.evaluate(Risk(), ds, small())
    at = ds["risk"].sel(time=list(KEPT)).rename(time="kept")
    np.testing.assert_array_equal(risk.transpose(*at.dims), at)
    norms = simbias.evaluate(Norms(), ds, small(), time=5.0)
    np.testing.assert_array_equal(norms.transpose(*ds["norms"].dims), ds["norms"])


@pytest.mark.bits
def test_a_member_goes_on_from_where_it_was_kept(ds):
    half = simulate(small(times=(2.0,), keep=(2.0,)))
    where = {"n": 20, "scale": 0.1, "seed": 2}
    one = simbias.member(half, small(times=(2.0,)), **where)
    assert (one.time, one.status) == (2.0, Status.REACHED_TIME)
    assert one.data.x.shape == (20, 2)
    run = simbias.solve(one.network, one.data, one.flow, one.loss, (3.0,), {})
    end = simbias.member(ds, small(), time=5.0, **where)
    np.testing.assert_allclose(run.network.w, end.network.w, rtol=1e-12)


@pytest.mark.bits
def test_kept_networks_are_the_same_from_a_store_and_after_a_stop(ds, tmp_path):
    stored = simulate(small(keep=KEPT), store=tmp_path / "run.zarr", lanes=2)
    xr.testing.assert_identical(stored, ds)
    xr.testing.assert_identical(open_result(tmp_path), ds)


@pytest.mark.long
def test_a_store_with_kept_networks_grows_also_in_their_shape(tmp_path):
    cell = {"n": 6, "m": (8,)}
    simulate(small(cell=cell, keep=KEPT, seeds=2), store=tmp_path / "run.zarr")
    larger = small(cell={**cell, "m": (8, 12)}, keep=KEPT, seeds=3)
    grown = simulate(larger, store=tmp_path / "run.zarr")
    xr.testing.assert_identical(grown, simulate(larger))
    for m in (8, 12):
        assert simbias.member(grown, larger, m=m, seed=2).network.w.shape == (m, 2)
    assert bool(grown["network.w"].sel(m=8).isnull().any())


@pytest.mark.bits
def test_a_member_at_rest_is_kept_as_it_is_for_every_later_time():
    class Rest(simbias.AbstractStop):
        def __call__(self, network, data):
            return jnp.asarray(True)

    ds = simulate(small(times=(1.0, 2.0, 5.0), keep=(1.0, 5.0), stop=Rest()))
    assert (ds["status"] == Status.CONVERGED).all()
    w = ds["network.w"]
    np.testing.assert_array_equal(w.isel(kept=0), w.isel(kept=1))
    assert w.notnull().all()


@pytest.mark.bits
def test_a_network_that_was_not_reached_is_nan_and_refused():
    experiment = small(cell={"n": 6, "scale": (0.1, 1e200)}, keep=KEPT)
    ds = simulate(experiment)
    risk = simbias.evaluate(lambda network, data: jnp.float64(1), ds, experiment)
    assert risk.sel(scale=0.1).notnull().all()
    assert risk.sel(scale=1e200, kept=5).isnull().all()
    with pytest.raises(simbias.BadInput, match=r"network at time 5.0.*NONFINITE"):
        simbias.member(ds, experiment, scale=1e200)


@pytest.mark.bits
def test_two_networks_are_compared_over_times_and_seeds(ds):
    moved = simbias.evaluate(shift, ds, small(), time=5.0, other_time=0.0)
    w = ds["network.w"]
    norm = np.sqrt(
        ((w.sel(kept=5) - w.sel(kept=0)) ** 2).sum(["network.w.0", "network.w.1"])
    )
    np.testing.assert_allclose(moved, norm.transpose(*moved.dims), rtol=1e-12)
    apart = simbias.evaluate(shift, ds, small(), time=5.0, other_seed=[0, 2])
    assert apart.dims == ("n", "scale", "seed", "other_seed")
    assert (apart.sel(seed=2, other_seed=2) == 0).all()
    assert (apart.sel(seed=1, other_seed=2) > 0).all()


@pytest.mark.bits
def test_a_part_of_a_result_is_evaluated_by_itself(ds):
    whole = simbias.evaluate(Risk(), ds, small())
    part = ds.sel(n=20).isel(seed=1, kept=[1])
    found = simbias.evaluate(Risk(), part, small())
    np.testing.assert_array_equal(found, whole.sel(n=20).isel(seed=1, kept=[1]))
    last = simbias.evaluate(Risk(), ds.sel(n=20, kept=5.0), small())
    assert last.dims == ("scale", "seed")
    np.testing.assert_array_equal(last, whole.sel(n=20, kept=5.0))


@pytest.mark.bits
def test_pieces_change_nothing(ds, monkeypatch):
    whole = simbias.evaluate(shift, ds, small(), other_seed=[0, 1, 2])
    monkeypatch.setattr("simbias.verbs.evaluate._MOST", 5)
    np.testing.assert_array_equal(
        simbias.evaluate(shift, ds, small(), other_seed=[0, 1, 2]), whole
    )


@pytest.mark.bits
def test_what_cannot_be_had_is_refused_by_name(ds):
    plain = simulate(small(cell={"n": 6}, seeds=1))
    for call, message in (
        (lambda: simbias.member(plain, small()), "no networks are stored.*keep"),
        (lambda: simbias.evaluate(Risk(), plain, small()), "no networks are stored"),
        (lambda: simbias.member(ds, small(), n=6, scale=0.1, time=1.0), "`time` must"),
        (lambda: simbias.evaluate(Risk(), ds, small(), time=2.0), "`time` must be"),
        (lambda: simbias.evaluate(shift, ds, small(), other_seed=9), "`other_seed`"),
        (lambda: simbias.evaluate(lambda n, d: "x", ds, small()), "got a str"),
        (lambda: simbias.member(ds, n=6, scale=0.1), "Give the experiment"),
        (lambda: simbias.member(ds, small(loss=jnp.sum)), "`experiment.loss` differs"),
        (lambda: simbias.member(ds.drop_attrs(), small()), "without the attributes"),
        (lambda: simulate(small(keep=(2.0,))), "`keep` must be a tuple of some of"),
        (lambda: simulate(small(keep=(5.0, 0.0))), "`keep` must increase"),
    ):
        with pytest.raises(simbias.BadInput, match=message):
            call()


@pytest.mark.bits
def test_an_outcome_is_written_back_into_its_run_which_may_grow(tmp_path):
    experiment = small(keep=KEPT, seeds=2)
    simulate(experiment, store=tmp_path / "run.zarr")
    risk = simbias.evaluate(Risk(), tmp_path, experiment, time=5.0, save="again")
    ds = open_result(tmp_path)
    xr.testing.assert_equal(ds["again"], risk.drop_vars("kept"))
    simbias.evaluate(lambda n, d: jnp.sum(n.w), ds, experiment, save="again")
    assert open_result(tmp_path)["again"].dims == ("n", "scale", "seed", "kept")
    simulate(small(keep=KEPT, seeds=3), store=tmp_path / "run.zarr")
    grown = open_result(tmp_path)["again"]
    assert grown.sizes["seed"] == 3
    assert grown.sel(seed=2).isnull().all()
    assert grown.sel(seed=[0, 1]).notnull().all()


@pytest.mark.bits
def test_an_outcome_that_is_damaged_is_left_out_and_reported(tmp_path):
    experiment = small(keep=KEPT, seeds=1)
    simulate(experiment, store=tmp_path / "run.zarr")
    for call, message in (
        (
            lambda: simbias.evaluate(Risk(), tmp_path, experiment, save="risk"),
            "not use",
        ),
        (lambda: simbias.evaluate(Risk(), tmp_path, experiment, save="a/b"), "Python"),
        (
            lambda: simbias.evaluate(
                Risk(), open_result(tmp_path).sel(n=6), experiment, save="x"
            ),
            "a part of it along `n`",
        ),
        (
            lambda: simbias.evaluate(
                Risk(), simulate(experiment), experiment, save="x"
            ),
            "only in memory",
        ),
    ):
        with pytest.raises(simbias.BadInput, match=message):
            call()
    simbias.evaluate(Risk(), tmp_path, experiment, save="x")
    file = tmp_path / "run.zarr" / "evaluations" / "x"
    raw = bytearray(file.read_bytes())
    raw[-1] ^= 1
    file.write_bytes(bytes(raw))
    with pytest.warns(UserWarning, match="x is ignored: its checksum"):
        assert "x" not in open_result(tmp_path)

    for name, head, what in (
        ("x", {"run": "another"}, "another run"),
        ("x", [], "another run"),
        ("x", {"dims": ["n", "n"]}, "does not match its axes"),
        ("x", {"coords": {"seed": [0, 0]}}, "coordinates do not match"),
    ):
        run = open_store(file.parent.parent).attributes["run"]
        mine = {"run": run, "name": name, "dims": ["n", "seed"], "coords": {}}
        buffer = io.BytesIO()
        np.save(buffer, np.zeros((2, 2)))
        said = json.dumps({**mine, **head} if head else head)
        body = said.encode() + b"\n" + buffer.getvalue()
        digest = hashlib.sha256(body).hexdigest().encode()
        file.write_bytes(digest + b"\n" + body)
        with pytest.warns(UserWarning, match=f"x is ignored: .*{what}"):
            assert "x" not in open_result(tmp_path)


@pytest.mark.long
def test_events_lead_from_the_first_pattern_to_the_last_and_change_no_bit():
    from simbias.experiments import threshold

    times = (0.0, 30.0)
    small = threshold.experiment("smoke", seeds=2, n=8, m=10, scale=0.3, times=times)
    measures = {"train_risk": small.measures["train_risk"]}
    plain = dataclasses.replace(small, keep=times, measures=measures, final={})
    flow = dataclasses.replace(small.flow, events=200)
    ds, without = (
        simulate(dataclasses.replace(plain, flow=f)) for f in (flow, small.flow)
    )
    for name, array in without.data_vars.items():
        np.testing.assert_array_equal(array, ds[name], str(name))
    assert ds["event_kind"].dims == ("seed", "event")
    for seed in range(2):
        start, end = (simbias.member(ds, seed=seed, time=time) for time in times)
        # The experiment is one of the package, and is found by its names.
        assert end.flow == flow
        assert end.loss is small.loss
        one = ds.isel(seed=seed)
        _replay(one, start, end)


def _replay(one, start, end):
    count = int(one["events"])
    names = ("time", "neuron", "sample", "kind")
    time, *places = (one[f"event_{name}"].values[:count] for name in names)
    assert count > 10
    assert one["event_time"][count:].isnull().all()
    assert (np.diff(time) >= 0).all()
    assert 0 < time[0] < time[-1] <= 30
    x = np.asarray(start.data.x)
    is_active = np.array(start.network.w @ x.T > 0)
    slides = np.zeros_like(is_active)
    for neuron, at, kind in zip(*(v.astype(int) for v in places), strict=True):
        here = neuron, at
        assert slides[here] == (kind in (4, 5))
        assert kind not in (1, 2) or is_active[here] == (kind == 2)
        is_active[here], slides[here] = kind in (1, 4), kind == 3
    h = np.asarray(end.network.w @ x.T)
    np.testing.assert_array_equal(h[~slides] > 0, is_active[~slides])
    np.testing.assert_allclose(h[slides], 0, atol=1e-12)
    kinds = np.bincount(places[2].astype(int), minlength=6)
    assert kinds[1] + kinds[2] == one["crossings"]
    assert kinds[3] == one["slides"]
    assert kinds[4] + kinds[5] == one["releases"]


@pytest.mark.bits
def test_events_without_room_are_counted_and_left_out():
    first = no_events(2, jnp.dtype(jnp.float64))
    two = jnp.array([[1, 0], [2, 3]])
    once = first.noted(jnp.array([0.5, 0.25]), two + 4, two)
    twice = once.noted(jnp.array([0.75, 0.5]), two + 6, jnp.array([[0, 0], [5, 0]]))
    np.testing.assert_array_equal(twice.count, [1, 3])
    log = no_log(3, jnp.dtype(jnp.float64))
    log = log.extended(twice, jnp.float64(10), jnp.float64(2))
    np.testing.assert_array_equal(log.time, [10.5, 10.5, 11])
    np.testing.assert_array_equal(log.neuron, [1, 1, 0])
    np.testing.assert_array_equal(log.kind, [2, 3, 1])
    np.testing.assert_array_equal(log.plane, [6, 7, 5])
    again = log.extended(once, jnp.float64(12), jnp.float64(2))
    assert_same_bits(again, log)


@pytest.mark.bits
def test_a_network_of_another_library_is_kept_and_comes_back_as_it_was_given():
    def drawn(key, *, n: int = 6):
        data, _ = small().make(key, n=n)
        return data, eqx.nn.MLP(2, 1, 3, 1, activation=lambda h: jnp.tanh(h), key=key)

    experiment = small(make=drawn, cell={"n": 6}, seeds=2, keep=[0, 5], final={})
    ds = simulate(experiment)
    one = simbias.member(ds, experiment, seed=1)
    assert isinstance(one.network, eqx.nn.MLP)
    np.testing.assert_array_equal(
        ds["network.layers.0.weight"].sel(seed=1, kept=5), one.network.layers[0].weight
    )
    seen = simbias.evaluate(Risk(), ds, experiment)
    np.testing.assert_array_equal(seen, ds["risk"].sel(time=[0.0, 5.0]))


def test_a_flow_of_an_experiment_is_found_by_its_name():
    from simbias.experiments import min_norm

    made = min_norm.experiment("smoke")
    stored = configuration(made)
    assert _flow(stored["flow"]) == made.flow
    assert (
        configuration(dataclasses.replace(made, flow=_flow(stored["flow"]))) == stored
    )


def test_a_field_that_a_flow_of_another_version_had_is_named():
    stored = {"type": "ReluFlow", "rtol": 1e-5}
    assert _flow(stored).rtol == 1e-5
    with pytest.raises(simbias.BadInput, match="a field `max_pins`"):
        _flow(stored | {"max_pins": None})

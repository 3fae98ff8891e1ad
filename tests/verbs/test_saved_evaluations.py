"""Outcomes beside the runs that they are of: each says what it was computed from."""

import __future__

import dataclasses
import inspect

import jax.numpy as jnp
import numpy as np
import pytest
from small import Risk, small

import simbias
from simbias.ensemble.parameters import parameters_of
from simbias.results import open_result
from simbias.verbs.simulate import simulate

KEPT = (0.0, 1.0, 5.0)


def moved(network, data, other, _):
    return jnp.sum((network.w - other.w) ** 2) + 0 * data.x[0, 0]


def axes(size):
    class Rows(simbias.AbstractMeasure):
        dims: tuple[str, ...] = ("row",)

        def __call__(self, network, data):
            return jnp.full(size, network.w[0, 0])

    return Rows()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    place = tmp_path_factory.mktemp("run")
    experiment = small(cell={"n": 6, "m": (8,)}, keep=KEPT, seeds=2)
    simulate(experiment, store=place / "run.zarr")
    return place, experiment


def refused(message, call):
    with pytest.raises(simbias.BadInput, match=message):
        call()


@pytest.mark.bits
def test_axes_with_other_values_are_refused_before_anything_is_written(run):
    place, experiment = run
    look = lambda save, **others: simbias.evaluate(
        moved, place, experiment, save=save, **others
    )
    look("first", other_time=[0.0, 1.0])
    refused(
        "'first' of this run has the axis `other_time`",
        lambda: look("second", other_time=[0.0, 5.0]),
    )
    look("third", other_time=[0.0, 1.0], time=5.0)
    simbias.evaluate(axes(3), place, experiment, save="rows")
    refused(
        "'rows' of this run has the axis `row`",
        lambda: simbias.evaluate(axes(4), place, experiment, save="more"),
    )
    simbias.evaluate(axes(4), place, experiment, save="rows")
    ds = open_result(place)
    assert {"first", "third", "rows"} < {*ds.data_vars}
    assert ds["first"].notnull().all()
    assert ds.sizes["row"] == 4


@pytest.mark.bits
def test_only_the_whole_run_that_was_opened_is_written_to(run, tmp_path):
    place, experiment = run
    ds = open_result(place)
    for part in (ds.isel(seed=[0]), ds.isel(kept=[0, 2]), ds.isel(seed=[1, 0])):
        refused(
            "this is a part of it",
            lambda part=part: simbias.evaluate(Risk(), part, experiment, save="part"),
        )
    for seeds in (1, 2):
        other = dataclasses.replace(experiment, seeds=seeds)
        if seeds == 2:
            old = open_result(tmp_path)
            (tmp_path / "run.zarr").rename(tmp_path / "gone")
        simulate(other, store=tmp_path / "run.zarr")
    refused(
        "was replaced since",
        lambda: simbias.evaluate(Risk(), old, experiment, save="stale"),
    )


@pytest.mark.bits
def test_a_run_that_grows_an_axis_keeps_what_was_seen_where_it_was(tmp_path):
    def experiment(m):
        return small(cell={"n": 6, "m": m}, keep=KEPT, seeds=2)

    simulate(experiment(8), store=tmp_path / "run.zarr")
    simbias.evaluate(Risk(), tmp_path, experiment(8), save="again")
    simulate(experiment((8, 12)), store=tmp_path / "run.zarr")
    again = open_result(tmp_path)["again"]
    assert again.sel(m=8).notnull().all()
    assert again.sel(m=12).isnull().all()


@pytest.mark.long
def test_values_of_an_axis_are_those_that_were_run():
    def drawn(key, *, n: int = 6, scale=1):
        data, network = small().make(key, n=n)
        return data, dataclasses.replace(network, w=network.w * scale)

    experiment = small(make=drawn, cell={"scale": (1, 2.5)}, keep=KEPT, final={})
    ds = simulate(experiment)
    np.testing.assert_array_equal(
        simbias.evaluate(Risk(), ds, experiment).squeeze(),
        ds["risk"].sel(time=list(KEPT)).squeeze(),
    )
    one = simbias.member(ds, experiment, scale=1, seed=1)
    np.testing.assert_array_equal(
        one.network.w, ds["network.w"].sel(scale=1, seed=1).isel(kept=-1)
    )
    mixed = dataclasses.replace(experiment, cell={"scale": (1, "1")})
    refused("mixes numbers", lambda: simulate(mixed))


@pytest.mark.bits
def test_a_part_without_its_coordinate_is_refused(run):
    _, experiment = run
    two = simulate(small(cell={"n": (6, 20)}, keep=KEPT, seeds=1))
    for part in (two.isel(n=0, drop=True), two.isel(n=0).drop_vars("n")):
        refused(
            "has lost its value of `n`",
            lambda part=part: simbias.evaluate(Risk(), part, small()),
        )
    refused(
        "`n` = 7 is not a value of the run",
        lambda: simbias.evaluate(Risk(), two.assign_coords(n=[6, 7]), small()),
    )
    assert experiment.cell["n"] == 6


@pytest.mark.bits
def test_another_make_of_the_same_name_is_refused():
    def experiment(factor, m):
        def drawn(key, *, n: int = 6):
            data, network = small().make(key, n=n, m=m)
            return data, dataclasses.replace(network, w=network.w * factor)

        return small(make=drawn, cell={"n": 6}, keep=KEPT, seeds=1, final={})

    ds = simulate(experiment(1.0, 8))
    for other in (experiment(2.0, 8), experiment(1.0, 4)):
        refused(
            r"the code of `experiment` \(make.*\) differs from that of the result",
            lambda other=other: simbias.evaluate(Risk(), ds, other),
        )
    cut = ds.isel({"network.w.0": slice(4)})
    refused(
        "gives other networks than those stored",
        lambda: simbias.evaluate(Risk(), cut, experiment(1.0, 8)),
    )
    refused(
        "gives other networks than those stored",
        lambda: simbias.member(cut, experiment(1.0, 8)),
    )


@pytest.mark.bits
def test_what_a_function_returns_is_checked(run):
    place, experiment = run
    for function, message in (
        (lambda network, _: network.w[0, 0] * 1j, "complex"),
        (lambda network, _: network.nothing, "AttributeError"),
        (lambda network: network.w[0, 0], "TypeError"),
    ):
        refused(
            message,
            lambda function=function: simbias.evaluate(function, place, experiment),
        )
    refused(
        "`kept` is empty", lambda: simbias.evaluate(Risk(), place, experiment, time=[])
    )
    refused(
        "`seed` is empty",
        lambda: simbias.evaluate(Risk(), open_result(place).isel(seed=[]), experiment),
    )


def test_annotations_that_are_texts_are_read():
    flag = __future__.annotations.compiler_flag
    text = "def make(key, *, n: int = 6, widths=(2, 3)):\n    return n"
    namespace = {}
    exec(compile(text, "mine", "exec", flags=flag), namespace)
    assert namespace["make"].__annotations__ == {"n": "int"}
    (n,) = parameters_of(namespace["make"]).values()
    assert n.annotation is int
    assert n.kind is inspect.Parameter.KEYWORD_ONLY
    exec(compile(text.replace("int", "Hidden"), "mine", "exec", flags=flag), namespace)
    refused("'Hidden' is not defined", lambda: parameters_of(namespace["make"]))

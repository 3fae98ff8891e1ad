from typing import ClassVar

import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
import zarr
from small import Risk, make, small

import simbias
from simbias.core import AbstractMeasure, Status
from simbias.ensemble import engine
from simbias.results import is_failed, is_finished, open_result
from simbias.store import room
from simbias.verbs.simulate import simulate

pytestmark = pytest.mark.process


def test_what_is_read_is_what_was_returned(tmp_path):
    ds = simulate(small(), store=tmp_path / "run.zarr")
    xr.testing.assert_identical(open_result(tmp_path), ds)
    assert list(ds["risk"].dims) == ["n", "scale", "seed", "time"]
    assert list(ds["norms"].dims) == ["n", "scale", "seed", "neuron"]
    assert is_finished(ds).all()
    assert not is_failed(ds).any()


LARGE = [2**24 + 1, 2**53 - 1]


class Large(AbstractMeasure):
    """Whole numbers beyond the digits of float32."""

    dims: ClassVar[tuple[str, ...]] = ("number",)

    def __call__(self, network, data):
        return jnp.array(LARGE)


class Positive(AbstractMeasure):
    dims: ClassVar[tuple[str, ...]] = ()

    def __call__(self, network, data):
        return jnp.all(data.weight >= 0)


def test_counts_keep_their_digits_and_those_that_are_missing_are_nan(tmp_path):
    measures = {"large": Large(), "positive": Positive()}
    cell = {"n": 6, "scale": (0.1, 1e200)}
    experiment = small(
        cell=cell, measures=measures, final={"last": Large()}, dtype="float32"
    )
    ds = simulate(experiment, store=tmp_path / "run.zarr")
    xr.testing.assert_identical(ds, simulate(experiment))
    assert {ds[n].dtype for n in ("large", "positive", "last")} == {np.dtype(float)}
    assert (ds["large"].sel(scale=0.1) == LARGE).all()
    assert (ds["last"].sel(scale=0.1) == LARGE).all()
    assert (ds["positive"].sel(scale=0.1) == 1).all()
    assert ds["large"].sel(scale=1e200, time=5).isnull().all()


def test_a_finished_run_is_not_computed_again(tmp_path, monkeypatch):
    ds = simulate(small(), store=tmp_path / "run.zarr")

    def refuse(*_):
        raise AssertionError("computed again")

    monkeypatch.setattr(engine.Stations, "_drive", refuse)
    xr.testing.assert_identical(simulate(small(), store=tmp_path / "run.zarr"), ds)


def test_a_large_run_begins_and_ends(tmp_path, monkeypatch):
    """Of a result beyond some size next to nothing is there at first."""
    monkeypatch.setattr(room, "SMALL", 0)
    ds = simbias.simulate(small(), store=tmp_path / "run")
    assert (ds["status"] == Status.REACHED_TIME).all()


def test_an_interrupted_run_is_readable_and_ends_with_the_same_bits(
    tmp_path, monkeypatch
):
    whole = simulate(small())
    harvest = engine.harvest
    seen = []

    def interrupted(*arguments):
        seen.append(1)
        if len(seen) > 4:
            raise KeyboardInterrupt
        return harvest(*arguments)

    monkeypatch.setattr(engine, "harvest", interrupted)
    with pytest.raises(KeyboardInterrupt):
        simulate(small(), store=tmp_path / "run.zarr")
    part = open_result(tmp_path)
    done = is_finished(part)
    assert 0 < done.sum() < whole["status"].size
    assert (part["status"].values[~done.values] == Status.RUNNING).all()
    assert part["risk"].where(~done).isnull().all()
    np.testing.assert_array_equal(
        part["risk"].values[done.values], whole["risk"].values[done.values]
    )
    monkeypatch.setattr(engine, "harvest", harvest)
    xr.testing.assert_identical(simulate(small(), store=tmp_path / "run.zarr"), whole)


def test_another_configuration_is_refused_with_the_differences(tmp_path):
    ds = simulate(small(), store=tmp_path / "run.zarr")
    with pytest.raises(ValueError, match=r"root: 0 -> 1"):
        simulate(small(root=1), store=tmp_path / "run.zarr")
    xr.testing.assert_identical(open_result(tmp_path), ds)


def test_a_flipped_bit_is_an_error_and_not_data(tmp_path):
    simulate(small(), store=tmp_path / "run.zarr")
    chunks = tmp_path / "run.zarr" / "trajectories" / "risk" / "c"
    chunk = next(p for p in chunks.rglob("*") if p.is_file())
    raw = bytearray(chunk.read_bytes())
    raw[len(raw) // 2] ^= 1
    chunk.write_bytes(bytes(raw))
    with pytest.raises(Exception, match=r"(?i)checksum|corrupt|decompress"):
        open_result(tmp_path)


def test_a_folder_that_is_not_a_run_is_refused(tmp_path):
    with pytest.raises(ValueError, match="is not a simbias run"):
        open_result(tmp_path)
    zarr.create_group(tmp_path / "other.zarr")
    with pytest.raises(ValueError, match="expected format 'simbias-5'"):
        open_result(tmp_path / "other.zarr")


def test_a_result_has_every_argument_of_make_as_a_coordinate(tmp_path):
    cell = {"n": (6, 20), "scale": 0.5, "flow.rate": 0.05}
    ds = simulate(small(cell=cell), store=tmp_path / "run.zarr")
    for one in (ds, open_result(tmp_path)):
        assert {k: one[k].item() for k in ("scale", "flow.rate")} == {
            "scale": 0.5,
            "flow.rate": 0.05,
        }
        # Those that were left at their defaults too.
        assert {k: one[k].item() for k in ("d", "m", "sigma")} == {
            "d": 2,
            "m": 8,
            "sigma": 0.5,
        }
        assert one["n"].values.tolist() == [6, 20]
        assert one["risk"].dims == ("n", "seed", "time")


def test_a_default_of_make_that_has_changed_is_another_run(tmp_path):
    def other(key, *, n: int = 10, d: int = 2, m: int = 9, scale: float = 0.1):
        return make(key, n=n, d=d, m=m, scale=scale)

    before = small(seeds=1)
    simulate(before, store=tmp_path / "run.zarr")
    other.__module__, other.__qualname__ = make.__module__, make.__qualname__
    with pytest.raises(ValueError, match=r"cell\.m: \[8\] -> \[9\]"):
        simulate(small(seeds=1, make=other), store=tmp_path / "run.zarr")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_member_is_drawn_again_from_its_place_in_the_result(dtype):
    experiment = small(dtype=dtype)
    ds = simulate(experiment)
    for n, scale, seed in ((6, 0.1, 0), (20, 0.5, 2)):
        data, network = simbias.initial(ds, experiment, n=n, scale=scale, seed=seed)
        assert data.x.shape[0] == n
        assert data.x.dtype == network.w.dtype == dtype
        seen = ds["risk"].sel(n=n, scale=scale, seed=seed, time=0.0).item()
        rtol = 1e-12 if dtype == "float64" else 1e-5
        np.testing.assert_allclose(Risk()(network, data), seen, rtol=rtol)


def test_a_member_that_is_not_there_is_refused_by_name():
    experiment = small()
    ds = simulate(experiment)
    for where, message in (
        ({"n": 7, "scale": 0.1}, r"`n` must be one of \[6, 20\], got 7"),
        ({"n": 6}, r"`scale` must be one of \[0.1, 0.5\]\."),
        ({"n": 6, "scale": 0.1, "seed": 3}, r"`seed` must be one of \[0, 1, 2\]"),
        (
            {"n": 6, "scale": 0.1, "p": 3},
            r"`p` is not .* Known: n, d, m",
        ),
        ({"n": 6, "scale": 0.1, "m": 9}, r"`m` must be one of \[8\], got 9"),
    ):
        with pytest.raises(simbias.BadInput, match=message):
            simbias.initial(ds, experiment, **where)
    other = small(make=lambda key, *, n=6, scale=0.1: make(key, n=n, scale=scale))
    with pytest.raises(simbias.BadInput, match="expected small.make [0-9a-f]+, got"):
        simbias.initial(ds, other, n=6, scale=0.1)

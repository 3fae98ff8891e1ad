"""A finished run is read by xarray alone, without simbias and without a warning."""

import itertools
import json
import pathlib
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
import zarr
from small import make, small

from simbias.core import Status
from simbias.ensemble.array_attributes import array_attributes
from simbias.ensemble.plan import make_plan
from simbias.flows import ReluFlow
from simbias.numerics.exact_numerics import exact_numerics
from simbias.results import attributes, open_result
from simbias.store import _plain_arrays
from simbias.store._root import attributes_of, sealed
from simbias.store.folder import Folder
from simbias.store.layout import Store
from simbias.store.lease import Leases
from simbias.store.objects import connected
from simbias.store.plain import axis_files, listed
from simbias.store.work import complete_by_one, prepare, work
from simbias.verbs.export import export
from simbias.verbs.simulate import simulate

pytestmark = pytest.mark.process

_NUMBERS = itertools.count()


def named(key, *, law: str = "plain", n: int = 6, m: int = 4):
    """A sample by a law of a name."""
    assert law in ("plain", "other")
    return make(key, n=n, m=m)


def members(network, data):
    """A measure that is called as a folder of the store is."""
    return jnp.sum(network.a)


NAMED = small(
    make=named,
    cell={"law": ("plain", "other")},
    seeds=2,
    measures={**small().measures, "members": members},
)


def read(path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if zarr.__version__ < "3.1":
            warnings.filterwarnings("ignore", "The codec `vlen-utf8`")
        return xr.open_zarr(path).load()


def files(path):
    return {p: p.read_bytes() for p in path.rglob("*") if p.is_file()}


def test_xarray_reads_a_run_where_simbias_is_not_imported(tmp_path):
    path = tmp_path / "run.zarr"
    simulate(small(), store=path)
    code = (
        "import sys, xarray as xr\n"
        f"ds, tree = xr.open_zarr({str(path)!r}).load(), "
        f"xr.open_datatree({str(path)!r}, engine='zarr').load()\n"
        "assert not {'simbias', 'jax'} & {*sys.modules}\n"
        "assert tree.groups == ('/',) and tree.to_dataset().identical(ds)\n"
        "print(ds.risk.dims, ds.sizes['seed'], ds.time.units, sorted(ds.coords))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == (
        "('n', 'scale', 'seed', 'time') 3 flow time "
        "['d', 'm', 'n', 'scale', 'seed', 'sigma', 'time']"
    )


def test_it_holds_what_simbias_reads_also_texts_and_kept_networks(tmp_path):
    path = tmp_path / "run.zarr"
    whole = simulate(NAMED, store=path)
    found = read(path).rename(members_="members")
    assert found["law"].values.tolist() == ["plain", "other"]
    xr.testing.assert_equal(found, whole.assign_coords(law=found["law"]))
    kept = small(keep=(0.0, 5.0), seeds=2)
    whole = simulate(kept, store=tmp_path / "kept.zarr")
    found = read(tmp_path / "kept.zarr")
    xr.testing.assert_equal(found, whole)
    assert {"kept", "network.w"} <= {*found.variables}


def test_everything_has_a_unit_and_a_long_name_also_in_memory_and_in_files(tmp_path):
    whole = simulate(NAMED, store=tmp_path / "run.zarr")
    export(whole, tmp_path / "run.nc")
    with xr.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as of_file:
        for ds in (whole, read(tmp_path / "run.zarr"), of_file):
            for name, variable in ds.variables.items():
                assert variable.attrs["long_name"], name
                assert variable.attrs["units"], name
            own = "members" if "members" in ds else "members_"
            said = "A measure that is called as a folder of the store is"
            assert ds[own].attrs["long_name"] == said
            meanings = ds["status"].attrs["flag_meanings"].split()
            values = np.atleast_1d(ds["status"].attrs["flag_values"])
            assert [Status[m].value for m in meanings] == values.tolist()
    assert "sha256:" in read(tmp_path / "run.zarr").attrs["citation"]


def test_what_a_flow_counts_is_said_in_words():
    with exact_numerics():
        plan = make_plan(small(flow=ReluFlow(rtol=1e-3)))
    for name in plan.stats:
        assert len(array_attributes(plan)[name]["long_name"].split()) > 2, name


def test_a_run_that_is_not_finished_has_its_axes_and_says_running(tmp_path):
    with exact_numerics():
        plan = make_plan(small())
    prepare(tmp_path / "run.zarr", plan, attributes(plan))
    ds = read(tmp_path / "run.zarr")
    assert ds["n"].values.tolist() == [6, 20]
    assert (ds["status"] == Status.RUNNING).all()
    assert ds["risk"].isnull().all()


@pytest.mark.long
def test_a_run_that_grows_is_written_anew(tmp_path):
    path = tmp_path / "run.zarr"
    simulate(small(cell={"n": (6, 20)}, seeds=2), store=path)
    larger = simulate(small(seeds=3, cell={"n": (6, 8, 20), "m": (4, 8)}), store=path)
    xr.testing.assert_equal(read(path), larger)
    xr.testing.assert_identical(open_result(path), larger)


@pytest.mark.parametrize("lost", ["status/c/0/0/0", "risk/zarr.json", "time/c/0"])
def test_what_is_lost_of_it_comes_back_with_the_same_bytes(tmp_path, lost):
    path = tmp_path / "run.zarr"
    simulate(small(), store=path)
    before = files(path)
    (path / lost).unlink()
    simulate(small(), store=path)
    assert files(path) == before


def test_who_is_stopped_while_writing_it_leaves_it_unfinished(tmp_path, monkeypatch):
    whole = simulate(small(), store=tmp_path / "whole.zarr")
    write, path = Folder.write, tmp_path / "run.zarr"

    def stopping(self, content):
        if "run.zarr/norms/" in str(self.path):
            raise KeyboardInterrupt
        write(self, content)

    monkeypatch.setattr(Folder, "write", stopping)
    with pytest.raises(KeyboardInterrupt):
        simulate(small(), store=path)
    assert (read(path)["status"] == Status.RUNNING).all()
    monkeypatch.undo()
    xr.testing.assert_identical(simulate(small(), store=path), whole)
    xr.testing.assert_equal(read(path), whole)
    assert not (path / "work").exists()


def finished_by_workers(path):
    """A run that workers have finished, and nobody has asked for."""
    with exact_numerics():
        plan = make_plan(small())
    store = prepare(path, plan, attributes(plan))
    work(plan, store)
    assert (read(path)["status"] == Status.RUNNING).all()
    return store


def test_of_workers_that_end_the_first_writes_it_and_the_others_leave(
    tmp_path, monkeypatch
):
    path = tmp_path / "run.zarr"
    store = finished_by_workers(path)
    with Leases(store.work) as leases:
        assert leases.claim("plain")
        monkeypatch.setattr(Store, "read", None)  # nothing is read by the others
        complete_by_one(store)
        monkeypatch.undo()
    assert (read(path)["status"] == Status.RUNNING).all()
    complete_by_one(store)
    xr.testing.assert_equal(read(path), open_result(path))
    assert not (path / "work").exists()
    monkeypatch.setattr(Store, "read", None)
    complete_by_one(store)


def test_workers_at_once_write_the_same_bytes_of_it(tmp_path):
    one, two = (finished_by_workers(tmp_path / name) for name in ("one", "two"))
    complete_by_one(one)
    with ThreadPoolExecutor(4) as at_once:
        for done in [at_once.submit(complete_by_one, two) for _ in range(4)]:
            done.result()
    assert not two.work.exists()
    relative = lambda p: {f.relative_to(p): b for f, b in files(p).items()}
    found, wanted = (relative(tmp_path / name) for name in ("two", "one"))
    assert {*found} == {*wanted}
    root = pathlib.Path("zarr.json")  # which numbers the run
    assert all(found[k] == wanted[k] for k in wanted if k != root)


def test_a_place_that_cannot_be_written_is_read_as_before(tmp_path, monkeypatch):
    path = tmp_path / "run.zarr"
    whole = simulate(small(), store=path)
    (path / "status/c/0/0/0").unlink()

    def refused(*_):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Folder, "ready", refused)
    monkeypatch.setattr(Folder, "write", refused)
    xr.testing.assert_identical(simulate(small(), store=path), whole)


def test_a_run_of_an_older_simbias_is_left_as_it_is(tmp_path):
    path = tmp_path / "run.zarr"
    whole = simulate(small(), store=path)
    document = attributes_of(json.loads((path / "zarr.json").read_text()))
    for name in axis_files(document):
        (path / name).unlink()
    del document["described"]
    (path / "zarr.json").write_bytes(sealed(document))
    before = files(path)
    xr.testing.assert_equal(open_result(path), whole)
    assert files(path) == before


def test_names_that_lead_elsewhere_and_values_that_are_none_are_left_out(tmp_path):
    path = tmp_path / "run.zarr"
    simulate(small(), store=path)
    known = attributes_of(json.loads((path / "zarr.json").read_text()))
    assert {*listed(known)["metadata"]} >= {"n", "risk", "status"}
    bad = ("..", "../out", "/etc/x", ".", ".hidden", "a/b", "a\0b", "x" * 300, "")
    known["axes"] |= {name: [1] for name in bad} | {"none": [[1], {}]}
    known["configuration"]["cell"] |= dict.fromkeys(bad, 3) | {"empty": None}
    known["columns"] |= {
        f"final/{name}": {"dtype": "float64", "dims": []} for name in bad
    }
    known["extents"][-1]["shapes"] |= {f"final/{name}": [] for name in bad}
    found = listed(known)["metadata"]
    assert not {*bad, "none", "empty"} & {*found}
    assert all("/" not in name and not name.startswith(".") for name in found)


def test_a_described_that_is_no_table_of_texts_is_named(tmp_path):
    path = tmp_path / "run.zarr"
    simulate(small(), store=path)
    known = attributes_of(json.loads((path / "zarr.json").read_text()))
    for wrong in ([], {"n": 3}, {"n": {"units": 3}}):
        (path / "zarr.json").write_bytes(sealed({**known, "described": wrong}))
        with pytest.raises(ValueError, match="described is"):
            open_result(path)


def test_an_object_store_has_it_too():
    bucket = f"plain-{next(_NUMBERS)}"
    whole = simulate(small(), store=f"memory://{bucket}/run.zarr")
    below = zarr.storage.ObjectStore(connected("memory", bucket), read_only=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = xr.open_zarr(below, group="run.zarr", consolidated=False).load()
    xr.testing.assert_equal(found, whole)


def test_large_arrays_are_cut_into_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(_plain_arrays, "_CHUNK_BYTES", 100)
    whole = simulate(small(), store=tmp_path / "run.zarr")
    assert len(list((tmp_path / "run.zarr/risk/c").rglob("*"))) > 4
    xr.testing.assert_equal(read(tmp_path / "run.zarr"), whole)

"""What others read of a run follows from its members, and is repaired from them."""

import json
import shutil
import warnings

import numpy as np
import pytest
import xarray as xr
from small import small

from simbias import cli
from simbias.cli import _findings
from simbias.results import open_result
from simbias.store._mark import unmarked
from simbias.store._root import MARKS_A_PLACE, MARKS_NOTHING, attributes_of, sealed
from simbias.store.layout import open_store
from simbias.store.plain import axis_files, listed, plain_faults
from simbias.verbs.simulate import simulate

pytestmark = pytest.mark.process

GROUPS = ("members", "trajectories", "final", "networks")


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("stored") / "run.zarr"
    return path, simulate(small(), store=path)


@pytest.fixture
def copy(stored, tmp_path):
    return shutil.copytree(stored[0], tmp_path / "run.zarr")


def files(path):
    return {p: p.read_bytes() for p in path.rglob("*") if p.is_file()}


def faults(path):
    store = open_store(path)
    return plain_faults(store, store.read()[0])


def empty(place):
    place.write_bytes(b"")


def cut(place):
    place.write_bytes(place.read_bytes()[:-9])


def lost(place):
    place.unlink()


def older(place):
    """A chunk of another array, which decompresses without an error."""
    shutil.copy(place.parents[4] / "n" / "c" / "0", place)


def linked(place):
    place.rename(place.parents[4].parent / "outside")
    place.symlink_to(place.parents[4].parent / "outside")


def folder(place):
    place.unlink()
    place.mkdir()


@pytest.mark.parametrize("damage", [empty, cut, lost, older, linked, folder])
def test_plain_data_that_are_not_those_of_the_members_come_back(copy, damage):
    before = files(copy)
    damage(copy / "status" / "c" / "0" / "0" / "0")
    assert [*faults(copy)] == ["status/c/0/0/0"]
    simulate(small(), store=copy)
    assert files(copy) == before
    assert not any(place.is_symlink() for place in copy.rglob("*"))


@pytest.mark.parametrize("name", ["risk", "n", "status"])
def test_a_plain_array_that_is_lost_comes_back(copy, name):
    before = files(copy)
    shutil.rmtree(copy / name)
    simulate(small(), store=copy)
    assert files(copy) == before


def test_values_that_somebody_has_changed_are_those_of_the_members_again(copy, stored):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        changed = xr.open_zarr(copy).load()
        changed["end_time"][:] = 7.0
        changed[["end_time"]].drop_encoding().to_zarr(copy, mode="r+")
    assert (xr.open_zarr(copy)["end_time"] == 7).all()
    simulate(small(), store=copy)
    xr.testing.assert_equal(
        xr.open_zarr(copy).load()["end_time"], stored[1]["end_time"]
    )


@pytest.mark.parametrize("change", ["gone", "lost", "other"])
def test_the_list_in_the_root_is_that_of_the_arrays_again(copy, change):
    before = files(copy)
    root = json.loads((copy / "zarr.json").read_text())
    if change == "gone":
        del root["consolidated_metadata"]
    elif change == "lost":
        del root["consolidated_metadata"]["metadata"]["risk"]
    else:
        root["consolidated_metadata"]["metadata"]["risk"]["shape"][0] = 7
    (copy / "zarr.json").write_text(json.dumps(root))
    assert [*faults(copy)] == ["zarr.json"]
    simulate(small(), store=copy)
    assert files(copy) == before


def test_what_zarr_has_listed_is_no_fault(copy):
    import zarr

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        zarr.consolidate_metadata(copy)
    assert not faults(copy)


@pytest.mark.parametrize("name", ["trajectories/risk", "members/status", "final/norms"])
def test_files_that_change_places_are_found_and_computed_again(copy, stored, name):
    before, ds = files(copy), stored[1]
    left, right = (
        (min((copy / name / "c" / b).rglob("*")) for b in "01")
        if (copy / name / "c" / "0").is_dir()
        else (copy / name / "c" / b for b in "01")
    )
    one, other = left.read_bytes(), right.read_bytes()
    left.write_bytes(other)
    right.write_bytes(one)
    with pytest.raises(ValueError, match=f"is the file of another chunk, {name}"):
        open_result(copy)
    with pytest.warns(UserWarning, match="is computed again"):
        xr.testing.assert_identical(simulate(small(), store=copy), ds)
    assert files(copy) == before


@pytest.mark.parametrize("change", [{"seeds": 4}, {"times": (0.0, 2.0)}])
def test_a_chunk_of_another_run_is_found_and_computed_again(
    copy, stored, tmp_path, change
):
    before = files(copy)
    simulate(small(**change), store=tmp_path / "other.zarr")
    chunk = "members/status/c/0"
    shutil.copy(tmp_path / "other.zarr" / chunk, copy / chunk)
    with pytest.raises(ValueError, match="it belongs to another run"):
        open_result(copy)
    with pytest.warns(UserWarning, match="is computed again"):
        xr.testing.assert_identical(simulate(small(), store=copy), stored[1])
    assert files(copy) == before


def as_earlier(path, form):
    """The run as simbias wrote it when marks said less, or nothing."""
    now = open_store(path)
    attributes = attributes_of(json.loads((path / "zarr.json").read_text()))
    attributes["format"] = form
    (path / "zarr.json").write_bytes(sealed(attributes, listed(attributes)))
    then = open_store(path)
    for group in GROUPS:
        for place in (path / group).rglob("c/**/*"):
            if place.is_file():
                name = place.relative_to(path).as_posix()
                raw = unmarked(place.read_bytes(), now.marks.of(name))
                place.write_bytes(raw + then.marks.of(name))


@pytest.mark.parametrize("form", [MARKS_NOTHING, MARKS_A_PLACE])
def test_a_run_of_an_earlier_format_is_read_repaired_and_grown(copy, stored, form):
    as_earlier(copy, form)
    before = files(copy)
    root = json.loads((copy / "zarr.json").read_text())["attributes"]
    assert isinstance(root["configuration"], dict) == (form == MARKS_NOTHING)
    xr.testing.assert_identical(open_result(copy), stored[1])
    empty(copy / "risk" / "c" / "0" / "0" / "0" / "0")
    (copy / "members" / "status" / "c" / "1").unlink()
    simulate(small(), store=copy)
    assert files(copy) == before
    grown = simulate(small(seeds=4), store=copy)
    xr.testing.assert_identical(grown, simulate(small(seeds=4)))
    assert open_store(copy).attributes["format"] == form


def test_xarray_writes_a_run_as_netcdf(copy, stored, tmp_path):
    ds = xr.open_zarr(copy)
    for name in ("experiment", "configuration", "extents", "recipe"):
        if name in ds.attrs:
            json.loads(ds.attrs[name])
    ds.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as found:
        xr.testing.assert_equal(found.load(), stored[1])
        assert json.loads(found.attrs["configuration"])["name"] == "small"


def test_axes_are_verified_as_well(copy):
    assert axis_files(open_store(copy).attributes)
    np.testing.assert_array_equal(xr.open_zarr(copy)["n"], [6, 20])
    empty(copy / "n" / "c" / "0")
    assert [*faults(copy)] == ["n/c/0"]


def test_doctor_says_what_of_a_run_is_wrong_and_what_to_do(copy, capsys):
    assert cli.exit_code(["doctor", str(copy)]) == 0
    assert "ok     plain data" in capsys.readouterr().out
    empty(copy / "risk" / "c" / "0" / "0" / "0" / "0")
    (copy / "final" / "norms" / "c" / "0" / "0").write_bytes(b"")
    (copy / "members" / "zarr.json").unlink()
    assert cli.exit_code(["doctor", str(copy)]) == 1
    said = capsys.readouterr().out
    assert "wrong  blocks: " in said
    assert "wrong  documents: " in said
    assert "final/norms/c/0/0 is damaged" in said
    assert "members/zarr.json is missing" in said
    assert "simbias resume" in said
    assert cli.exit_code(["doctor", str(copy.parent / "none")]) == 2


def test_networks_that_rejected_most_steps_are_named(stored, monkeypatch, capsys):
    assert cli.exit_code(["doctor", str(stored[0])]) == 0
    assert "ok     steps" in capsys.readouterr().out
    counts = []
    said = lambda stats, end_time: counts.append((stats, end_time)) or ["Two did."]
    monkeypatch.setattr(_findings, "said_of_steps", said)
    assert cli.exit_code(["doctor", str(stored[0])]) == 0
    assert "hint   steps: Two did." in capsys.readouterr().out
    ((stats, end_time),) = counts
    np.testing.assert_array_equal(stats["accepted"], stored[1]["accepted"].values.flat)
    np.testing.assert_array_equal(end_time, stored[1]["end_time"].values.flat)

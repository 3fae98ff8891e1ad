"""Files that other programs read give back what the run has."""

import functools
import json
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from small import small

import simbias
from simbias import cli


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "run.zarr"
    experiment = small(cell={"n": 6, "scale": (0.1, 0.5)}, seeds=3)
    return folder, simbias.simulate(experiment, store=folder)


@pytest.mark.bits
@pytest.mark.parametrize(
    ("file", "opened"), [("a.nc", xr.open_dataset), ("a.zarr", xr.open_zarr)]
)
def test_xarray_opens_everything_as_it_was_and_warns_of_nothing(
    run, tmp_path, file, opened
):
    folder, _ = run
    ds = simbias.open_result(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert simbias.export(ds, tmp_path / file) == [tmp_path / file]
        with opened(tmp_path / file) as back:
            xr.testing.assert_identical(back.load(), ds)
            assert json.loads(back.attrs["configuration"])["seeds"] == 3


# By itself not every pandas reads the nearest number.
read_csv = functools.partial(pd.read_csv, converters={"risk": float})


@pytest.mark.parametrize(
    ("suffix", "read"), [("csv", read_csv), ("parquet", pd.read_parquet)]
)
def test_tables_have_a_row_for_a_member_and_one_for_a_value(
    run, tmp_path, suffix, read
):
    _, ds = run
    files = simbias.export(ds, tmp_path / f"a.{suffix}")
    assert tmp_path / f"a.{suffix}" in files
    assert tmp_path / f"a-time.{suffix}" in files
    members = read(tmp_path / f"a.{suffix}")
    assert len(members) == ds["status"].size
    assert [*members.columns][:2] == ["scale", "seed"]
    assert (members["status"] == "REACHED_TIME").all()
    assert (members["n"] == 6).all()
    along = read(tmp_path / f"a-time.{suffix}").set_index(["scale", "seed", "time"])
    back = along["risk"].to_xarray().transpose(*ds["risk"].dims)
    np.testing.assert_array_equal(back, ds["risk"])


def test_axes_without_values_have_their_places(run, tmp_path):
    _, ds = run
    ds = ds.assign(row=(("scale", "seed", "k"), np.arange(12.0).reshape(2, 3, 2)))
    simbias.export(ds, tmp_path / "a.csv")
    table = pd.read_csv(tmp_path / "a-k.csv")
    assert table["k"].tolist() == [0, 1] * 6
    assert table["row"].tolist() == [*range(12)]


def test_the_command_writes_what_it_says(run, tmp_path, capsys):
    folder, _ = run
    with pytest.raises(SystemExit) as leaving:
        cli.main(["export", str(folder), str(tmp_path / "a.csv")])
    assert not leaving.value.code
    said = capsys.readouterr().out.split()
    assert {str(f) for f in tmp_path.iterdir()} == {*said}


def test_nothing_is_replaced_and_nothing_is_left_of_what_failed(
    run, tmp_path, monkeypatch
):
    _, ds = run
    (tmp_path / "a-time.csv").write_text("mine")
    with pytest.raises(ValueError, match="`path`: .*a-time.csv exists"):
        simbias.export(ds, tmp_path / "a.csv")
    assert [f.name for f in tmp_path.iterdir()] == ["a-time.csv"]

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", full)
    with pytest.raises(OSError, match="No space"):
        simbias.export(ds, tmp_path / "b.csv")
    assert [f.name for f in tmp_path.iterdir()] == ["a-time.csv"]


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("a.xlsx", "must end in one of .nc"),
        ("a", "must end in"),
        ("no/a.csv", "not exist"),
    ],
)
def test_where_nothing_can_be_written_is_said(run, tmp_path, file, said):
    _, ds = run
    with pytest.raises(ValueError, match=f"`path`.*{said}"):
        simbias.export(ds, tmp_path / file)


@pytest.mark.parametrize(
    ("file", "package"), [("a.nc", "h5netcdf"), ("a.parquet", "pyarrow")]
)
def test_a_package_that_is_missing_is_named(run, tmp_path, monkeypatch, file, package):
    _, ds = run
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ValueError, match=rf"needs {package}.* pip install 'simbias\["):
        simbias.export(ds, tmp_path / file)


@pytest.mark.bits
def test_a_run_is_cited_by_what_was_asked_for(run):
    folder, ds = run
    other = simbias.simulate(small(cell={"n": 6, "scale": (0.1, 0.5)}, seeds=4))
    cited = [one.attrs["citation"] for one in (ds, simbias.open_result(folder), other)]
    assert cited[0] == cited[1] != cited[2]
    assert f"simbias {simbias.__version__}; run {ds.attrs['experiment']}" in cited[0]

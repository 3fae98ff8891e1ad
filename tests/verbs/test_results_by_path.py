"""Verbs take the folder of a run where they take a result; own figures have a style."""

import types

import numpy as np
import pytest
import xarray as xr
from matplotlib import pyplot as plt
from small import small

import simbias
from simbias.results import open_result
from simbias.verbs.simulate import simulate


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("stored") / "run.zarr"
    experiment = small(keep=(0.0,))
    simulate(experiment, store=path)
    return path, experiment


@pytest.mark.slow
def test_a_member_is_that_of_the_opened_result(stored):
    path, experiment = stored
    ds = open_result(path)
    where = {k: ds[k].values[0].item() for k in experiment.cell if k in ds.dims}
    for verb in (simbias.initial, simbias.member):
        one = verb(path, experiment, seed=1, **where)
        other = verb(ds, experiment, seed=1, **where)
        data, same = (x.data if hasattr(x, "data") else x[0] for x in (one, other))
        np.testing.assert_array_equal(data.x, same.x)


def test_runs_are_compared_and_exported_by_their_folders(stored, tmp_path):
    path, _ = stored
    ds = open_result(path)
    found = simbias.compare(str(path), path)
    xr.testing.assert_identical(found, simbias.compare(ds, ds))
    (file,) = simbias.export(path, tmp_path / "run.zarr")
    assert file.exists()


def test_what_is_no_run_is_named(tmp_path):
    with pytest.raises(ValueError, match="is not a simbias run"):
        simbias.member(tmp_path / "none")


def test_a_figure_of_your_own_has_the_style_of_simbias(stored):
    def figure(ds):
        shown, axes = plt.subplots()
        axes.plot(
            ds["time"], ds["risk"].mean([k for k in ds["risk"].dims if k != "time"])
        )
        plt.close(shown)
        return shown

    mine = types.SimpleNamespace(figure=figure)
    (drawn,) = simbias.draw(mine, open_result(stored[0])).values()
    assert not drawn.axes[0].spines["top"].get_visible()
    assert drawn.get_layout_engine() is not None

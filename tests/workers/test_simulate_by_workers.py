"""`simulate` with the workers of a pool returns what it returns without."""

import sys

import pytest
import xarray as xr

import simbias
from simbias.errors import BadInput
from simbias.experiments import three_points
from simbias.flows.descent import Descent
from simbias.verbs.simulate import simulate
from simbias.workers import LocalWorkers, function_worker

pytestmark = pytest.mark.process

EXPERIMENT = three_points.experiment(
    "smoke", m=20, flow=Descent(), times=(0.0, 5.0), seeds=2
)


def test_workers_compute_the_bytes_of_one_process(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    workers = LocalWorkers(1)
    by_workers = simulate(EXPERIMENT, store="run.zarr", workers=workers)
    xr.testing.assert_identical(by_workers, simulate(EXPERIMENT))


def test_workers_need_a_store_that_they_see():
    with pytest.raises(BadInput, match="they need a `store`"):
        simulate(EXPERIMENT, workers=LocalWorkers(1))


def test_an_experiment_that_cannot_be_sent_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(BadInput, match="the experiment cannot be sent to them"):
        function_worker(lambda over: simbias.__version__)

"""`submit` starts workers by what is there, and names what is not."""

import os
import sys

import pytest
import xarray as xr
from small import small
from tree import ROOT

from simbias import cli
from simbias.ensemble.plan import make_plan
from simbias.results import attributes, open_result
from simbias.store import work
from simbias.workers.pool import State, Worker
from simbias.workers.slurm_workers import SlurmWorkers

RUN = ["three_points", "--preset", "smoke", "--flow.name", "descent"]
RUN += ["--times", "0", "5", "--cell.m", "20", "--seeds", "12"]


@pytest.fixture
def begun(tmp_path):
    recipe = {"experiment": "threshold", "preset": "smoke", "overrides": []}
    plan = make_plan(small(cell={"n": 6}, seeds=1))
    work.prepare(tmp_path / "run.zarr", plan, attributes(plan, recipe))
    return str(tmp_path)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--cluster", "local"], "Add --wait"),
        (["--cluster", "ray"], "Add --wait"),
        (["--cluster", "local", "--address", "x"], "`--address` is not an option of"),
        (
            ["--cluster", "dask", "--gpus", "1"],
            "`--gpus` is not an option of",
        ),
        (["--cluster", "ray", "--minutes", "5"], "`--minutes` is not an option of"),
        (["--cluster", "local", "--cpus", "2"], "`--cpus` is not an option of"),
        (["--workers", "0"], "`workers` must be positive"),
        (["--cluster", "ray", "--wait"], "simbias[ray]"),
        (["--cluster", "dask", "--wait"], "simbias[dask]"),
        ([], "there is no `srun` here"),
    ],
)
def test_what_is_wrong_is_named_before_anything_is_started(
    begun, monkeypatch, capsys, words, message
):
    for package in ("ray", "distributed"):
        monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert cli.exit_code(["submit", begun, *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.long
def test_workers_of_this_machine_finish_a_run_that_was_only_prepared(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)
    assert cli.exit_code(["run", *RUN, "--workers", "0", "--out", "run"]) == 0
    words = ["--cluster", "local", "--workers", "1", "--wait"]
    assert cli.exit_code(["submit", "run", *words]) == 0
    # The first worker that can has left the plain data, too.
    assert (tmp_path / "run" / "run.zarr" / "end_time").is_dir()
    assert not os.path.exists(tmp_path / "run" / "run.zarr" / "work")
    capsys.readouterr()
    assert cli.exit_code(["submit", "run", *words]) == 0
    assert "The run is finished" in capsys.readouterr().err
    assert cli.exit_code(["run", *RUN, "--out", "one"]) == 0
    xr.testing.assert_identical(open_result("run"), open_result("one"))


def test_jobs_that_go_on_without_the_command_are_told_of(begun, monkeypatch, capsys):
    class Jobs(SlurmWorkers):
        def __enter__(self):
            return self

        def submit(self, command):
            pass

        def status(self):
            return [Worker("7_0", State.RUNNING)]

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("simbias.cli.submit.SlurmWorkers", Jobs)
    monkeypatch.setattr("simbias.cli.submit.wait", stopped)
    assert cli.exit_code(["submit", begun, "--wait"]) == 130
    assert "The workers continue without this command: 7_0." in capsys.readouterr().err


def test_logs_do_not_follow_a_link_in_the_folder_of_a_run(begun, tmp_path, capsys):
    (tmp_path / "outside").mkdir()
    os.symlink(tmp_path / "outside", os.path.join(begun, "jobs"))
    assert cli.exit_code(["submit", begun]) == 2
    assert "jobs is a link" in capsys.readouterr().err
    assert not os.listdir(tmp_path / "outside")

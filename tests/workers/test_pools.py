"""Every pool starts workers, says what they are at, and lets them leave in peace."""

import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
from tree import ROOT

from simbias.errors import BadInput
from simbias.workers import DaskWorkers, LocalWorkers, RayWorkers, SlurmWorkers
from simbias.workers.command import Command
from simbias.workers.pool import State

pytestmark = pytest.mark.process

# What has to be installed, and what makes two workers.
POOLS = {
    "local": ("", lambda folder: LocalWorkers(2)),
    "slurm": (
        "submitit",
        lambda folder: SlurmWorkers(2, f"{folder}/jobs", cpus=1, engine="local"),
    ),
    "ray": ("ray", lambda folder: RayWorkers(2, cpus=1)),
    "dask": ("distributed", lambda folder: DaskWorkers(2, cpus=1)),
}


@pytest.fixture(params=POOLS)
def pool(request, tmp_path, monkeypatch):
    package, make = POOLS[request.param]
    if package and importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    paths = [str(ROOT), str(ROOT / "tests"), os.environ.get("PYTHONPATH")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    return make(tmp_path)


def errand(folder, code):
    return Command(("errand", str(folder), str(code)), given=b"a sample")


def until(is_so, seconds=120):
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)


def is_over(pool):
    return all(worker.state.is_over for worker in pool.status())


@pytest.mark.filterwarnings("ignore")
def test_workers_end_well_or_say_why_not_and_leave_when_they_are_called_off(
    pool, tmp_path
):
    with pool:
        assert list(pool.status()) == []
        pool.submit(errand(tmp_path, 0))
        until(lambda: is_over(pool))
        assert [worker.state for worker in pool.status()] == [State.DONE] * 2
        pool.submit(errand(tmp_path, 3))
        until(lambda: is_over(pool))
        failed = pool.status()[2:]
        assert [worker.state for worker in failed] == [State.FAILED] * 2
        assert all("code 3" in worker.said for worker in failed)
        pool.submit(errand(tmp_path, -1))
        given = lambda: list(pathlib.Path(tmp_path).glob("*.given"))
        until(lambda: len(given()) == 6)
        assert {path.read_bytes() for path in given()} == {b"a sample"}
        assert [worker.state for worker in pool.status()[4:]] == [State.RUNNING] * 2
        pool.cancel()
        until(lambda: is_over(pool))
        assert len(list(tmp_path.glob("*.left"))) == 2


def test_workers_of_this_machine_leave_with_who_has_started_them(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "tests")]))
    with LocalWorkers(2) as pool:
        pool.submit(errand(tmp_path, -1))
        until(lambda: len(list(tmp_path.glob("*.given"))) == 2)
    assert len(list(tmp_path.glob("*.left"))) == 2


@pytest.mark.filterwarnings("ignore")
def test_tasks_of_dask_leave_when_who_has_submitted_them_is_gone(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "tests")]))
    here = {"host": "127.0.0.1", "dashboard_address": None}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, **here) as cluster:
        pool = DaskWorkers(2, cpus=1, address=cluster.scheduler_address)
        pool.__enter__().submit(errand(tmp_path, -1))
        until(lambda: len(list(tmp_path.glob("*.given"))) == 2)
        pool._client.close()
        until(lambda: len(list(tmp_path.glob("*.left"))) == 2)


# A task as Ray interrupts it, in a process that was started with SIGINT ignored.
INTERRUPTED = """
import _thread, pathlib, sys, threading, time
from simbias.workers.command import Command
from simbias.workers.ray_workers import _work
def interrupt():
    while not list(pathlib.Path(sys.argv[1]).glob("*.given")):
        time.sleep(0.1)
    _thread.interrupt_main()
threading.Thread(target=interrupt).start()
_work(Command(("errand", sys.argv[1], "-1"), given=b"a sample"), 1)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no signals as elsewhere")
def test_a_task_of_ray_is_interrupted_where_sigint_is_ignored(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "tests")]))
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        words = ["-c", INTERRUPTED, str(tmp_path)]
        task = subprocess.Popen([sys.executable, *words], stderr=subprocess.DEVNULL)
    finally:
        signal.signal(signal.SIGINT, before)
    try:
        until(lambda: len(list(tmp_path.glob("*.left"))) == 1)
    finally:
        task.kill()
        task.wait()


# A program that has submitted errands to Ray, and waits as `submit --wait` does.
SUBMITS = """
import sys, time
from simbias.store.interrupt import Interrupt
from simbias.workers import RayWorkers
from simbias.workers.command import Command
address, folder = sys.argv[1:]
with RayWorkers(2, cpus=1, address=address) as pool, Interrupt() as interrupt:
    pool.submit(Command(("errand", folder, "-1"), given=b"a sample"))
    while interrupt.signal is None:
        time.sleep(0.1)
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(sys.platform == "win32", reason="no signals as elsewhere")
def test_tasks_of_ray_save_their_work_when_who_has_submitted_them_ends(
    tmp_path, monkeypatch
):
    ray = pytest.importorskip("ray.cluster_utils")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "tests")]))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    node = {"num_cpus": 2, "include_dashboard": False}
    cluster = ray.Cluster(initialize_head=True, head_node_args=node)
    try:
        for number in (signal.SIGTERM, signal.SIGKILL):
            folder = tmp_path / number.name
            folder.mkdir()
            words = ["-c", SUBMITS, cluster.address, str(folder)]
            with subprocess.Popen([sys.executable, *words]) as submits:
                try:
                    until(lambda at=folder: len(list(at.glob("*.given"))) == 2)
                    submits.send_signal(number)
                    until(lambda at=folder: len(list(at.glob("*.left"))) == 2)
                finally:
                    submits.kill()
    finally:
        cluster.shutdown()


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: LocalWorkers(0), "workers"),
        (lambda: RayWorkers(cpus=0), "cpus"),
        (lambda: RayWorkers(gpus=-1), "gpus"),
        (lambda: DaskWorkers(count=-1), "workers"),
        (lambda: SlurmWorkers(minutes=0), "minutes"),
        (lambda: SlurmWorkers(requeues=-1), "requeues"),
    ],
)
def test_a_number_that_is_none_is_named(make, name):
    with pytest.raises(BadInput, match=f"`{name}` must"):
        make()


class TwoCores:
    """Ray as far as it is asked what a machine of two cores has."""

    def is_initialized(self):
        return True

    def cluster_resources(self):
        return {"CPU": 2.0}


@pytest.mark.parametrize(
    ("count", "cpus", "got"), [(2, None, 1), (1, None, 2), (4, None, 1), (2, 2, 2)]
)
def test_workers_on_this_machine_divide_its_cores(monkeypatch, count, cpus, got):
    monkeypatch.setattr("simbias.workers.ray_workers.required", lambda *_: TwoCores())
    monkeypatch.setattr("simbias.workers.cores._allowed", lambda: [0, 1])
    pool = RayWorkers(count, cpus=cpus).__enter__()
    assert pool.cpus == got
    assert DaskWorkers(count, cpus=cpus).cpus == got


def test_more_cores_than_there_are_are_refused_and_a_cluster_gives_four(monkeypatch):
    monkeypatch.setattr("simbias.workers.ray_workers.required", lambda *_: TwoCores())
    with pytest.raises(BadInput, match="`cpus` must not be more than there are here"):
        RayWorkers(2, cpus=3).__enter__()
    assert RayWorkers(2, address="auto").__enter__().cpus == 4
    assert DaskWorkers(2, address="tcp://there:8786").cpus == 4


@pytest.mark.parametrize(
    ("pool", "package", "extra"),
    [
        (SlurmWorkers(), "submitit", "slurm"),
        (RayWorkers(), "ray", "ray"),
        (DaskWorkers(), "distributed", "dask"),
    ],
)
def test_a_package_that_is_missing_is_named_by_its_extra(
    monkeypatch, pool, package, extra
):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(BadInput, match=rf"needs {package}: pip .*simbias\[{extra}\]"):
        pool.__enter__()

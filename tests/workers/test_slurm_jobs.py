"""What a job does about the signals of Slurm, and what is made of its queue."""

import contextlib
import signal
import sys
from types import SimpleNamespace

import pytest

from simbias.errors import BadInput
from simbias.workers import slurm_workers
from simbias.workers._child_process import LEFT
from simbias.workers.command import Command
from simbias.workers.pool import State
from simbias.workers.slurm_workers import Job, SlurmWorkers

JOB = Job(Command(("nothing",)))


@pytest.mark.parametrize(
    ("code", "raised"), [(2, RuntimeError), (LEFT, RuntimeError), (0, None)]
)
def test_a_job_fails_if_its_worker_does(monkeypatch, code, raised):
    monkeypatch.setattr(slurm_workers.child_process, "work", lambda *_: code)
    with contextlib.nullcontext() if raised is None else pytest.raises(raised):
        JOB()


@pytest.mark.parametrize(
    ("number", "state", "code", "wanted"),
    [
        (signal.SIGUSR2, "RUNNING", LEFT, ["saved", "queued"]),
        (signal.SIGUSR2, "RUNNING", 0, ["saved"]),
        # A grace period of a preemption, after which Slurm would kill it.
        (signal.SIGTERM, "RUNNING", LEFT, ["saved", "queued"]),
        (signal.SIGTERM, "RUNNING", -signal.SIGTERM, ["saved", "queued"]),
        # Cancelled, or queued again by Slurm itself.
        (signal.SIGTERM, "COMPLETING", LEFT, ["saved"]),
    ],
)
def test_a_job_is_queued_again_when_its_work_is_saved_and_only_if_nobody_else_does_so(
    monkeypatch, number, state, code, wanted
):
    said = []

    def queue_again(number, _):
        said.append("queued")
        raise SystemExit(-1)

    def work(command, cpus, is_asked):
        assert not is_asked()
        signal.raise_signal(number)
        assert is_asked()
        said.append("saved")
        return code

    monkeypatch.setattr(slurm_workers.child_process, "work", work)
    monkeypatch.setattr(slurm_workers, "_states", lambda _: {"7_0": state})
    environment = lambda: SimpleNamespace(job_id="7_0")
    submitit = SimpleNamespace(JobEnvironment=environment)
    monkeypatch.setitem(sys.modules, "submitit", submitit)
    handlers = {signal.SIGUSR2: queue_again, signal.SIGTERM: lambda *_: None}
    before = {n: signal.signal(n, handler) for n, handler in handlers.items()}
    try:
        with contextlib.nullcontext() if code == 0 else pytest.raises(SystemExit):
            JOB()
        assert said == wanted
        assert signal.getsignal(signal.SIGUSR2) is queue_again
    finally:
        for n, handler in before.items():
            signal.signal(n, handler)


@pytest.mark.parametrize(("options", "most"), [({}, 1000), ({"requeues": 7}, 7)])
def test_slurm_is_told_how_often_a_job_may_reach_its_time_limit(
    monkeypatch, options, most
):
    told = {}

    class Refusing:
        def __init__(self, **options):
            told.update(options)
            raise BadInput("that is enough")

    monkeypatch.setitem(sys.modules, "submitit", SimpleNamespace(AutoExecutor=Refusing))
    monkeypatch.setattr(slurm_workers.shutil, "which", lambda name: name)
    with SlurmWorkers(**options) as pool, pytest.raises(BadInput):
        pool.submit(JOB.command)
    assert told["cluster"] == "slurm"
    assert told["slurm_max_num_timeout"] == most


def test_what_sbatch_says_is_the_error(monkeypatch):
    class FailedJobError(RuntimeError):
        pass

    class Unreachable:
        def __init__(self, **_):
            pass

        def update_parameters(self, **_):
            pass

        def batch(self):
            raise FailedJobError("sbatch: error: a\nsbatch: error: no controller")

    slurm = SimpleNamespace(AutoExecutor=Unreachable)
    monkeypatch.setitem(sys.modules, "submitit", slurm)
    monkeypatch.setattr(slurm_workers.shutil, "which", lambda name: name)
    with SlurmWorkers() as pool, pytest.raises(BadInput, match="no controller"):
        pool.submit(JOB.command)


def test_jobs_of_which_squeue_knows_nothing_yet_wait(monkeypatch):
    class Accepting:
        def __init__(self, **_):
            pass

        def update_parameters(self, **_):
            pass

        def batch(self):
            return contextlib.nullcontext()

        def submit(self, _):
            return SimpleNamespace(job_id="7_0")

    def silent(_):
        raise ConnectionError("squeue: Socket timed out")

    slurm = SimpleNamespace(AutoExecutor=Accepting)
    monkeypatch.setitem(sys.modules, "submitit", slurm)
    monkeypatch.setattr(slurm_workers.shutil, "which", lambda name: name)
    monkeypatch.setattr(slurm_workers, "_states", silent)
    with SlurmWorkers(count=1) as pool:
        pool.submit(JOB.command)
        with pytest.warns(UserWarning, match="It is asked again"):
            (worker,) = pool.status()
    assert (worker.name, worker.state) == ("7_0", State.WAITING)


def test_a_queue_says_who_waits_runs_and_failed(monkeypatch, tmp_path):
    there = {"7_0": "PENDING", "7_1": "RUNNING", "7_2": "NODE_FAIL", "7_3": "COMPLETED"}
    monkeypatch.setattr(slurm_workers, "_states", lambda _: there)
    pool = SlurmWorkers()
    for i in range(5):
        result = tmp_path / str(i)
        done = SimpleNamespace(result_pickle=result)
        result.touch() if i == 3 else None
        pool._jobs.append(
            SimpleNamespace(job_id=f"7_{i}", paths=done, exception=lambda: None)
        )
    found = pool.status()
    wanted = [State.WAITING, State.RUNNING, State.WAITING, State.DONE, State.FAILED]
    assert [worker.state for worker in found] == wanted
    assert [found[i].said for i in (2, 4)] == ["node_fail", "it is not in the queue"]
    # Slurm queues what a node has lost again, or it does not.
    monkeypatch.setattr(slurm_workers, "_PATIENCE_SECONDS", 0)
    assert pool.status()[2].state is State.FAILED
    there["7_2"] = "PENDING"
    assert pool.status()[2].state is State.WAITING


def test_a_queue_that_does_not_answer_for_a_moment_ends_nothing(monkeypatch):
    def silent(_):
        raise ConnectionError("squeue: Socket timed out")

    pool = SlurmWorkers()
    pool._jobs.append(SimpleNamespace(job_id="7_0"))
    monkeypatch.setattr(slurm_workers, "_states", silent)
    with pytest.raises(ConnectionError):
        pool.status()
    monkeypatch.setattr(slurm_workers, "_states", lambda _: {"7_0": "RUNNING"})
    before = pool.status()
    monkeypatch.setattr(slurm_workers, "_states", silent)
    with pytest.warns(UserWarning, match="Socket timed out. It is asked again"):
        assert pool.status() == before
    monkeypatch.setattr(slurm_workers, "_PATIENCE_SECONDS", -1)
    with pytest.raises(ConnectionError):
        pool.status()

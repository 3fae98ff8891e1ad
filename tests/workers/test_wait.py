"""One waits for a run that others compute, and for no longer than it takes."""

import contextlib
import signal
import sys

import pytest
from small import small

from simbias.ensemble.plan import make_plan
from simbias.numerics.exact_numerics import exact_numerics
from simbias.results import attributes
from simbias.store.layout import Store
from simbias.store.work import prepare
from simbias.workers.pool import AbstractPool, State, Worker
from simbias.workers.wait import wait


class Scripted(AbstractPool):
    """Workers whose states are told beforehand, look by look."""

    def __init__(self, *looks, outlives=False, leaves=State.DONE):
        self._looks, self._outlives = list(looks), outlives
        self._leaves, self.cancelled = leaves, False

    @property
    def outlives(self):
        return self._outlives

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def submit(self, command):
        pass

    def status(self):
        if self.cancelled:
            return [Worker("a", self._leaves)]
        states = self._looks.pop(0) if len(self._looks) > 1 else self._looks[0]
        return [Worker(str(i), state, "why") for i, state in enumerate(states)]

    def cancel(self):
        self.cancelled = True


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["simbias.workers.wait"], "_POLL_SECONDS", 0.01)
    with exact_numerics():
        plan = make_plan(small())
    return prepare(tmp_path / "run.zarr", plan, attributes(plan))


@pytest.fixture
def finished(store, monkeypatch):
    blocks = store.attributes["extents"][-1]["blocks"]
    monkeypatch.setattr(Store, "committed", lambda self: set(range(blocks)))
    return store


WAITING, RUNNING, DONE, FAILED = State


def waited(pool, store):
    wait(pool, store, "small", is_drawn=False)


def test_who_waits_for_its_turn_is_called_off_when_nothing_is_left(finished):
    pool = Scripted([WAITING, RUNNING], [WAITING, DONE])
    waited(pool, finished)
    assert pool.cancelled


def test_a_run_that_is_not_finished_when_all_have_ended_is_an_error(store):
    with pytest.raises(ChildProcessError, match="1 of 2 workers failed, the first, 1"):
        waited(Scripted([RUNNING, RUNNING], [DONE, FAILED]), store)
    with pytest.raises(ChildProcessError, match="before the run was finished"):
        waited(Scripted([DONE]), store)


def test_a_worker_that_failed_is_told_of_where_the_others_have_finished(finished):
    with pytest.warns(UserWarning, match="the first, 1: why. The others have finished"):
        waited(Scripted([DONE, FAILED]), finished)


@pytest.mark.parametrize("outlives", [False, True])
def test_after_a_signal_workers_leave_unless_they_go_on_without_us(store, outlives):
    class Signalled(Scripted):
        def status(self):
            if not self.cancelled:
                with contextlib.suppress(AttributeError):
                    del self.is_fresh
                    signal.raise_signal(signal.SIGTERM)
            return super().status()

    pool = Signalled([RUNNING], outlives=outlives)
    pool.is_fresh = True
    with pytest.raises(SystemExit) as leaving:
        waited(pool, store)
    assert leaving.value.code == 143
    assert pool.cancelled is not outlives

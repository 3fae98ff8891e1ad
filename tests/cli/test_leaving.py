"""Who is asked to leave saves what is in flight, waits for nothing else, and goes."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import durable
import jax
import pytest
import xarray as xr
from small import small
from tree import ROOT

from simbias.ensemble import abandoned_threads, engine, pace, programs
from simbias.results import open_result
from simbias.store import interrupt as _interrupt
from simbias.store import work
from simbias.store.blocks import Blocks
from simbias.store.interrupt import HANGUP, Interrupt
from simbias.store.layout import open_store
from simbias.store.lease import heartbeats
from simbias.verbs.simulate import simulate

TWO_SHAPES = small(cell={"n": (6, 20)}, seeds=4, times=(0.0, 10.0, 2000.0))


class Endless:
    """Programs of n = 20 that compile until somebody lets them."""

    def __init__(self):
        self.begun, self.released = threading.Event(), threading.Event()

    def __call__(self, recorder, lanes, *rest):
        if lanes.data.x.shape[1] == 20:
            self.begun.set()
            assert self.released.wait(30)
        return advance_all(recorder, lanes, *rest)


advance_all = programs.advance_all


@pytest.fixture
def endless(monkeypatch):
    compiling = Endless()
    monkeypatch.setattr(programs, "advance_all", compiling)
    for module in (work, engine):
        two = lambda *_: [jax.local_devices()[0]] * 2
        monkeypatch.setattr(module, "station_devices", two)
    yield compiling
    compiling.released.set()
    abandoned_threads._wait()
    assert not abandoned_threads.has_abandoned_threads()


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_who_compiles_is_not_waited_for_and_what_moves_is_saved(
    tmp_path, monkeypatch, endless, number
):
    monkeypatch.setattr(pace, "_ROUND_SECONDS", 0.005)
    store, receive = tmp_path / "run.zarr", Blocks.receive

    def signalled(self, event):
        receive(self, event)
        if type(event).__name__ == "Snapshot" and endless.begun.wait(30):
            monkeypatch.setattr(Blocks, "receive", receive)
            signal.raise_signal(number)

    monkeypatch.setattr(Blocks, "receive", signalled)
    with pytest.raises((SystemExit, KeyboardInterrupt)):
        durable.run(store, TWO_SHAPES)
    assert abandoned_threads.has_abandoned_threads()
    assert not list((store / "work" / "leases").iterdir())
    assert list((store / "work" / "states").iterdir())
    # Let go, it claims nothing and writes nothing.
    before = sorted(store.rglob("*"))
    endless.released.set()
    abandoned_threads._wait()
    assert sorted(store.rglob("*")) == before
    durable.run(store, TWO_SHAPES)
    xr.testing.assert_identical(open_result(store), simulate(TWO_SHAPES))


@pytest.mark.process
def test_without_a_store_nobody_is_waited_for_either(endless):
    def pressed():
        endless.begun.wait(30)
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=pressed).start()
    with pytest.raises(KeyboardInterrupt):
        simulate(TWO_SHAPES)
    assert abandoned_threads.has_abandoned_threads()


@pytest.mark.skipif(HANGUP is None, reason="no terminals that are closed")
def test_a_closed_terminal_may_say_so_twice_and_after_nohup_is_ignored():
    with Interrupt() as interrupt:
        signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGHUP)
        assert interrupt.signal == signal.SIGHUP
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_DFL
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Interrupt() as interrupt:
            signal.raise_signal(signal.SIGHUP)
            assert interrupt.signal is None
    finally:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def test_a_sigterm_that_comes_twice_is_one_and_a_later_one_acts(monkeypatch):
    """Slurm sends it to a job by way of several of its processes."""
    with Interrupt() as interrupt:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
        assert interrupt.signal == signal.SIGTERM
        # Ctrl-C acts at once, whatever was asked for before.
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        monkeypatch.setattr(_interrupt, "_ECHO_SECONDS", 0.0)
        acted = []
        monkeypatch.setattr(signal, "raise_signal", acted.append)
        interrupt._note(signal.SIGTERM, None)
        assert acted == [signal.SIGTERM]
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


RUN = ["three_points", "--preset", "smoke", "--flow.name", "descent"]
RUN += ["--times", "0", "1e9", "--cell.m", "20", "--seeds", "8"]


def started(program, *arguments):
    root = str(ROOT)
    return subprocess.Popen(
        [sys.executable, *program, *arguments],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": root, "JAX_PLATFORMS": "cpu"},
    )


def until(is_so, seconds=300, said=lambda: ""):
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, said()
        time.sleep(0.1)


@pytest.mark.long
def test_workers_whose_parent_is_killed_save_what_they_are_at_and_end(tmp_path):
    out = tmp_path / "run"
    run = ["run", *RUN, "--workers", "2", "--out", str(out)]
    parent = started(["-m", "simbias"], *run)
    try:
        place = out / "run.zarr"
        until((place / "zarr.json").exists)
        until(lambda: len(heartbeats(open_store(place).work)) == 2)
        ids = [beat["process"] for beat in heartbeats(open_store(place).work)]
        assert parent.pid not in ids
    finally:
        parent.kill()
        _, said = parent.communicate(timeout=60)
    assert said.count("Terminated") == 2
    for process in ids:
        until(lambda process=process: not is_running(process), 10)
    assert not list((place / "work" / "leases").iterdir())


def is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    # Where nobody waits for orphans they stay on the list.
    stat = pathlib.Path(f"/proc/{process}/stat")
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")


COMPILES_FOR_EVER = """
import threading
from simbias.cli import main
from simbias.ensemble import programs
programs.advance_all = lambda *_: threading.Event().wait()
main()
"""


@pytest.mark.process
def test_the_command_ends_at_once_while_it_compiles_and_says_so(tmp_path):
    out = tmp_path / "run"
    program = ["-c", COMPILES_FOR_EVER]
    process = started(program, "run", *RUN, "--out", str(out))
    until((out / "run.zarr" / "work" / "leases").exists)
    until(lambda: list((out / "run.zarr" / "work" / "leases").iterdir()))
    time.sleep(1)
    process.terminate()
    _, said = process.communicate(timeout=10)
    assert process.returncode == 143
    assert "Terminated, without waiting for the program that was being compiled" in said
    assert f"simbias resume {out}" in said
    assert not list((out / "run.zarr" / "work" / "leases").iterdir())

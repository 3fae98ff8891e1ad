"""A run may be stopped in any way and ends with the bytes of one that was not."""

import os
import pathlib
import signal
import subprocess
import sys

import durable
import numpy as np
import pytest
import xarray as xr
from durable import LONG

from simbias.ensemble import engine, programs
from simbias.results import is_finished, open_result
from simbias.simulate import simulate
from simbias.store.blocks import Blocks

FOLDER = pathlib.Path(__file__).parent


@pytest.fixture(scope="module")
def whole():
    return simulate(LONG)


@pytest.fixture
def short_rounds(monkeypatch):
    monkeypatch.setattr(engine, "_ROUND_SECONDS", 0.005)


def same_bytes(left, right):
    xr.testing.assert_identical(left, right)
    for name in left:
        assert left[name].values.tobytes() == right[name].values.tobytes(), name


def stopped(monkeypatch, number):
    """From now on the process is signalled when lanes are first handed over."""
    receive = Blocks.receive

    def signalled(self, event):
        receive(self, event)
        if type(event).__name__ == "Snapshot" and event.lanes:
            monkeypatch.setattr(Blocks, "receive", receive)
            signal.raise_signal(number)

    monkeypatch.setattr(Blocks, "receive", signalled)


@pytest.mark.usefixtures("short_rounds")
@pytest.mark.parametrize(
    ("number", "error"),
    [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)],
)
def test_a_signal_saves_what_is_in_flight(tmp_path, monkeypatch, whole, number, error):
    store = tmp_path / "run.zarr"
    stopped(monkeypatch, number)
    before = signal.getsignal(number)
    with pytest.raises(error) as raised:
        durable.run(store)
    if error is SystemExit:
        assert raised.value.code == 143
    assert signal.getsignal(number) == before
    # What is done can be read, nobody holds anything, and nothing is torn.
    part = open_result(store)
    done = is_finished(part).values
    assert not done.all()
    np.testing.assert_array_equal(part["risk"].values[done], whole["risk"].values[done])
    assert part["risk"].where(~is_finished(part)).isnull().all()
    assert not list((store / "work" / "leases").iterdir())
    # Members in flight go on from where they were, not from time 0.
    begun, resumed = [], []
    for name, seen in (("begin", begun), ("resume", resumed)):
        original = getattr(programs.Programs, name)
        monkeypatch.setattr(
            programs.Programs,
            name,
            lambda self, *a, original=original, seen=seen: (
                seen.append(a) or original(self, *a)
            ),
        )
    durable.run(store)
    assert resumed
    assert len(begun) + len(resumed) == (~done).sum()
    same_bytes(open_result(store), whole)
    assert not (store / "work").exists()


@pytest.mark.slow
@pytest.mark.parametrize("way", [["random", "20"], ["between"]])
def test_a_killed_run_ends_with_the_bytes_of_one_that_was_not(tmp_path, whole, way):
    store = tmp_path / "run.zarr"
    subprocess.run(
        [sys.executable, str(FOLDER / "durable.py"), str(store), *way],
        check=True,
        timeout=300,
        env={
            **os.environ,
            "PYTHONPATH": f"{FOLDER.parent}",
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        },
    )
    same_bytes(open_result(store), whole)
    assert not list(tmp_path.rglob("*.partial"))

"""A command does its work whichever of its standard streams are missing or fail."""

import os
import shlex
import signal
import subprocess
import sys
import time

import pytest
from small import small
from tree import ROOT

from simbias.cli import _is_of_interrupt
from simbias.ensemble.bar import Bar
from simbias.verbs.simulate import simulate

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX"),
]

RUN = ["three_points", "--preset", "smoke", "--flow.name", "descent"]
RUN += ["--times", "0", "5", "--cell.m", "20", "--seeds", "2"]
NONE = "<&- >&- 2>&-"


def simbias(words, streams=""):
    """Run a command in a shell which closes or redirects its streams."""
    line = f"{shlex.join([sys.executable, '-m', 'simbias', *words])} {streams}"
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    return subprocess.run(
        ["sh", "-c", line], env=variables, capture_output=True, text=True
    )


@pytest.mark.parametrize(
    ("streams", "code"),
    [(NONE, 0), ("2>&-", 0), (">&-", 0), ("2>/dev/full", 0), (">/dev/full", 2)],
)
def test_a_command_without_a_stream_ends_with_its_code(streams, code, tmp_path):
    done = simbias(["list"], streams)
    assert done.returncode == code
    assert ("No space left" in done.stderr) == (code == 2)
    assert "Traceback" not in done.stderr
    assert simbias(["status", str(tmp_path)], streams).returncode == 2


@pytest.mark.parametrize(
    "streams", [pytest.param(NONE, marks=pytest.mark.long), "2>/dev/full"]
)
def test_a_run_without_streams_is_computed_and_saved(streams, tmp_path):
    out = tmp_path / "run"
    done = simbias(["run", *RUN, "--out", str(out)], streams)
    assert done.returncode == 0, done.stderr
    assert {"claims.json", "figure.png"} <= {file.name for file in out.iterdir()}
    told = simbias(["status", str(out)], "2>&-")
    assert "2 of 2 networks done" in told.stdout
    assert "error" not in told.stdout


@pytest.mark.long
def test_a_worker_without_streams_does_its_work(tmp_path):
    out = tmp_path / "run"
    simbias(["run", *RUN, "--out", str(out), "--workers", "0"])
    assert simbias(["worker", str(out)], NONE).returncode == 0
    assert "2 of 2 networks done" in simbias(["status", str(out)]).stdout


def test_a_program_without_standard_error_has_no_bar(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with Bar("run", 2, is_drawn=True) as bar:
        bar.show(2)
    assert simulate(small(seeds=1, times=(0.0, 1.0)), progress=True).sizes["seed"] == 1


def test_the_null_device_takes_the_number_of_a_stream_that_was_closed():
    """Else a file of the run has it, and what a library says ends in that file."""
    script = "import os, sys; from simbias.cli._streams import open_streams as o; o(); "
    script += "sys.exit([sys.stdin.fileno(), sys.stdout.fileno(), "
    script += "sys.stderr.fileno(), os.open('/dev/null', 0)] != [0, 1, 2, 3])"
    line = shlex.join([sys.executable, "-c", script])
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["sh", "-c", f"exec {line} {NONE}"], env=variables)
    assert done.returncode == 0


def interrupted(process, count, apart):
    for _ in range(count):
        process.send_signal(signal.SIGINT)
        time.sleep(apart)
    return process.communicate(timeout=60)[1]


def started(words, *folders):
    path = os.pathsep.join([*map(str, folders), str(ROOT)])
    return subprocess.Popen(
        [sys.executable, "-m", "simbias", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": path, "JAX_PLATFORMS": "cpu"},
    )


def until(is_so, process):
    end = time.monotonic() + 300
    while not is_so():
        assert time.monotonic() < end
        assert process.poll() is None
        time.sleep(0.1)


def test_ctrl_c_many_times_at_once_ends_quietly_with_an_intact_store(tmp_path):
    out = tmp_path / "run"
    endless = [*RUN, "--times", "0", "1e9", "--out", str(out)]
    leases = out / "run.zarr" / "work" / "leases"
    with started(["run", *endless]) as process:
        try:
            until(lambda: leases.exists() and list(leases.iterdir()), process)
            time.sleep(2)
            said = interrupted(process, 5, 0.02)
        finally:
            process.kill()
    assert process.returncode == 130
    assert "Traceback" not in said
    assert "FATAL" not in said
    told = simbias(["status", str(out)])
    assert told.returncode == 0
    assert "0 of 2 networks done" in told.stdout


def test_ctrl_c_while_modules_are_imported_ends_quietly(tmp_path):
    begun = tmp_path / "begun"
    slow = f"open({str(begun)!r}, 'w').close(); import time; time.sleep(60)"
    (tmp_path / "matplotlib.py").write_text(slow)
    with started(["run", *RUN], tmp_path) as process:
        try:
            until(begun.exists, process)
            said = interrupted(process, 2, 0.1)
        finally:
            process.kill()
    assert process.returncode == 130
    assert said.endswith("\nStopped.\n")
    assert "Traceback" not in said


def test_an_error_that_a_compiled_module_makes_of_ctrl_c_is_ctrl_c():
    error = ImportError("the extension cannot be initialised")
    error.__cause__ = ValueError()
    assert not _is_of_interrupt(error)
    error.__cause__.__context__ = KeyboardInterrupt()
    assert _is_of_interrupt(error)

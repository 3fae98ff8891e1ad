"""What a command does with a run folder of a stranger: a fault, or nothing."""

import contextlib
import io
import os
import pathlib
import resource
import shutil
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator

from _hostile import SECRET, Case, harm

import simbias
from simbias import cli

# Of processor time, also for what computes, and by the clock, on a busy machine.
SECONDS, COMPUTING, CLOCK, BYTES = 10.0, 40.0, 60.0, 500e6
# What is reserved beyond this raises, and brings no machine down.
_MOST = 8 << 30


class TooLong(BaseException):
    """Raised by the alarm; no handler of errors takes it."""


def attacked(template: pathlib.Path, case: Case) -> tuple[str | None, float, float]:
    """A fault or None, the seconds, and the bytes that were taken meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        run, outside = pathlib.Path(folder) / "run", pathlib.Path(folder) / "outside"
        outside.mkdir()
        (outside / "secret").write_text(SECRET)
        shutil.copytree(template, run)
        if case.command in ("resume", "worker"):
            # An owner who is not known is waited for, for a minute.
            shutil.rmtree(run / "run.zarr" / "work" / "leases", ignore_errors=True)
        harm(run, outside, case)
        before, resident = _contents(outside), _peak(begin=True)
        out, error = io.StringIO(), io.StringIO()
        began = time.process_time()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            fault = _called(case, run)
        seconds, taken = time.process_time() - began, _peak() - resident
        most = COMPUTING if case.command in ("resume", "worker") else SECONDS
        if fault is None and seconds > most:
            fault = f"{seconds:.1f} s of processor time"
        if fault is None and taken > BYTES:
            fault = f"{taken / 1e6:.0f} MB"
        if fault is None and _contents(outside) != before:
            fault = "a file outside was touched"
        said = out.getvalue() + error.getvalue()
        if fault is None and any(not (c.isprintable() or c in "\n\t\r") for c in said):
            fault = "something was printed that a terminal obeys"
        if fault is None and SECRET in said:
            fault = "a file outside was shown"
        _unlock(run)
        return fault, seconds, taken


def _called(case: Case, run: pathlib.Path) -> str | None:
    command, _, more = case.command.partition(" ")
    words = [command, str(run), *more.split()]
    if command == "export":
        words = ["export", str(run), str(run.parent / f"x.{more}")]
    if command == "worker":
        words += ["--quiet"]
    try:
        with _limited(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if command == "open":
                simbias.open_result(run)
                return None
            code = cli.exit_code(words)
    except TooLong:
        return f"longer than {CLOCK:g} s"
    except SystemExit as leaving:
        code = leaving.code
    except (ValueError, OSError) as error:
        if command == "open":
            return None
        return _trace(error)
    except BaseException as error:
        return _trace(error)
    return (
        None if code in (0, 2) or (command, code) == ("doctor", 1) else f"exit {code}"
    )


def _trace(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{pathlib.Path(last.filename).name}:{last.lineno}"
    return f"{type(error).__name__} in {where}: {str(error)[:200]}"


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    def over(*_):
        raise TooLong

    handler = signal.signal(signal.SIGALRM, over)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    size = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
    most = size * resource.getpagesize() + _MOST
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    signal.setitimer(signal.ITIMER_REAL, CLOCK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _peak(begin: bool = False) -> float:
    """Largest resident size since it began, in bytes."""
    if begin:
        pathlib.Path("/proc/self/clear_refs").write_text("5")
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return float(line.split()[1]) * 1024
    return 0.0


def _contents(folder: pathlib.Path) -> dict[str, tuple]:
    """Names, sizes and times below a folder."""
    found = {}
    for place in sorted(folder.rglob("*")):
        about = os.lstat(place)
        found[str(place)] = (about.st_size, about.st_mtime_ns, about.st_ino)
    return found


def _unlock(run: pathlib.Path) -> None:
    """Sparse files that are large go first."""
    for place in run.rglob("*"):
        if place.is_file() and not place.is_symlink() and place.stat().st_size > 2**30:
            place.unlink()

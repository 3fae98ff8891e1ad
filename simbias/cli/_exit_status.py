"""The exit code of a command that can be resumed, and what it says when it stops."""

import dataclasses
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from simbias.cli import _output as output
from simbias.cli._terminal import INTERRUPTED, say
from simbias.ensemble.abandoned_threads import has_abandoned_threads
from simbias.store.interrupt import uninterrupted
from simbias.store.place import AbstractPlace, Replaced

_LEAVING = {
    INTERRUPTED: "Stopped",
    128 + signal.SIGTERM: "Terminated",
    129: "Stopped because the terminal closed",
}


@dataclasses.dataclass
class ExitStatus:
    """The exit code of a command that was stopped, or of one that was not."""

    code: int = 0


@contextmanager
def resumable(out: AbstractPlace, command: str) -> Iterator[ExitStatus]:
    """Say how to go on, whatever stops a run; the exit code is that of its signal."""
    exit_status = ExitStatus()
    how = f"Everything computed so far is in {out}. To continue:\n\n  {command}\n"
    try:
        yield exit_status
    except (KeyboardInterrupt, SystemExit) as leaving:
        code = leaving.code if isinstance(leaving, SystemExit) else INTERRUPTED
        if code not in _LEAVING:
            raise
        unwaited = (
            ", without waiting for the program that was being compiled"
            if has_abandoned_threads()
            else ""
        )
        with uninterrupted():
            output.emit("stopped", exit_code=code, resume=command)
            say(f"\n{_LEAVING[code]}{unwaited}. {how}")
        exit_status.code = code
    except (FileNotFoundError, Replaced):
        raise  # the run itself is gone
    except (OSError, RuntimeError):
        say(f"\nStopped by an error. {how}")
        raise

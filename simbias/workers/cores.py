"""Which cores of a machine a worker keeps to, so that several do not share theirs."""

import contextlib
import os
import pathlib
import tempfile
from collections.abc import Iterator
from typing import IO

from simbias.errors import BadInput


def share_of_cores(share: str) -> list[int]:
    """The cores of a share, given as `1/4`; none where a system has no such thing.

    Raises:
        ValueError: for anything else.
    """
    first, _, second = share.partition("/")
    if not (first.isdigit() and second.isdigit() and 1 <= int(first) <= int(second)):
        raise BadInput(f"`--share` must be like 1/4, got {share!r}.")
    i, count = int(first) - 1, int(second)
    cores = _allowed()
    return cores[i::count] or cores[i % len(cores) : i % len(cores) + 1]


@contextlib.contextmanager
def free_cores(count: int) -> Iterator[list[int]]:
    """So many cores that nobody else has taken in this way, while it lasts.

    For workers that one engine places on one machine: it counts cores, and does not say
    which.  A core is taken by a lock on a file, which ends with its process.  Where too
    few are free, the last ones are shared; where there are no locks, all are.
    """
    cores, mine = _allowed(), []
    with contextlib.ExitStack() as held:
        try:
            for core in cores:
                if len(mine) < count and (lock := _lock(core)) is not None:
                    held.enter_context(lock)
                    mine.append(core)
        except OSError:  # no locks here
            mine, count = cores, len(cores)
        rest = [core for core in reversed(cores) if core not in mine]
        yield sorted(mine + rest[: count - len(mine)])


def _lock(core: int) -> IO[str] | None:
    """A file that is locked until it is closed; None if another process has it.

    Raises:
        OSError: where files cannot be locked.
    """
    try:
        import fcntl  # not on Windows
    except ImportError:
        raise OSError("no locks on files") from None
    with contextlib.ExitStack() as opened, contextlib.suppress(BlockingIOError):
        # Anybody may write where the folder is: no link is followed, nothing emptied.
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
        number = os.open(_folder() / str(core), flags, 0o600)
        file = opened.enter_context(os.fdopen(number, "r+"))
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        opened.pop_all()
        return file
    return None


def _folder() -> pathlib.Path:
    folder = pathlib.Path(tempfile.gettempdir()) / f"simbias-cores-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _allowed() -> list[int]:
    if not hasattr(os, "sched_getaffinity"):
        return []
    return sorted(os.sched_getaffinity(0))

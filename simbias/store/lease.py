"""Who works on what: leases in a place that several processes and machines share.

A lease is a file that appears all at once, or not, and names its owner.  Every owner
has one more file with a count that it raises now and then, its heartbeat.  An owner
whose count does not change while an observer watches it for `stale_seconds` of the
observer's own monotonic clock is taken for dead, and its leases may be taken; so is one
that cannot be read.  No two clocks are ever compared.  An owner on the observer's own
machine whose process is gone is dead at once.

A lease saves work and keeps nothing correct: two owners of one block, which is possible
if one of them was only asleep, write equal bytes.
"""

import contextlib
import json
import os
import pathlib
import re
import socket
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from simbias.store._root import parsed
from simbias.store.address import place_at
from simbias.store.place import AbstractPlace, Address, Replaced, Unreachable

_NAME = re.compile(r"\w{1,64}")
_BLOCK = re.compile(r"[0-9]{1,9}")
BEAT_SECONDS = 10.0
STALE_SECONDS = 60.0
_POLL_SECONDS = 1.0
# Of a heartbeat, or of a lease.
_MOST_BYTES = 1 << 24


class Leases:
    """The leases of one process, as a context: leaving it gives them all back.

    If it is left because the place does not answer, they grow stale instead.
    """

    def __init__(
        self,
        place: Address,
        *,
        beat_seconds: float = BEAT_SECONDS,
        stale_seconds: float = STALE_SECONDS,
        check: Callable[[], None] = lambda: None,
    ):
        """`check` is called before anything is written, and raises to prevent it."""
        self.owner = uuid.uuid4().hex
        self.note: dict[str, Any] = {}
        self._place = place_at(place)
        self._beat_seconds = beat_seconds
        self._stale_seconds = stale_seconds
        self._check = check
        self._held: set[str] = set()
        # Owner -> its count, and when on this clock it was first seen.
        self._seen: dict[str, tuple[object, float]] = {}
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._count, self._began = 0, time.monotonic()

    def __enter__(self) -> "Leases":
        self._check()
        for name in ("leases", "owners"):
            (self._place / name).ready()
        self._write_heartbeat()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_) -> None:
        self._ending.set()
        if kind in (Unreachable, Replaced):
            return
        self._thread.join()
        for name in list(self._held):
            self.release(name)
        with contextlib.suppress(OSError):
            self._heartbeat(self.owner).delete()

    def claim(self, name: str) -> bool:
        """Take a lease that nobody has, or whose owner is dead."""
        if name in self._held:
            return True
        self._check()
        lease = self._lease(name)
        content = _content(lease)
        if content is None:
            is_mine = lease.create(self.owner.encode())
        else:
            is_mine = self._is_dead(name, content) and self._bury(name, content)
        if is_mine:
            self._held.add(name)
        return is_mine

    def release(self, name: str) -> None:
        """Give a lease back, unless somebody else has it by now."""
        self._held.discard(name)
        with contextlib.suppress(OSError):
            if self.holder(name) == self.owner:
                self._lease(name).delete()

    def holder(self, name: str) -> str | None:
        """The owner of a lease."""
        with contextlib.suppress(OSError):
            return _owner(_content(self._lease(name)))
        return None

    def blocks(self) -> set[int]:
        """The blocks that somebody holds, dead or alive."""
        names = (self._place / "leases").files()
        return {int(name) for name in names if name.isdecimal() and name.isascii()}

    def others(self) -> int:
        """How many owners there are besides this one, dead or alive."""
        return len({*(self._place / "owners").files()} - {self.owner})

    def _is_dead(self, name: str, content: bytes) -> bool:
        """True if the owner of a lease was not heard of for long enough."""
        owner = _owner(content)
        beat = {} if owner is None else _read_beat(self._heartbeat(owner))
        if is_gone(beat):
            return True
        now = time.monotonic()
        count, who = beat.get("count"), owner or f"{name} {content!r}"
        if who not in self._seen or self._seen[who][0] != count:
            self._seen[who] = (count, now)
            return False
        return now - self._seen[who][1] >= self._stale_seconds

    def _bury(self, name: str, content: bytes) -> bool:
        """Take the lease of a dead owner, and only that one; one observer succeeds."""
        lease, mine = self._lease(name), self.owner.encode()
        if _owner(content) is not None:
            return lease.swap(content, mine)
        warnings.warn(
            f"{lease} names no worker and has not changed for "
            f"{self._stale_seconds:g} s. This worker takes it over.",
            stacklevel=2,
        )
        lease.clear()
        lease.delete()
        return lease.create(mine)

    def _beat(self) -> None:
        while not self._ending.wait(self._beat_seconds):
            try:
                self._write_heartbeat()
            except (Replaced, ValueError):
                return  # the thread that works will meet it, and say so
            except OSError:
                pass

    def _write_heartbeat(self) -> None:
        self._check()
        self._count += 1
        # The two times are for who looks on, and decide nothing.
        times = {
            "at": int(time.time()),
            "seconds": int(time.monotonic() - self._began),
        }
        beat = {"count": self._count, **_process(), **times, **self.note}
        self._heartbeat(self.owner).write(json.dumps(beat).encode())

    def _lease(self, name: str) -> AbstractPlace:
        return self._place / "leases" / name

    def _heartbeat(self, owner: str) -> AbstractPlace:
        return self._place / "owners" / owner


@contextlib.contextmanager
def alone(place: AbstractPlace, check: Callable[[], None]) -> Iterator[None]:
    """Waits until nobody else changes what all of a run share, and keeps it so."""
    with Leases(place, check=check) as leases:
        while not leases.claim("grow"):
            time.sleep(_POLL_SECONDS)
        yield


def heartbeats(place: AbstractPlace) -> list[dict]:
    """The last heartbeat of every owner; what is none says nothing."""
    owners = place / "owners"
    return [_read_beat(owners / name) for name in sorted(owners.files())]


def is_gone(beat: dict) -> bool:
    """True if the process was one of this machine and is not there any more."""
    machine = _machine()
    if machine is None or beat.get("machine") != machine or "process" not in beat:
        return False
    began = _began(beat["process"])
    return began is None or began != beat.get("began")


def _content(lease: AbstractPlace) -> bytes | None:
    """What is in a lease: nothing readable in a folder, None if there is none."""
    try:
        return lease.read(_MOST_BYTES)
    except Unreachable:
        raise
    except FileNotFoundError:
        return None
    except OSError:
        return b""


def _owner(content: bytes | None) -> str | None:
    """Whom a lease names, None if nobody."""
    name = (content or b"").decode(errors="replace")
    return name if _NAME.fullmatch(name) else None


def _read_beat(place: AbstractPlace) -> dict[str, Any]:
    """What an owner last said, nothing if it cannot be understood."""
    try:
        beat = parsed(place.read(_MOST_BYTES))
    except (OSError, ValueError):
        return {}
    is_one = isinstance(beat, dict) and all(
        type(beat.get(key, 0)) is int for key in ("count", "process")
    )
    return beat if is_one else {}


def pending(beat: Mapping[str, Any]) -> dict[int, int]:
    """Members that are done, as an owner last said, of each block that it was at."""
    found = beat.get("pending")
    return {
        int(block): done
        for block, done in (found.items() if isinstance(found, dict) else ())
        if type(done) is int and 0 <= done < 2**53 and _BLOCK.fullmatch(block)
    }


def _process() -> dict[str, object]:
    pid = os.getpid()
    return {"machine": _machine(), "process": pid, "began": _began(pid)}


def _machine() -> str | None:
    """This boot of this machine, and this table of processes in it."""
    try:
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{socket.gethostname()} {boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return None


def _began(pid: int) -> str | None:
    """When a process began, in ticks since the boot; None if there is none."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The name, in brackets, may hold anything; the state follows it.
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in ("Z", "X") else fields[19]

"""`simbias watch`."""

import dataclasses
import threading
import time
from typing import Any

import jax
import tyro

from simbias.cli._options import Folder
from simbias.cli._place import found_run
from simbias.cli._source import File
from simbias.cli._terminal import put, say
from simbias.cli.report import contents_of_run
from simbias.errors import BadInput
from simbias.report.numbers import numbers
from simbias.report.pace import Pace
from simbias.report.page_contents import PageContents
from simbias.report.report import report
from simbias.report.server import Server
from simbias.results import open_result
from simbias.store.layout import Store, open_store
from simbias.store.lease import heartbeats
from simbias.store.place import Replaced
from simbias.store.room import TooEarly
from simbias.workers.end_of_input import end_of_input

# A page asks every three seconds.
_SECONDS = 7.0
# Between two looks at a run of which next to nothing is there.
_EARLY_SECONDS = 30.0


@dataclasses.dataclass(frozen=True)
class WatchOptions:
    """Show the page of a run in a browser of this machine while the run goes on.

    It listens on the loopback address only, writes nothing, and does not affect the
    run.  Ctrl-C ends it.
    """

    folder: Folder
    """The folder of the run, or its URL."""
    file: File = None
    """The file of the experiment, if the run is of a file of yours."""
    trust_code: bool = False
    """Use the copy of that file in the run. It is code and can do anything."""
    port: int = 0
    """Port to listen on; 0 is any free port."""
    attached: bool = False
    """End when standard input ends, so with the process that writes to it."""


def watch(arguments: list[str]) -> int:
    """Serve the page of a run until Ctrl-C."""
    parsed = tyro.cli(WatchOptions, args=arguments, prog="simbias watch")
    if not 0 <= parsed.port < 1 << 16:
        raise BadInput(
            f"`--port` must be from 0 to 65535, got {parsed.port}. Example: 8000."
        )
    jax.config.update("jax_platforms", "cpu")  # an accelerator is the run's
    _, store = found_run(parsed.folder)
    watched = Watched(store, parsed.file, parsed.trust_code)
    over = end_of_input() if parsed.attached else threading.Event()
    if not _is_read(watched, over):  # what is wrong is said before anything listens
        return 0
    try:
        server = Server(watched.answers, parsed.port)
    except OSError as error:
        raise BadInput(
            f"`--port`: cannot listen on {parsed.port}: {error.strerror}. Leave it out "
            "for a free port."
        ) from None
    with server:
        put(server.url)
        if parsed.attached:
            ends = (server, watched, over)
            threading.Thread(target=_end, args=ends, daemon=True).start()
        else:
            run = store.place.parent
            say(f"Open this address in a browser here to watch {run}. Ctrl-C ends it.")
        try:
            server.serve_forever(poll_interval=0.1)
        except KeyboardInterrupt:
            say("\nStopped watching.")
    return 0


def _is_read(watched: "Watched", over: threading.Event) -> bool:
    """Whether the page can be made, once enough of a large run is there; not if over.

    Raises:
        ValueError: if it never can.
    """
    while not over.is_set():
        try:
            watched.page()
            return True
        except TooEarly as error:
            say(str(error))
            over.wait(_EARLY_SECONDS)
    return False


def _end(server: Server, watched: "Watched", over: threading.Event) -> None:
    """End the server after its input; who looks on gets the finished page first."""
    over.wait()
    while watched.is_finished and server.is_asked(_SECONDS):
        time.sleep(0.2)
    server.shutdown()


class Watched:
    """A run as it is now; what is stored is read again when there is more of it."""

    def __init__(self, store: Store, file: str | None, trusts: bool):
        self._place, self._run = store.place, store.attributes["run"]
        self._own = (file, trusts)
        self._lock = threading.Lock()
        self._pace = Pace()
        self._stamp: str | None = None
        self._contents: PageContents | None = None
        self._page: str | None = None

    @property
    def is_finished(self) -> bool:
        """Whether the run is, and can be read."""
        return bool(self.state().get("isFinished"))

    @property
    def answers(self) -> dict[str, Any]:
        """What a server gives, by path."""
        return {"": self.page, "state": self.state, "numbers": self.numbers}

    def page(self) -> str:
        """The page, with claims and figures once the run is finished."""
        with self._lock:
            run = self._now()
            if self._page is None:
                is_live = bool((run.ds["status"] == 0).any())
                self._page = report(run, is_live=is_live)
            return self._page

    def numbers(self) -> dict[str, Any]:
        """What is stored so far."""
        with self._lock:
            run = self._now()
            return numbers(run.ds, run.experiment)

    def state(self) -> dict[str, Any]:
        """How far it is, and `stamp`, another one when there is more."""
        with self._lock:
            try:
                ds = self._now().ds
                beats = heartbeats(self._store().work)
            except (BadInput, FileNotFoundError, Replaced) as error:
                return {"gone": f"The run can no longer be read: {error}"}
            return {
                "stamp": self._stamp,
                "isFinished": not bool((ds["status"] == 0).any()),
                **self._pace.of(ds, beats, time.monotonic()),
            }

    def _store(self) -> Store:
        store = open_store(str(self._place))
        if store.attributes["run"] != self._run:
            raise Replaced(self._place)
        return store

    def _now(self) -> PageContents:
        store = self._store()
        stamp = _stamp(store)
        if self._contents is None or stamp != self._stamp:
            ds = open_result(str(self._place))
            self._contents = contents_of_run(store, ds, "watch", *self._own)
            self._stamp, self._page = stamp, None
        return self._contents


def _stamp(store: Store) -> str:
    """Something that is another one when more is stored."""
    states = store.work / "states"
    tags = []
    for name in sorted(states.files()):
        try:
            tags.append(f"{name} {(states / name).tag()}")
        except FileNotFoundError:
            continue  # the block was committed meanwhile
    blocks = ",".join(map(str, sorted(store.committed())))
    return f"{store.attributes['extents'][-1]['blocks']}; {blocks}; {'; '.join(tags)}"

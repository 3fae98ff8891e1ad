"""`run --live`: the page of the run, from a process beside it that ends with it.

`watch` reads what is stored, as it does for a run of anyone; a process of its own takes
nothing from the run but some time of a core.
"""

import contextlib
import contextvars
import subprocess
import threading
from collections.abc import Iterator, Sequence

from simbias.cli import _output as output
from simbias.cli._terminal import NO_CACHE, say
from simbias.numerics.program_cache import keeps_programs
from simbias.workers.command import program


@contextlib.contextmanager
def live(words: Sequence[str]) -> Iterator[None]:
    """Serve the page of a run for as long as this lasts, and say where.

    `words` name the run: its place, and a file of yours.  However this process ends,
    the other one sees the end of its input.
    """
    command = program("simbias", "watch", *words, "--attached")
    command += [] if keeps_programs() else [NO_CACHE]
    # In a session of its own, so that Ctrl-C reaches the run alone.
    child = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    tell = contextvars.copy_context().run
    threading.Thread(target=tell, args=(_tell, child.stdout), daemon=True).start()
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            child.stdin.close()


def _tell(lines: Iterator[str]) -> None:
    """Pass on where the page is, if it is anywhere."""
    if url := next(lines, "").strip():
        say(f"Open this address in a browser on this machine to watch the run: {url}")
        output.emit("live", url=url)

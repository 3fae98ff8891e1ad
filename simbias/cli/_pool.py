"""The workers of a run as a pool has them: `simbias worker` with what it needs."""

from collections.abc import Sequence

from simbias.cli._terminal import NO_CACHE
from simbias.numerics.program_cache import keeps_programs
from simbias.workers.command import Command


def worker_command(
    words: Sequence[str],
    lanes: int | None = None,
    *,
    data: str | None = None,
    completes: bool = True,
) -> Command:
    """A worker of the run that `words` name: its place, and a file of yours.

    `data` is where it finds the file of data, if not where the run says.  One need not
    complete the run for who reads all of it afterwards.
    """
    command = ["simbias", "worker", *words, "--quiet"]
    command += [] if completes else ["--no-complete"]
    if lanes is not None:
        command += ["--lanes", str(lanes)]
    if data is not None:
        command += ["--data", data]
    if not keeps_programs():
        command.append(NO_CACHE)
    return Command(tuple(command))

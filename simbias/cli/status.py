"""`simbias status`."""

import dataclasses
import json
import sys
import time

import tyro

from simbias.cli._options import Folder
from simbias.cli._place import found_run
from simbias.cli._terminal import put, say
from simbias.ensemble.durations import about, often
from simbias.errors import BadInput
from simbias.store.layout import open_store
from simbias.store.progress import Owner, Progress, progress_of
from simbias.store.time_taken import Failure

_MOST_WORKERS, _MOST_ERRORS = 20, 3
_LONGEST_SECONDS = 86_400
# Clocks of two machines may differ by so many seconds.
_APART = 5
# Seconds since 1970 that are a date.
_LATEST = 2**33
_CLEAR = "\x1b[H\x1b[2J"


@dataclasses.dataclass(frozen=True)
class StatusOptions:
    """Print the progress of a run, its workers, the time left and the last errors.

    It only reads the folder of the run, and needs no file of yours.
    """

    folder: Folder
    """The folder of the run, or its URL."""
    watch: bool = False
    """Repeat until the run is finished."""
    every: float = 5.0
    """Seconds between repetitions."""
    json: bool = False
    """Print a line of JSON each time."""


def status(arguments: list[str]) -> int:
    """Print the progress of a run."""
    parsed = tyro.cli(StatusOptions, args=arguments, prog="simbias status")
    if not 0 < parsed.every <= _LONGEST_SECONDS:
        raise BadInput(
            f"`--every` must be positive and at most {_LONGEST_SECONDS}, got "
            f"{parsed.every}. Example: 5."
        )
    _, store = found_run(parsed.folder)
    is_drawn = parsed.watch and not parsed.json and sys.stdout.isatty()
    try:
        while True:
            now = progress_of(store)
            text = _line(now) if parsed.json else _text(now)
            put(text, begin=_CLEAR if is_drawn else "")
            if now.is_finished or not parsed.watch:
                return 0
            time.sleep(parsed.every)
            store = open_store(str(store.place))  # it may have grown
    except KeyboardInterrupt:
        say("\nStopped.")
        return 0


def _line(now: Progress) -> str:
    return json.dumps(
        dataclasses.asdict(now) | {"is_finished": now.is_finished}, allow_nan=False
    )


def _text(now: Progress) -> str:
    done = f"{now.done:,} of {now.members:,} networks done"
    done += f", {now.failed:,} of them failed" if now.failed else ""
    blocks = f"{now.blocks_done:,} of {now.blocks:,} blocks written"
    blocks += f", {now.blocks_claimed:,} claimed" if now.blocks_claimed else ""
    counts = ", ".join(f"{n:,} {name}" for name, n in now.statuses.items())
    size = now.result_bytes / 2**20
    lines = [
        f"{now.run}: {now.experiment}, {done}; {blocks}",
        f"  stored: {counts}; the whole result is {size:.3g} MiB",
    ]
    if now.rate:
        left = f", {about(now.seconds_left)} left" if now.seconds_left else ""
        lines.append(f"  {often(now.rate, 'networks')}{left}")
    states = [worker.state for worker in now.workers]
    known = [f"{states.count(s)} {s}" for s in ("at work", "silent", "gone")]
    if states:
        lines.append(f"  workers: {', '.join(k for k in known if k[0] != '0')}")
    elif not now.is_finished:
        lines.append("  no workers")
    lines += [_worker(worker) for worker in now.workers[:_MOST_WORKERS]]
    if len(states) > _MOST_WORKERS:
        lines.append(f"    and {len(states) - _MOST_WORKERS} more; all with --json")
    return "\n".join([*lines, *map(_error, now.errors[-_MOST_ERRORS:])])


def _worker(one: Owner) -> str:
    ago = "" if one.seconds_ago is None else _ago(one.seconds_ago)
    said = (
        f"    {one.machine} {one.process}: {one.state}{ago}, {one.computed:,} networks"
    )
    if one.compiling:
        said += f", compiling {one.compiling} of {one.shapes}"
    return said


def _ago(seconds: float) -> str:
    if seconds < -_APART:
        return f", its clock is {-seconds:.0f} s ahead of this one"
    return f", last heartbeat {max(seconds, 0):.0f} s ago"


def _error(one: Failure) -> str:
    when = "at an unknown time"
    if 0 <= one.at < _LATEST:
        when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(one.at))
    said = one.said.replace("\n", "\n    ")
    who = f"{one.machine} {one.process}"[:100]
    return f"  error of {who}, {when}: {said}"

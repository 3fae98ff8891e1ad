"""What `run` and `resume` tell a program with --json-lines, on standard output.

One line for each event, an object with `event` and `seconds` since the command began:

    plan       experiment, run, members, done, shapes, result_bytes, minutes (or null)
    live       url: of the page of --live
    compiling  k, of: shapes begun so far, and all of them
    progress   members, done, failed, rate (members a second), seconds_left (or null)
    claims     experiment, preset, members, finished, failed, claims
    done       run, files, exit_code
    stopped    exit_code, resume: the command that goes on
    error      message, exit_code

More keys and events may come.  What is for a person, such as the bar, notes and errors,
goes to standard error, whatever standard output is.
"""

import contextvars
import json
import sys
import time
from typing import Any

from simbias.cli._streams import drop
from simbias.cli._terminal import say

JSON_LINES = "--json-lines"
_SPEAK = ("run", "resume")
# When the command began; None where text is written.
_BEGAN: contextvars.ContextVar[float | None] = contextvars.ContextVar(
    "began", default=None
)


def choose(arguments: list[str]) -> list[str]:
    """Settle whether to write lines, and the arguments without what asks for it.

    Commands that write none keep that word, and refuse it.
    """
    name = next((word for word in arguments if word != JSON_LINES), "")
    if name not in _SPEAK:
        _BEGAN.set(None)
        return arguments
    rest = [word for word in arguments if word != JSON_LINES]
    has_help = bool({"-h", "--help"} & {*rest})
    writes = JSON_LINES in arguments and not has_help
    _BEGAN.set(time.monotonic() if writes else None)
    return rest


def is_lines() -> bool:
    """True where JSON lines are written in place of text."""
    return _BEGAN.get() is not None


def emit(event: str, **what: Any) -> None:
    """Write an event, where lines are written; lost where they cannot be written."""
    began = _BEGAN.get()
    if began is None:
        return
    line = {"event": event, "seconds": round(time.monotonic() - began, 3), **what}
    try:
        # In one piece: threads write lines, too.
        sys.stdout.write(json.dumps(line, allow_nan=False) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        drop(sys.stdout)
    except OSError as error:
        drop(sys.stdout)
        say(
            f"simbias: standard output: {error.strerror}. Events are no longer written."
        )

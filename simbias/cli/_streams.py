"""Standard streams, which a process may be started without and which may fail."""

import contextlib
import io
import os
import sys
from typing import TextIO

_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def open_streams() -> None:
    """Standard streams that were closed become the null device.

    They take their numbers again, so that no file of a run gets one of them: what a
    library writes to standard error would end in that file.
    """
    for number, (name, mode) in enumerate(_STREAMS):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115
            if stream.fileno() == number:
                os.set_inheritable(number, True)
            setattr(sys, name, stream)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # in a locale that has no ℓ


def drop(stream: TextIO) -> None:
    """Send what is still written to a stream, and what it holds, to the null device."""
    with contextlib.suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)
        stream.flush()


def flush_errors() -> None:
    """Write what standard error holds; where it cannot, Python would end with 120."""
    try:
        sys.stderr.flush()
    except (OSError, ValueError):
        drop(sys.stderr)

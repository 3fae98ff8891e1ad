"""What every command shares with the terminal; light to import."""

import contextlib
import sys

from tqdm import tqdm

FAILED, BAD_INPUT, INTERRUPTED, UNREAD = 1, 2, 130, 141
# After Ctrl-C, SIGTERM and SIGHUP.
STOPPED = (INTERRUPTED, 143, 129)
NO_CACHE = "--no-compile-cache"


def say(text: str) -> None:
    """A line for the person, not for a pipe; lost where the terminal was closed."""
    with contextlib.suppress(OSError):
        tqdm.write(text, file=sys.stderr)

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
        tqdm.write(printable(text), file=sys.stderr)


def put(text: object = "", *, begin: str = "") -> None:
    """Text on standard output, after `begin`, which is ours and may move the cursor."""
    print(f"{begin}{printable(str(text))}", flush=True)


def printable(text: str) -> str:
    """Without what a terminal would obey: names may be a stranger's."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)

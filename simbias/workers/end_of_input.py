"""The end of a pipe: how any system says that whoever held its other end is gone."""

import contextlib
import os
import threading


def end_of_input(handle: int = 0) -> threading.Event:
    """An event that is set when an input has ended, which is standard input."""
    over = threading.Event()

    def watch() -> None:
        with contextlib.suppress(OSError):
            while os.read(handle, 1024):
                pass
        over.set()

    threading.Thread(target=watch, daemon=True).start()
    return over

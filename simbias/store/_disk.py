"""What the operating system may still hold in memory."""

import os
import pathlib


def sync(path: pathlib.Path) -> None:
    """A file or a folder to the disk, where the system knows how."""
    if os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

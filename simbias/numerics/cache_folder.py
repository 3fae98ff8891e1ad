"""Where compiled programs are kept from one process to the next."""

import atexit
import contextlib
import functools
import os
import pathlib
import shutil
import tempfile


def cache_folder() -> str:
    """A folder or a URL of the user's: the first of these that is set.

    JAX_COMPILATION_CACHE_DIR, XDG_CACHE_HOME/simbias, ~/.cache/simbias.  A user without
    a home has a folder for temporary files that is this process's alone.
    """
    if chosen := os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return chosen
    if base := os.environ.get("XDG_CACHE_HOME"):
        return str(pathlib.Path(base) / "simbias")
    try:
        return str(pathlib.Path.home() / ".cache" / "simbias")
    except RuntimeError:  # no HOME, and no entry in the list of users
        return _temporary()


def write_whole(file: pathlib.Path, text: str) -> None:
    """Write a file of that folder, all at once; it is not kept where that fails."""
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_suffix(f".{os.getpid()}")
        new.write_text(text, encoding="utf-8")
        new.replace(file)


@functools.cache
def _temporary() -> str:
    """Of this process: programs are code, and others may write where it lies."""
    folder = tempfile.mkdtemp(prefix="simbias-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder

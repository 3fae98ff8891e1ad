"""Where compiled programs are kept from one process to the next."""

import os
import pathlib


def cache_folder() -> str:
    """A folder or a URL of the user's: the first of these that is set.

    JAX_COMPILATION_CACHE_DIR, XDG_CACHE_HOME/simbias, ~/.cache/simbias.
    """
    if chosen := os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return chosen
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return str(pathlib.Path(base) / "simbias")

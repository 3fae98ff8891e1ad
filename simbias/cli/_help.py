"""What `run NAME --help` said, kept beside compiled programs.

tyro needs the experiment to know its options, and so imports jax: seconds.  What was
said is said again as long as simbias is the same.
"""

import contextlib
import hashlib
import importlib.metadata
import io
import json
import os
import pathlib
import shutil
import sys
from collections.abc import Callable

import simbias
from simbias.numerics.cache_folder import cache_folder, write_whole
from simbias.registry import is_experiment, package_of

_ASKS = {"-h", "--help"}
_ABOUT_COLOUR = ("NO_COLOR", "FORCE_COLOR", "TERM", "PYTHON_COLORS")


def is_kept(arguments: list[str]) -> bool:
    """Whether help is asked for that depends on simbias and the arguments alone."""
    if not _ASKS & set(arguments) or _reads_a_file(arguments):
        return False
    if "://" in cache_folder():
        return False
    name = arguments[0]
    return is_experiment(name) and package_of(name) is None


def _reads_a_file(arguments: list[str]) -> bool:
    return any(word.startswith(("--config", "--data")) for word in arguments)


def helped(arguments: list[str], command: Callable[[], int]) -> int:
    """`command`, which prints help, or what it printed when it was last asked."""
    file, key = _file(arguments[0]), _key(arguments)
    with contextlib.suppress(OSError, ValueError):
        said = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(said, dict) and said.get("key") == key:
            print(said["text"], end="")
            return 0
    heard, output = io.StringIO(), sys.stdout
    heard.isatty = output.isatty  # which decides about colours
    try:
        with contextlib.redirect_stdout(heard):
            return command()
    except SystemExit as leaving:
        if leaving.code in (0, None):
            known = {"key": key, "text": heard.getvalue()}
            write_whole(file, json.dumps(known, ensure_ascii=False))
        raise
    finally:
        print(heard.getvalue(), end="")


def _file(name: str) -> pathlib.Path:
    return pathlib.Path(cache_folder()) / "help" / f"{name}.json"


def _key(arguments: list[str]) -> str:
    """All that the text depends on: arguments, terminal, versions, our files."""
    root = pathlib.Path(simbias.__path__[0])
    files = [(str(path), path.stat()) for path in sorted(root.rglob("*.py"))]
    terminal = (shutil.get_terminal_size().columns, sys.stdout.isatty())
    known = (
        arguments,
        terminal,
        [os.environ.get(name) for name in _ABOUT_COLOUR],
        sys.version,
        importlib.metadata.version("tyro"),
        [(path, about.st_size, about.st_mtime_ns) for path, about in files],
    )
    return hashlib.sha256(repr(known).encode()).hexdigest()

"""What `run NAME --help` said, kept beside compiled programs.

The options of an experiment are read off what it is, for which jax and all that stands
on it is imported: seconds.  What was said is said again as long as simbias is the same.
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
from collections.abc import Callable, Iterator

import simbias
from simbias.numerics.cache_folder import cache_folder
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
    with _heard() as heard:
        try:
            return command()
        except SystemExit as leaving:
            if leaving.code in (0, None):
                with contextlib.suppress(OSError):
                    _write(file, {"key": key, "text": heard.text.getvalue()})
            raise


class _Heard(io.TextIOBase):
    """Standard output, and a copy of what is written to it."""

    def __init__(self, output: io.TextIOBase):
        self._output = output
        self.text = io.StringIO()

    def write(self, text: str) -> int:
        self.text.write(text)
        return self._output.write(text)

    def flush(self) -> None:
        self._output.flush()

    def isatty(self) -> bool:
        return self._output.isatty()


@contextlib.contextmanager
def _heard() -> Iterator[_Heard]:
    heard = _Heard(sys.stdout)  # pyright: ignore
    with contextlib.redirect_stdout(heard):
        yield heard


def _file(name: str) -> pathlib.Path:
    return pathlib.Path(cache_folder()) / "help" / f"{name}.json"


def _write(file: pathlib.Path, said: dict[str, str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(f".{os.getpid()}")
    new.write_text(json.dumps(said, ensure_ascii=False), encoding="utf-8")
    new.replace(file)


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

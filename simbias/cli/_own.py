"""A file of yours: its text is read and run once, its errors are shown as yours."""

import importlib.util
import linecache
import pathlib
import sys
import traceback
import types

from simbias.errors import BadInput
from simbias.numerics.regular_file import read_regular
from simbias.store.source import MOST_BYTES

# The file as tracebacks name it -> its text and its module.
_LOADED: dict[str, tuple[str, types.ModuleType]] = {}


def read(path: str) -> str:
    """The text of a file.

    Raises:
        ValueError: if there is none, or it is too long or no text.
    """
    try:
        raw = read_regular(path, MOST_BYTES)
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not UTF-8: {error}.") from None
    return text.replace("\r\n", "\n")


def load(name: str, text: str, path: str) -> types.ModuleType:
    """The module of a text, under the name that `import` would give it.

    Args:
        name: of the module.
        text: what to run, once per process.
        path: where it lies, for tracebacks.

    Raises:
        ValueError: if the name is taken.
    """
    if path in _LOADED and _LOADED[path][0] == text:
        return _LOADED[path][1]
    if _is_taken(name):
        raise BadInput(
            f"{path} has the same name as the module `{name}` of Python or of a "
            "package, so that other code could not import that module. Rename the file."
        )
    module = types.ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    _LOADED[path] = text, module
    linecache.cache[path] = len(text), None, text.splitlines(keepends=True), path
    try:
        exec(compile(text, path, "exec", dont_inherit=True), vars(module))
    except BaseException:
        del sys.modules[name]
        raise
    return module


def own_traceback(error: BaseException) -> str | None:
    """The traceback from the first line of yours on; None if none is yours.

    Of an error that says what another one means, that of the other one.
    """
    if error.__cause__ is not None and (trace := own_traceback(error.__cause__)):
        return trace
    last = traceback.format_exception_only(error)
    frames = traceback.extract_tb(error.__traceback__)
    first = next((i for i, f in enumerate(frames) if f.filename in _LOADED), None)
    if isinstance(error, SyntaxError) and error.filename in _LOADED:
        return "".join(last)
    if first is None:
        return None
    lines = traceback.format_list(frames[first:])
    return "".join(["Traceback (most recent call last):\n", *lines, *last])


def _is_taken(name: str) -> bool:
    there = sys.modules.get(name)
    if any(there is module for _, module in _LOADED.values()):
        return False
    if there is not None or name in sys.stdlib_module_names:
        return True
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return False
    if spec is None or spec.origin is None:
        return False
    # Where `python -m` looks first: the file itself, or its neighbour.
    return pathlib.Path(spec.origin).parent.resolve() != pathlib.Path.cwd()

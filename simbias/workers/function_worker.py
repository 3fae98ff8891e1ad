"""A worker that is a function of a program of yours, and not of the command line.

    python -m simbias.workers.function_worker --attached

The function comes pickled on standard input, from the process that has started this
one, and in no other way.
"""

import importlib
import io
import os
import pickle
import sys
from collections.abc import Callable
from typing import Any

from simbias.ensemble.abandoned_threads import exit_at_once, has_abandoned_threads
from simbias.errors import BadInput
from simbias.numerics.program_cache import cache_programs
from simbias.workers._child_process import given_to_this
from simbias.workers.command import Command
from simbias.workers.end_of_input import end_of_input


def function_worker(function: Callable[..., Any]) -> Command:
    """A worker that calls a function, whose argument `over` asks it to leave.

    What a notebook or a script defines travels with it if cloudpickle is there, which
    comes with submitit, Ray and Dask; the rest must be importable where it arrives:
    the folders of this process's `sys.path` come last there, behind Python's own.

    Raises:
        ValueError: if the function, or what it holds, cannot be sent.
    """
    try:
        writer: Any = importlib.import_module("cloudpickle")
    except ImportError:
        writer = pickle
    try:
        given = writer.dumps(function)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise BadInput(
            f"`workers`: the experiment cannot be sent to them: {error}. Define what "
            "it holds in a module that they can import, or pip install cloudpickle."
        ) from error
    folders = pickle.dumps([os.path.abspath(folder) for folder in sys.path])
    return Command(("simbias.workers.function_worker",), folders + given)


def main() -> None:
    """Call what was given, until it has done or its input ends."""
    cache_programs()
    given = io.BytesIO(given_to_this())
    sys.path += [folder for folder in pickle.load(given) if folder not in sys.path]
    function = pickle.load(given)
    try:
        function(over=end_of_input())
    except SystemExit as leaving:
        if has_abandoned_threads() and isinstance(leaving.code, int):
            exit_at_once(leaving.code)
        raise


if __name__ == "__main__":
    main()

"""Command line: simbias list | run | resume | worker | submit | figure | check.

The options of `run` are read off the experiment that is named: its grid, its flow.
"""

import dataclasses
import functools
import importlib.metadata
import os
import sys
import threading
import traceback
import warnings

import jax
import matplotlib
import tyro

from simbias.cli._check import check, figure
from simbias.cli._pool import NO_CACHE
from simbias.cli._run import BAD_INPUT, INTERRUPTED, resume, run, worker
from simbias.cli._shown import say
from simbias.cli._submit import submit
from simbias.compiled import cache_no_programs, cache_programs
from simbias.ensemble.grid import suggestion
from simbias.ensemble.left import exit_at_once, is_left
from simbias.errors import BadInput
from simbias.registry import titles


def main(arguments: list[str] | None = None) -> None:
    """Entry point; exit code 2 for bad input, 1 if `check` finds a claim that fails.

    130 after Ctrl-C, 143 after SIGTERM and 129 after SIGHUP, with everything in flight
    saved.

    Args:
        arguments: those of the process, which then ends at once, if not given.

    Raises:
        SystemExit: with the exit code.
    """
    try:
        sys.exit(exit_code(list(sys.argv[1:] if arguments is None else arguments)))
    except SystemExit as leaving:
        if arguments is None and is_left() and isinstance(leaving.code, int):
            exit_at_once(leaving.code)
        raise


def exit_code(arguments: list[str], over: threading.Event | None = None) -> int:
    """What the command ends with.

    Args:
        arguments: those of the command line.
        over: set, it asks a worker for the same as SIGTERM.

    Raises:
        SystemExit: for options that cannot be parsed, and for --help.
    """
    is_debugging = bool(os.environ.get("SIMBIAS_DEBUG")) or _DEBUG in arguments
    arguments = [word for word in arguments if word != _DEBUG]
    matplotlib.use("Agg")
    jax.config.update("jax_enable_x64", True)
    if NO_CACHE in arguments:
        arguments.remove(NO_CACHE)
        cache_no_programs()
    else:
        cache_programs()
    commands = {
        "list": _list,
        "run": run,
        "resume": resume,
        "worker": functools.partial(worker, over=over),
        "submit": submit,
        "figure": figure,
        "check": check,
    }
    try:
        name = arguments[0] if arguments else "--help"
        if name in ("-h", "--help"):
            print(_USAGE)
            return 0
        if name == "--version":
            print(importlib.metadata.version("simbias"))
            return 0
        if name not in commands:
            raise BadInput(f"`{name}` is not a command.{suggestion(name, commands)}")
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: say(f"simbias: {message}")
            return commands[name](arguments[1:])
    except (BadInput, OSError) as error:
        if is_debugging:
            traceback.print_exc()
        _say_what_is_wrong(error)
        return BAD_INPUT
    except KeyboardInterrupt:
        say("\nStopped.")
        return INTERRUPTED


def _say_what_is_wrong(error: BadInput | OSError) -> None:
    what = error
    if isinstance(error, OSError) and error.filename:
        what = f"{error.strerror}: {error.filename}"
    say(f"simbias: error: {what}")


_DEBUG = "--debug"
_USAGE = """\
usage: simbias COMMAND …

  list                         the experiments and what each one shows
  run NAME [--preset …] …      simulate, draw the figure, check the claims
  resume DIR                   go on with a run that was stopped, from its folder alone
  worker DIR                   help with a run; any number, on any machines
  submit DIR                   workers as jobs of a cluster (Slurm)
  figure DIR                   draw the figure of a finished run again
  check [NAME …]               run experiments and print the table of their claims

DIR is a folder, or a URL: s3://bucket/mine, gs://…, az://… (pip install
'simbias[cloud]').

`simbias run NAME --help` lists every option of that experiment.

Compiled programs are kept in a folder of yours (JAX_COMPILATION_CACHE_DIR, or
XDG_CACHE_HOME/simbias, or ~/.cache/simbias); --no-compile-cache does without.

--debug, or the variable SIMBIAS_DEBUG, shows where an error comes from; --version says
which simbias this is."""


@dataclasses.dataclass(frozen=True)
class ListOptions:
    """The experiments and what each one shows."""


def _list(arguments: list[str]) -> int:
    tyro.cli(ListOptions, args=arguments, prog="simbias list")
    known = titles()
    width = max(map(len, known))
    for name, title in known.items():
        print(f"{name:{width}s} {title}")
    return 0

"""Command line: `simbias COMMAND`, and `simbias --help` for what there is.

The options of `run` are read off the experiment that is named.  A command is imported
when it is called; subcommands of tyro would import all of them, jax among them, for
`simbias --help`, and would name no command that is near to a wrong one.
"""

import importlib
import os
import shutil
import signal
import sys
import traceback
import warnings
from typing import Any

import simbias
from simbias.cli import _output as output
from simbias.cli._complete import COMPLETE, words
from simbias.cli._help import helped, is_kept
from simbias.cli._streams import drop, flush_errors, open_streams
from simbias.cli._terminal import (
    BAD_INPUT,
    FAILED,
    INTERRUPTED,
    NO_CACHE,
    STOPPED,
    UNREAD,
    put,
    say,
)
from simbias.ensemble.abandoned_threads import exit_at_once, has_abandoned_threads
from simbias.errors import BadInput
from simbias.store.interrupt import ignore_interrupts
from simbias.suggestion import suggestion

# Command -> where it is, and whether it computes or draws.
_COMMANDS = {
    "new": ("new.new", False),
    "list": ("list_experiments.list_experiments", False),
    "ledger": ("ledger.ledger", False),
    "run": ("run.run", True),
    "resume": ("resume.resume", True),
    "worker": ("worker.worker", True),
    "submit": ("submit.submit", True),
    "figure": ("figure.figure", True),
    "animate": ("animate.animate", True),
    "check": ("check.check", True),
    "report": ("report.report", True),
    "watch": ("watch.watch", True),
    "status": ("status.status", False),
    "export": ("export.export", False),
    "doctor": ("doctor.doctor", True),
    "completion": ("completion.completion", False),
}
# They take seconds before they have something to say.
_LOAD_FOR_LONG = ("run", "resume", "worker", "check", "animate")


def main(arguments: list[str] | None = None) -> None:
    """Entry point; exit code 2 for bad input, 1 if `check` contradicts a claim.

    130 after Ctrl-C, 143 after SIGTERM and 129 after SIGHUP, with networks in progress
    saved; 141 if the reader of standard output closed the pipe.

    Args:
        arguments: those of the process, which then ends at once, if not given.

    Raises:
        SystemExit: with the exit code.
    """
    if shutil.get_terminal_size().columns < _NARROWEST:
        os.environ["COLUMNS"] = str(_NARROWEST)  # help in one column never ends
    open_streams()
    if arguments is not None:
        sys.exit(exit_code(list(arguments)))
    sys.excepthook = lambda *error: say("".join(traceback.format_exception(*error)))
    # No process that this one starts imports from the working directory.
    os.environ["PYTHONSAFEPATH"] = "1"
    code = _code_of_process()
    flush_errors()
    if isinstance(code, int) and (code in STOPPED or has_abandoned_threads()):
        exit_at_once(code)
    sys.exit(code)


def _code_of_process() -> Any:
    """What the process ends with; afterwards Ctrl-C is ignored.

    All is saved by then; an interrupt would only print a traceback.
    """
    code: Any = INTERRUPTED
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave_at_once)
    try:
        code = exit_code(sys.argv[1:])
    except SystemExit as leaving:
        code = leaving.code
    except KeyboardInterrupt:
        pass
    finally:
        ignore_interrupts()
    return code


def exit_code(arguments: list[str]) -> int:
    """What the command ends with.

    Raises:
        SystemExit: for options that cannot be parsed, and for --help.
    """
    try:
        try:
            return _answered(arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        drop(sys.stdout)
        return UNREAD
    except OSError as error:
        drop(sys.stdout)
        say(f"simbias: error: standard output: {error.strerror}")
        return BAD_INPUT


def _answered(arguments: list[str]) -> int:
    """What the command ends with, before the last of its output is read."""
    is_debugging = bool(os.environ.get("SIMBIAS_DEBUG")) or _DEBUG in arguments
    arguments = [word for word in arguments if word != _DEBUG]
    arguments = output.choose(arguments)
    try:
        name = arguments[0] if arguments else "--help"
        if name in ("-h", "--help"):
            put(_USAGE)
            return 0
        if name == "--version":
            put(simbias.__version__)
            return 0
        if name == COMPLETE:
            put("\n".join(words(arguments[1:], _COMMANDS)))
            return 0
        if name not in _COMMANDS:
            raise BadInput(f"`{name}` is not a command.{suggestion(name, _COMMANDS)}")
        call = lambda: _called(name, arguments[1:])
        is_cached = name == "run" and NO_CACHE not in arguments
        if is_cached and is_kept(arguments[1:]):
            return helped(arguments[1:], call)
        return call()
    except BrokenPipeError:
        raise
    except SystemExit as leaving:
        if leaving.code:
            code = leaving.code if isinstance(leaving.code, int) else FAILED
            message = _OPTIONS if code == BAD_INPUT else f"SystemExit: {leaving}"
            output.emit("error", message=message, exit_code=code)
        raise
    except Exception as error:
        if _is_of_interrupt(error):
            return _stopped()
        if isinstance(error, MemoryError):
            error = BadInput(_MEMORY)
        own = sys.modules.get(f"{__name__}._own")  # if a file of yours was loaded
        trace = own.own_traceback(error) if own else None
        if not (trace or isinstance(error, (BadInput, OSError))):
            what = f"{type(error).__name__}: {error}"
            output.emit("error", message=what, exit_code=FAILED)
            raise
        if is_debugging:
            say(traceback.format_exc())
        _say_what_is_wrong(error, trace)
        output.emit("error", message=str(error), exit_code=BAD_INPUT)
        return BAD_INPUT
    except KeyboardInterrupt:
        return _stopped()


def _leave_at_once(*_: Any) -> None:
    """What Ctrl-C does while modules are imported: half of one is no use to anybody."""
    exit_at_once(_stopped())


def _stopped() -> int:
    output.emit("stopped", exit_code=INTERRUPTED)
    say("\nStopped.")
    return INTERRUPTED


def _called(name: str, arguments: list[str]) -> int:
    """What a command returns; it is imported here."""
    command, arguments = _command(name, arguments)
    if signal.getsignal(signal.SIGINT) is _leave_at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: say(f"simbias: {message}")
        return command(arguments)


def _command(name: str, arguments: list[str]) -> tuple[Any, list[str]]:
    """A command, and its arguments without those of every command."""
    place, computes = _COMMANDS[name]
    is_cached = NO_CACHE not in arguments
    arguments = [word for word in arguments if word != NO_CACHE]
    if computes:
        if name in _LOAD_FOR_LONG and not {"-h", "--help"} & {*arguments}:
            say(f"simbias {simbias.__version__}, loading")
        import jax
        import matplotlib

        from simbias.numerics.program_cache import cache_no_programs, cache_programs

        # It reads settings of the working directory, which may be a stranger's: they
        # name programs that draw films.
        if os.path.lexists("matplotlibrc"):
            matplotlib.rcdefaults()
            say("simbias: the file matplotlibrc in this folder is ignored")
        matplotlib.use("Agg")
        jax.config.update("jax_enable_x64", True)
        cache_programs() if is_cached else cache_no_programs()
    module, _, function = place.partition(".")
    return getattr(importlib.import_module(f"{__name__}.{module}"), function), arguments


def _is_of_interrupt(error: BaseException | None) -> bool:
    """True if a Ctrl-C is what an error comes from: compiled modules make one of it."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _say_what_is_wrong(error: Exception, trace: str | None) -> None:
    what = error
    if trace:
        said = error if isinstance(error, BadInput) else "an error in your file"
        what = f"{said}\n\n{trace}"
    elif isinstance(error, OSError) and error.filename:
        what = f"{error.strerror}: {error.filename}"
    advice = getattr(error, "advice", "")
    say(f"simbias: error: {what}".rstrip() + (f"\n\n{advice}" if advice else ""))


_DEBUG, _NARROWEST = "--debug", 20
_MEMORY = (
    "this process has no more memory. Allow it more (`ulimit -v unlimited`), or use "
    "smaller networks and samples, fewer `times` or fewer measures."
)
_OPTIONS = "the options cannot be parsed; standard error names the wrong one"
_USAGE = """\
usage: simbias COMMAND …

  new NAME                     write NAME.py, a file for your own experiment
  list                         the experiments by theme, and what each one shows
  ledger [PAPER …]             the papers: claims on their results, results missing
  run NAME [--preset …] …      simulate, draw the figure, check the claims
  resume DIR                   continue a run that was stopped
  worker DIR                   help to compute a run; any number, on any machines
  submit DIR                   start workers on a cluster: Slurm, Ray, Dask
  status DIR                   progress of a run, its workers, time left, errors
  figure DIR                   draw the figure of a finished run again
  animate DIR                  film of one network: neurons, function, boundary, …
  report DIR [DIR]             page (HTML) about a run, or two runs side by side
  watch DIR                    the same page in a browser while the run goes on
  check [NAME|THEME …]         run experiments and print the table of their claims
  export DIR FILE              write a run as NetCDF, Zarr, CSV or Parquet
  doctor [DIR]                 check this machine, or the files of a run
  completion SHELL             print the script for completion with Tab

NAME is one of the list, or a file of yours: `simbias run ./mine.py`.  To continue its
run, give the file again: `simbias resume DIR mine.py`.  DIR is a folder, or a URL:
s3://bucket/mine, gs://…, az://… (pip install 'simbias[cloud]').

`simbias run NAME --help` lists all options of that experiment.  `simbias run --help`
lists the options that all experiments share.

Results go to standard output, messages to standard error.  With --json-lines, `run` and
`resume` write a line of JSON for each event to standard output.

Compiled programs are cached in JAX_COMPILATION_CACHE_DIR, XDG_CACHE_HOME/simbias or
~/.cache/simbias.  --no-compile-cache turns the cache off.

--debug, or the variable SIMBIAS_DEBUG, shows the traceback of an error.  --version
shows the version.

Exit codes:
  0    done; `check`: no claim is contradicted (some may be inconclusive); `doctor`:
       nothing is wrong
  1    `check`: a claim is contradicted; `doctor`: something is wrong; or an error of
       simbias, with its traceback
  2    bad input: the message names the option, file or folder
  129, 130, 143
       the terminal closed, Ctrl-C, SIGTERM: networks in progress are saved
  141  the reader closed the pipe"""

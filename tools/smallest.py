"""The smallest form of every benchmark, two at a time.

    python tools/smallest.py [NAME ...]

Each is a fork of this process, which has imported what they all need and has computed
nothing.  What they print is dropped, errors apart; this ends with 1 if one fails.
"""

import gc
import importlib.metadata
import os
import pathlib
import runpy
import sys
import time
import traceback

BENCHMARKS = pathlib.Path(__file__).resolve().parent.parent / "benchmarks"
AT_ONCE = 2


def main() -> None:
    wanted = sys.argv[1:]
    paths = [p for p in sorted(BENCHMARKS.glob("*.py")) if not p.stem.startswith("_")]
    unknown = {*wanted} - {p.stem for p in paths}
    if unknown:
        sys.exit(f"no benchmark of this name: {', '.join(sorted(unknown))}")
    # As in tests/conftest.py: less to compile.
    if importlib.metadata.version("jaxlib").startswith("0.10."):
        flags = os.environ.get("XLA_FLAGS", "")
        os.environ["XLA_FLAGS"] = f"{flags} --xla_cpu_use_fusion_emitters=false"
    waiting = [p for p in paths if p.stem in (wanted or {p.stem})]
    _import_all()
    running: dict[int, tuple[str, float]] = {}
    failed = []
    while waiting or running:
        while waiting and len(running) < AT_ONCE:
            path = waiting.pop(0)
            running[_started(path)] = path.stem, time.monotonic()
        pid, status = os.wait()
        name, begun = running.pop(pid)
        code = os.waitstatus_to_exitcode(status)
        said = "" if code == 0 else f", and ended with {code}"
        print(f"{name} took {time.monotonic() - begun:.0f} s{said}", flush=True)
        failed += [name] * (code != 0)
    if failed:
        sys.exit(f"failed: {', '.join(sorted(failed))}")


def _import_all() -> None:
    """Once for all benchmarks; the collector of garbage leaves it alone."""
    import matplotlib.pyplot  # noqa: F401

    import simbias.cli  # noqa: F401
    from simbias.registry import experiments

    experiments()
    # As in tests/conftest.py: tracing makes many objects that live on.
    gc.set_threshold(100_000, 50, 50)
    gc.freeze()


def _started(path: pathlib.Path) -> int:
    """Process id of a fork that runs a benchmark without its output."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
        sys.argv = [str(path), "--smallest"]
        sys.path.insert(0, str(BENCHMARKS))
        runpy.run_path(str(path), run_name="__main__")
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else bool(leaving.code)
        if isinstance(leaving.code, str):
            print(leaving.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()

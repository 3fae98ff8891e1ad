"""Compiled programs: kept on disk for other processes, forgotten when too many."""

import contextlib
import ctypes
import functools
import os
import pathlib
from typing import Any

import jax

from simbias.numerics.cache_folder import cache_folder

# Share of the mappings that may be taken before compiled programs are given back.
_FULL = 0.6


def cache_programs(folder: str | os.PathLike | None = None) -> None:
    """Keep compiled programs in a folder, for every process that asks for the same.

    A program of the exact flow takes about ten seconds to compile and a few tenths of
    one to read.  The command line does this by itself.

    Args:
        folder: where; by default JAX_COMPILATION_CACHE_DIR if it is set,
            XDG_CACHE_HOME/simbias otherwise, and ~/.cache/simbias without either.
    """
    jax.config.update("jax_enable_compilation_cache", True)
    if folder is None and "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    folder = cache_folder() if folder is None else folder
    jax.config.update("jax_compilation_cache_dir", os.fspath(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.3)


def cache_no_programs() -> None:
    """Neither read compiled programs from a folder nor keep them, in this process."""
    jax.config.update("jax_enable_compilation_cache", False)


def keeps_programs() -> bool:
    """False after `cache_no_programs`."""
    return jax.config.jax_enable_compilation_cache  # pyright: ignore


@functools.cache
def quick_to_compile() -> dict[str, bool]:
    """Compiler options for programs that run for a moment and not for long.

    On a CPU XLA's older code for fused loops takes a third less to make than the one it
    has by default, and up to a third more to run.  Empty where XLA has no such option.
    """
    return _known({"xla_cpu_use_fusion_emitters": False})


@functools.cache
def quickest_to_compile() -> dict[str, bool | int]:
    """Compiler options for programs that run once for each member.

    On a CPU LLVM does without optimising: a third of the time to make, twice that to
    run, and other last digits.  Elsewhere as `quick_to_compile`.
    """
    if jax.default_backend() != "cpu":
        return {**quick_to_compile()}
    return _known({**quick_to_compile(), "xla_backend_optimization_level": 0})


def _known(options: dict[str, Any]) -> dict[str, Any]:
    """The options, or none of them if XLA does not know one."""
    try:
        jax.jit(lambda: jax.numpy.int32(0), compiler_options=options)()
    except jax.errors.JaxRuntimeError:
        return {}
    return options


def make_room() -> None:
    """Forget all compiled programs if little room is left for more.

    A Linux process may hold `vm.max_map_count` memory mappings (65,530 as a rule), and
    XLA's code takes about 2,000 for one program of the exact flow: a sweep over some
    thirty shapes would be its end.  What runs keeps its code; what is called again is
    compiled again, or read from the persistent cache if there is one.
    """
    try:
        limit = int(pathlib.Path("/proc/sys/vm/max_map_count").read_text())
        taken = pathlib.Path("/proc/self/maps").read_bytes().count(b"\n")
    except OSError:  # not Linux
        return
    if taken > _FULL * limit:
        jax.clear_caches()


def give_back_memory() -> None:
    """Return to the system what compiling has freed, where the C library keeps it.

    Without this, glibc keeps three quarters of what XLA took: 1.2 GB of the exact flow.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)

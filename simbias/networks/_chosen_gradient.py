"""Which form of the gradient of a two-layer network to use: plain, or GPU kernels.

On an H200 the kernels take 0.5 to 0.7 of the time of the plain form at n = m = 400
(docs/throughput.md).  On other GPUs they were not tried.  Hence the first use of a kind
of kernel in a process compares it with the plain form, and falls back if it differs.
"""

import functools
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from simbias.networks._fused_gradient import fused_gradient, largest_array
from simbias.networks._two_layer_gradient import (
    Gradient,
    Problem,
    two_layer_gradient,
)
from simbias.networks.activations import Activation

# Below this n × m a tile is mostly padding, and starting a kernel costs more than it.
LEAST_PAIRS = 2**14
# Loops over inputs and outputs are unrolled.  With more of them, loading a number takes
# as long as the arrays that are saved.
MOST_INPUTS = 16
MOST_OUTPUTS = 8
# Triton counts the numbers of all members of a batch in 32 bits; room for 4096 members.
MOST_NUMBERS = 2**31 // 4096


def chosen_gradient(problem: Problem) -> Gradient:
    """`two_layer_gradient`, by kernels where they pay and work.

    A program that holds both kinds of device chooses when it is lowered: the kernels
    for CUDA, the plain form for every other platform.  Differentiating gives the
    derivative of the plain form.
    """
    w, a, x = problem.w, problem.a, problem.x
    (m, e), k, n = w.shape, a.shape[1], x.shape[0]
    is_suitable = (
        w.dtype == a.dtype == x.dtype
        and n * m >= LEAST_PAIRS
        and e <= MOST_INPUTS
        and k <= MOST_OUTPUTS
        and largest_array(n, m, e, k) <= MOST_NUMBERS
    )
    case = (problem.activation, problem.is_homogeneous, str(w.dtype), e, k)
    if not is_suitable or not works_on_gpu(*case):
        return two_layer_gradient(problem)
    arrays, rest = eqx.partition(problem, eqx.is_inexact_array)
    plain = lambda arrays: two_layer_gradient(eqx.combine(arrays, rest))
    fused = lambda arrays: fused_gradient(eqx.combine(arrays, rest))

    @jax.custom_jvp
    def chosen(arrays):
        return jax.lax.platform_dependent(arrays, cuda=fused, default=plain)

    chosen.defjvp(lambda primals, tangents: jax.jvp(plain, primals, tangents))
    return chosen(arrays)


@functools.cache
def works_on_gpu(
    activation: Activation, is_homogeneous: bool, dtype: str, e: int, k: int
) -> bool:
    """Whether there is a GPU on which the kernels give what the plain form gives.

    Tried once per process on a small problem: a kernel that does not lower (there is
    no erfc, so `gelu` is one), does not compile, fails or is wrong is not used.
    """
    try:
        gpu = jax.local_devices(backend="cuda")[0]
    except RuntimeError:
        return False
    try:
        # In another thread, because this one may be tracing.
        with ThreadPoolExecutor(1) as other:
            case = (gpu, activation, is_homogeneous, dtype, e, k)
            gap = other.submit(_gap, *case).result()
        problem = f"relative difference {gap:.1e}"
        is_right = gap < float(jnp.finfo(dtype).eps) ** 0.5
    except Exception as raised:  # of any library below: the plain form always works
        problem, is_right = f"{type(raised).__name__}: {raised}", False
    if not is_right:
        name = getattr(activation, "__name__", repr(activation))
        warnings.warn(
            f"the plain gradient is used for {name} in {dtype} with {e} inputs and "
            f"{k} outputs; the GPU kernel cannot be: {problem[:300]}",
            stacklevel=2,
        )
    return is_right


def _gap(
    device: jax.Device,
    activation: Activation,
    is_homogeneous: bool,
    dtype: str,
    e: int,
    k: int,
) -> float:
    """Largest relative difference of the two forms, for two members side by side."""
    rng = np.random.default_rng(0)
    n, m = 133, 2055  # more than a block, more than a chunk
    shapes = ((2, m, e), (2, m, k), (2, n, e), (2, n, k), (2, n))
    arguments = [rng.standard_normal(shape).astype(dtype) for shape in shapes]
    loss = lambda f, y, weight: jnp.sum(weight[:, None] * (f - y) ** 2)

    def results(form: Callable) -> tuple:
        one = lambda w, a, x, y, weight: form(
            Problem(w, a, x, y, weight, activation, is_homogeneous, loss)
        )
        with jax.default_device(device), jax.enable_x64(True):
            return jax.device_get(jax.jit(jax.vmap(one))(*arguments))

    pairs = zip(results(fused_gradient), results(two_layer_gradient), strict=True)
    return float(np.max([np.max(abs(p - q)) / np.max(abs(q)) for p, q in pairs]))

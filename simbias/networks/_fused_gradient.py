"""The gradient of a two-layer network on a GPU, without its n × m activations.

The plain form writes several n × m arrays to memory and reads them again, which is what
its time goes to on a GPU.  Here two kernels keep tiles of them in registers:

    1.  f(xᵢ) = Σⱼ aⱼ φ(wⱼ·xᵢ)                            a thread per sample
    2.  Dⱼ = Σᵢ Gᵢⱼ xᵢ  and  Aⱼ = Σᵢ φ(wⱼ·xᵢ) rᵢ           a thread per neuron

with r and G as in `_two_layer_gradient`, and w·x computed in both.  A tile has the axis
that is summed first and the one that is kept last, so that sums should stay inside a
thread; w·x is written as e multiplications and additions, because e is too small for
the matrix units.  What a program of the grid sums is of fixed length, and the partial
sums are added afterwards: the order does not depend on the other members.

On an H200 they are right in float32; docs/throughput.md has their times, and what was
not measured.  Tests run them in Pallas' interpreter.  JAX 0.12 calls Pallas' Triton
backend deprecated; without it the plain form is used.
"""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jaxtyping import Array, Float

from simbias.networks._two_layer_gradient import Gradient, Problem
from simbias.networks.activations import Activation

# Of a tile: rows that are summed at once, and columns (one per thread), at most.
_ROWS = 16
_COLUMNS = 128
_THREADS_PER_WARP = 32
# 32-bit registers of a thread for the inputs and outputs of these rows, of the 255.
_REGISTERS = 128
# Rows that one program sums, at most.
_CHUNK = 2048


def fused_gradient(problem: Problem, *, interpret: bool = False) -> Gradient:
    """What `two_layer_gradient` gives, by two kernels.

    Args:
        problem: the loss and where it is differentiated.
        interpret: run the kernels without a GPU; slow, for tests.
    """
    activation, is_shared = problem.activation, problem.is_shared
    m, n = problem.w.shape[0], problem.x.shape[0]
    samples, neurons = _Cut(n), _Cut(m)
    # Neurons of weight 0 and samples without residual fill the last tiles.
    xt = samples.pad(problem.x.T)
    wt, at = neurons.pad(problem.w.T), neurons.pad(problem.a.T)
    f = _forward(activation, samples, neurons, xt, wt, at, interpret)
    value, residual = problem.value_and_residual(f[:, :n].T)
    rt = samples.pad(residual.T)
    dw, *da = _backward(
        activation, is_shared, samples, neurons, xt, rt, wt, at, interpret
    )
    if is_shared:
        dw, da = at * dw, [jnp.sum(wt * dw, axis=0, keepdims=True)]
    return value, dw[:, :m].T, da[0][:, :m].T


def largest_array(n: int, m: int, e: int, k: int) -> int:
    """Numbers in the largest array that the kernels read or write."""
    samples, neurons = _Cut(n), _Cut(m)
    forward = samples.padded * max(e, k * neurons.chunks)
    return max(forward, neurons.padded * max(e, k) * samples.chunks)


class _Cut:
    """How an axis is cut: in blocks where it is kept, in chunks where it is summed."""

    def __init__(self, size: int):
        power = 1 << max(size - 1, 0).bit_length()
        self.size = size
        self.block = min(_COLUMNS, max(_THREADS_PER_WARP, power))
        blocks = -(-size // self.block)
        self.chunks = -(-blocks * self.block // _CHUNK)
        self.chunk = -(-blocks // self.chunks) * self.block
        self.padded = self.chunks * self.chunk

    def pad(self, rows: Float[Array, "q size"]) -> Float[Array, "q padded"]:
        """Zeros at the end."""
        return jnp.pad(rows, ((0, 0), (0, self.padded - self.size)))


def _forward(
    activation: Activation,
    samples: _Cut,
    neurons: _Cut,
    xt: Float[Array, "e n"],
    wt: Float[Array, "e m"],
    at: Float[Array, "k m"],
    interpret: bool,
) -> Float[Array, "k n"]:
    """Outputs of the network."""
    e, k = xt.shape[0], at.shape[0]
    height = _height(e + k, xt.dtype)

    def kernel(x_ref, w_ref, a_ref, f_ref):
        here, chunk, rows = _place(samples, neurons, height)
        x = _vectors(x_ref, e, here)

        def add(step, f):
            there = rows(step)
            z = activation(_products(_vectors(w_ref, e, there), x))
            a = _vectors(a_ref, k, there)
            return tuple(f[q] + _sum(z * a[q][:, None]) for q in range(k))

        f = _repeat(neurons.chunk // height, add, (_zeros(samples, xt.dtype),) * k)
        for q in range(k):
            f_ref[chunk, q, here] = f[q]

    shape = jax.ShapeDtypeStruct((neurons.chunks, k, samples.padded), xt.dtype)
    (f,) = _call(kernel, samples, neurons, [shape], interpret)(xt, wt, at)
    return jnp.sum(f, axis=0)


def _backward(
    activation: Activation,
    is_shared: bool,
    samples: _Cut,
    neurons: _Cut,
    xt: Float[Array, "e n"],
    rt: Float[Array, "k n"],
    wt: Float[Array, "e m"],
    at: Float[Array, "k m"],
    interpret: bool,
) -> list[Float[Array, "_ m"]]:
    """D and A; with one sum for both, D without its factor aⱼ, and no A."""
    e, k = xt.shape[0], at.shape[0]
    height = _height(e + k, xt.dtype)

    def kernel(x_ref, r_ref, w_ref, a_ref, d_ref, *s_ref):
        here, chunk, rows = _place(neurons, samples, height)
        w = _vectors(w_ref, e, here)
        a = [] if is_shared else _vectors(a_ref, k, here)

        def add(step, sums):
            there = rows(step)
            x, r = _vectors(x_ref, e, there), _vectors(r_ref, k, there)
            z, pull = jax.vjp(activation, _products(x, w))
            if is_shared:
                (gate,) = pull(jnp.broadcast_to(r[0][:, None], z.shape))
                return tuple(sums[c] + _sum(gate * x[c][:, None]) for c in range(e))
            (gate,) = pull(_products(r, a))
            terms = [gate * v[:, None] for v in x] + [z * v[:, None] for v in r]
            return tuple(s + _sum(v) for s, v in zip(sums, terms, strict=True))

        count = e if is_shared else e + k
        sums = _repeat(
            samples.chunk // height, add, (_zeros(neurons, wt.dtype),) * count
        )
        for c in range(e):
            d_ref[chunk, c, here] = sums[c]
        for q in range(count - e):
            s_ref[0][chunk, q, here] = sums[e + q]

    widths = [e] if is_shared else [e, k]
    shapes = [
        jax.ShapeDtypeStruct((samples.chunks, q, neurons.padded), wt.dtype)
        for q in widths
    ]
    out = _call(kernel, neurons, samples, shapes, interpret)(xt, rt, wt, at)
    return [jnp.sum(v, axis=0) for v in out]


def _call(
    kernel: Callable, kept: _Cut, summed: _Cut, shapes: list, interpret: bool
) -> Callable:
    # Imported here: it costs time, and a build of JAX may be without it.
    from jax.experimental.pallas import triton

    warps = kept.block // _THREADS_PER_WARP
    return pl.pallas_call(
        kernel,
        out_shape=shapes,
        grid=(kept.padded // kept.block, summed.chunks),
        compiler_params=triton.CompilerParams(num_warps=warps),
        interpret=interpret,
    )


def _height(vectors: int, dtype: jnp.dtype) -> int:
    """Rows of a tile: a power of two, fewer the more numbers belong to a row."""
    fits = _REGISTERS // (vectors * (dtype.itemsize // 4))
    return min(_ROWS, 1 << (max(fits, 1).bit_length() - 1))


def _place(kept: _Cut, summed: _Cut, height: int) -> tuple:
    """Of this program: its columns, its chunk, and the rows of a step."""
    chunk = pl.program_id(1)
    here = pl.ds(pl.program_id(0) * kept.block, kept.block)
    return here, chunk, lambda i: pl.ds(chunk * summed.chunk + i * height, height)


def _repeat(steps: int, add: Callable, start: tuple) -> tuple:
    return jax.lax.fori_loop(np.int32(0), np.int32(steps), add, start)


def _zeros(kept: _Cut, dtype: jnp.dtype) -> Array:
    return jnp.zeros((kept.block,), dtype)


def _vectors(ref, count: int, where) -> list[Array]:
    return [ref[c, where] for c in range(count)]


def _products(rows: list[Array], columns: list[Array]) -> Array:
    """Σ_c of outer products."""
    terms = [p[:, None] * q[None, :] for p, q in zip(rows, columns, strict=True)]
    return functools.reduce(jnp.add, terms)


def _sum(tile: Array) -> Array:
    return jnp.sum(tile, axis=0)

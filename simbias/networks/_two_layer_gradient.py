"""Loss of a two-layer network and its gradient, by hand and in tiles of neurons."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import Loss
from simbias.networks.activations import Activation
from simbias.numerics.precision import matmul
from simbias.numerics.tiling import columns_cut, columns_joined, tiles

# L, ∂L/∂w and ∂L/∂a.
Gradient = tuple[Float[Array, ""], Float[Array, "m e"], Float[Array, "m k"]]


class Problem(eqx.Module):
    """The loss L of f(x) = Σⱼ aⱼ φ(wⱼ·x) on a sample.

    Args:
        w: hidden weights; a hidden bias is one more column, with 1 in `x`.
        a: output weights.
        x: inputs.
        y: targets.
        weight: of the samples.
        activation: φ, elementwise.
        is_homogeneous: whether φ(h) = h φ'(h), as of ReLU.
        loss: of (f, y, weight).
    """

    w: Float[Array, "m e"]
    a: Float[Array, "m k"]
    x: Float[Array, "n e"]
    y: Float[Array, "n k"]
    weight: Float[Array, " n"]
    activation: Activation = eqx.field(static=True)
    is_homogeneous: bool = eqx.field(static=True)
    # Not static: it may hold arrays.
    loss: Loss

    @property
    def is_shared(self) -> bool:
        """True if one sum over the samples gives both ∂L/∂w and ∂L/∂a."""
        return self.is_homogeneous and self.a.shape[1] == 1

    def value_and_residual(
        self, prediction: Float[Array, "n k"]
    ) -> tuple[Float[Array, ""], Float[Array, "n k"]]:
        """L and rᵢ = ∂L/∂f(xᵢ)."""
        return jax.value_and_grad(self.loss)(prediction, self.y, self.weight)


def two_layer_gradient(problem: Problem) -> Gradient:
    """L, ∂L/∂w and ∂L/∂a.

        rᵢ = ∂L/∂f(xᵢ),   Gᵢⱼ = φ'(wⱼ·xᵢ) rᵢ·aⱼ
        ∂L/∂wⱼ = Σᵢ Gᵢⱼ xᵢ,   ∂L/∂aⱼ = Σᵢ φ(wⱼ·xᵢ) rᵢ

    With one output and φ(h) = h φ'(h) the second sum is wⱼ·Σᵢ φ'(wⱼ·xᵢ) rᵢ xᵢ, of which
    the first is aⱼ times.  Neurons are the last axis, so that every sum runs along the
    processor's vectors; large n × m are cut into tiles that stay in its cache, at the
    price of computing w·x twice.
    """
    w, a, x, activation = problem.w, problem.a, problem.x, problem.activation
    m, k, (n, e) = w.shape[0], a.shape[1], x.shape
    count, width = tiles(n, m, w.dtype.itemsize, e)
    wt, at = (columns_cut(v.T, count, width) for v in (w, a))

    def outputs(tile):
        v, b = tile
        return activation(matmul(x, v)), b

    def forward(total, tile):
        z, b = outputs(tile)
        return total + matmul(z, b.T), None

    def backward(tile, residual):
        v, b = tile
        z, pull = jax.vjp(activation, matmul(x, v))
        if problem.is_shared:
            (gate,) = pull(jnp.broadcast_to(residual, z.shape))
            moment = matmul(x.T, gate)
            return b * moment, jnp.sum(v * moment, axis=0, keepdims=True)
        (gate,) = pull(matmul(residual, b))
        return matmul(x.T, gate), matmul(residual.T, z)

    zero = jnp.zeros((n, k), w.dtype)
    if count == 1:
        tile = (wt[0], at[0])
        prediction, _ = forward(zero, tile)
    else:
        prediction, _ = jax.lax.scan(forward, zero, (wt, at))
    value, residual = problem.value_and_residual(prediction)
    if count == 1:
        dw, da = backward((wt[0], at[0]), residual)
        return value, dw.T, da.T
    _, (dw, da) = jax.lax.scan(
        lambda _, tile: (None, backward(tile, residual)), None, (wt, at)
    )
    return value, columns_joined(dw, m).T, columns_joined(da, m).T

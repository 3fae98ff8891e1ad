"""The smooth field that is integrated while no activation changes."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import Dataset, Loss
from simbias.flows._pins import project


class Sample(eqx.Module):
    """Inputs, one coordinate longer with a hidden bias, with their unit normals."""

    x: Float[Array, "n e"]
    unit: Float[Array, "n e"]
    length: Float[Array, " n"]
    y: Float[Array, "n k"]
    weight: Float[Array, " n"]
    loss: Loss = eqx.field(static=True)

    def residual(self, prediction: Float[Array, "n k"]) -> Float[Array, "n k"]:
        """Residuals r = ∂L/∂f, the 1/n of the loss included; 0 on padding."""
        return jax.grad(self.loss)(prediction, self.y, self.weight)


class Rates(NamedTuple):
    """Velocities, and what they are made of."""

    w: Float[Array, "m e"]
    a: Float[Array, "m k"]
    moment: Float[Array, "m k e"]
    residual: Float[Array, "n k"]


def extended_sample(data: Dataset, loss: Loss, has_bias: bool) -> Sample:
    """The sample as the neurons see it: (x, 1) if they have a bias; padding is 0."""
    is_kept = data.weight > 0
    x = data.x
    if has_bias:
        x = jnp.concatenate([x, jnp.ones_like(x[:, :1])], axis=1)
    x = jnp.where(is_kept[:, None], x, 0)
    length = jnp.sqrt(jnp.sum(x**2, axis=1))
    is_point = length > 0
    unit = x / jnp.where(is_point, length, 1)[:, None]
    return Sample(x, unit, length, data.y, data.weight, loss)


def frozen_rates(
    w: Float[Array, "m e"],
    a: Float[Array, "m k"],
    factor: Float[Array, "m n"],
    normals: Float[Array, "m p e"],
    dual: Float[Array, "m p e"],
    sample: Sample,
) -> Rates:
    """Field of the flow with the activation pattern held fixed.

        fᵢ = xᵢ·Σⱼ Sⱼᵢ wⱼ aⱼᵀ,  Mⱼ = −Σᵢ Sⱼᵢ rᵢ xᵢᵀ,  wⱼ' = P Mⱼᵀ aⱼ,  aⱼ' = Mⱼ wⱼ

    With S given, f needs no m × n array of activations: two products with S are all.

    Args:
        w: hidden weights (with the bias as last coordinate).
        a: output weights.
        factor: S, 1 where active and the negative slope elsewhere (pins too).
        normals: of the pins, see `pinned_normals`.
        dual: their `dual_basis`.
        sample: the data.
    """
    (m, e), k, n = w.shape, a.shape[1], sample.x.shape[0]
    product = (a[:, :, None] * w[:, None, :]).reshape(m, k * e)
    summed = _matmul(factor.T, product).reshape(n, k, e)
    residual = sample.residual(jnp.sum(summed * sample.x[:, None, :], axis=2))
    pulls = (residual[:, :, None] * sample.x[:, None, :]).reshape(n, k * e)
    moment = -_matmul(factor, pulls).reshape(m, k, e)
    drive = jnp.sum(a[:, :, None] * moment, axis=1)
    return Rates(
        w=project(drive, normals, dual),
        a=jnp.sum(moment * w[:, None, :], axis=2),
        moment=moment,
        residual=residual,
    )


def _matmul(left: Array, right: Array) -> Array:
    return jnp.matmul(left, right, precision=jax.lax.Precision.HIGHEST)

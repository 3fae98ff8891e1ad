"""What pulls at a neuron while the network is still zero."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import Dataset, Loss
from simbias.theory._one_output import check_one_output


def early_drive(
    data: Dataset, loss: Loss, w: Float[Array, "m d"]
) -> Float[Array, "m d"]:
    """Vector Dⱼ that turns neuron j: wⱼ' = aⱼ Dⱼ and aⱼ' = wⱼ·Dⱼ while f ≈ 0.

    Dⱼ = −Σ_{k: wⱼ·x_k > 0} ∂L/∂f_k(0) x_k

    With `half_mse` this is (1/n) Σ y_k x_k over the active samples, the gradient of
    G(w) = (1/n) Σ y_k (w·x_k)₊; with `mse` twice, with `logistic` half of it.  ReLU
    networks with one output; a sample on the hyperplane wⱼ·x_k = 0 counts as inactive.

    Args:
        data: the sample.
        loss: what the flow descends.
        w: hidden weights; only their directions matter.

    Raises:
        ValueError: if there are several outputs.

    Reference: Maennel, Bousquet & Gelly (2018), arXiv:1803.08367; Boursier & Flammarion
    (2024), arXiv:2401.10791, D(w, 0).
    """
    check_one_output(data)
    pull = -jax.grad(loss)(jnp.zeros_like(data.y), data.y, data.weight)[:, 0]
    return jnp.where(w @ data.x.T > 0, pull[None, :], 0) @ data.x

"""The early phase in closed form: neurons near zero, activations frozen."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import Dataset, Loss, Real
from simbias.theory._one_output import check_one_output


def early_phase(
    w: Float[Array, "m d"], a: Float[Array, " m"], drive: Float[Array, "m d"], t: Real
) -> tuple[Float[Array, "m d"], Float[Array, " m"]]:
    """Exact solution at time t of wⱼ' = aⱼDⱼ, aⱼ' = wⱼ·Dⱼ with Dⱼ constant.

    With e = D/|D|:   (a ± w·e)(t) = (a ± w·e)(0) exp(±|D|t),   w − (w·e)e constant

    The flow of a two-layer ReLU network follows it while |f| ≪ |y| and no sample
    changes side.  a² − ‖w‖² is conserved; a neuron with D = 0 rests.

    Args:
        w: hidden weights at time 0.
        a: output weights at time 0.
        drive: Dⱼ, `early_drive` of the initial weights; it carries the clock of the
            loss.
        t: time.

    Returns:
        w and a at time t.

    Reference: the linear system [[0, D], [Dᵀ, 0]], whose eigenvalues are ±|D|; see
    Maennel, Bousquet & Gelly (2018), arXiv:1803.08367.
    """
    rate = jnp.linalg.norm(drive, axis=1)
    is_driven = rate > 0
    unit = drive / jnp.where(is_driven, rate, 1)[:, None]
    along = jnp.sum(w * unit, axis=1)
    # Two exponentials, not cosh and sinh: the decaying mode keeps all its digits.
    grown = (a + along) * jnp.exp(rate * t) / 2
    decayed = (a - along) * jnp.exp(-rate * t) / 2
    moved = jnp.where(is_driven, grown - decayed - along, 0)
    return w + moved[:, None] * unit, jnp.where(is_driven, grown + decayed, a)


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

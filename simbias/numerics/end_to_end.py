"""How the product of N balanced matrices moves under their gradient flow."""

import jax.numpy as jnp
from jaxtyping import Array, Float


def end_to_end(
    matrix: Float[Array, "k d"], gradient: Float[Array, "k d"], depth: int
) -> Float[Array, "k d"]:
    """ψ(∇) = Σⱼ (WWᵀ)^{(j−1)/N} ∇ (WᵀW)^{(N−j)/N} over j = 1 … N; Ẇ = −ψ(∇).

    Linear in ∇, symmetric and positive: the eigenvalue of uₐ vᵦᵀ, singular vectors of
    W, is that of `metric`.  Powers are those of the singular values themselves: by the
    eigenvalues σ² of WWᵀ small ones would lose half of their digits.

    Args:
        matrix: W, the product W_N ⋯ W_1.
        gradient: ∇, that of the loss as a function of W.
        depth: N.

    Reference: Arora, Cohen & Hazan (2018), arXiv:1802.06509, for layers with
    W_{j+1}ᵀ W_{j+1} = W_j W_jᵀ and no weight decay.
    """
    left, values, right = jnp.linalg.svd(matrix, full_matrices=True)
    k, d = matrix.shape
    wide = lambda size: jnp.zeros(size, values.dtype).at[: len(values)].set(values)
    inside = left.T @ gradient @ right.T
    return left @ (metric(wide(k), wide(d), depth) * inside) @ right


def metric(
    left: Float[Array, " k"], right: Float[Array, " d"], depth: int
) -> Float[Array, "k d"]:
    """Eigenvalues of ψ: Σⱼ σₐ^{2(j−1)/N} σᵦ^{2(N−j)/N}; on the diagonal N σ^{2−2/N}.

    "The big get bigger": along large singular values the product moves faster.

    Args:
        left: σₐ, singular values of W, filled up with 0 to its rows.
        right: σᵦ, the same to its columns.
        depth: N.
    """
    powers = [2 * j / depth for j in range(depth)]
    rows = jnp.stack([left**p for p in powers])
    columns = jnp.stack([right**p for p in reversed(powers)])
    return jnp.sum(rows[:, :, None] * columns[:, None, :], axis=0)

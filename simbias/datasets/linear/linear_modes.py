"""A linear target with given singular values, on whitened inputs."""

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from simbias.core import Dataset
from simbias.errors import BadInput
from simbias.validation.values import positive, positive_integers


def linear_modes(
    key: PRNGKeyArray,
    *,
    n: int = 20,
    d: int = 3,
    k: int = 3,
    strengths: tuple[float, ...] = (4.0, 2.0, 1.0),
    is_symmetric: bool = False,
) -> Dataset:
    """Targets Mx, M = Σᵢ sᵢ uᵢvᵢᵀ with random orthonormal uᵢ, vᵢ; (1/n) Σ xxᵀ = 1.

    Under `half_mse` the gradient is that of ½|W − M|² in W, and the time constant τ of
    every mode is 1.

    Args:
        key: random key.
        n: samples, d or more: fewer cannot be white.
        d: inputs.
        k: outputs.
        strengths: sᵢ, decreasing, at most min(d, k) of them.
        is_symmetric: uᵢ = vᵢ, for which k must be d.

    Returns:
        The sample; `features` are the vᵢ, and M vᵢ/sᵢ is uᵢ.  No noise, no test sample.

    Raises:
        ValueError: for a size or strength out of range.

    Reference: Saxe, McClelland & Ganguli (2014), arXiv:1312.6120.
    """
    positive_integers(n=n, d=d, k=k)
    _check(n, d, k, strengths, is_symmetric)
    rank, s = len(strengths), jnp.asarray(strengths, jnp.float64)
    # One draw for all: a program compiles as many draws as there are.
    z = jax.random.normal(key, (n * d + (d + k) * rank,), jnp.float64)
    z_x, z_v, z_u = jnp.split(z, (n * d, (n + rank) * d))
    x = jnp.linalg.qr(z_x.reshape(n, d))[0] * n**0.5
    v = jnp.linalg.qr(z_v.reshape(d, rank))[0].T
    u = v if is_symmetric else jnp.linalg.qr(z_u.reshape(k, rank))[0].T
    y = (x @ v.T) * s[None, :] @ u
    return Dataset(x, y, jnp.ones(n), mean=y, features=v)


def _check(
    n: int, d: int, k: int, strengths: tuple[float, ...], is_symmetric: bool
) -> None:
    if n < d:
        raise BadInput(
            f"`n` must be d = {d} or more, got {n}: fewer inputs span less than their "
            f"space and cannot be whitened. Example: n={2 * d}."
        )
    if is_symmetric and k != d:
        raise BadInput(
            f"`k` must be d = {d} for a symmetric target, got {k}. Example: k={d}."
        )
    is_many = not isinstance(strengths, tuple) or not strengths
    if is_many or len(strengths) > min(d, k):
        raise BadInput(
            f"`strengths` must be a tuple of 1 to {min(d, k)} numbers, as many as the "
            f"target may have singular values, got {strengths!r}. "
            "Example: strengths=(2.0, 1.0)."
        )
    for strength in strengths:
        positive("strengths", strength)
    if list(strengths) != sorted(set(strengths), reverse=True):
        raise BadInput(
            f"`strengths` must decrease, got {strengths}: modes of equal strength have "
            "no directions of their own. Example: strengths=(4.0, 2.0, 1.0)."
        )

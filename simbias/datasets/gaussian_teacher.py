"""A linear teacher with noise on isotropic inputs."""

from typing import Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.checks import not_negative, positive_integer
from simbias.core import Dataset, Real

InputLaw = Literal["gaussian", "sphere", "rademacher"]
Teacher = Literal["linear", "sparse"]


def gaussian_teacher(
    key: PRNGKeyArray,
    *,
    n: int = 100,
    d: int = 5,
    sigma: Real = 0.3,
    teacher: Teacher = "linear",
    sparsity: int = 1,
    inputs: InputLaw = "gaussian",
    n_test: int = 2000,
) -> Dataset:
    """y = β*·x + σ η, η ~ N(0, 1), with E[x xᵀ] = I and a law of x symmetric about 0.

    The paper fixes neither β* nor the law of x.  Here ‖β*‖ = 1, so that the signal has
    variance 1 and σ² is the noise-to-signal ratio.

    Args:
        key: random key; the test sample does not depend on `n`, nor the noise on
            `inputs`.
        n: training samples.
        d: input dimension.
        sigma: standard deviation of the noise.
        teacher: "linear": β* = (1, …, 1)/√d; "sparse": the first `sparsity`
            coordinates equal, the others 0.
        sparsity: number of non-zero coordinates of a sparse teacher.
        inputs: "gaussian" N(0, I); "sphere" uniform on the sphere of radius √d;
            "rademacher" independent signs.
        n_test: test samples.

    Returns:
        The sample; `features` holds β*.

    Raises:
        ValueError: for a size or σ out of range.

    Reference: Boursier & Flammarion (2024), arXiv:2410.02348, linear data model.
    """
    for name, value in (("n", n), ("d", d), ("n_test", n_test)):
        positive_integer(name, value)
    not_negative("sigma", sigma)
    positive_integer("sparsity", sparsity)
    if sparsity > d:
        raise ValueError(f"`sparsity` must be at most d = {d}, got {sparsity}.")
    support = d if teacher == "linear" else sparsity
    beta = jnp.where(jnp.arange(d) < support, support**-0.5, 0.0)
    key_train, key_test = jax.random.split(key)
    test = _sample(key_test, n_test, beta, sigma, inputs, None)
    return _sample(key_train, n, beta, sigma, inputs, test)


def _sample(
    key: PRNGKeyArray,
    n: int,
    beta: Float[Array, " d"],
    sigma: Real,
    inputs: InputLaw,
    test: Dataset | None,
) -> Dataset:
    key_x, key_noise = jax.random.split(key)
    d = beta.shape[0]
    if inputs == "rademacher":
        x = jax.random.rademacher(key_x, (n, d), jnp.float64)
    else:
        x = jax.random.normal(key_x, (n, d), jnp.float64)
        if inputs == "sphere":
            x = x * (d**0.5 / jnp.linalg.norm(x, axis=1, keepdims=True))
    mean = (x @ beta)[:, None]
    y = mean + sigma * jax.random.normal(key_noise, (n, 1), jnp.float64)
    weight = jnp.ones(n, jnp.float64)
    return Dataset(x, y, weight, mean, beta[None, :], test)

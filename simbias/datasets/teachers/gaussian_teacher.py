"""A linear teacher with noise on isotropic inputs."""

from typing import Literal, get_args

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import Dataset, Real
from simbias.errors import BadInput
from simbias.validation.sample import one_of
from simbias.validation.values import not_negative, positive_integers

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
    """Linear law y = β*·x + σ η, η ~ N(0, 1); E[x xᵀ] = I and x has the law of −x.

    The paper fixes neither β* nor the law of x.  Here ‖β*‖ = 1, so that the signal has
    variance 1 and σ² is the noise-to-signal ratio.

    Args:
        key: random key.  A larger `n` adds rows and changes none; the test sample does
            not depend on `n`, the noise not on `inputs`.
        n: training samples.
        d: input dimension.
        sigma: standard deviation of the noise.
        teacher: "linear": β* = (1, …, 1)/√d; "sparse": the first `sparsity`
            coordinates are 1/√sparsity, the others 0.
        sparsity: number of non-zero coordinates of a sparse teacher.
        inputs: "gaussian" N(0, I); "sphere" uniform on the sphere of radius √d;
            "rademacher" independent signs.
        n_test: test samples.

    Returns:
        The sample; `features` holds β*.

    Raises:
        ValueError: for a size or σ out of range, or an unknown name.

    Reference: Boursier & Flammarion (2024), arXiv:2410.02348, linear data model.
    """
    positive_integers(n=n, d=d, n_test=n_test, sparsity=sparsity)
    not_negative("sigma", sigma)
    one_of("teacher", teacher, get_args(Teacher))
    one_of("inputs", inputs, get_args(InputLaw))
    if sparsity > d:
        raise BadInput(
            f"`sparsity` must be at most d, got sparsity={sparsity} and d={d}. "
            f"Example: sparsity={d}."
        )
    support = d if teacher == "linear" else sparsity
    beta = (jnp.arange(d) < support).astype(jnp.float64) * support**-0.5
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

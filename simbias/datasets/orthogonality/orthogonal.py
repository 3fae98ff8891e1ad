"""Orthogonal inputs, n ≤ d: every set of labels can be fitted sample by sample."""

from typing import Literal, get_args

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import Dataset
from simbias.errors import BadInput
from simbias.numerics.haar_frame import haar_frame
from simbias.validation.sample import one_of
from simbias.validation.values import positive_integers

Labels = Literal["teacher", "random", "signs"]
Inputs = Literal["orthogonal", "axes", "gaussian"]


def orthogonal(
    key: PRNGKeyArray,
    *,
    n: int = 75,
    d: int = 150,
    labels: Labels = "teacher",
    inputs: Inputs = "orthogonal",
    neurons: int = 6,
    n_test: int = 500,
) -> Dataset:
    """Gaussian inputs made orthogonal, xᵢ·xₖ = d δᵢₖ.

        teacher:  y = p^(−½) Σⱼ (−1)ʲ (vⱼ·x)₊,   vⱼ uniform on the unit sphere, j < p
        random:   y ~ N(0, 1), independent of x
        signs:    y = ±1 with equal odds, independent of x

    Each xᵢ alone is uniform on the sphere of radius √d, and so are the test inputs,
    which are independent: no sample larger than d is orthogonal.

    "axes" has xᵢ = √d eᵢ.  To a start that knows no direction this is the same law,
    but its products are exactly 0.  Where they are 0 up to rounding, neurons that have
    grown by 1e16 see, under Euler's method, samples that they should never see.
    "gaussian" has x ~ N(0, I), orthogonal up to cosines of the order d^(−½): the
    published run has such inputs, the theorem does not.

    Args:
        key: random key; the test sample does not depend on `n`.
        n: training samples, at most d.
        d: input dimension.
        labels: "teacher", "random" or "signs"; none has noise on top.
        inputs: "orthogonal", "axes" or "gaussian", the draw that is made orthogonal.
        neurons: number p of neurons of the teacher.
        n_test: test samples.

    Returns:
        The sample; `mean` is 0 for labels that are independent of x.  `features` are
        the directions of the two group sums Σ yᵢxᵢ over yᵢ > 0 and over yᵢ < 0, the
        longer sum first (that sign is fitted first); a sum over no sample is a row of
        zeros.

    Raises:
        ValueError: for a size out of range, n > d, or an unknown name.

    Reference: Boursier, Pillaud-Vivien & Flammarion (2022), arXiv:2206.00939; sizes
    and number of teacher neurons from the code that accompanies it.
    """
    positive_integers(n=n, d=d, neurons=neurons, n_test=n_test)
    one_of("labels", labels, get_args(Labels))
    one_of("inputs", inputs, get_args(Inputs))
    if n > d:
        raise BadInput(
            f"`n` must be at most d for orthogonal inputs, got n={n} and d={d}. "
            f"Example: d={2 * n}."
        )
    key_x, key_y, key_x_test, key_y_test, key_teacher = jax.random.split(key, 5)
    v = _on_sphere(key_teacher, neurons, d)
    x_test = _on_sphere(key_x_test, n_test, d) * d**0.5
    if inputs == "orthogonal":
        x = haar_frame(key_x, d, n).T * d**0.5
    elif inputs == "axes":
        x = jnp.eye(n, d, dtype=jnp.float64) * d**0.5
    else:
        x = jax.random.normal(key_x, (d, n), jnp.float64).T
        x_test = jax.random.normal(key_x_test, (n_test, d), jnp.float64)
    y, mean = _labels(key_y, x, v, labels)
    y_test, mean_test = _labels(key_y_test, x_test, v, labels)
    features = _group_directions(x, y)
    one, one_test = jnp.ones(n, jnp.float64), jnp.ones(n_test, jnp.float64)
    test = Dataset(x_test, y_test, one_test, mean_test, features)
    return Dataset(x, y, one, mean, features, test)


def _on_sphere(key: PRNGKeyArray, n: int, d: int) -> Float[Array, "n d"]:
    v = jax.random.normal(key, (n, d), jnp.float64)
    return v / jnp.linalg.norm(v, axis=1, keepdims=True)


def _labels(
    key: PRNGKeyArray, x: Float[Array, "n d"], v: Float[Array, "p d"], labels: Labels
) -> tuple[Float[Array, "n 1"], Float[Array, "n 1"]]:
    if labels == "random":
        y = jax.random.normal(key, (x.shape[0], 1), jnp.float64)
        return y, jnp.zeros_like(y)
    if labels == "signs":
        y = jax.random.rademacher(key, (x.shape[0], 1), jnp.float64)
        return y, jnp.zeros_like(y)
    p = v.shape[0]
    output = jnp.where(jnp.arange(p) % 2 == 0, p**-0.5, -(p**-0.5))
    y = (jax.nn.relu(x @ v.T) @ output)[:, None]
    return y, y


def _group_directions(
    x: Float[Array, "n d"], y: Float[Array, "n 1"]
) -> Float[Array, "2 d"]:
    sums = jnp.stack([jnp.maximum(y[:, 0], 0), jnp.minimum(y[:, 0], 0)]) @ x
    length = jnp.linalg.norm(sums, axis=1)
    order = jnp.argsort(-length)
    positive = jnp.where(length > 0, length, 1.0)
    return (sums / positive[:, None])[order]

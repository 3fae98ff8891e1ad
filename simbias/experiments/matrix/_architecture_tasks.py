"""Tasks of single biases for networks that read images, or strings."""

from typing import Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import Dataset
from simbias.datasets import images, string_quarter
from simbias.numerics.clones import by_class, gaussian_clone, isotropic_clone
from simbias.numerics.walsh_hadamard import cube

ImageBias = Literal["distributional", "randomised", "information"]
StringBias = Literal["sensitivity", "randomised", "information"]
# Pixels of a side of a digit, and bits of a string.
SIDE, BITS = 8, 10
Rows = Float[Array, "_ d"]


def image_task(key: PRNGKeyArray, bias: str, n: int, n_class: int) -> Dataset:
    """Odd digits against even ones, y = ±1; the test has `n_class` of each.

    For "randomised" the left column, which is empty, is y(½ + |u|/2), u ~ N(0, 1): a
    feature that a line reads.  `features` is this column, `others` has the answers of
    least squares, and clones of the test images of each class.
    """
    key_images, key_column, *key_clones = jax.random.split(key, 6)
    whole = images(key_images, n=n, n_test=597, source="digits", task="parity")
    assert whole.test is not None
    label = whole.test.y[:, 0] > 0
    one_hot = jnp.stack([label, ~label], axis=1).astype(jnp.float64)
    test = by_class(whole.test.x, one_hot, n_class)
    column = jnp.zeros((SIDE, SIDE), jnp.float64).at[:, 0].set(1.0).reshape(-1)
    y = whole.y[:, 0]
    test_y = jnp.repeat(jnp.array([1.0, -1.0], jnp.float64), n_class)
    clones = [
        jnp.concatenate([make(k, x) for k, x in zip(keys, test, strict=True)])
        for make, keys in (
            (isotropic_clone, key_clones[:2]),
            (gaussian_clone, key_clones[2:]),
        )
    ]
    x, test_x = whole.x, jnp.concatenate([*test])
    if bias == "randomised":
        u = jax.random.normal(key_column, (n + 2 * n_class,), jnp.float64)
        value = jnp.concatenate([y, test_y]) * (0.5 + jnp.abs(u) / 2)
        painted = lambda v, of: v * (1 - column)[None] + of[:, None] * column[None]
        x, test_x = painted(x, value[:n]), painted(test_x, value[n:])
    return _task(x, y, test_x, test_y, column[None], clones)


def string_task(key: PRNGKeyArray, bias: str, n: int) -> Dataset:
    """Strings of ten bits and labels ±1; of "sensitivity" eight bits.

    * "sensitivity": random labels of a quarter of the strings, `string_quarter`.
    * "randomised": bit 0 is the label, and the parity of bits 1 to 3 is the label too.
    * "information": the majority of b₀, b₁b₂ and b₃b₄; a line has b₀ alone.

    For "information" the test has the strings that are not in the sample.
    """
    if bias == "sensitivity":
        quarter = string_quarter(key)
        assert quarter.test is not None
        sample = (quarter.x, quarter.y[:, 0], quarter.test.x, quarter.test.y[:, 0])
        return _task(*sample, quarter.features, [])
    x = jax.random.permutation(key, jnp.asarray(cube(BITS), jnp.float64))
    if bias == "randomised":
        x = x.at[:, 0].set(x[:, 1] * x[:, 2] * x[:, 3])
        y = x[:, 0]
    else:
        y = jnp.sign(x[:, 0] + x[:, 1] * x[:, 2] + x[:, 3] * x[:, 4])
    bit = jnp.eye(BITS, dtype=jnp.float64)[:1]
    return _task(x[:n], y[:n], x[n:], y[n:], bit, [])


def _task(
    x: Rows,
    y: Float[Array, " n"],
    test_x: Rows,
    test_y: Float[Array, " t"],
    features: Float[Array, "1 d"],
    clones: list[Rows],
) -> Dataset:
    """The sample, its test, the answers of a line, and clones by name."""

    def sample(x: Rows, y: Float[Array, " n"]) -> Dataset:
        return Dataset(x, y[:, None], jnp.ones(len(x)), y[:, None], features)

    others = {"linear": sample(test_x, _line(x, y, test_x))}
    others |= {
        name: sample(clone, test_y)
        for name, clone in zip(("means", "covariances"), clones, strict=False)
    }
    test = sample(test_x, test_y)
    return Dataset(x, y[:, None], jnp.ones(len(x)), y[:, None], features, test, others)


def _line(x: Rows, y: Float[Array, " n"], at: Rows) -> Float[Array, " t"]:
    """What least squares with a constant says there, ±1."""
    one = lambda v: jnp.concatenate([v, jnp.ones((len(v), 1), v.dtype)], axis=1)
    inputs = one(x)
    # A pixel that is constant then has weight 0.
    gram = inputs.T @ inputs + 1e-3 * len(x) * jnp.eye(inputs.shape[1], dtype=x.dtype)
    said = one(at) @ jnp.linalg.solve(gram, inputs.T @ y)
    return jnp.where(said > 0, 1.0, -1.0).astype(x.dtype)

"""A sample, its clones beside it, and networks of one start, each on one of them."""

from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import AbstractNetwork, Dataset
from simbias.datasets.moments.moment_classes import moment_classes
from simbias.datasets.vision.images import images
from simbias.networks.dense.mlp import Mlp, mlp
from simbias.numerics.clones import (
    by_class,
    gaussian_clone,
    isotropic_clone,
    marginal_clone,
)

Source = Literal["moments", "digits", "mnist", "cifar10"]
Architecture = Literal["mlp", "linear"]
# What a network is trained on; the last is a second sample of the law.
TRAINED_ON = ("real", "mean", "covariance", "marginals")
_CLONES = (isotropic_clone, gaussian_clone, marginal_clone)


class Bank(AbstractNetwork):
    """(x₁, …, x_g) ↦ (f₁(x₁), …, f_g(x_g)): networks of one shape, each on its inputs.

    Under a loss that sums over outputs each moves as it would alone, on the same rows
    of the same batches as the others.
    """

    stack: Mlp
    count: int = eqx.field(static=True)

    @property
    def has_kinks(self) -> bool | None:
        """As the networks say."""
        return self.stack.has_kinks

    def __call__(self, x: Float[Array, " gd"]) -> Float[Array, " gk"]:
        """Outputs of all networks, one after another."""
        inputs = x.reshape(self.count, -1)
        return jax.vmap(lambda f, one: f(one))(self.stack, inputs).reshape(-1)


def bank(network: Mlp, count: int) -> Bank:
    """So many networks with one start."""
    copies = lambda v: jnp.broadcast_to(v, (count, *v.shape))
    return Bank(jax.tree.map(copies, network), count)


def start(
    key: PRNGKeyArray, architecture: Architecture, d: int, k: int, *, m: int
) -> Mlp:
    """A network of one hidden layer, or of a linear one without biases."""
    if architecture == "mlp":
        return mlp(key, (d, m, k))
    return mlp(key, (d, m, k), law="lecun", has_bias=False, activation="identity")


def sample(
    key: PRNGKeyArray, source: Source, n: int, n_test: int, **files: Any
) -> Dataset:
    """The law of blocks in 20 inputs, or images and their classes."""
    if source == "moments":
        return moment_classes(key, n=n, n_test=n_test)
    return images(key, n=n, n_test=n_test, source=source, **files)


def balanced_rows(data: Dataset, rows: int) -> Float[Array, "k r d"]:
    """As many inputs of every class."""
    return by_class(data.x, data.y, rows)


def one_hot_rows(count: int, rows: int) -> Float[Array, "n k"]:
    """Targets of rows that are sorted by class."""
    label = jnp.repeat(jnp.arange(count), rows)
    return jax.nn.one_hot(label, count, dtype=jnp.float64)


def with_clones(key: PRNGKeyArray, data: Dataset, rows: int) -> Dataset:
    """`rows` of each class, and beside them the rows of the clones, class by class.

    The inputs are those of the real rows, of the clone with their means and one
    variance, of the Gaussian one, and of the one with their marginals, side by side.
    """
    real = balanced_rows(data, rows)
    keys = jax.random.split(key, (len(_CLONES), len(real)))
    made = [jax.vmap(f)(k, real) for f, k in zip(_CLONES, keys, strict=True)]
    flat = [v.reshape(-1, v.shape[-1]) for v in (real, *made)]
    y = jnp.tile(one_hot_rows(*real.shape[:2]), len(flat))
    x = jnp.concatenate(flat, axis=1)
    weight = jnp.ones(len(x), jnp.float64)
    features = jnp.zeros((0, x.shape[1]), jnp.float64)
    assert data.test is not None
    others = {"real": beside_itself(data.test, len(flat))}
    return Dataset(x, y, weight, y, features, others=others)


def beside_itself(data: Dataset, count: int) -> Dataset:
    """The same rows for so many networks of a `Bank`."""
    x, y = (jnp.tile(v, (1, count)) for v in (data.x, data.y))
    return Dataset(x, y, data.weight, y, jnp.zeros((0, x.shape[1]), jnp.float64))

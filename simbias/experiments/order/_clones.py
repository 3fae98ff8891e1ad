"""A training sample, its clones, and a network for each with one initialisation."""

import dataclasses
from typing import Literal, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import AbstractNetwork, Dataset, Real
from simbias.datasets import images, moment_classes
from simbias.errors import BadInput
from simbias.networks import Mlp, mlp
from simbias.numerics.clones import (
    by_class,
    gaussian_clone,
    isotropic_clone,
    marginal_clone,
)
from simbias.numerics.edits import quantile_normalised, shifted, transported
from simbias.numerics.factorisations import in_turn
from simbias.validation.sample import one_of
from simbias.validation.values import positive_integer

Source = Literal["moments", "digits", "mnist", "cifar10"]
Architecture = Literal["mlp", "linear"]
# What a network is trained on: the sample, and its clones.
TRAINED_ON = ("real", "mean", "covariance", "marginals")
_CLONES = (isotropic_clone, gaussian_clone, marginal_clone)
EDITS = {"shift": shifted, "quantiles": quantile_normalised, "transport": transported}
# Images that there are, and those of the smallest class.
_STORED = {
    "digits": (1200, 597),
    "mnist": (60_000, 10_000),
    "cifar10": (50_000, 10_000),
}
_LEAST = {"digits": (117, 55), "mnist": (5421, 892), "cifar10": (5000, 1000)}


class Bank(AbstractNetwork):
    """(x₁, …, x_g) ↦ (f₁(x₁), …, f_g(x_g)): networks of one shape, each on its inputs.

    Under a loss that sums over outputs each is trained as it would be alone, on the
    same rows of the same batches as the others.
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
    """`count` networks with the same weights."""
    copies = lambda v: jnp.broadcast_to(v, (count, *v.shape))
    return Bank(jax.tree.map(copies, network), count)


def make(
    key: PRNGKeyArray,
    *,
    source: Source = "moments",
    network: Architecture = "mlp",
    rows: int = 2000,
    rows_test: int = 500,
    m: int = 64,
    start: Real = 0.5,
    data_dir: str = "",
    verify: bool = True,
) -> tuple[Dataset, Bank]:
    """A training sample and its clones, a network for each, and real test samples.

    `others["real"]` are test rows of the real law.  For "moments" there are three more
    entries: the same rows, edited to resemble the next class, which is their target.

    Args:
        key: random key.
        source: "moments", four classes in 20 inputs (`moment_classes`), or images.
        network: "mlp", one hidden layer of ReLU, or "linear", without biases.
        rows: training rows of each class; more than there are inputs.
        rows_test: test rows of each class.
        m: width of the hidden layer.
        start: factor of the initial weights of Kaiming (of LeCun, if linear).
        data_dir: folder with the files of MNIST or CIFAR-10.
        verify: compare digests of the files with the published ones.

    Raises:
        ValueError: for a size, name or number out of range, or too few rows.
    """
    one_of("network", network, get_args(Architecture))
    one_of("source", source, get_args(Source))
    positive_integer("m", m)
    for name, size, limit in zip(
        ("rows", "rows_test"), (rows, rows_test), _LEAST.get(source, ()), strict=False
    ):
        positive_integer(name, size)
        if size > limit:
            raise BadInput(
                f"`{name}` must be at most {limit}, the images of the smallest class "
                f'of "{source}", got {size}.'
            )
    key_data, key_clones, key_network = jax.random.split(key, 3)
    if source == "moments":
        data = moment_classes(key_data, n=4 * rows, n_test=4 * rows_test)
    else:
        n, n_test = _STORED[source]
        data = images(
            key_data,
            n=n,
            n_test=n_test,
            source=source,
            data_dir=data_dir,
            verify=verify,
        )
    sizes = (data.x.shape[1], m, data.y.shape[1])
    if network == "mlp":
        one = mlp(key_network, sizes, scale=start)
    else:
        linear = {"law": "lecun", "has_bias": False, "activation": "identity"}
        one = mlp(key_network, sizes, scale=start, **linear)
    return with_clones(key_clones, data, rows, rows_test, source == "moments"), bank(
        one, len(TRAINED_ON)
    )


def with_clones(
    key: PRNGKeyArray, data: Dataset, rows: int, rows_test: int, is_edited: bool
) -> Dataset:
    """`rows` of each class, and the rows of the clones side by side, class by class.

    The inputs stand side by side: the real rows, the clone of means with one variance,
    the Gaussian clone, and the clone of marginals.
    """
    assert data.test is not None
    real, test = (
        by_class(part.x, part.y, size)
        for part, size in ((data, rows), (data.test, rows_test))
    )
    keys = jax.random.split(key, (len(_CLONES), len(real)))
    made = [in_turn(f, k, real) for f, k in zip(_CLONES, keys, strict=True)]
    again = lambda v: [v] * len(TRAINED_ON)
    others = {"real": _side_by_side(again(test), 0)}
    if is_edited:
        # The next class is the target, of what is edited and of the label.
        aim = jnp.roll(real, -1, axis=0)
        for name, edit in EDITS.items():
            edited = in_turn(edit, test, real, aim)
            others[name] = _side_by_side(again(edited), 1)
    sample = _side_by_side([real, *made], 0)
    return dataclasses.replace(sample, others=others)


def _side_by_side(parts: list[Float[Array, "k r d"]], shift: int) -> Dataset:
    """Inputs of the networks of a bank; labels are `shift` classes further."""
    count, rows, _ = parts[0].shape
    x = jnp.concatenate([v.reshape(count * rows, -1) for v in parts], axis=1)
    label = (jnp.repeat(jnp.arange(count), rows) + shift) % count
    y = jax.nn.one_hot(label, count, dtype=jnp.float64)
    y = jnp.tile(y, (1, len(parts)))
    features = jnp.zeros((0, x.shape[1]), jnp.float64)
    return Dataset(x, y, jnp.ones(len(x), jnp.float64), y, features)

"""What every flow does with a network: its loss, its gradient, NaN in it."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from simbias.core import Loss, Status
from simbias.introspection.trained_arrays import split_trained
from simbias.introspection.training import Keys, outputs_in_training, trained_on

# x "n d", y "n k", weight "n": the sample, or a mini-batch of it.
Sample = tuple[Float[Array, "n d"], Float[Array, "n k"], Float[Array, " n"]]


def loss_of(
    params: PyTree, rest: PyTree, loss: Loss, sample: Sample
) -> Float[Array, ""]:
    """L(θ), the loss of the network on the sample."""
    x, y, weight = sample
    return loss(jax.vmap(eqx.combine(params, rest))(x), y, weight)


def loss_in_training(
    params: PyTree,
    rest: PyTree,
    loss: Loss,
    sample: Sample,
    key: PRNGKeyArray | None,
) -> Float[Array, ""]:
    """L(θ) of a step: with dropout and batch statistics, if the network has them."""
    x, y, weight = sample
    network, keys = eqx.combine(params, rest), _keys(key, x)
    return loss(outputs_in_training(network, x, weight, keys)[0], y, weight)


def value_and_gradient(
    params: PyTree, rest: PyTree, loss: Loss, sample: Sample
) -> tuple[Float[Array, ""], PyTree]:
    """L(θ) and ∇L(θ): the network's own gradient if it has one, else by autodiff."""
    return value_gradient_and_rest(params, rest, loss, sample)[:2]


def value_gradient_and_rest(
    params: PyTree,
    rest: PyTree,
    loss: Loss,
    sample: Sample,
    key: PRNGKeyArray | None = None,
) -> tuple[Float[Array, ""], PyTree, PyTree]:
    """L(θ) and ∇L(θ) of a step, and the rest of the network with its buffers updated.

    Args:
        params: trained leaves.
        rest: all others.
        loss: a mean over the sample.
        sample: or a mini-batch.
        key: of what the network draws in this step; None if it draws nothing.
    """
    x, y, weight = sample
    value, gradient, network = trained_on(
        eqx.combine(params, rest), loss, x, y, weight, _keys(key, x)
    )
    return value, split_trained(gradient)[0], split_trained(network)[1]


def _keys(key: PRNGKeyArray | None, x: Float[Array, "n d"]) -> Keys:
    """A key for each row, which depends on its number alone and not on padding."""
    if key is None:
        return None
    return jax.vmap(jax.random.fold_in, (None, 0))(key, jnp.arange(x.shape[0]))


def precision(params: PyTree) -> jnp.dtype:
    """Type of the trained leaves."""
    return jnp.result_type(*jax.tree.leaves(params))


def is_finite(tree: PyTree) -> Bool[Array, ""]:
    """True if no inexact leaf holds a NaN or an infinity."""
    leaves = jax.tree.leaves(eqx.filter(tree, eqx.is_inexact_array))
    return jnp.all(jnp.stack([jnp.all(jnp.isfinite(leaf)) for leaf in leaves]))


def choose(condition: Bool[Array, ""], yes: PyTree, no: PyTree) -> PyTree:
    """Leaf by leaf, one tree or the other."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), yes, no)


def where_status(
    condition: Bool[Array, ""], status: Status, otherwise: Int[Array, ""]
) -> Int[Array, ""]:
    """A status if the condition holds."""
    return jnp.where(condition, jnp.int32(status), otherwise)

"""What every flow does with a network: split it, measure its loss, look for NaN."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from simbias.core import Loss, Status
from simbias.introspection.trained import split_trained

# x "n d", y "n k", weight "n": the sample, or a mini-batch of it.
Sample = tuple[Float[Array, "n d"], Float[Array, "n k"], Float[Array, " n"]]

# A step of fewer roundings of the time than this is no step.
ROUNDINGS = 10
# Within this many roundings before `until` a step is taken to be meant for it.
CLIP = 100


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
    """L(θ) of a step: with what the network draws from the key, if there is one."""
    if key is None:
        return loss_of(params, rest, loss, sample)
    x, y, weight = sample
    # Key i depends on i alone, not on how many rows of padding follow.
    keys = jax.vmap(jax.random.fold_in, (None, 0))(key, jnp.arange(x.shape[0]))
    output = eqx.combine(params, rest).in_training
    return loss(jax.vmap(output)(x, keys), y, weight)


def value_and_gradient(
    params: PyTree, rest: PyTree, loss: Loss, sample: Sample
) -> tuple[Float[Array, ""], PyTree]:
    """L(θ) and ∇L(θ): the network's own where it has one, else by autodiff."""
    by_hand = getattr(eqx.combine(params, rest), "value_and_gradient", None)
    if by_hand is None:
        return jax.value_and_grad(loss_of)(params, rest, loss, sample)
    value, gradient = by_hand(loss, *sample)
    return value, split_trained(gradient)[0]


def value_gradient_and_rest(
    params: PyTree,
    rest: PyTree,
    loss: Loss,
    sample: Sample,
    key: PRNGKeyArray | None = None,
) -> tuple[Float[Array, ""], PyTree, PyTree]:
    """L(θ), ∇L(θ), and what is not trained, moved on if the network does that.

    With a key they are those of what the network draws from it.
    """
    if key is not None:
        value_and_slope = jax.value_and_grad(loss_in_training)
        return *value_and_slope(params, rest, loss, sample, key), rest
    if not couples_rows(eqx.combine(params, rest)):
        return *value_and_gradient(params, rest, loss, sample), rest
    x, y, weight = sample

    def objective(params):
        outputs, network = eqx.combine(params, rest).on_sample(x, weight)
        return loss(outputs, y, weight), split_trained(network)[1]

    (value, rest), gradient = jax.value_and_grad(objective, has_aux=True)(params)
    return value, gradient, rest


def couples_rows(network: PyTree) -> bool:
    """True if an output in training depends on the other rows of the sample."""
    return getattr(network, "on_sample", None) is not None


def draws_in_training(network: PyTree) -> bool:
    """True if an output in training is random, as under dropout."""
    return getattr(network, "in_training", None) is not None


def precision(params: PyTree) -> jnp.dtype:
    """Type of the trained leaves."""
    return jnp.result_type(*jax.tree.leaves(params))


def clock() -> jnp.dtype:
    """Type of a time: the widest there is, so that t + h ≠ t for float32 weights."""
    return jnp.result_type(float)


def least_step(time: Float[Array, ""], until: Float[Array, ""]) -> Float[Array, ""]:
    """Steps from here that are shorter hardly move the clock beyond its rounding.

    It is the time reached that counts, or one unit of it at the start: how far beyond
    that a member has to go says nothing of how well it can.
    """
    reached = jnp.maximum(time, jnp.minimum(until, 1))
    return ROUNDINGS * jnp.finfo(time.dtype).eps * reached


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

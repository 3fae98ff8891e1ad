"""Initial laws of the fully connected network."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.networks.activations import ACTIVATIONS
from simbias.networks.dense.mlp import Mlp
from simbias.numerics.cut import cut, numbers
from simbias.validation.sample import one_of
from simbias.validation.values import positive_integers


def torch_default(
    key: PRNGKeyArray,
    *,
    d: int,
    m: int = 100,
    depth: int = 2,
    k: int = 1,
    activation: str = "relu",
) -> Mlp:
    """`depth` hidden layers of width m; every weight and bias ~ U(±1/√inputs).

    The law of torch.nn.Linear, `inputs` being those of the layer.

    Raises:
        ValueError: for a size that is no positive integer, or an unknown activation.
    """
    one_of("activation", activation, tuple(ACTIVATIONS))
    positive_integers(d=d, m=m, depth=depth, k=k)
    sizes = (d, *[m] * depth, k)
    shapes = [(b, a + 1) for a, b in zip(sizes, sizes[1:], strict=False)]
    u = jax.random.uniform(key, (numbers(shapes),), jnp.float64, minval=-1, maxval=1)
    pieces = zip(shapes, cut(u, shapes), strict=True)
    layers = [piece * (e - 1) ** -0.5 for (_, e), piece in pieces]
    weights = tuple(layer[:, :-1] for layer in layers)
    biases = tuple(layer[:, -1] for layer in layers)
    return Mlp(weights, biases, ACTIVATIONS[activation])


def softmax_pair(
    key: PRNGKeyArray,
    *,
    d: int,
    m: int = 100,
    depth: int = 2,
    activation: str = "relu",
) -> Mlp:
    """One logit that learns as the difference of two under softmax cross-entropy.

    Two logits a₁·h and a₀·h enter the loss through f = (a₁ − a₀)·h alone.  With
    ã = (a₁ − a₀)/√2 this is f = √2 ã·h, and gradient descent of rate η on (a₀, a₁)
    moves f exactly as gradient descent of rate η on ã does; a₀ + a₁ only decays.  So
    under `logistic` with labels ±1 this is the network of two logits, for descent,
    momentum and weight decay alike.  Adam, which is not invariant under rotations,
    moves ã by 1/√2 as much as it moves (a₁ − a₀)/√2.

    Both aᵢ have the law of `torch_default`.
    """
    pair = torch_default(key, d=d, m=m, depth=depth, k=2, activation=activation)
    weights = (*pair.weights[:-1], _halved(pair.weights[-1]))
    *rest, last = pair.biases
    assert last is not None
    biases = (*rest, _halved(last))
    return Mlp(weights, biases, pair.activation, factor=math.sqrt(2))


def _halved(pair: Float[Array, "2 ..."]) -> Float[Array, "1 ..."]:
    return (pair[1:] - pair[:1]) * 0.5**0.5

"""The fully connected network of any depth."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import AbstractNetwork, Real
from simbias.errors import BadInput
from simbias.network import Pattern, present_if
from simbias.networks.activations import (
    ACTIVATIONS,
    Activation,
    has_kink,
    identity,
    negative_slope,
)
from simbias.networks.dense.layer_weights import LayerLaw, Matrix, layer_weights
from simbias.numerics.cut import cut, numbers
from simbias.validation.sample import one_of
from simbias.validation.values import positive


class Mlp(AbstractNetwork):
    """f(x) = c (W_L h_{L−1} + b_L),  h_l = φ_l(W_l h_{l−1} + b_l),  h₀ = x.

    L − 1 hidden layers.  `biases` holds None for a layer without.  `activation` is one
    for all hidden layers, or a tuple of one for each.  `factor` is c, not trained; 1
    for a network as usual.  What `frozen` names is not trained: "weights", "biases", or
    of one layer "weights.0".
    """

    weights: tuple[Matrix, ...]
    biases: tuple[Float[Array, " _"] | None, ...]
    activation: Activation | tuple[Activation, ...] = eqx.field(
        static=True, default=jax.nn.relu
    )
    factor: float = eqx.field(static=True, default=1.0)
    frozen: tuple[str, ...] = eqx.field(static=True, default=())

    def __check_init__(self):
        if not self.weights or len(self.weights) != len(self.biases):
            raise BadInput(
                "`weights` and `biases` must hold one array per layer, got "
                f"{len(self.weights)} and {len(self.biases)}."
            )
        width = self.weights[0].shape[-1]
        for i, (w, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            if w.shape[1] != width or (b is not None and b.shape != w.shape[:1]):
                shape = None if b is None else b.shape
                raise BadInput(
                    f"layer {i} must have weights (outputs, {width}) and biases "
                    f"(outputs,), got {w.shape} and {shape}."
                )
            width = w.shape[0]
        if isinstance(self.activation, tuple):
            hidden = len(self.weights) - 1
            if len(self.activation) != hidden:
                raise BadInput(
                    f"`activation` must be one function, or one for each of the "
                    f"{hidden} hidden layers, got {len(self.activation)}."
                )

    @property
    def has_kinks(self) -> bool | None:
        """True if a layer is ReLU or leaky ReLU, None if an activation is unknown."""
        kinks = [has_kink(activation) for activation in self._activations()]
        return True if any(kinks) else None if None in kinks else False

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " k"]:
        """Output for one input."""
        return self.factor * _affine(
            self.weights[-1], self.biases[-1], self.features(x)
        )

    def features(self, x: Float[Array, " d"]) -> Float[Array, " p"]:
        """h_{L−1}, what the last layer acts on; x if there is no other."""
        return (x, *self.activations(x))[-1]

    def activations(self, x: Float[Array, " d"]) -> tuple[Float[Array, " _"], ...]:
        """h₁, …, h_{L−1} of one input."""
        out = []
        layers = zip(self.weights, self.biases, self._activations(), strict=False)
        for w, b, activation in layers:
            x = activation(_affine(w, b, x))
            out.append(x)
        return tuple(out)

    @property
    def kink_slopes(self) -> tuple[float, ...] | None:
        """Slope for z < 0 of each hidden layer with ReLU or leaky ReLU."""
        if self.has_kinks is None:
            return None
        slopes = [negative_slope(activation) for activation in self._activations()]
        return tuple(s for s in slopes if s is not None and s < 1)

    @present_if(lambda network: bool(network.kink_slopes))
    def gated(
        self, x: Float[Array, " d"], pattern: Pattern
    ) -> tuple[Float[Array, " k"], tuple[Float[Array, " _"], ...]]:
        """Output with these gates in the hidden layers, and their pre-activations."""
        gates, out = zip(*pattern, strict=True), []
        layers = zip(self.weights, self.biases, self._activations(), strict=False)
        for w, b, activation in layers:
            z = _affine(w, b, x)
            if has_kink(activation):
                scale, shift = next(gates)
                out.append(z)
                x = scale * z + shift
            else:
                x = activation(z)
        return self.factor * _affine(self.weights[-1], self.biases[-1], x), tuple(out)

    def _activations(self) -> tuple[Activation, ...]:
        if isinstance(self.activation, tuple):
            return self.activation
        return (self.activation,) * (len(self.weights) - 1)


def mlp(
    key: PRNGKeyArray,
    widths: tuple[int, ...],
    *,
    law: LayerLaw = "kaiming",
    scale: Real = 1.0,
    has_bias: bool = True,
    activation: str = "relu",
    linear: int = 0,
) -> Mlp:
    """A network with the initial law of a name, times `scale`; biases begin at 0.

    Under "torch" the biases have the law of the weights.

    Args:
        key: random key.
        widths: sizes of input, hidden layers and output.
        law: "kaiming", "glorot", "lecun", "torch", "orthogonal" or "balanced"; see
            `layer_weights`.
        scale: factor α of every weight.
        has_bias: False leaves out all biases.
        activation: of the hidden layers, by name.
        linear: number of hidden layers, from the last, that have none.

    Raises:
        ValueError: for a size, name or number out of range.
    """
    one_of("activation", activation, tuple(ACTIVATIONS))
    positive("scale", scale)
    hidden = max(len(widths) - 2, 0) if isinstance(widths, tuple) else 0
    if isinstance(linear, bool) or not isinstance(linear, int):
        raise BadInput(f"`linear` must be a number of layers, got {linear!r}.")
    if not 0 <= linear <= hidden:
        raise BadInput(
            f"`linear` must be from 0 to {hidden}, the hidden layers, got {linear}."
        )
    factor = jnp.asarray(scale, jnp.float64)
    weights = layer_weights(key, widths, law)
    if has_bias and law == "torch":
        biases = tuple(factor * b for b in _torch_biases(key, weights))
    elif has_bias:
        biases = tuple(jnp.zeros(w.shape[0], jnp.float64) for w in weights)
    else:
        biases = (None,) * len(weights)
    functions = ACTIVATIONS[activation]
    if linear:
        functions = (functions,) * (hidden - linear) + (identity,) * linear
    return Mlp(tuple(factor * w for w in weights), biases, functions)


def _torch_biases(
    key: PRNGKeyArray, weights: tuple[Matrix, ...]
) -> list[Float[Array, " _"]]:
    """U(±1/√q) for every neuron of q inputs."""
    shapes = [(w.shape[0],) for w in weights]
    # A key of its own: that of the weights is used up.
    draws = jax.random.uniform(
        jax.random.fold_in(key, 1), (numbers(shapes),), jnp.float64, minval=-1, maxval=1
    )
    pieces = zip(weights, cut(draws, shapes), strict=True)
    return [piece * w.shape[1] ** -0.5 for w, piece in pieces]


def _affine(
    w: Matrix, b: Float[Array, " p"] | None, x: Float[Array, " q"]
) -> Float[Array, " p"]:
    return w @ x if b is None else w @ x + b

"""Networks of the published laws: random, and by hand."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from simbias.networks import Mlp
from simbias.validation.values import positive_integer, positive_integers


def published_start(
    key: PRNGKeyArray, widths: tuple[int, ...], bias: float = 0.0
) -> Mlp:
    """A ReLU network with truncated normal weights of variance 1/inputs.

    The law is that of z given |z| < 2, not rescaled: tensorflow's truncated_normal.

    Args:
        key: random key.
        widths: sizes of input, hidden layers and output.
        bias: bias of every neuron, also of the output.

    Raises:
        ValueError: for widths that are not positive integers.
    """
    for size in widths:
        positive_integer("widths", size)
    shapes = [(p, q) for q, p in zip(widths, widths[1:], strict=False)]
    # One draw for all layers: a program compiles as many draws as there are.
    size = sum(p * q for p, q in shapes)
    z = jax.random.truncated_normal(key, -2.0, 2.0, (size,), jnp.float64)
    weights, start = [], 0
    for p, q in shapes:
        weights.append(z[start : start + p * q].reshape(p, q) * q**-0.5)
        start += p * q
    biases = tuple(jnp.full(p, bias, jnp.float64) for p, _ in shapes)
    return Mlp(tuple(weights), biases)


# An affine function of the layer before: its weights, then its constant.
Affine = Float[np.ndarray, " _"]


def cantor_by_hand(d: int, levels: int) -> Mlp:
    """Positive inside K_levels, negative in the gaps, by the first coordinate alone.

    On [−1, 1] the outer thirds are unfolded repeatedly: u₀ = x₁ and
    u_j = 3|u_{j−1}| − 2.  A gap of level j is |u_{j−1}| < ⅓.  The output is

        m_n = min_{j ≤ n} (|u_{j−1}| − ⅓)

    with at most 6 neurons in each of n hidden layers (one layer for n = 2).  The first
    layer does two levels; a minimum is taken one layer after its arguments.

    Args:
        d: number of coordinates.
        levels: n.

    Raises:
        ValueError: for a number that is not a positive integer.
    """
    positive_integers(d=d, levels=levels)
    x = np.eye(d + 1)[0]
    one = np.eye(d + 1)[-1]
    if levels == 1:
        layers, a = _grown([], [x, -x])
        return _network(layers, a[0] + a[1] - a[-1] / 3)
    marks = [x, -x, x - one / 2, -x - one / 2, x - 2 / 3 * one, -x - 2 / 3 * one]
    layers, a = _grown([], marks)
    # Of |x|, (|x| − ½)₊ and (|x| − ⅔)₊, for |x| ≤ 1: the second level unfolded.
    size, half, two_thirds, one = a[0] + a[1], a[2] + a[3], a[4] + a[5], a[-1]
    least = size - one / 3 - 4 * half + 6 * two_thirds
    u = 4 * one - 9 * size + 18 * two_thirds
    late = None
    for _ in range(2, levels):
        marks = [u, -u, least, -least]
        layers, a = _grown(layers, marks if late is None else [*marks, least - late])
        size, least, one = a[0] + a[1], a[2] - a[3], a[-1]
        least = least if late is None else least - a[4]
        late, u = size - one / 3, 3 * size - 2 * one
    if late is not None:
        layers, a = _grown(layers, [least, -least, least - late])
        least = a[0] - a[1] - a[2]
    return _network(layers, least)


def _grown(
    layers: list[np.ndarray], marks: list[Affine]
) -> tuple[list[np.ndarray], Float[np.ndarray, "p p"]]:
    """The layers with one more layer of these ReLUs; its outputs as functions."""
    return [*layers, np.stack(marks)], np.eye(len(marks) + 1)


def _network(layers: list[np.ndarray], output: Affine) -> Mlp:
    whole = [jnp.asarray(w, jnp.float64) for w in (*layers, output[None, :])]
    return Mlp(tuple(w[:, :-1] for w in whole), tuple(w[:, -1] for w in whole))

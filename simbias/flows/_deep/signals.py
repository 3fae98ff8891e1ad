"""∂L/∂h at single entries, and units whose inputs are all 0."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._deep.gated_sample import GatedSample
from simbias.numerics.conditionals import once


def idle_entries(
    sample: GatedSample, theta: Float[Array, " p"], scale: Float[Array, "n u"]
) -> Bool[Array, "n u"]:
    """Entries with z = 0 whatever the weights are, because all of their inputs are 0.

    Their z and the derivative of z along a direction without meaning are exactly 0.
    """
    _, z = sample.outputs(theta, scale)
    is_zero = z == 0

    def along(is_zero):
        some = jax.random.normal(jax.random.key(0), theta.shape, theta.dtype)
        run = lambda theta: sample.outputs(theta, scale)[1]
        return is_zero & (jax.jvp(run, (theta,), (some,))[1] == 0)

    return once(jnp.any(is_zero), along, is_zero)


def awake(
    sample: GatedSample,
    theta: Float[Array, " p"],
    x: Float[Array, " d"],
    scale: Float[Array, " u"],
    is_idle: Bool[Array, " u"],
    source: Float[Array, " u"],
) -> tuple[Float[Array, " u"], Bool[Array, " u"]]:
    """Gates of idle units of one sample once h at some units is `source` times ε > 0.

    Layer by layer: the side of a unit that wakes is the sign of its input.  The second
    result are the units that sleep on.
    """
    zero = jnp.zeros_like(source)

    def body(layer, carry):
        scale, is_idle = carry
        run = lambda shift: sample.one(theta, x, scale, shift)[1]
        _, slope = jax.jvp(run, (zero,), (source,))
        wakes = is_idle & (slope != 0) & (sample.layer == layer.astype(jnp.int32))
        scale = jnp.where(wakes, jnp.where(slope > 0, 1, sample.slope), scale)
        return scale, is_idle & ~wakes

    return jax.lax.fori_loop(0, len(sample.shapes), body, (scale, is_idle))


def awake_by(
    sample: GatedSample,
    theta: Float[Array, " p"],
    scale: Float[Array, "n u"],
    is_idle: Bool[Array, "n u"],
    source: Float[Array, "n u"],
) -> tuple[Float[Array, "n u"], Bool[Array, "n u"]]:
    """`awake` for every sample."""
    wake = lambda x, scale, idle, source: awake(sample, theta, x, scale, idle, source)
    change = lambda carry: jax.vmap(wake)(sample.x, carry[0], carry[1], source)
    return once(jnp.any(is_idle), change, (scale, is_idle))


def own_signals(
    sample: GatedSample,
    theta: Float[Array, " p"],
    scale: Float[Array, "n u"],
    is_idle: Bool[Array, "n u"],
    out: Float[Array, "n k"],
    held: Float[Array, "n u"],
    entry: Int[Array, " s"],
) -> Float[Array, " s"]:
    """Signals ∂L/∂h of the entries in slots, what is idle awake through each of them.

    Units downstream whose only live input is a pinned entry matter while it is above 0,
    with the sides that they have then.  `held` are the multipliers μ of the pins.
    """
    units = scale.shape[1]
    pull = jax.grad(sample.loss)(out, sample.y, sample.weight)
    place = jnp.maximum(entry, 0)
    i, u = place // units, place % units
    source = jax.nn.one_hot(u, units, dtype=theta.dtype)
    wake = lambda x, s, idle, source: awake(sample, theta, x, s, idle, source)[0]
    own = scale[i]
    change = lambda own: jax.vmap(wake)(sample.x[i], own, is_idle[i], source)
    own = once(jnp.any(is_idle), change, own)

    def signal(x, own, pull, held, u):
        run = lambda shift: sample.one(theta, x, own, shift)
        _, back = jax.vjp(run, jnp.zeros_like(own))
        return back((pull, held))[0][u]

    return jax.vmap(signal)(sample.x[i], own, pull[i], held[i], u)

"""Kinks are found however they are written, and what is smooth passes."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from toy import KEY, sample

from simbias import losses
from simbias.core import AbstractNetwork
from simbias.flows import GradientFlow
from simbias.introspection.jumps import Value, through
from simbias.introspection.kinks import kink, kink_of_loss
from simbias.losses import half_mse

X = jnp.ones(3)


class Own(eqx.Module):
    w: jax.Array
    a: jax.Array
    activation: object = eqx.field(static=True)

    def __call__(self, x):
        return self.a @ jnp.atleast_1d(self.activation(self.w @ x))


def own(activation):
    features = jax.eval_shape(lambda h: jnp.atleast_1d(activation(h)), jnp.ones(6))
    draws = jax.random.normal(KEY, (6, 3))
    return Own(draws, jnp.ones((1, features.shape[0])), activation)


@jax.custom_jvp
def one_sided(h):
    return jnp.maximum(h, 0)


one_sided.defjvps(lambda t, _, h: t)


@jax.custom_vjp
def straight_through(h):
    return jnp.abs(h)


straight_through.defvjp(lambda h: (jnp.abs(h), None), lambda _, g: (g,))


@jax.custom_jvp
def twice(h):
    return 2 * jnp.tanh(h)


twice.defjvps(lambda t, _, h: 2 * t * (1 - jnp.tanh(h) ** 2))


def window(h, reduction, first):
    return jax.lax.reduce_window(h, first, reduction, (2,), (2,), "VALID")


KINKED = {
    "max pooling": lambda h: eqx.nn.MaxPool1d(2, 2)(h[None])[0],
    "adaptive pooling": lambda h: eqx.nn.AdaptiveMaxPool1d(2)(h[None])[0],
    "window of max": lambda h: window(h, jax.lax.max, -jnp.inf),
    "window of min": lambda h: window(h, jax.lax.min, jnp.inf),
    "running max": jax.lax.cummax,
    "sort": jnp.sort,
    "median": jnp.median,
    "top k": lambda h: jax.lax.top_k(h, 2)[0],
    "argmax gather": lambda h: h[jnp.argmax(h)],
    "segment max": lambda h: jax.ops.segment_max(h, jnp.arange(6) // 3, 2),
    "h² above 0, compared with 1": lambda h: jnp.where(
        jnp.maximum(h**2, 0) > 1, h, 2 * h
    ),
    "half of h + |h|": lambda h: (h + jnp.sqrt(h**2)) / 2,
    "norm over one": lambda h: jnp.linalg.norm(h[:, None], axis=1),
    "quotient by a norm": lambda h: h / jnp.linalg.norm(h),
    "rsqrt": lambda h: h**2 * jax.lax.rsqrt(h**2),
    "fourth root": lambda h: (h**4) ** 0.25,
    "square root by logarithms": lambda h: jnp.exp(jnp.log(h**2) / 2),
    "cube root": jnp.cbrt,
    "angle": lambda h: jnp.arctan2(h, jnp.zeros_like(h)),
    "arccos": lambda h: jnp.arccos(jnp.cos(h)),
    "arcsin": lambda h: jnp.arcsin(jnp.sin(h)),
    "tan": jnp.tan,
    "reciprocal": lambda h: 1 / h,
    "eigenvalues": lambda h: jnp.linalg.eigh(jnp.outer(h, h))[0],
    "singular values": lambda h: jnp.linalg.svd(jnp.outer(h, h))[1],
    "bits": lambda h: jax.lax.bitcast_convert_type(jnp.abs(h), h.dtype),
    "callback": lambda h: jax.pure_callback(np.tanh, h, h),
    "derivative by hand over max": one_sided,
    "derivative by hand over abs": straight_through,
}
SMOOTH = {
    "logsumexp": jax.nn.logsumexp,
    "log softmax": jax.nn.log_softmax,
    "log sigmoid": jax.nn.log_sigmoid,
    "mish": jax.nn.mish,
    "squareplus": jax.nn.squareplus,
    "softsign by a root": lambda h: h / jnp.sqrt(1 + h * h),
    "cosine similarity with ε": lambda h: h / jnp.sqrt(jnp.sum(h**2) + 1e-6),
    "root of softplus": lambda h: jax.nn.softplus(h) ** 0.5,
    "root of softmax": lambda h: jax.nn.softmax(h) ** 0.5,
    "a power of 1 + h²": lambda h: (1 + h**2) ** 0.3,
    "|h|³ as a power": lambda h: (h**2) ** 1.5,
    "cube": lambda h: jnp.power(h, 3),
    "float exponent": lambda h: jnp.power(h, 2.0),
    "inverse of 1 + eʰ": lambda h: 1 / (1 + jnp.exp(-h)),
    "angle in a half plane": lambda h: jnp.arctan2(h, 1.0),
    "h ln(1 + h²)": lambda h: h * jnp.log(1 + h**2),
    "arcsin of tanh": lambda h: jnp.arcsin(jnp.tanh(h)),
    "layer norm": eqx.nn.LayerNorm(6),
    "group norm": lambda h: eqx.nn.GroupNorm(2, 6)(h),
    "RMS norm": eqx.nn.RMSNorm(6),
    "average pooling": lambda h: eqx.nn.AvgPool1d(2, 2)(h[None])[0],
    "derivative by hand that is right": twice,
}


@pytest.mark.parametrize("name", KINKED)
def test_a_kink_is_found_however_it_is_written(name):
    network = own(KINKED[name])
    assert kink(network, X)
    with pytest.raises(ValueError, match=r"GradientFlow needs .*has_kinks = False"):
        GradientFlow().init(network, sample(), half_mse, KEY)


@pytest.mark.filterwarnings("ignore:A JAX array is being set as static")
@pytest.mark.parametrize("name", SMOOTH)
def test_what_stays_away_from_its_singular_points_is_smooth(name):
    assert kink(own(SMOOTH[name]), X) is None


def test_whoever_hides_a_kink_may_say_that_there_is_none():
    class Stated(Own):
        has_kinks: bool = eqx.field(static=True, default=False)

    network = own(one_sided)
    stated = Stated(network.w, network.a, one_sided)
    assert kink(stated, X) is None


def test_the_bounds_are_of_the_place_where_they_are_used():
    """That v ≥ 0 outside a loop says nothing of what a loop makes of it."""

    class Loop(AbstractNetwork):
        w: jax.Array
        step: float = eqx.field(static=True)

        def __call__(self, x):
            v = 1 + jnp.sum((self.w @ x) ** 2)
            v = jax.lax.fori_loop(0, 3, lambda _, v: v + self.step, v)
            return jnp.sqrt(v)[None]

    assert kink(Loop(jnp.ones((2, 3)), -1.0), X)


@pytest.mark.slow
def test_values_that_are_put_side_by_side_stay_smooth():
    assert kink(own(lambda v: jnp.sum(jnp.stack([jnp.tanh(v), v]), 0)), X) is None
    rest = lambda v: jax.nn.logsumexp(jnp.stack([v, 2 * v]), axis=0)
    assert kink(own(rest), X) is None


def test_a_loss_with_kinks_is_refused_by_the_smooth_flow():
    absolute = lambda f, y, weight: jnp.mean(jnp.abs(f - y))
    for loss in (losses.hinge, absolute):
        with pytest.raises(ValueError, match=r"`loss`.*may jump.*descent.*smooth"):
            GradientFlow().init(own(jnp.tanh), sample(), loss, KEY)
        flow = GradientFlow(allow_kinks=True)
        assert flow.init(own(jnp.tanh), sample(), loss, KEY).status == 0


def test_every_other_loss_is_known_to_be_smooth():
    weight = jnp.ones(4)
    smooth = ["half_mse", "mse", "logistic", "log_logistic", "exponential"]
    smooth += ["logistic_or_half_mse", "cross_entropy", "log_cross_entropy"]
    for name in smooth:
        y = jnp.ones((4, 1 if name == "log_logistic" else 3))
        assert kink_of_loss(getattr(losses, name), y, weight) is None


@pytest.mark.slow
def test_bounds_hold_for_random_arguments():
    """What is said of a value is true of it, for random expressions."""
    grow = [lambda v: v * v, jnp.exp, jnp.tanh, lambda v: 1 + v, lambda v: -v, jnp.cos]
    grow += [lambda v: v - 2, lambda v: jnp.sqrt(jnp.abs(v)), lambda v: 3 * v]
    grow += [jax.nn.sigmoid, lambda v: jnp.maximum(v, 0.5), lambda v: v**3]
    grow += [lambda v: jnp.sum(v) * jnp.ones(5), lambda v: 1 / (1 + v * v), jnp.cumsum]
    draw = np.random.default_rng(0)
    for _ in range(200):
        steps = [grow[i] for i in draw.integers(0, len(grow), 4)]

        def expression(v, steps=steps):
            for step in steps:
                v = step(v)
            return v

        (known,) = through(jax.make_jaxpr(expression)(jnp.zeros(5)), [Value(True)])
        x = jnp.asarray(draw.normal(size=(50, 5)) * 3)
        values = np.asarray(jax.vmap(expression)(x))
        values = values[np.isfinite(values)]
        slack = 1e-9 * (1 + np.abs(values))
        assert (known.bounds.low <= values + slack).all(), known
        assert (values - slack <= known.bounds.high).all(), known

"""How alike the activations of two networks are, by layer, and what that must be."""

import dataclasses
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import AbstractMeasure, Dataset
from simbias.experiments.layers._remembering import EPOCHS
from simbias.introspection.outputs import second_sample
from simbias.numerics.similarity import cka, matched_correlation, svcca

HIDDEN = 3
LAYERS = np.arange(1, HIDDEN + 1)
INDICES = np.array(["SVCCA", "CKA"])
OTHERS = np.array(["same task", "another task"])
# Independent normal activations: draws, rows, columns of the one side and the other.
_DRAWS, _N, _P, _Q = 8, 400, 50, 100


def with_normal(data: Dataset, key: PRNGKeyArray) -> Dataset:
    """The sample, and beside it normal numbers, in rows as long as its own."""
    d = data.x.shape[1]
    rows = -(-_DRAWS * _N * (_P + _Q) // d)
    x, y = jax.random.normal(key, (rows, d), jnp.float64), jnp.zeros_like(data.y[:1])
    y, one = jnp.repeat(y, rows, axis=0), jnp.ones(rows)
    normal = {"normal": Dataset(x, y, one, y, data.features)}
    return dataclasses.replace(data, others=normal)


def hidden(network: Any, data: Dataset) -> Float[Array, "layer n m"]:
    """Activations of all hidden layers, in double precision where it is on."""
    double = lambda v: v.astype(jnp.result_type(float))
    network = jax.tree.map(double, network)
    layers = jax.vmap(lambda x: jnp.stack(network.activations(x)))(double(data.x))
    return jnp.moveaxis(layers, 1, 0)


class EpochSimilarity(AbstractMeasure):
    """SVCCA and CKA of every hidden layer at epoch τ with itself now, on the test set.

    NaN for an epoch to come.
    """

    dims: ClassVar[tuple[str, ...]] = ("index", "layer", "epoch")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "2 layer epoch"]:
        """Similarities in [0, 1]; the first of the networks remembers."""
        test, one = second_sample(data), network.networks[0]
        weight = test.weight.astype(jnp.result_type(float))
        now = hidden(one.network, test)

        def of_layer(pair: tuple[Array, Array]) -> Float[Array, "2"]:
            then, now = pair
            return jnp.stack([svcca(then, now, weight), cka(then, now, weight)])

        def at(then: Any) -> Float[Array, "layer 2"]:
            return jax.lax.map(of_layer, (hidden(then, test), now))

        return jnp.moveaxis(jax.lax.map(at, one.then()), 0, 2).swapaxes(0, 1)

    def coords(self) -> dict[str, np.ndarray]:
        """Indices, hidden layers from 1, epochs."""
        return {"index": INDICES, "layer": LAYERS, "epoch": np.array(EPOCHS)}


class MatchedCorrelation(AbstractMeasure):
    """Mean correlation of the first network's neurons with their partners, by layer.

    Of the network of the same task, and of that of another; on the test set.
    """

    dims: ClassVar[tuple[str, ...]] = ("other", "layer")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "2 layer"]:
        """Correlations in [−1, 1]."""
        test = second_sample(data)
        weight = test.weight.astype(jnp.result_type(float))
        one, *others = network.networks
        mine = hidden(one.network, test)
        pairs = [(mine, hidden(other, test)) for other in others]
        both = jax.tree.map(lambda *v: jnp.concatenate(v), *pairs)
        matched = lambda pair: matched_correlation(pair[0], pair[1], weight)
        found = jax.lax.map(matched, both)
        return found.reshape(len(others), -1)

    def coords(self) -> dict[str, np.ndarray]:
        """The two tasks, hidden layers from 1."""
        return {"other": OTHERS, "layer": LAYERS}


class Identities(AbstractMeasure):
    """How far the similarities are from what they must be; 0 but for rounding.

    Of the last hidden layer then (at the start) and now.  The last entry is no error:
    mean ρ² of independent normal columns, over its expectation q/(n − 1).
    """

    dims: ClassVar[tuple[str, ...]] = ("identity",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " identity"]:
        """Errors, and a ratio."""
        test, one = second_sample(data), network.networks[0]
        weight = test.weight.astype(jnp.result_type(float))
        start = jax.tree.map(lambda v: v[0], one.then())
        then, now = hidden(start, test)[-1], hidden(one.network, test)[-1]
        m = now.shape[1]
        turn, _ = jnp.linalg.qr(jax.random.normal(jax.random.key(1), (m, m), now.dtype))
        pairs = ((then, now), (3 * then @ turn, now), (now, now))
        stacked = tuple(map(jnp.stack, zip(*pairs, strict=True)))
        errors = []
        for index in (svcca, cka):
            plain, turned, same = jax.lax.map(
                lambda pair, index=index: index(pair[0], pair[1], weight), stacked
            )
            errors += [1 - same, turned - plain]
        mapped = now + now @ turn / 2
        errors.append(1 - svcca(mapped, now, weight, share=1.0))
        errors.append(1 - matched_correlation(now[:, ::-1], now, weight) / _alive(now))
        normal = data.others["normal"].x.astype(now.dtype).ravel()
        draws = normal[: _DRAWS * _N * (_P + _Q)].reshape(_DRAWS, _N, _P + _Q)

        def of_draw(x: Float[Array, "n pq"]) -> Float[Array, ""]:
            sides, one = (x[:, :_P], x[:, _P:]), jnp.ones_like(x[:, 0])
            return svcca(*sides, one, share=1.0, is_squared=True)

        rho = jnp.mean(jax.lax.map(of_draw, draws))
        return jnp.stack([*map(jnp.abs, errors), rho * (_N - 1) / _Q])

    def coords(self) -> dict[str, np.ndarray]:
        """What each is."""
        names = [f"{k}, {of}" for k in INDICES for of in ("of itself", "turned")]
        names += ["CCA, mapped", "matching, permuted", "chance"]
        return {"identity": np.array(names)}


def _alive(h: Float[Array, "n m"]) -> Float[Array, ""]:
    """Share of the neurons that vary."""
    return jnp.mean(jnp.ptp(h, axis=0) > 0, dtype=h.dtype)

"""Several networks as one, trained side by side, each on its own batches."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractNetwork, Buffer, Dataset, Index
from simbias.errors import BadInput
from simbias.experiments.layers._digits import CLASSES
from simbias.figures import Law
from simbias.flows import Descent
from simbias.introspection.training import outputs_in_training
from simbias.losses import cross_entropy
from simbias.network import hook
from simbias.wrapper import refuse

# Names of the ways to order the neurons of the second network.
NAMES = {
    "none": "as they are",
    "weights": "matched by weights",
    "activations": "matched by activations",
}
# A barrier of the error above which Frankle et al. call two networks unstable.
UNSTABLE = Law(0.02, "2 %: above it two networks are unstable", ":")
Prediction = Float[Array, "n k"]


class SideBySide(AbstractNetwork):
    """x ↦ (f₁(x), …, f_g(x)): one network for the run, so measures can use all of them.

    In training every network has its own samples: of a mini-batch of g·q samples the
    first network uses the first q, and so on.  Before step `fork` all of them use the
    first q.  Outputs on the samples of another network are 0.
    """

    networks: tuple[Any, ...]
    step: Buffer
    fork: Buffer

    def __check_init__(self):
        refuse(self, ("in_training", "value_and_gradient"), *self.networks)

    @property
    def has_kinks(self) -> bool | None:
        """As in the first network; all have the same shape."""
        return hook(self.networks[0], "has_kinks")

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " k"]:
        """Outputs of all networks for one input."""
        return jnp.concatenate([network(x) for network in self.networks])

    def on_sample(
        self, x: Float[Array, "n d"], weight: Float[Array, " n"]
    ) -> tuple[Prediction, "SideBySide"]:
        """Outputs on the samples of each, and the networks with new buffers.

        Raises:
            ValueError: for a mini-batch that cannot be shared equally.
        """
        count = len(self.networks)
        if x.shape[0] % count:
            raise BadInput(
                f"`batch` must be a multiple of {count}, the networks that are trained "
                f"side by side, got {x.shape[0]}."
            )
        x, weight = (v.reshape(count, -1, *v.shape[1:]) for v in (x, weight))
        is_forked = self.step.value >= self.fork.value
        blocks, moved = [], []
        for i, network in enumerate(self.networks):
            share = jnp.where(is_forked, i, 0)
            output, after = outputs_in_training(network, x[share], weight[share])
            mask = jnp.arange(count) == share
            block = jnp.where(mask[:, None, None], output[None], 0)
            blocks.append(block.reshape(-1, output.shape[1]))
            moved.append(after)
        step = Buffer(self.step.value + 1)
        return jnp.concatenate(blocks, 1), SideBySide(tuple(moved), step, self.fork)


def side_by_side(*networks: Any, fork: Index = 0) -> SideBySide:
    """Networks at initialisation."""
    fork = jnp.asarray(fork, jnp.int32)
    return SideBySide(networks, Buffer(jnp.int32(0)), Buffer(fork))


def descent_of_each(count: int, rate: float, batch: int) -> Descent:
    """Descent with momentum in which each of `count` networks has its own batches."""
    return Descent(
        rate=rate, batch=count * batch, optimiser="momentum", sampling="replacement"
    )


def with_targets(data: Dataset, *others: tuple[Array, Array]) -> Dataset:
    """The data with targets for more networks, (train, test) for each.

    `mean` is the same as `y`.
    """
    test = data.test
    assert test is not None
    put = lambda own, more: jnp.concatenate([own, *more], axis=1)
    y = put(data.y, [train for train, _ in others])
    y_test = put(test.y, [test for _, test in others])
    test = Dataset(test.x, y_test, test.weight, y_test, test.features)
    return Dataset(data.x, y, data.weight, y, data.features, test, data.others)


def shared_cross_entropy(
    prediction: Prediction, target: Prediction, weight: Float[Array, " n"]
) -> Float[Array, ""]:
    """Sum over the networks of their cross-entropies, of ten classes each.

    In training each sample is for one of the g networks.  So g times the mean over all
    samples is the sum of the g means, and every network has the given learning rate.
    """
    count = prediction.shape[1] // CLASSES
    split = lambda v: jnp.split(v, count, axis=1)
    pairs = zip(split(prediction), split(target), strict=True)
    each = jnp.stack([cross_entropy(f, y, weight) for f, y in pairs])
    return count * jnp.sum(each)

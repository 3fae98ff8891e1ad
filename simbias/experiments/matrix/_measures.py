"""What is recorded of every member, whatever its task."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset, Measure
from simbias.experiments.matrix._loss import by_target
from simbias.experiments.matrix._task import Followed
from simbias.introspection.tangents import tangent_rates
from simbias.measures import (
    ExplainedInformation,
    ProjectedScores,
    RandomisedScores,
    Sensitivity,
    TrainAccuracy,
    TrainLoss,
    WeightRank,
)
from simbias.numerics.matrix_rank import stable_rank


class Learned(AbstractMeasure):
    """Σ f v_j / Σ v_j² over the probe: 1 for a part v_j of the target that is learned.

    With the waves of a target on an even grid their amplitudes in phase with it; with
    principal components what `PrincipalColumns` is, over that of the target.
    """

    dims: ClassVar[tuple[str, ...]] = ("part",)

    def __call__(self, network: Any, data: Followed) -> Float[Array, " p"]:
        """NaN for a part that the task does not have."""
        f = jax.vmap(network)(data.probe)[:, 0]
        size = jnp.sum(data.probe_parts**2, axis=0)
        seen = f @ data.probe_parts / jnp.where(size > 0, size, 1)
        return jnp.where(size > 0, seen, jnp.nan)


class PartRates(AbstractMeasure):
    """vᵀKv/(n vᵀv) for every part v of the target, K the tangent kernel of now.

    As `measures.KernelRates`, of functions that the sample brings.
    """

    dims: ClassVar[tuple[str, ...]] = ("part",)

    def __call__(self, network: Any, data: Followed) -> Float[Array, " p"]:
        """NaN for a part that the task does not have."""
        return tangent_rates(network, data.x, data.parts)


class Separation(AbstractMeasure):
    """E[y f]/√E f², of the test rows, their clones of means, and of covariances.

    From −1 to 1; 0 while f is 0.
    """

    dims: ClassVar[tuple[str, ...]] = ("rows",)

    def coords(self) -> dict[str, np.ndarray]:
        """Whose rows."""
        return {"rows": np.array(["real", "means", "covariances"])}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "3"]:
        """A network of one output, on labels ±1."""
        assert data.test is not None
        x = [data.test.x, data.others["means"].x, data.others["covariances"].x]

        def of(x: Array) -> Array:
            f = jax.vmap(network)(x)[:, 0]
            size = jnp.sqrt(jnp.mean(f**2))
            along = jnp.mean(f * data.others["means"].y[:, 0])
            return along / jnp.where(size > 0, size, 1)

        return jax.lax.map(of, jnp.stack(x))


class LayerRanks(AbstractMeasure):
    """−Σ p ln p of K = ΦΦᵀ/Σ σ(K) for every hidden layer, as `measures.FeatureRank`.

    From the eigenvalues of ΦᵀΦ, which are those of K that are not 0.
    """

    dims: ClassVar[tuple[str, ...]] = ("layer",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " layer"]:
        """The first hidden layer first."""
        layers = jax.vmap(network.activations)(data.x)

        def entropy(features: Array) -> Array:
            values = jnp.linalg.eigvalsh(features.T @ features)
            values = jnp.maximum(values, 0)
            return jnp.sum(jax.scipy.special.entr(values / jnp.sum(values)))

        return jnp.stack([entropy(phi) for phi in layers])


class FirstAlignment(AbstractMeasure):
    """‖W₁D‖²/(‖W₁‖²‖D‖²), D = (1/n) Σ yᵢxᵢ: the share of the first layer along D.

    D is ∂L/∂w at the start for a neuron that is active everywhere, up to its sign: the
    direction of early alignment.  1/d on average for a layer of independent entries.
    """

    dims: ClassVar[tuple[str, ...]] = ()

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """From 0 to 1."""
        w, along = network.weights[0], data.x.T @ (data.weight * data.y[:, 0])
        total = jnp.sum(w**2) * jnp.sum(along**2)
        share = jnp.sum((w @ along) ** 2) / jnp.where(total > 0, total, 1)
        return jnp.where(total > 0, share, jnp.nan)


class TopRank(AbstractMeasure):
    """‖W‖²_F/‖W‖²_op of the matrix before the last, as `measures.StableRank`."""

    dims: ClassVar[tuple[str, ...]] = ()

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """From 1 to the rank."""
        del data
        return stable_rank(network.weights[-2])


class RandomisedAuc(AbstractMeasure):
    """The AUC of `measures.RandomisedScores`, S the first coordinate."""

    dims: ClassVar[tuple[str, ...]] = ("randomised",)

    def coords(self) -> dict[str, np.ndarray]:
        """What is randomised."""
        return {"randomised": RandomisedScores(simple=1).coords()["randomised"]}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "3"]:
        """Nothing, the simple coordinate, the others."""
        return RandomisedScores(simple=1)(network, data)[:, 0]


MEASURES: dict[str, Measure] = {
    "loss": TrainLoss(by_target),
    "train_accuracy": TrainAccuracy(),
    "learned": Learned(),
    "rates": PartRates(),
    "projected": ProjectedScores(layer="weights.0", rank=2),
    "separation": Separation(),
    "top_rank": TopRank(),
    "layer_ranks": LayerRanks(),
    "sensitivity": Sensitivity(),
    "alignment": FirstAlignment(),
    "first_rank": WeightRank(layer="weights.0", is_squared=True),
    "auc": RandomisedAuc(),
    "information": ExplainedInformation(("linear",), shuffles=5),
}

"""What two networks are right about together, and which errors they share."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import second_sample


class PairScores(AbstractMeasure):
    """Accuracies under Gaussian noise of the inputs, and the errors that are shared.

    A member holds a network `first`, f₁, and its outputs are those of second networks
    f₂, each of them trained on something else.  By the standard deviation of the noise,
    the same for all, and by f₂: accuracies of f₁, of f₂, and of the sign of
    f₁/‖f₁‖ + f₂/‖f₂‖, and the share of the errors of f₁ that are errors of f₂ too, NaN
    if f₁ makes none.

    Args:
        given: names of the second networks, after what each is given.
        blurs: standard deviations of the noise.

    Reference: Morwani, Batra, Jain & Netrapalli (2023), arXiv:2302.00457, OrthoP (?).
    """

    given: tuple[str, ...] = eqx.field(static=True)

    blurs: tuple[float, ...] = eqx.field(
        static=True, default=(0.0, 0.05, 0.1, 0.2, 0.4)
    )
    dims: ClassVar[tuple[str, ...]] = ("blur", "given", "told")

    def coords(self) -> dict[str, np.ndarray]:
        """Standard deviations, what the second is given, and what is scored."""
        scores = np.array(["first", "second", "pair", "shared"])
        return {
            "blur": np.array(self.blurs),
            "given": np.array(self.given),
            "told": scores,
        }

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "b g 4"]:
        """Accuracies, and shared errors."""
        test = second_sample(data)
        y, added = test.y[:, 0], jax.random.normal(jax.random.key(0), test.x.shape)
        added = added.astype(test.x.dtype)
        share = lambda is_so: (
            jnp.sum(jnp.where(is_so, test.weight, 0)) / jnp.sum(test.weight)
        )
        size = lambda f: jnp.maximum(jnp.linalg.norm(f), jnp.finfo(f.dtype).tiny)

        def scores(blur: Float[Array, ""]) -> Float[Array, "g 4"]:
            x = test.x + blur * added
            one = jax.vmap(network.first)(x)[:, 0] * y
            rows = []
            for two in (jax.vmap(network)(x) * y[:, None]).T:
                both, errs = one / size(one) + two / size(two), one <= 0
                shared = share(errs & (two <= 0)) / share(errs)
                right = [share(v > 0) for v in (one, two, both)]
                shared = jnp.where(errs.any(), shared, jnp.nan)
                rows.append(jnp.stack([*right, shared]))
            return jnp.stack(rows)

        return jax.lax.map(scores, jnp.asarray(self.blurs, test.x.dtype))

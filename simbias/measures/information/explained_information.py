"""How much of what a network knows of the class another classifier knows, too."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.introspection.outputs import outputs, second_sample
from simbias.measures.information._counts import (
    counts,
    explainer_information,
    network_information,
    unexplained_information,
)
from simbias.validation.values import positive_integer


class ExplainedInformation(AbstractMeasure):
    """Information of the network on the label, and the part that a linear model has.

    In bits on the test sample: I(F;Y), I(L;Y), I(F;Y|L) and μ = I(F;Y) − I(F;Y|L).

    F is the sign of the network, Y that of the test sample's y, and L that of the y of
    `data.others[explainer]`, the answers of a fixed classifier to the test sample, row
    by row.  All come from the counts of the eight values of (F, L, Y), with
    0 ln 0 = 0.  Such plug-in estimates are biased by about 1/n; "explained" is μ less
    its mean over `shuffles` orders of L, the same orders at every time, and so 0 on
    average for an L that knows nothing.  The other three are as counted.

    As counted μ ≤ min(I(F;Y), I(L;Y)), and it may be negative: −1 bit for Y the XOR of
    independent fair F and L.

    Args:
        explainers: names of the classifiers among `data.others`.
        shuffles: orders of L that are averaged.

    Reference: Kalimeris, Nakkiran et al. (2019), arXiv:1905.11604, definition of
    μ_Y(F; L).
    """

    explainers: tuple[str, ...] = eqx.field(static=True)
    shuffles: int = eqx.field(static=True, default=20)
    dims: ClassVar[tuple[str, ...]] = ("explainer", "quantity")
    units: ClassVar[str] = "bit"

    def __check_init__(self):
        positive_integer("shuffles", self.shuffles)
        if not self.explainers:
            raise BadInput(
                "`explainers` must name a classifier of `data.others`, got none. "
                'Example: explainers=("linear",).'
            )

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "e 4"]:
        """Bits, a row per explainer; any network of one output.

        Raises:
            ValueError: if there is no test sample, an explainer is missing or has not
                answered every row of it, or there are more than two classes.
        """
        test = second_sample(data)
        if test.y.shape[1] != 1:
            raise BadInput(
                "`ExplainedInformation` is of two classes, y = ±1, got targets of "
                f"{test.y.shape[1]} columns."
            )
        f, y = outputs(network, test.x)[:, 0] > 0, test.y[:, 0] > 0
        weight = test.weight.astype(jnp.result_type(float))
        rng = np.random.default_rng(0)
        orders = [rng.permutation(len(y)) for _ in range(self.shuffles)]
        orders = jnp.asarray(np.stack(orders), jnp.int32)

        def explained(l):
            table = counts(f, l, y, weight)
            return network_information(table) - unexplained_information(table)

        rows = []
        for name in self.explainers:
            l = _answers(data, name, len(y)) > 0
            table = counts(f, l, y, weight)
            chance = jnp.mean(jax.vmap(lambda order, l=l: explained(l[order]))(orders))
            known = network_information(table)
            own = unexplained_information(table)
            row = (known, explainer_information(table), own, known - own - chance)
            rows.append(jnp.stack(row))
        return jnp.stack(rows).astype(data.x.dtype)

    def coords(self) -> dict[str, np.ndarray]:
        """Names of the classifiers, and of the four informations."""
        return {
            "explainer": np.array(self.explainers),
            "quantity": np.array(["network", "explainer", "unexplained", "explained"]),
        }


def _answers(data: Dataset, name: str, rows: int) -> Float[Array, " n"]:
    if name not in data.others:
        raise BadInput(
            f"`explainers` asks for {name!r}, and `data.others` has "
            f"{', '.join(map(repr, data.others)) or 'nothing'}."
        )
    y = data.others[name].y
    if y.shape != (rows, 1):
        raise BadInput(
            f"`data.others[{name!r}].y` must be ({rows}, 1), an answer to every row of "
            f"the test sample, got {y.shape}."
        )
    return y[:, 0]

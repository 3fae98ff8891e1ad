"""Which samples are fitted together, and when, on orthogonal inputs as λ → 0."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from simbias.core import Dataset
from simbias.theory._one_output import check_one_output


class SequentialFit(NamedTuple):
    """Groups of samples of one sign, in the order in which they are fitted.

    Attributes:
        group: number of the group of every sample; −1 if no neuron ever fits it, or
            if its label is 0, which needs none.
        sign: of the labels of each group.
        time: at which it is fitted, in units of ln(1/λ).
        mass: |a|‖w‖ of the neurons that fit it, summed; all together are ½‖θ‖².
    """

    group: Int[np.ndarray, " n"]
    sign: Int[np.ndarray, " g"]
    time: Float[np.ndarray, " g"]
    mass: Float[np.ndarray, " g"]


def sequential_fit(
    data: Dataset, w: Float[np.ndarray, "m d"], a: Float[np.ndarray, " m"]
) -> SequentialFit:
    """Limit λ → 0 at a fixed width of the flow from a balanced start on orthogonal xᵢ.

    A neuron acts on A, the samples of its sign that it sees at the start.  While a set
    S is fitted and the rest is not, it grows like e^{ρt} along its drive,

        ρ² = Σ_{k ∈ A∖S} (y_k‖x_k‖/n)²,

    and the next to arrive, from λ to 1, fits A∖S at once: the new group, with the mass
    √(Σ y_k²/‖x_k‖²) over it and a direction orthogonal to all others.  So groups are
    known from the signs of w·x alone.  One group per sign, which is the interpolator
    of least norm, if and only if the first to arrive sees its whole sign.

    For finite λ neurons that arrive almost together share a group.  The clock is that
    of `half_mse`.  Nothing here checks that the inputs are orthogonal.

    Args:
        data: the sample, with one output; padded rows do not count.
        w: weights at the start, of any scale.
        a: output weights, of which the sign counts.

    Raises:
        ValueError: if there are several outputs.

    Reference: derived; for one group per sign Boursier, Pillaud-Vivien & Flammarion
    (2022), arXiv:2206.00939, theorem 1.
    """
    check_one_output(data)
    x, y = np.asarray(data.x, float), np.asarray(data.y, float)[:, 0]
    weight = np.asarray(data.weight, float)
    length = np.linalg.norm(x, axis=1)
    pull = (weight / weight.sum() * y * length) ** 2
    found, rows = np.full(len(y), -1), []
    for sign in (1, -1):
        mine = np.sign(y) == sign
        sees = (x @ w[np.sign(a) == sign].T > 0) & mine[:, None]
        for time, fitted in _arrivals(pull, sees):
            found[fitted] = len(rows)
            mass = np.sqrt(np.sum((y[fitted] / length[fitted]) ** 2))
            rows.append((sign, time, mass))
    order = np.argsort([time for _, time, _ in rows], kind="stable")
    number = np.empty(len(rows) + 1, int)
    number[order], number[-1] = np.arange(len(rows)), -1
    table = np.array(rows, float).reshape(-1, 3)[order]
    return SequentialFit(
        number[found], table[:, 0].astype(int), table[:, 1], table[:, 2]
    )


def _arrivals(
    pull: Float[np.ndarray, " n"], sees: Bool[np.ndarray, "n m"]
) -> list[tuple[float, Int[np.ndarray, " k"]]]:
    """(time, samples) of every group of one sign, where `sees` is of its neurons."""
    rest = sees.any(axis=1) & (pull > 0)
    # How far each neuron still is from size 1, in units of ln(1/λ).
    far, time, out = np.ones(sees.shape[1]), 0.0, []
    while rest.any():
        rate = np.sqrt(np.where(rest, pull, 0) @ sees)
        with np.errstate(divide="ignore", invalid="ignore"):
            wait = np.where(rate > 0, far / rate, np.inf)
        first = int(np.argmin(wait))
        far, time = far - rate * wait[first], time + float(wait[first])
        out.append((time, np.flatnonzero(rest & sees[:, first])))
        rest &= ~sees[:, first]
    return out

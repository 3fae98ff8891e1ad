"""Activation patterns of a sample, and the largest pull on a neuron in each."""

import itertools
import math

import numpy as np
import scipy
from jaxtyping import Bool, Float

from simbias.errors import BadInput

# Patterns that are enumerated at most; of hyperplanes that are not in general position.
_MOST, _PLANES = 20_000, 12
# Cosine to rounding.
_NONE = 1e-10


def patterns(x: Float[np.ndarray, "n e"]) -> Bool[np.ndarray, "p n"]:
    """Sets of samples on which one neuron can be active: signs of Xw over all w.

    In general position, of rank k, the hyperplanes of any k − 1 samples meet in a line,
    and every cell of the arrangement has such a line in its closure.  The signs on both
    halves of these lines, with all signs of the k − 1 samples, are all patterns.  In
    other positions all 2ᵖ signs of the p different hyperplanes are returned, of which
    some may have no neuron: a maximum over the closure of their cells is the same.

    Raises:
        ValueError: if there are too many.
    """
    length = np.linalg.norm(x, axis=1)
    unit = x / np.where(length > 0, length, 1)[:, None]
    same = unit @ unit.T
    is_first = [
        i for i in np.flatnonzero(length) if np.all(np.abs(same[i, :i]) < 1 - _NONE)
    ]
    planes = unit[is_first]
    signs = _signs(planes)
    # Duplicates and mirror images have the hyperplane of another sample.
    out = np.zeros((len(signs), len(x)), bool)
    for i in np.flatnonzero(length):
        along = same[i, is_first]
        k = int(np.argmax(np.abs(along)))
        out[:, i] = signs[:, k] == (along[k] > 0)
    return np.unique(out, axis=0)


def _signs(planes: Float[np.ndarray, "p e"]) -> Bool[np.ndarray, "s p"]:
    count = len(planes)
    _, size, axes = np.linalg.svd(planes, full_matrices=False)
    rank = int(np.sum(size > _NONE * size[0])) if count else 0
    inside = planes @ axes[:rank].T
    chosen = math.comb(count, max(rank - 1, 0))
    is_many = chosen * 2**rank > _MOST
    found = None if is_many or rank == count else _of_lines(inside, rank)
    if found is not None:
        return found
    if count > _PLANES:
        raise BadInput(
            f"`data` must have fewer activation patterns, got {count} hyperplanes of "
            f"rank {rank}. Example: 10 samples of 3 inputs."
        )
    return np.array(list(itertools.product((False, True), repeat=count)), bool)


def _of_lines(
    planes: Float[np.ndarray, "p k"], rank: int
) -> Bool[np.ndarray, "s p"] | None:
    """Signs next to lines in which rank − 1 planes meet; None if more planes do."""
    out = []
    resolved = list(itertools.product((False, True), repeat=rank - 1))
    for chosen in itertools.combinations(range(len(planes)), rank - 1):
        _, size, axes = np.linalg.svd(planes[[*chosen]].reshape(-1, rank))
        at = planes @ axes[-1]
        others = np.setdiff1d(np.arange(len(planes)), chosen)
        if np.any(np.abs(at[others]) < _NONE) or np.any(size < _NONE):
            return None
        for is_up, own in itertools.product((False, True), resolved):
            row = (at > 0) == is_up
            row[[*chosen]] = own
            out.append(row)
    return np.unique(np.array(out, bool), axis=0)


def strongest(
    x: Float[np.ndarray, "n e"],
    active: Bool[np.ndarray, "p n"],
    pull: Float[np.ndarray, " n"],
) -> tuple[Float[np.ndarray, "z e"], Float[np.ndarray, " z"], Float[np.ndarray, " z"]]:
    """Of each pattern and sign s: the unit w with the largest s Σᵢ pullᵢ (w·xᵢ)₊.

    In a pattern it is g·w with g = s Σ pullᵢ xᵢ over its samples, and the largest value
    over the unit w of its cell {w: Bw ≥ 0} is the length of the projection of g on the
    cell, |g + Bᵀλ| with λ = argmin_{λ≥0} |g + Bᵀλ|.  For any λ ≥ 0 that is a bound from
    above, so that rounding does not matter.

    Returns:
        The directions, s, and the bounds; patterns with the value 0 are left out.
    """
    w, sign, value = [], [], []
    for row in active:
        b = np.where(row, 1.0, -1.0)[:, None] * x
        for s in (1.0, -1.0):
            g = s * (pull * row) @ x
            shift, _ = scipy.optimize.nnls(b.T, -g)
            end = g + b.T @ shift
            size = float(np.linalg.norm(end))
            if size > _NONE * np.linalg.norm(g):
                w.append(end / size)
                sign.append(s)
                value.append(size)
    return np.array(w).reshape(-1, x.shape[1]), np.array(sign), np.array(value)

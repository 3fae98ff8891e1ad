"""The same problem told otherwise: its ends must be the same, told likewise.

Every function here takes a case and a generator of random numbers, and gives the other
case and the function that brings its end back: rows (w, b, a) to rows (w, b, a).
"""

import dataclasses
from collections.abc import Callable

import numpy as np
from _cases import Case

Told = tuple[Case, Callable[[np.ndarray], np.ndarray]]
# Powers of two, so that numbers that are scaled keep their digits.
_SCALE = 4.0


def other_order_of_samples(case: Case, rng: np.random.Generator) -> Told:
    """Samples, padding among them, in another order."""
    i = rng.permutation(len(case.x))
    other = dataclasses.replace(case, x=case.x[i], y=case.y[i], weight=case.weight[i])
    return other, lambda end: end


def other_order_of_neurons(case: Case, rng: np.random.Generator) -> Told:
    """Neurons in another order."""
    i = rng.permutation(len(case.w))
    b = None if case.b is None else case.b[i]
    other = dataclasses.replace(case, w=case.w[i], a=case.a[i], b=b)
    return other, lambda end: end[np.argsort(i)]


def rotated(case: Case, rng: np.random.Generator) -> Told:
    """x and w turned, together with the inputs that were 0 throughout."""
    d = case.x.shape[1]
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    other = dataclasses.replace(case, x=case.x @ turn, w=case.w @ turn)
    back = lambda end: np.concatenate([end[:, :d] @ turn.T, end[:, d:]], axis=1)
    return other, back


def axes_exchanged(case: Case, rng: np.random.Generator) -> Told:
    """Inputs in another order, some negated: a rotation without rounding."""
    d = case.x.shape[1]
    i, sign = rng.permutation(d), rng.choice([-1.0, 1.0], d)
    x, w = (sign * v[:, i] for v in (case.x, case.w))

    def back(end):
        w = (sign * end[:, :d])[:, np.argsort(i)]
        return np.concatenate([w, end[:, d:]], axis=1)

    return dataclasses.replace(case, x=x, w=w), back


def larger_inputs(case: Case, _rng: np.random.Generator) -> Told:
    """x → s x, (w, a) → (w, a)/√s, t → t/s: the same outputs.

    A hidden bias is an input of its own, so that cases with one are left as they are.
    """
    if case.b is not None:
        return case, lambda end: end
    root = np.sqrt(_SCALE)
    other = dataclasses.replace(
        case,
        x=_SCALE * case.x,
        w=case.w / root,
        a=case.a / root,
        time=case.time / _SCALE,
    )
    return other, lambda end: root * end


def split_samples(case: Case, rng: np.random.Generator) -> Told:
    """Samples of weight 1 each made two of weight ½, while there are rows to spare."""
    n = int(np.sum(case.weight > 0))
    room = len(case.x) - n
    i = rng.permutation(n)[:room]
    x, y, weight = case.x.copy(), case.y.copy(), case.weight.copy()
    free = slice(n, n + len(i))
    x[free], y[free], weight[free], weight[i] = x[i], y[i], 0.5, 0.5
    return dataclasses.replace(case, x=x, y=y, weight=weight), lambda end: end


def other_junk(case: Case, rng: np.random.Generator) -> Told:
    """Other numbers where the weight is 0."""
    is_kept = (case.weight > 0)[:, None]
    x, y = (
        np.where(is_kept, v, 1e6 * rng.standard_normal(v.shape))
        for v in (case.x, case.y)
    )
    return dataclasses.replace(case, x=x, y=y), lambda end: end


SYMMETRIES = (
    other_order_of_samples,
    other_order_of_neurons,
    rotated,
    axes_exchanged,
    larger_inputs,
    split_samples,
    other_junk,
)

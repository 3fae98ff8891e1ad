"""Extrema of a sum of ReLUs on the unit sphere, by climbing from random starts."""

import numpy as np
import scipy
from jaxtyping import Bool, Float, Int

Critical = tuple[Float[np.ndarray, "v d"], Int[np.ndarray, " v"], Int[np.ndarray, " v"]]
# Of a unit vector: far above rounding, far below the gap between two extrema.
SAME = 1e-8
# Angles of the steps of the alignment flow: it comes to rest within the last of a top.
STEPS = np.geomspace(0.2, 0.005, 120)


def critical_on_sphere(
    x: Float[np.ndarray, "n d"],
    pull: Float[np.ndarray, " n"],
    starts: Float[np.ndarray, "s d"],
) -> Critical:
    """Critical directions of G(w) = Σ g_k (w·x_k)₊ with growth, kinds, times found."""
    merged: list[tuple[np.ndarray, int, int]] = []
    for sign in (1, -1):
        climber = _Climber(x, sign * pull)
        aligned = _align(x, sign * pull, starts)
        tops = [top for w in aligned if (top := climber.climb(w)) is not None]
        for top, count in _merge(tops):
            merged.append((top, sign * climber.is_maximum(top), count))
    direction = np.array([m[0] for m in merged]).reshape(-1, x.shape[1])
    kind = np.array([m[1] for m in merged], int)
    return direction, kind, np.array([m[2] for m in merged], int)


def _align(
    x: Float[np.ndarray, "n d"],
    pull: Float[np.ndarray, " n"],
    w: Float[np.ndarray, "s d"],
) -> Float[np.ndarray, "s d"]:
    """Euler steps of w' = D − (w·D) w, the direction of a balanced small neuron."""
    w = w / np.linalg.norm(w, axis=1, keepdims=True)
    for step in STEPS:
        drive = ((w @ x.T > 0) * pull[None, :]) @ x
        length = np.linalg.norm(drive, axis=1, keepdims=True)
        w = w + step * np.divide(drive, length, out=drive * 0, where=length > 0)
        w = w / np.linalg.norm(w, axis=1, keepdims=True)
    return w


class _Climber:
    """Ascent of G = P − Q on the unit ball; P and Q are convex.

    One step keeps the active set A of P and maximises u·w − Q(w), u = Σ_A g_k x_k, over
    the ball.  The dual is a least-norm problem in a box,

        w ∝ u + Σ η_k g_k x_k (g_k < 0),   η = argmin over [0, 1] of its norm,

    so kinks of Q are met exactly, with their multipliers.  G never decreases, and there
    are finitely many sets A: the climb ends at a KKT point, not near one.
    """

    def __init__(self, x: np.ndarray, pull: np.ndarray):
        self.x_up, self.pull_up = x[pull > 0], pull[pull > 0]
        self.down = (pull[pull < 0][:, None] * x[pull < 0]).T
        self.size = np.abs(pull) @ np.linalg.norm(x, axis=1)
        self.length_up = np.linalg.norm(self.x_up, axis=1)
        self.tops: dict[bytes, np.ndarray | None] = {}

    def climb(self, w: Float[np.ndarray, " d"]) -> Float[np.ndarray, " d"] | None:
        """The direction a start ends at; None if it ends at 0, where nothing grows."""
        active, seen = self._active(w), set()
        while active.tobytes() not in seen:
            seen.add(active.tobytes())
            top = self._top(active)
            if top is None:
                return None
            w, active = top, self._active(top)
        return w

    def is_maximum(self, w: Float[np.ndarray, " d"]) -> bool:
        """False if w lies on a kink of P: then G rises on one side of it."""
        return not np.any(np.abs(self.x_up @ w) <= SAME * self.length_up)

    def _active(self, w: Float[np.ndarray, " d"]) -> Bool[np.ndarray, " p"]:
        return self.x_up @ w > SAME * self.length_up * np.linalg.norm(w)

    def _top(self, active: Bool[np.ndarray, " p"]) -> Float[np.ndarray, " d"] | None:
        key = active.tobytes()
        if key not in self.tops:
            self.tops[key] = self._solve(self.pull_up[active] @ self.x_up[active])
        return self.tops[key]

    def _solve(self, u: Float[np.ndarray, " d"]) -> Float[np.ndarray, " d"] | None:
        drive = u
        if self.down.shape[1]:
            # Scaled, because the solver stops at an absolute tolerance.
            eta = scipy.optimize.lsq_linear(
                -self.down / self.size,
                u / self.size,
                bounds=(0, 1),
                method="bvls",
                tol=1e-15,
                max_iter=10 * self.down.shape[1],
            ).x
            drive = u + self.down @ eta
        length = np.linalg.norm(drive)
        return drive / length if length > SAME * self.size else None


def _merge(tops: list[np.ndarray]) -> list[tuple[np.ndarray, int]]:
    """Distinct directions and how often each occurs."""
    distinct: list[np.ndarray] = []
    counts: list[int] = []
    for top in tops:
        gaps = [float(np.linalg.norm(top - other)) for other in distinct]
        if gaps and min(gaps) < 10 * SAME:
            counts[int(np.argmin(gaps))] += 1
        else:
            distinct.append(top)
            counts.append(1)
    return list(zip(distinct, counts, strict=True))

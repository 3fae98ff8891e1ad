"""All maxima of a sum of ReLUs on the sphere of ℝ³, by going along every circle.

On the great circle w·x_i = 0 the sum is one of the plane again, with 2(n − 1) kinks.
Maxima on one hyperplane are maxima along its circle with a multiplier in [0, 1], those
on two are kinks of it with two multipliers, and every cell has an arc of some circle
for an edge.  O(n² log n), and nothing is left to chance.
"""

import numpy as np


def maxima_on_sphere(x, pull, reach=2.0):
    """Numbers of maxima of G(w) = Σ g_k (w·x_k)₊ > 0 on 0, 1 and 2 hyperplanes.

    Args:
        x: inputs (n, 3), in general position.
        pull: g_k, such as y_k/n.
        reach: a cell is looked at from edges no farther than this from its D; 2 is all
            of them, 30/n is enough for n in the hundreds and much faster.
    """
    cells, on_one, on_two = set(), 0, 0
    for i in range(len(x)):
        circle = _Circle(x, pull, i)
        cells |= circle.cells(reach)
        if pull[i] < 0:
            on_one += circle.on_one()
            on_two += circle.on_two()
    return np.array([len(cells), on_one, on_two])


class _Circle:
    """G along w·x_i = 0: its kinks, and D of the other samples on the arcs between."""

    def __init__(self, x, pull, i):
        self.x, self.own, self.own_pull = np.delete(x, i, axis=0), x[i], pull[i]
        self.pull = np.delete(pull, i)
        rank = np.delete(np.arange(len(x)), i)
        self.basis = np.linalg.svd(x[i][None])[2][1:]
        z = self.x @ self.basis.T
        normal = np.arctan2(z[:, 1], z[:, 0])
        angle = np.concatenate([normal - np.pi / 2, normal + np.pi / 2]) % (2 * np.pi)
        order = np.argsort(angle)
        self.begin = angle[order]
        self.end = np.append(self.begin[1:], self.begin[0] + 2 * np.pi)
        self.middle = self.at((self.begin + self.end) / 2)
        part = self.pull[:, None] * self.x
        jump = np.concatenate([part, -part])[order]
        first = part[self.x @ self.middle[0] > 0].sum(axis=0)
        self.drive = first + np.cumsum(jump, axis=0) - jump[0]
        self.other = np.concatenate([np.arange(len(self.x))] * 2)[order]
        # A pair of samples is looked at from one of its circles.
        self.is_later, self.begins = rank[self.other] > i, order < len(self.x)

    def at(self, angle):
        return (
            np.cos(angle)[:, None] * self.basis[0]
            + np.sin(angle)[:, None] * (self.basis[1])
        )

    def cells(self, reach):
        """Maxima inside the cells on both sides of every arc, as rounded tuples."""
        out = set()
        for is_active in (False, True):
            drive = self.drive + is_active * self.own_pull * self.own
            w = drive / np.linalg.norm(drive, axis=1, keepdims=True)
            is_near = np.linalg.norm(w - self.middle, axis=1) < reach
            is_near &= (w @ self.own > 0) == is_active
            side = self.x @ w[is_near].T > 0
            is_in = np.all(side == (self.x @ self.middle[is_near].T > 0), axis=0)
            out |= {tuple(v) for v in w[is_near][is_in].round(9)}
        return out

    def on_one(self):
        """Maxima on this hyperplane and no other."""
        flat = self.drive @ self.basis.T
        top = np.arctan2(flat[:, 1], flat[:, 0])
        is_in = (top - self.begin) % (2 * np.pi) < self.end - self.begin
        share = self.drive @ self.own / (-self.own_pull * (self.own @ self.own))
        return int(np.sum(is_in & (share > 0) & (share < 1)))

    def on_two(self):
        """Maxima on this hyperplane and on a later one."""
        chosen = np.flatnonzero((self.pull[self.other] < 0) & self.is_later)
        other, w = self.other[chosen], self.at(self.begin[chosen])
        before = np.roll(self.drive, 1, axis=0)
        without = np.where(self.begins[:, None], before, self.drive)[chosen]
        value = np.sum(without * w, axis=1)
        tangent = without - value[:, None] * w
        one = -self.own_pull * self.own
        two = -self.pull[other][:, None] * self.x[other]
        a, b, c = one @ one, two @ one, np.sum(two * two, axis=1)
        p, q = tangent @ one, np.sum(tangent * two, axis=1)
        shares = np.stack([c * p - b * q, a * q - b * p]) / (a * c - b * b)
        is_in = np.all((shares > 0) & (shares < 1), axis=0)
        return int(np.sum(is_in & (value > 0)))

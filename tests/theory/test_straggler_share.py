"""Neurons that have not turned when the loss moves."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from simbias.errors import BadInput
from simbias.theory.straggler_share import straggler_share


def test_in_three_dimensions_the_share_is_elementary():
    scale = np.array([1e-3, 0.1, 0.5])
    start = scale**2 / 2
    np.testing.assert_allclose(straggler_share(scale, 3), start / (1 + start))


@pytest.mark.parametrize("d", [2, 3])
def test_the_share_is_that_of_neurons_integrated_in_the_limit_of_many_samples(d):
    # One side of the teacher: neurons that are pulled there, w = (p, across), by
    # ½(1 − V) with V = Σ a p, and the angle that one on the way out needs to get away.
    scale, m = 0.1, 2000
    w = np.random.default_rng(0).standard_normal((m, d)) * scale / np.sqrt(2 * m)

    def field(_, state):
        a, p = state[:m], state[m : 2 * m]
        pull = (1 - a @ p) / 2
        return np.concatenate([pull * p, pull * a, [pull]])

    start = np.concatenate([np.linalg.norm(w, axis=1), w[:, 0], [0.0]])
    end = solve_ivp(field, (0, 60), start, rtol=1e-8, atol=1e-12).y[:, -1]
    angle = 2 * np.arctan(np.exp(-end[-1]))
    cap = {2: angle / np.pi, 3: np.sin(angle / 2) ** 2}[d]
    # √V(0) is known to 2 % from 2000 neurons.
    assert float(straggler_share(scale, d)) == pytest.approx(cap, rel=0.05)


@pytest.mark.parametrize(
    ("scale", "d", "name"), [(2.0, 2, "scale"), (0.0, 2, "scale"), (0.1, 1, "d")]
)
def test_what_is_out_of_range_is_named(scale, d, name):
    with pytest.raises(BadInput, match=f"`{name}`"):
        straggler_share(scale, d)

"""Early alignment and orthogonal data: oracles, measures and laws."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import small

from simbias.core import Dataset
from simbias.datasets.teachers.gaussian_teacher import gaussian_teacher
from simbias.ensemble.padding import padded
from simbias.theory.extremal_vectors import extremal_residual, extremal_vectors
from simbias.verbs.initial import initial
from simbias.verbs.simulate import simulate

KEY = jax.random.key(0)


@pytest.mark.parametrize(("n", "d"), [(16, 2), (30, 4)])
def test_the_residual_is_zero_at_extremal_vectors_and_an_angle_elsewhere(n, d):
    data = gaussian_teacher(KEY, n=n, d=d, sigma=1.0, n_test=1)
    found = extremal_vectors(data)
    x, y = np.asarray(data.x), np.asarray(data.y)[:, 0]
    for w in found.direction:
        assert extremal_residual(padded(data, n + 3), 7 * w) < 1e-9
    for w in np.random.default_rng(0).normal(size=(5, d)):
        drive = (y * (x @ w > 0)) @ x
        cosine = abs(drive @ w) / np.linalg.norm(drive) / np.linalg.norm(w)
        expected = np.tan(np.arccos(cosine))
        np.testing.assert_allclose(extremal_residual(data, w), expected, rtol=1e-9)


@pytest.mark.parametrize(("pull", "expected"), [(-2.0, 0.0), (-0.4, 0.2)])
def test_on_a_hyperplane_the_multiplier_lies_between_0_and_1(pull, expected):
    # D = (1, 0) + η pull (1, 1) is along (1, −1) for η = −½/pull: ¼, or 1.25 > 1.
    x, y = jnp.array([[1.0, 0.0], [1.0, 1.0]]), jnp.array([[1.0], [pull]])
    data = Dataset(x, y, jnp.ones(2), y, jnp.eye(2))
    found = extremal_residual(data, np.array([3.0, -3.0]))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_residual_is_infinite_where_nothing_pulls_and_needs_one_output():
    x, y, one = jnp.ones((1, 2)), jnp.ones((1, 1)), jnp.ones(1)
    dead = np.array([-1.0, 0.0])
    assert extremal_residual(Dataset(x, y, one, y, x), dead) == np.inf
    with pytest.raises(ValueError, match="`data.y` must have one column"):
        extremal_residual(Dataset(x, x, one, x, x), dead)


def test_a_member_that_has_been_run_can_be_drawn_again():
    run = small(cell={"n": 6, "scale": (0.1, 0.5)}, seeds=2, times=(0.0, 0.1))
    ds = simulate(run)
    data, network = initial(ds, small(), n=int(ds["n"]), scale=0.5, seed=1)
    risk = ds["risk"].sel(scale=0.5, seed=1, time=0.0)
    np.testing.assert_allclose(run.measures["risk"](network, data), risk, rtol=1e-12)

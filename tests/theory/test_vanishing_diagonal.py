import numpy as np
import pytest
import scipy

from simbias.theory.mode_strength import mode_time
from simbias.theory.vanishing_diagonal import vanishing_diagonal

# The four features of an appendix of arXiv:2607.12332, on two samples.
X = np.array([[1, 0.5, 0.7, 0], [0.5, 1, 0.1, 0.7]])
Y = np.array([1.0, 0.0])


def test_four_features_enter_at_the_published_times():
    jumps = vanishing_diagonal(X, Y)
    np.testing.assert_array_equal(jumps.feature, [0, 2, 3])
    np.testing.assert_allclose(jumps.time, [1, 4, 4 + 80 / 49], rtol=1e-12)
    np.testing.assert_allclose(jumps.weight[-1], [0, 0, 10 / 7, -10 / 49], atol=1e-12)
    np.testing.assert_allclose(jumps.loss[-1], 0, atol=1e-24)


def test_orthogonal_features_enter_at_n_over_twice_their_correlation():
    y = np.array([2.0, -1.0, 0.5])
    jumps = vanishing_diagonal(np.eye(3), y)
    np.testing.assert_allclose(jumps.time, 3 / (2 * np.abs(y)), rtol=1e-12)
    np.testing.assert_allclose(jumps.weight, np.tril(np.tile(y, (3, 1))), atol=1e-12)


def delays(digits):
    """Time t by which uⱼ = e⁻² (or vⱼ) comes after s ln(1/α), α = 10^−digits."""
    unit = digits * np.log(10)

    def velocity(t, z):
        # Weights by their logarithms.  A step that goes too far must not overflow.
        u, v = np.split(np.exp(2 * np.minimum(z, 5)), 2)
        rate = X.T @ (Y - X @ (u - v))
        return np.concatenate([rate, -rate])

    grown = [lambda t, z, i=i: z[i] + 2 for i in (0, 2, 7)]
    for one in grown:
        vars(one)["direction"] = 1
    flow = scipy.integrate.solve_ivp(
        velocity, (0, 7 * unit), np.full(8, -unit), "LSODA", None, False, grown,
        rtol=1e-9, atol=1e-9,
    )  # fmt: skip
    times = np.array([at[0] for at in flow.t_events])
    return times - vanishing_diagonal(X, Y).time * unit, flow.y[:, -1]


def test_the_flow_is_off_by_times_that_do_not_depend_on_the_start():
    (few, _), (many, z) = delays(60), delays(2000)
    np.testing.assert_allclose(few, many, atol=1e-2)
    u, v = np.split(np.exp(2 * z), 2)
    np.testing.assert_allclose(u - v, vanishing_diagonal(X, Y).weight[-1], atol=1e-6)


def test_modes_of_two_linear_layers_leave_at_one_over_their_singular_value():
    # u₀ = λ² with λ = 1e-150.
    for s in (0.5, 1.0, 2.0):
        time = mode_time(s / 2, 1e-300, s, 2)
        assert abs(time / (150 * np.log(10)) - 1 / s) < 2 / (s * 150)


def test_features_that_enter_together_and_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="several features"):
        vanishing_diagonal(np.eye(2), np.ones(2))
    with pytest.raises(ValueError, match="shapes"):
        vanishing_diagonal(np.eye(2), np.ones((2, 1)))


def test_nothing_enters_where_nothing_is_correlated():
    assert vanishing_diagonal(np.eye(2), np.zeros(2)).time.size == 0

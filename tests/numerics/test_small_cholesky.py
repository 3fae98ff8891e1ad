import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

from simbias.numerics.factorisations import at_once
from simbias.numerics.small_cholesky import small_cholesky, solved


def system(seed, size=7, count=4):
    """Rows from `count` on have only their diagonal."""
    rng = np.random.default_rng(seed)
    matrix = np.diag(rng.uniform(0.5, 2, size))
    rows = rng.standard_normal((count, size))
    matrix[:count, :count] += rows @ rows.T
    right = rng.standard_normal(size)
    return jnp.asarray(matrix), jnp.asarray(right), jnp.int32(count)


def solution(matrix, right, count):
    return solved(small_cholesky(matrix, count), right, count)


@pytest.mark.parametrize("count", [0, 1, 4, 7])
def test_the_factor_and_the_solution_are_those_of_scipy(count):
    matrix, right, count = system(0, count=count)
    lower = np.linalg.cholesky(matrix)
    np.testing.assert_allclose(small_cholesky(matrix, count), lower, atol=1e-14)
    expected = scipy.linalg.solve(matrix, right, assume_a="pos")
    np.testing.assert_allclose(solution(matrix, right, count), expected, rtol=1e-12)


def test_a_batch_of_other_counts_has_no_factorisation_that_may_hang():
    of = lambda i: system(i, count=i)
    many = [jnp.stack(v) for v in zip(*map(of, range(5)), strict=True)]
    for i, x in enumerate(jax.vmap(solution)(*many)):
        np.testing.assert_allclose(x, solution(*(v[i] for v in many)), rtol=1e-13)
    assert at_once(jax.make_jaxpr(jax.vmap(solution))(*many)) == set()

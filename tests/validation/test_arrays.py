"""Arrays from elsewhere: what JAX would change or not take is refused by name."""

import dataclasses
import operator

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from small import small

from simbias.errors import BadInput
from simbias.validation.arrays import check_arrays
from simbias.verbs.simulate import simulate


def with_data(**changes):
    """The small experiment with other arrays of its sample."""
    one = small(seeds=1, cell={"n": 6}, times=(0.0, 1.0))

    def make(key, *, n: int = 6):
        data, network = one.make(key, n=n)
        for name, change in changes.items():
            new = change(getattr(data, name))
            # Not checked by its types, as in programs of users.
            data = eqx.tree_at(operator.attrgetter(name), data, new)
        return data, network

    return dataclasses.replace(one, make=make)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda x: np.ma.masked_array(np.ones(x.shape), mask=True), "without a mask"),
        (lambda x: pd.DataFrame(np.ones(x.shape)), r"got a DataFrame.*to_numpy"),
        (lambda x: np.full(x.shape, np.longdouble(2)), "must fit into float64"),
        (lambda x: np.full(x.shape, "1.0"), "must hold numbers"),
        (lambda x: np.full(x.shape, 1.0, object), "must hold numbers"),
    ],
)
def test_arrays_that_would_lose_something_are_refused_by_name(change, said):
    with pytest.raises(BadInput, match=rf"`data\.x` {said}|`data\.x` must.*{said}"):
        simulate(with_data(x=change))


def test_a_series_of_pandas_is_refused_by_name():
    with pytest.raises(BadInput, match=r"`data\.y` .* got a Series"):
        simulate(with_data(y=lambda y: pd.Series(np.ones(len(y)))))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, bool, jnp.bfloat16])
def test_arrays_of_numbers_are_taken(dtype):
    check_arrays("data", (np.ones(3).astype(dtype), jnp.ones(3), 2.0, None))


def test_a_size_that_is_none_is_named_where_make_fails_with_it():
    with pytest.raises(BadInput, match=r"`cell\.n` is -3, and `make` fails"):
        simulate(small(cell={"n": -3}, seeds=1))


def test_an_error_of_make_that_no_size_explains_stays_what_it_is():
    def make(key, *, n: int = 6):
        raise TypeError("of mine")

    with pytest.raises(TypeError, match="of mine"):
        simulate(small(make=make, cell={"n": 6}, seeds=1))


@pytest.mark.parametrize("field", ["measures", "final"])
def test_a_measure_that_returns_a_random_key_is_named(field):
    measure = {"noise": lambda network, data: jax.random.key(0)}
    with pytest.raises(BadInput, match="`noise` must return numbers, got a random key"):
        simulate(small(seeds=1, **{field: measure}))


@pytest.mark.parametrize("name", ["../x", "a/b", "a\\b", "..", "a\nb"])
def test_the_name_of_an_experiment_is_no_path(name):
    with pytest.raises(BadInput, match="`name` must be a word"):
        simulate(small(name=name, seeds=1))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["my experiment", "σ-sweep", "v1.2", "a:b"])
def test_names_with_blanks_signs_and_letters_of_any_language_are_taken(name):
    assert simulate(small(name=name, seeds=1, times=(0.0,))).attrs["experiment"] == name

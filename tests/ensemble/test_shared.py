"""Arguments that are left out of a member's key, and experiments without replicates."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import small

from simbias import cli
from simbias.core import Dataset, Experiment
from simbias.datasets.teachers.gaussian_teacher import gaussian_teacher
from simbias.errors import BadInput
from simbias.networks.two_layer_init import balanced
from simbias.results import open_result
from simbias.verbs.initial import initial
from simbias.verbs.simulate import simulate

pytestmark = pytest.mark.bits


def make(key, *, n: int = 4, m: int = 3, scale: float = 0.1):
    """A sample whose rows do not depend on n, and a network."""
    key_data, key_network = jax.random.split(key)
    data = gaussian_teacher(key_data, n=n, d=2, sigma=0.1, n_test=2)
    return data, balanced(key_network, m=m, d=2, scale=scale)


def hidden(network, data):
    """Hidden weights."""
    del data
    return network.w


def experiment(shared=(), **cell) -> Experiment:
    base = small(cell=cell, make=make, seeds=2)
    return dataclasses.replace(
        base, measures={}, final={"hidden": hidden}, times=(0.0,), shared=shared
    )


def test_all_values_of_a_shared_argument_see_the_same_numbers():
    ds = simulate(experiment(("scale",), scale=(0.1, 0.2)))
    one, other = (ds["hidden"].sel(scale=v).values for v in (0.1, 0.2))
    np.testing.assert_allclose(2 * one, other, rtol=1e-14)
    assert not np.allclose(one[0], one[1])  # seeds differ


def test_values_of_an_argument_that_is_not_shared_do_not():
    ds = simulate(experiment(scale=(0.1, 0.2)))
    one, other = (ds["hidden"].sel(scale=v).values for v in (0.1, 0.2))
    assert not np.allclose(2 * one, other)


def test_a_larger_sample_holds_the_smaller_one():
    both = experiment(("n",), n=(4, 7))
    ds = simulate(both)
    one, other = (initial(ds, both, n=n, seed=1)[0] for n in (4, 7))
    np.testing.assert_array_equal(one.x, other.x[:4])
    np.testing.assert_array_equal(one.test.x, other.test.x)


def test_the_key_does_not_depend_on_which_values_are_there():
    alone = simulate(experiment(("scale",), scale=0.2))["hidden"]
    both = simulate(experiment(("scale",), scale=(0.1, 0.2)))["hidden"]
    np.testing.assert_array_equal(alone, both.sel(scale=0.2))


def test_a_result_knows_what_was_shared(tmp_path):
    shared = experiment(("scale",), scale=(0.1, 0.2))
    simulate(shared, store=tmp_path / "run.zarr")
    ds = open_result(tmp_path / "run.zarr")
    _, network = initial(ds, dataclasses.replace(shared, shared=()), scale=0.2, seed=1)
    seen = ds["hidden"].sel(scale=0.2, seed=1)
    np.testing.assert_allclose(network.w, seen, rtol=1e-14)
    with pytest.raises(BadInput, match="shared"):
        simulate(dataclasses.replace(shared, shared=()), store=tmp_path / "run.zarr")


@pytest.mark.parametrize(
    ("shared", "said"),
    [
        (("scal",), "Did you mean `scale`"),
        (("flow.rate",), "keys never depend on these"),
    ],
)
def test_what_cannot_be_shared_is_named(shared, said):
    with pytest.raises(BadInput, match=said):
        simulate(experiment(shared, scale=(0.1, 0.2)))


def make_fixed(key, *, m: int = 3):
    """Two points, and equal neurons: nothing is drawn."""
    del key
    x = jnp.eye(2)
    data = Dataset(x, x[:, :1], jnp.ones(2), x[:, :1], jnp.zeros((0, 2)))
    return data, balanced(jax.random.key(0), m=m, d=2, scale=0.1)


def test_without_replicates_there_is_one_seed_and_no_other_can_be_asked_for(
    tmp_path, capsys
):
    fixed = dataclasses.replace(experiment(), make=make_fixed, seeds=None)
    assert simulate(fixed).sizes["seed"] == 1
    (tmp_path / "mine.py").write_text(
        "import dataclasses\n"
        "from simbias.experiments import threshold\n"
        "def experiment(preset='quick'):\n"
        "    return dataclasses.replace(threshold.experiment('smoke'), seeds=None)\n"
    )
    code = cli.exit_code(["run", str(tmp_path / "mine.py"), "--seeds", "30"])
    assert code == 2
    assert "nothing in it is random" in capsys.readouterr().err

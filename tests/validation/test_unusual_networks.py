"""Networks, numbers, files and optimisers that cannot be run say what to do."""

import dataclasses
import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from toy import KEY, sample

import simbias
from simbias.datasets.npz import Npz
from simbias.flows import Descent
from simbias.losses import half_mse

D = sample().x.shape[1]


class Masked(eqx.Module):
    layer: eqx.nn.Linear
    mask: object = eqx.field(static=True)

    def __call__(self, x):
        return self.layer(self.mask * x)


class Random(eqx.Module):
    parts: tuple

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x


class Complex(eqx.Module):
    w: jax.Array

    def __call__(self, x):
        return jnp.real(self.w @ x.astype(self.w.dtype))


def linear():
    return eqx.nn.Linear(D, 1, key=KEY)


def as_complex(data, where):
    return eqx.tree_at(where, data, where(data).astype(complex))


def refused(network, match, data=None):
    """By `simulate` and by `solve`."""
    data = sample() if data is None else data
    make = lambda key: (data, network)
    run = simbias.Experiment("mine", make, {}, 1, Descent(0.1), half_mse, (0.1,), {})
    with pytest.raises(ValueError, match=match):
        simbias.simulate(run)
    with pytest.raises(ValueError, match=match):
        simbias.solve(network, data, Descent(0.1), half_mse, (0.1,), {})


@pytest.mark.filterwarnings("ignore:A JAX array is being set as static")
@pytest.mark.parametrize("mask", [jnp.ones(D), np.ones(D), (jnp.ones(D),)])
def test_an_array_in_a_static_field_of_a_network_is_named(mask):
    said = r"static field `mask` of a Masked.*Buffer.*self\.mask\.value"
    refused(Masked(linear(), mask), said)
    refused(Random((Masked(linear(), mask),)), said)


def test_a_network_that_asks_for_a_key_is_told_of_training():
    dropout = Random((linear(), eqx.nn.Dropout(0.5)))
    refused(dropout, r"called with inputs.*key.*inference=True.*in_training\(x, key")
    sequential = eqx.nn.Sequential([linear(), eqx.nn.Dropout(0.5)])
    refused(sequential, r"called with inputs.*inference=True")


def test_a_network_that_asks_for_a_state_is_told_of_other_norms():
    for norm in (
        eqx.nn.BatchNorm(1, "batch", mode="batch"),
        eqx.nn.SpectralNorm(linear(), "weight", key=KEY),
    ):
        refused(Random((linear(), norm)), r"called with inputs.*'state'.*LayerNorm")


def test_a_network_beside_its_state_is_no_network():
    norm = lambda: eqx.nn.BatchNorm(1, "batch", mode="batch")
    make = lambda key: (sample(), eqx.nn.make_with_state(norm)())
    run = simbias.Experiment("mine", make, {}, 1, Descent(0.1), half_mse, (0.1,), {})
    with pytest.raises(ValueError, match=r"must return .*got \(Dataset, tuple\)"):
        simbias.simulate(run)


def test_a_network_that_fails_for_a_reason_of_its_own_says_so():
    def fails(x):
        raise KeyError("nothing of that name")

    refused(Random((linear(), fails)), "cannot be called .*nothing of that name")


@pytest.mark.parametrize("name", ["x", "y", "mean", "features", "weight"])
def test_complex_samples_are_refused_by_name(name):
    data = as_complex(sample(), lambda data: getattr(data, name))
    refused(linear(), rf"`data\.{name}` is complex.*real", data)


def test_complex_weights_and_complex_test_samples_are_refused_by_name():
    weights = jnp.ones((1, D), complex)
    refused(Complex(weights), r"`network\.w` is complex.*two arrays")
    both = dataclasses.replace(sample(), test=sample())
    data = as_complex(both, lambda data: data.test.x)
    refused(linear(), r"`data\.test\.x` is complex", data)


def test_a_make_without_numbers_that_cannot_be_traced_twice_names_no_argument():
    drawn = []

    def make(key):
        drawn.append(key)
        if len(drawn) > 1:
            raise RuntimeError("only once")
        return sample(), linear()

    run = simbias.Experiment("mine", make, {}, 1, Descent(0.1), half_mse, (0.1,), {})
    with pytest.raises(ValueError, match="only once") as error:
        simbias.simulate(run)
    assert "value of ," not in str(error.value)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mine.csv", r"no npz file\. Example: a = numpy\.loadtxt"),
        ("mine.npy", r"no npz file\. Example: a = numpy\.load\('mine\.npy'\)"),
        ("mine.txt", r"no npz file\. Example: numpy\.savez"),
        ("mine.pkl", r"no npz file\. Example: numpy\.savez"),
    ],
)
def test_a_file_of_another_kind_is_told_how_to_become_npz(tmp_path, name, said):
    path = tmp_path / name
    if name.endswith("npy"):
        np.save(path, np.ones((3, 3)))
    else:
        path.write_text("1.0,2.0\n3.0,4.0\n")
    with pytest.raises(ValueError, match=said) as error:
        Npz(str(path))
    assert "pickle" not in str(error.value)


@pytest.mark.parametrize(
    "flow",
    [
        Descent(optimiser=optax.contrib.schedule_free_sgd(0.1)),
        Descent(0.1, optimiser=optax.contrib.schedule_free_adamw),
        Descent(
            optimiser=optax.chain(
                optax.clip(1.0), optax.contrib.schedule_free(optax.sgd(0.1), 0.1)
            )
        ),
        Descent(0.1, optimiser=functools.partial(optax.contrib.schedule_free_sgd)),
    ],
)
def test_an_optimiser_whose_result_lies_in_its_memory_is_refused(flow):
    with pytest.raises(ValueError, match=r"`optimiser` is schedule-free.*optax\.adamw"):
        simbias.solve(linear(), sample(), flow, half_mse, (1.0,), {})

"""What the counts of steps say after a run: kinks, and steps that do not fit."""

import warnings

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from toy import KEY, sample

import simbias
from simbias.flows import GradientFlow
from simbias.losses import half_mse
from simbias.validation.steps import meets_kinks, rejects_most, said_of_steps


class Claimed(eqx.Module):
    """Says that it has no kinks, whatever its activation is."""

    w: jax.Array
    a: jax.Array
    activation: object = eqx.field(static=True)
    has_kinks: bool = eqx.field(static=True, default=False)

    def __call__(self, x):
        return self.a @ self.activation(self.w @ x)


def claimed(activation, key=KEY, scale=1.0):
    d = sample().x.shape[1]
    draws = jax.random.normal(key, (16, d + 1))
    return Claimed(scale * draws[:, :d], scale * draws[None, :, d] / 4, activation)


def solved(network, until=20.0, **options):
    flow = GradientFlow(max_steps=3000, **options)
    return simbias.solve(network, sample(), flow, half_mse, (until,), {})


def pooled(h):
    return eqx.nn.MaxPool1d(2, 1, padding=[(0, 1)])(jnp.tanh(h)[None])[0]


@pytest.mark.slow
@pytest.mark.parametrize("activation", [jax.nn.relu, pooled])
def test_a_smooth_method_that_keeps_rejecting_at_one_place_names_the_kink(activation):
    with pytest.warns(UserWarning, match=r"seems to jump for the network.* t = "):
        found = solved(claimed(activation))
    assert found.stats["rejected_again"] > 0.1 * found.stats["accepted"]


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_a_stiff_smooth_run_rejects_often_and_never_looks_like_a_kink(scale):
    with warnings.catch_warnings(action="error"):
        found = solved(claimed(jnp.square, scale=scale), until=100.0)
    assert found.stats["rejected"] > 30
    assert found.stats["rejected_again"] <= 2


@pytest.mark.slow
def test_a_run_names_how_many_of_its_networks_met_a_kink(tmp_path):
    def make(key):
        return sample(), claimed(jax.nn.relu, key)

    flow = GradientFlow(max_steps=2000)
    experiment = simbias.Experiment("mine", make, {}, 2, flow, half_mse, (20.0,), {})
    for store in (None, tmp_path / "run.zarr"):
        with pytest.warns(UserWarning, match=r"seems to jump for 1 of 2 networks"):
            ds = simbias.simulate(experiment, store=store)
    assert ds["rejected_again"].attrs["long_name"].startswith("steps that were")
    assert meets_kinks(ds).sum() == 1


def test_rejecting_ten_times_more_than_accepting_is_named_with_the_counts():
    stats = {"accepted": np.array([42, 800]), "rejected": np.array([8147, 7000])}
    np.testing.assert_array_equal(rejects_most(stats), [True, False])
    (said,) = said_of_steps(stats, np.array([1.0, 2.0]))
    assert "1 of 2 networks rejected more than 10 steps" in said
    assert "8,147 and 42" in said
    # A member that is missing counts −1 of each.
    assert said_of_steps({"accepted": -1, "rejected": -1}, np.nan) == []
    assert said_of_steps({"evaluations": 3}, 1.0) == []

"""What is derived: starts that are shared, distances in closed form, the law."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

from simbias.experiments.asymptotics import mean_field, population, vanishing_start
from simbias.experiments.asymptotics._from_scale import FromScale
from simbias.flows import GradientFlow, ReluFlow, VanishingStart
from simbias.losses import half_mse
from simbias.networks import PopulationStudent, TwoLayer
from simbias.networks.activations import identity
from simbias.networks.two_layer_init import INITIAL_LAWS
from simbias.numerics.exact_numerics import exact_numerics
from simbias.theory.population import population_flow
from simbias.verbs.simulate import solve


def test_samples_are_nested_and_the_network_is_the_same_for_all_n():
    with exact_numerics():
        key = jax.random.key(3)
        small, one = population.make(key, n=8)
        large, other = population.make(key, n=20)
        np.testing.assert_array_equal(large.x[:8], small.x)
        np.testing.assert_array_equal(one.w, other.w)


def test_neurons_of_a_narrow_network_are_the_first_of_a_wide_one():
    with exact_numerics():
        key = jax.random.key(3)
        data, narrow = mean_field.make(key, m=5)
        same, wide = mean_field.make(key, m=10)
        np.testing.assert_array_equal(data.x, same.x)
        # The scale is λ/√m.
        np.testing.assert_allclose(wide.w[:5] * 2**0.5, narrow.w, rtol=1e-15)


def test_the_population_flow_is_the_gradient_flow_of_its_network():
    times = (0.0, 1.0, 10.0, 30.0)
    with exact_numerics():
        _, network = population.make(jax.random.key(0), n=4, d=2, m=3, scale=0.1)
        teacher = (jnp.full((1, 2), 0.5**0.5), jnp.ones((1, 1)), 1.0)
        w, a = population_flow((network.w, network.a, 0.0), teacher, jnp.array(times))
        student = PopulationStudent(
            network.w,
            network.a,
            TwoLayer(*teacher[:2], activation=identity),
            sigma=jnp.asarray(0.3),
        )
        data, _ = population.make(jax.random.key(0), n=4, d=2)
        records = solve(
            student,
            data,
            GradientFlow(rtol=1e-9),
            half_mse,
            times,
            {"weights": _weights},
        ).records
    both = np.concatenate([w, a], axis=-1)
    np.testing.assert_allclose(records["weights"], both, rtol=1e-5, atol=1e-7)


def _weights(network, data):
    return jnp.concatenate([network.w, network.a], axis=1)


def test_the_distance_starts_at_0_and_the_law_is_that_of_two_regressions():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(1, 2, 3, 4, 3))
    weights[:, 1] = weights[:, 0]  # both sizes from one start, and then alike
    ds = xr.Dataset(
        {"weights": (("seed", "n", "time", "neuron", "weight"), weights)},
        {"n": [20, 40], "time": [0.0, 1.0, 2.0], "d": 2, "sigma": 0.5, "seed": [0]},
    )
    seen = population.numbers(ds)["distance"].sel(seed=0)
    np.testing.assert_allclose(seen.isel(time=0), 0, atol=1e-12)
    assert np.all(seen.isel(time=-1) > 0)
    np.testing.assert_allclose(seen.isel(n=0), seen.isel(n=1))
    expected = 2 * 2 * 0.25 / (np.array([20, 40]) - 6)
    np.testing.assert_allclose(population.law(ds), expected)


@pytest.mark.parametrize("widths", [(2, 4), (2, 6)])
def test_only_doubled_widths_are_compared(widths):
    outputs = xr.DataArray(
        np.zeros((2, 1, 1, 2, 3)),
        {"m": [*widths], "curve": ["network", "target"], "time": [0.0]},
        ("m", "seed", "time", "curve", "point"),
    )
    found = mean_field.distances(xr.Dataset({"outputs": outputs}))
    assert bool(found.isnull().all()) == (widths[1] != 4)


def test_on_the_circle_the_network_starts_at_0_with_the_mean_mass():
    with exact_numerics():
        network = mean_field.on_circle(50, scale=1.0)
        random = INITIAL_LAWS["balanced"](jax.random.key(0), m=20_000, d=2, scale=1.0)
        x = jax.random.normal(jax.random.key(1), (4, 2), jnp.float64)
        np.testing.assert_allclose(jax.vmap(network)(x), 0, atol=1e-12)
    mass = lambda net: float(
        jnp.sum(jnp.abs(net.a) * jnp.linalg.norm(net.w, axis=1)[:, None])
    )
    assert mass(network) == pytest.approx(mass(random), rel=0.03)


def test_scale_0_is_the_limit_and_others_share_a_program():
    flows = [FromScale(scale).prepared() for scale in ("0", "1e-20", "1e-50")]
    assert isinstance(flows[0].inner, VanishingStart)
    assert isinstance(flows[1].inner, ReluFlow)
    assert [flow.size for flow in flows] == [0, 1e-20, 1e-50]
    one, other = (jax.tree.structure(flow) for flow in flows[1:])
    assert one == other


def test_a_jump_is_that_of_the_first_neuron_of_its_cluster():
    limit = np.array([2.0, 1.0, 2.0, np.nan])
    error = vanishing_start._jumps(np.array([2.3, 1.1, 2.2, np.nan]), limit)
    np.testing.assert_allclose(error, [0.1, 0.2, 1.0])
    late = vanishing_start._jumps(np.array([1.0, 1.1, np.nan, 3.0]), limit)
    np.testing.assert_allclose(late, [0.1, 1.0, 0.0])
    never = vanishing_start._jumps(np.array([2.3, np.nan, 2.2, np.nan]), limit)
    np.testing.assert_allclose(never, [np.nan, 0.2, 0.0])

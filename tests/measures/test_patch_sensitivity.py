"""Patches replaced by noise, of functions whose sensitivity is known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.core import Dataset
from simbias.measures import PatchSensitivity


def sample(weight=(1.0, 1.0, 1.0, 1.0)):
    """Four inputs of three patches of two coordinates each."""
    x = jax.random.normal(jax.random.key(1), (4, 6), jnp.float64)
    is_patch = jnp.repeat(jnp.eye(3), 2, axis=1)
    y = jnp.ones((4, 1))
    return Dataset(x, y, jnp.asarray(weight), y, is_patch)


def first(x):
    return x[:1]


def constant(x):
    return jnp.stack([0 * x[0], 1 + 0 * x[0]])


def test_a_constant_never_changes():
    assert float(PatchSensitivity()(constant, sample())) == 0


def test_the_sign_of_one_pixel_changes_with_odds_of_one_half_in_its_patch():
    measure = PatchSensitivity(draws=2000)
    # Standard deviation: ½/√8000 of the share, a third of it.
    assert float(measure(first, sample())) == pytest.approx(1 / 6, abs=0.008)
    whole = PatchSensitivity(draws=2000, is_whole=True)
    assert float(whole(first, sample())) == pytest.approx(1 / 2, abs=0.023)


def test_two_outputs_are_a_class_each():
    both = lambda x: jnp.stack([x[0], -x[0]])
    measure = PatchSensitivity(draws=5)
    np.testing.assert_allclose(measure(both, sample()), measure(first, sample()))


def test_small_noise_is_as_good_as_zero_and_padding_does_not_count():
    shifted = lambda x: x[:1] - 0.1
    value = lambda data: float(PatchSensitivity(1e-9)(shifted, data))
    x = sample().x[:, 0]
    for weight in ([1.0] * 4, [1.0, 0.0, 0.0, 1.0]):
        share = np.average(np.asarray(x) > 0.1, weights=weight)
        assert value(sample(weight)) == pytest.approx(share / 3)


def test_the_first_rows_alone_are_seen():
    of_row = lambda i: sample([float(j == i) for j in range(4)])
    measure = lambda rows: PatchSensitivity(1e-9, rows=rows)
    shifted = lambda x: x[:1] - 0.1
    seen = measure(1)(shifted, sample())
    np.testing.assert_allclose(seen, measure(4)(shifted, of_row(0)))


@pytest.mark.parametrize(
    ("wrong", "named"),
    [({"noise": 0.0}, "`noise`"), ({"rows": 0}, "`rows`"), ({"draws": 0}, "`draws`")],
)
def test_what_makes_no_sense_is_named(wrong, named):
    with pytest.raises(ValueError, match=named):
        PatchSensitivity(**wrong)


def test_a_sample_without_patches_is_named():
    x = jnp.ones((2, 3))
    data = Dataset(x, x[:, :1], jnp.ones(2), x[:, :1], jnp.zeros((0, 3)))
    with pytest.raises(ValueError, match=r"`data.features`"):
        PatchSensitivity()(first, data)

"""Tasks for images and strings: what is planted in them, and what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.errors import BadInput
from simbias.experiments.matrix import bias_architectures
from simbias.experiments.matrix._architecture_tasks import (
    SIDE,
    image_task,
    string_task,
)
from simbias.experiments.matrix._rows import ROWS

KEY = jax.random.key(3)


def test_the_left_column_tells_the_class_and_is_the_simple_feature():
    data = image_task(KEY, "randomised", 40, 100)
    assert data.test is not None
    for sample in (data, data.test):
        column = sample.x.reshape(-1, SIDE, SIDE)[:, :, 0]
        np.testing.assert_array_equal(column, np.repeat(column[:, :1], SIDE, axis=1))
        assert bool(jnp.all(column[:, :1] * sample.y >= 0.5))
    assert np.flatnonzero(data.features[0]).tolist() == [SIDE * i for i in range(SIDE)]


def test_clones_of_images_share_means_and_covariances_class_by_class():
    data = image_task(KEY, "distributional", 40, 100)
    assert data.test is not None
    assert data.test.y[:, 0].tolist() == [1.0] * 100 + [-1.0] * 100
    for rows in (slice(0, 100), slice(100, 200)):
        real = data.test.x[rows]
        means, both = (data.others[k].x[rows] for k in ("means", "covariances"))
        for clone in (means, both):
            # Exact but for rounding, of pixels of the order 1.
            np.testing.assert_allclose(clone.mean(0), real.mean(0), atol=1e-9)
        np.testing.assert_allclose(jnp.cov(both.T), jnp.cov(real.T), atol=1e-9)
        assert float(jnp.abs(jnp.cov(means.T) - jnp.cov(real.T)).max()) > 0.1


def test_a_bit_and_a_parity_of_three_are_both_the_label():
    data = string_task(KEY, "randomised", 100)
    assert data.test is not None
    for sample in (data, data.test):
        y = sample.y[:, 0]
        np.testing.assert_array_equal(sample.x[:, 0], y)
        np.testing.assert_array_equal(jnp.prod(sample.x[:, 1:4], axis=1), y)


def test_a_line_is_right_on_three_of_four_strings():
    data = string_task(KEY, "information", 512)
    assert data.test is not None
    seen = {tuple(row) for row in data.x.tolist()}
    assert len(seen) == 512
    assert not seen & {tuple(row) for row in data.test.x.tolist()}
    # b₀ is right unless both products are of the other sign; ± 4 standard errors.
    right = jnp.mean(data.others["linear"].y == data.test.y)
    assert float(right) == pytest.approx(0.75, abs=4 * (0.1875 / 512) ** 0.5)


@pytest.mark.parametrize(
    ("architecture", "bias"),
    [("resnet", "sensitivity"), ("transformer", "distributional")],
)
def test_a_bias_that_is_not_defined_for_an_architecture_is_refused(architecture, bias):
    with pytest.raises(BadInput, match="bias"):
        bias_architectures.make(KEY, architecture=architecture, bias=bias)


def test_the_rule_is_that_of_the_matrix():
    for name, effect in bias_architectures.EFFECTS.items():
        row = ROWS[name]
        assert (effect.least, effect.least_staged) == (row.least, row.least_staged)
        assert bias_architectures.BANDS[name][0] == row.least


def test_the_transformer_has_the_rows_of_strings():
    chosen = bias_architectures.experiment("strings")
    assert chosen.cell["architecture"] == "transformer"
    assert chosen.cell["bias"] == bias_architectures.BIASES["transformer"]
    assert "sensitivity" in chosen.measures
    assert "separation" not in chosen.measures

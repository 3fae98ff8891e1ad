"""Images in patches, the same for every network, and what the claims read."""

import jax
import numpy as np
import pytest
import xarray as xr

from simbias.experiments.sensitivity import sensitivity_patches as patches

KEY = jax.random.key(0)
SMALL = {"n": 6, "n_test": 4, "width": 4, "depth": 1}


def test_every_network_has_the_same_images_in_patches_that_fill_them():
    made = {
        kind: patches.make(KEY, network=kind, **SMALL)
        for kind in ("transformer", "convolutional", "mlp")
    }
    x = made["mlp"][0].x
    for data, network in made.values():
        np.testing.assert_array_equal(data.x, x)
        np.testing.assert_array_equal(data.features.sum(axis=0), 1)
        assert data.features.shape == (16, 64)
        assert network(data.x[0]).shape == (10,)
    other, _ = patches.make(jax.random.key(1), network="mlp", **SMALL)
    assert not np.array_equal(other.x, x)


def test_colour_has_patches_of_all_channels():
    data, network = patches.make(KEY, source="dead_leaves", **SMALL)
    np.testing.assert_array_equal(data.features.sum(axis=1), 3 * 16)
    assert network(data.x[0]).shape == (3,)


def test_on_the_way_is_where_the_accuracy_passes_its_level():
    accuracy = [[0.1, 0.7, 1.0], [0.1, 0.2, 0.3]]
    ds = xr.Dataset(
        {
            "accuracy": (("sample", "seed", "time"), [accuracy, accuracy]),
            "sensitivity": (("seed", "time"), [[0.0, 0.3, 0.6], [0.1, 0.2, 0.3]]),
        },
        {"time": [0.0, 1.0, 2.0], "sample": ["train", "test"]},
    )
    # 0.9 is two thirds of the way from 0.7 to 1.
    np.testing.assert_allclose(patches.on_the_way(ds), [0.5, np.nan])


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"network": "resnet"}, "network"),
        ({"width": 6}, "`heads`"),
        ({"depth": 0}, "`depth`"),
        ({"source": "faces"}, "source"),
    ],
)
def test_what_makes_no_sense_is_named(wrong, named):
    with pytest.raises(Exception, match=named):
        patches.make(KEY, **SMALL | wrong)

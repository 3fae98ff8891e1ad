import jax
import pytest

from simbias.experiments.deep import (
    deep_alignment,
    deep_escape,
    deep_threshold,
    sliding_share,
)


@pytest.mark.parametrize("of", [deep_alignment, deep_escape, sliding_share])
def test_a_network_without_a_hidden_layer_raises_by_name(of):
    with pytest.raises(ValueError, match="`depth` must be 2 or more"):
        of.make(jax.random.key(0), depth=1)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"depth": 0}, "depth"),
        ({"waiting": 0.0}, "waiting"),
        ({"waiting": 1e5, "depth": 2}, "waiting"),
        ({"n": 0}, "n"),
    ],
)
def test_a_threshold_that_cannot_be_asked_for_raises_by_name(changes, named):
    with pytest.raises(ValueError, match=f"`{named}`"):
        deep_threshold.make(jax.random.key(0), **{"n": 8, **changes})

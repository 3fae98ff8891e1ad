"""Sums modulo p, and when they are told."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

from simbias.core import Dataset
from simbias.experiments.sensitivity import grokking
from simbias.measures import EmbeddingSensitivity
from simbias.networks import mlp, patch_transformer

KEY = jax.random.key(0)
SMALL = {"p": 5, "n": 15, "width": 4, "feed_forward": 4}


def test_every_pair_is_there_once_with_its_sum():
    data, network = grokking.make(KEY, **SMALL)
    test = data.test
    assert test is not None
    x = np.concatenate([data.x, test.x]).reshape(25, 2, 5)
    np.testing.assert_allclose(np.mean(x**2), 1)
    a, b = x.argmax(axis=2).T
    assert sorted(5 * a + b) == list(range(25))
    y = np.concatenate([data.y, test.y])
    np.testing.assert_array_equal(y.argmax(axis=1), (a + b) % 5)
    assert (len(data.x), network(data.x[0]).shape) == (15, (5,))


def history(train, test, sensitivity, has_norm=False):
    shape = (grokking.DECAY, "seed", "time")
    wide = lambda rows: np.repeat(np.asarray(rows, float)[:, None], 6, axis=1)
    accuracy = np.stack([wide(train), wide(test)], axis=-1)
    noise = 1e-3 * np.random.default_rng(0).normal(size=(len(train), 6, 4))
    s = wide(sensitivity) + noise
    return xr.Dataset(
        {
            "accuracy": ((*shape, "sample"), accuracy),
            "sensitivity": (shape, s),
            "relative": (shape, s),
        },
        {
            grokking.DECAY: [2.0, 0.0][: len(train)],
            "seed": range(6),
            "sample": ["train", "test"],
            "time": grokking.RATE * np.array([0, 100, 600, 2000]),
            "p": 29,
        },
    ).expand_dims(has_norm=[has_norm])


def test_moments_and_falls_are_those_of_the_history():
    rows = ([[0, 1, 1, 1]], [[0, 0.5, 0.95, 1]], [[0.2, 0.9, 0.5, 0.1]])
    part = history(*rows).isel({grokking.DECAY: 0, "has_norm": 0})
    fitted, understood = grokking.moments(part)
    np.testing.assert_allclose(fitted / grokking.RATE, 99)
    np.testing.assert_allclose(understood / grokking.RATE, 600)
    np.testing.assert_allclose(grokking.fall(part, "sensitivity"), 0.8, atol=0.01)
    assert float(grokking.together(part, "sensitivity").max()) < -0.9


def test_a_seed_that_never_tells_the_others_is_not_left_out():
    ds = history([[0, 1, 1, 1]], [[0, 0.5, 0.9, 1]], [[0.2, 0.9, 0.5, 0.1]])
    told = ds["accuracy"].copy()
    told.loc[{"seed": 3, "sample": "test"}] = 0.5
    gap = "/ steps until train accuracy 99%"
    (seen,) = (c for c in grokking.claims(ds) if gap in c.statement)
    assert np.isfinite(seen.estimate.value)
    (seen,) = (
        c for c in grokking.claims(ds.assign(accuracy=told)) if gap in c.statement
    )
    assert np.isinf(seen.estimate.value)
    assert seen.verdict == "inconclusive"


def test_claims_tell_grokking_from_its_control():
    fit, late, early = [0, 1, 1, 1], [0, 0.5, 0.9, 1], [0, 0.5, 0.5, 0.5]
    falls, stays = [0.2, 0.9, 0.5, 0.1], [0.2, 0.9, 0.9, 0.85]
    ds = history([fit, fit], [late, early], [falls, stays])
    # Six seeds of the same accuracies are no sample: the first has no interval.
    first, *others = [c.verdict for c in grokking.claims(ds)]
    assert first == "inconclusive"
    assert set(others) == {"supported"}
    turned = history([fit, fit], [early, late], [stays, falls])
    verdicts = [c.verdict for c in grokking.claims(turned)]
    assert verdicts[0] == "inconclusive"
    assert "supported" not in verdicts[-3:]


def test_claims_are_of_networks_with_and_without_layer_norm_each():
    fit, late, early = [0, 1, 1, 1], [0, 0.5, 0.9, 1], [0, 0.5, 0.5, 0.5]
    falls, stays = [0.2, 0.9, 0.5, 0.1], [0.2, 0.9, 0.9, 0.85]
    plain = history([fit, fit], [late, early], [falls, stays])
    normed = history([fit, fit], [late, early], [stays, stays], has_norm=True)
    seen = grokking.claims(xr.concat([plain, normed], "has_norm"))
    fallen = {c.statement: c.verdict for c in seen if "fitted less S" in c.statement}
    assert len(seen) == 22
    for text, verdict in fallen.items():
        is_plain = text.startswith("no layer norm")
        assert verdict == ("supported" if is_plain else fallen[text])
    gaps = [c for c in seen if "weight decay less that without" in c.statement]
    verdicts = [c.verdict for c in gaps]
    assert verdicts[:2] == ["supported"] * 2
    assert "supported" not in verdicts[2:]


def test_with_normalisation_the_size_of_what_it_reads_does_not_matter():
    h = jnp.arange(1.0, 5)
    for has_norm in (True, False):
        norm = grokking.make(KEY, **SMALL, has_norm=has_norm)[1].layers[0].norms[0]
        is_same = np.allclose(norm(100 * h), norm(h), atol=1e-4)
        assert is_same == has_norm


def test_without_an_embedding_there_is_nothing_to_be_noised():
    data, _ = grokking.make(KEY, **SMALL)
    with pytest.raises(ValueError, match="`embedded`"):
        EmbeddingSensitivity()(mlp(KEY, (10, 5)), data)


def test_the_sensitivity_of_a_threshold_is_that_of_gaussian_noise():
    # Of one token h = x and one output, the sum of h: it changes with odds Φ(−|h|/s√2).
    net = patch_transformer(KEY, image=(1, 1, 2), patch=(1, 2), width=2, depth=1)

    class Sum:
        embedded = staticmethod(lambda x: x.reshape(1, 2))
        read = staticmethod(lambda h: jnp.sum(h)[None])

    x = jnp.array([[1.0, 0.5], [-0.2, 0.1]])
    data = Dataset(x, x[:, :1], jnp.ones(2), x[:, :1], x[:0])
    odds = jax.scipy.stats.norm.cdf(-abs(x.sum(1)) / (0.7 * 2**0.5))
    measure = EmbeddingSensitivity(0.7, draws=20_000)
    np.testing.assert_allclose(measure(Sum(), data), odds.mean(), atol=0.01)
    size = float(jnp.sqrt(jnp.mean(x**2)))
    same = EmbeddingSensitivity(0.7 / size, is_relative=True, draws=20_000)
    np.testing.assert_allclose(same(Sum(), data), measure(Sum(), data), atol=1e-3)
    assert 0 <= float(EmbeddingSensitivity(10.0)(net, data)) <= 1


@pytest.mark.parametrize(
    ("wrong", "named"),
    [({"n": 25}, "`n`"), ({"p": 0}, "`p`"), ({"heads": 3}, "`heads`")],
)
def test_what_makes_no_sense_is_named(wrong, named):
    with pytest.raises(ValueError, match=named):
        grokking.make(KEY, **SMALL | wrong)

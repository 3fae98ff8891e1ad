"""Targets of known sensitivity, and what the claims read."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

from simbias.experiments._times import rate_of
from simbias.experiments.sensitivity import sensitivity_training
from simbias.measures.risk.test_sign_accuracy import TestSignAccuracy
from simbias.numerics.boolean_sensitivity import sensitivity
from simbias.numerics.walsh_hadamard import cube
from simbias.verbs.simulate import planned


@pytest.mark.parametrize(("target", "level"), [("sparse", 0.5), ("full", 1.0)])
def test_the_target_has_the_sensitivity_that_is_drawn(target, level):
    data, _ = sensitivity_training.make(
        jax.random.key(0), network="mlp", target=target, n=6, rows=40, k=3, flips=0.0
    )
    seen = {tuple(x): y for x, y in zip(data.x.tolist(), data.y[:, 0], strict=True)}
    rest = data.test
    seen |= {tuple(x): y for x, y in zip(rest.x.tolist(), rest.y[:, 0], strict=True)}
    is_one = jnp.array([bool(seen[tuple(x)] > 0) for x in cube(6).tolist()])
    assert float(sensitivity(is_one)) == pytest.approx(level)
    ds = xr.Dataset(coords={"k": 3, "n": 6})
    assert sensitivity_training.level(ds, target) == pytest.approx(level)


def test_accuracy_is_of_the_strings_not_seen():
    data, network = sensitivity_training.make(
        jax.random.key(1), network="mlp", n=5, rows=8, width=4
    )
    found = jax.vmap(network)(data.test.x)
    share = np.mean((found > 0) == (data.test.y > 0))
    assert float(TestSignAccuracy()(network, data)) == pytest.approx(share)


def test_the_sizes_of_the_paper_are_planned_with_strings_that_are_drawn():
    chosen = sensitivity_training.experiment("paper", target="sparse", network="mlp")
    plan = planned(chosen)
    (group,) = plan.groups
    data = group.lane.data
    # Rows of the sample are padded to a size that others share.
    assert 30_000 <= data.x.shape[0] < 2 * 30_000
    assert data.x.shape[1] == 40
    assert data.test.x.shape == (10_000, 40)
    assert plan.size == 20
    ds = xr.Dataset(coords={"flow.rate": chosen.cell["flow.rate"]})
    steps = chosen.times[-1] / rate_of(ds, sensitivity_training.RATE)
    # 1500 epochs of 60 batches.
    assert steps == pytest.approx(1500 * 30_000 / chosen.flow.batch)


def test_a_target_that_is_not_known_is_named():
    with pytest.raises(Exception, match="target"):
        sensitivity_training.make(jax.random.key(0), target="half")

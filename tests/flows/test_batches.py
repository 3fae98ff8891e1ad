"""Which rows a step of descent sees, and what it does with their gradient."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.core import Dataset, Experiment
from simbias.flows._descent.batches import Drawing, draw_batch, first_batches
from simbias.flows.descent import Descent
from simbias.networks.activations import identity
from simbias.networks.two_layer import TwoLayer
from simbias.verbs.simulate import simulate


class _Line(eqx.Module):
    """Rows of the law y = slope · x."""

    slope: jax.Array

    def __call__(self, key, rows):
        x = jax.random.normal(key, (rows, 1), jnp.float64)
        return x, self.slope * x


def _batches_of(flow, *, n=6, times=(0.0, 1.0, 2.0, 3.0, 4.0), cell=(), fresh=True):
    """Which rows each step saw: the network adds up 2^row."""

    def make(key, *, n: int = n):
        del key
        x = 2.0 ** jnp.arange(n, dtype=jnp.float64)[:, None]
        law = _Line(jnp.asarray(2.0)) if fresh else None
        data = Dataset(x, x, jnp.ones(n), x, jnp.eye(1), fresh=law)
        network = TwoLayer(
            jnp.zeros((1, 1)),
            jnp.ones((1, 1)),
            activation=identity,
            frozen=("a",),
        )
        return data, network

    # The gradient of the mean of −f is −mean(x).
    def minus(f, y, weight):
        del y
        return -jnp.sum(weight[:, None] * f) / jnp.sum(weight)

    experiment = Experiment(
        "batches",
        make,
        {"n": n, **dict(cell)},
        2,
        flow,
        minus,
        times,
        {"w": lambda net, _: net.w[0, 0]},
    )
    return simulate(experiment)["w"]


@pytest.mark.slow
def test_rows_with_replacement_are_uniform_and_independent():
    flow = Descent(rate=1.0, batch=1, sampling="replacement")
    w = _batches_of(flow, times=tuple(np.arange(0.0, 601.0)))
    rows = np.log2(w.diff("time").values.reshape(-1))
    np.testing.assert_array_equal(rows, np.round(rows))
    counts = np.bincount(rows.astype(int), minlength=6)
    # 1200 draws of six rows; χ² of five degrees is below 20.5 with 0.999.
    assert np.sum((counts - 200) ** 2 / 200) < 20.5
    repeats = np.mean(rows[1:] == rows[:-1])
    assert repeats == pytest.approx(1 / 6, abs=0.05)


@pytest.mark.parametrize("sampling", ["replacement", "epochs"])
def test_padding_is_never_drawn_wherever_it_is(sampling):
    weight = jnp.asarray([0.0, 1.0, 0.0, 0.5, 2.0])
    x = jnp.arange(5.0)[:, None]
    data = Dataset(x, x, weight, x, jnp.eye(1))
    start = first_batches(jax.random.key(0), data, sampling)
    drawing = Drawing(sampling, 60, None, 0)
    (rows, _, kept), _ = draw_batch(start, data, drawing, jnp.int32(0))
    seen = np.asarray(rows[:, 0])[np.asarray(kept) > 0]
    assert set(seen.tolist()) == {1.0, 3.0, 4.0}
    assert seen.size == (60 if sampling == "replacement" else 3)


@pytest.mark.slow
def test_fresh_rows_come_from_the_law():
    flow = Descent(rate=1.0, batch=3, sampling="fresh")
    w = _batches_of(flow, times=tuple(np.arange(0.0, 401.0)))
    steps = w.diff("time").values
    # Means of three standard normal numbers, no two alike.
    assert len(np.unique(steps)) == steps.size
    assert np.mean(steps) == pytest.approx(0, abs=0.1)
    assert np.var(steps) == pytest.approx(1 / 3, rel=0.2)


@pytest.mark.slow
def test_branches_share_all_before_the_fork_and_nothing_after():
    flow = Descent(rate=1.0, batch=1, fork=3)
    w = _batches_of(flow, n=8, times=tuple(np.arange(0.0, 12.0)),
                    cell={"flow.branch": (0, 1, 2)}.items())  # fmt: skip
    steps = np.log2(w.diff("time")).transpose("flow.branch", "seed", "time", ...)
    before, after = steps[..., :3], steps[..., 3:]
    for branch in (1, 2):
        np.testing.assert_array_equal(before[0], before[branch])
        assert (after[0] != after[branch]).any("time").all()
    # An epoch begins at the fork: all eight rows once.
    np.testing.assert_array_equal(np.sort(after, axis=-1)[0, 0], np.arange(8))
    plain = _batches_of(Descent(rate=1.0, batch=1), n=8, times=(0.0, 1.0, 2.0, 3.0))
    np.testing.assert_array_equal(
        np.log2(plain.diff("time")).values, before.isel({"flow.branch": 0}).values
    )


@pytest.mark.slow
def test_clipping_cuts_the_norm_of_the_gradient():
    free = _batches_of(Descent(rate=1.0, batch=1)).diff("time")
    cut = _batches_of(Descent(rate=1.0, batch=1, clip=4.0)).diff("time")
    np.testing.assert_allclose(cut, np.minimum(free, 4.0), rtol=1e-15)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"sampling": "fresh"}, "batch"),
        ({"sampling": "replacement"}, "batch"),
        ({"fork": 3}, "fork"),
        ({"branch": 2, "batch": 2}, "branch"),
        ({"fork": -1, "batch": 2}, "fork"),
        ({"fork": 2**31, "batch": 2}, "fork"),
        ({"branch": -1, "batch": 2}, "branch"),
        ({"clip": 0.0}, "clip"),
        ({"clip": float("nan")}, "clip"),
    ],
)
def test_batches_that_cannot_be_are_refused(fields, named):
    with pytest.raises(ValueError, match=f"`{named}`"):
        Descent(**fields)


def test_fresh_rows_need_a_law():
    flow = Descent(batch=2, sampling="fresh")
    with pytest.raises(ValueError, match=r"`fresh`"):
        _batches_of(flow, fresh=False)

"""Staircases that are put in by hand: what counts as the limit's."""

import numpy as np
import pytest
import xarray as xr

from simbias.experiments.asymptotics.staircase import (
    LIMIT,
    SCALE,
    claims,
    numbers,
    staircases,
)

TIMES = np.linspace(0, 12, 241)
SCALES = (LIMIT, "1e-32", "1e-16", "0.01", "0.3")
# Loss before, between and after two steps; when two neurons leave.
LEVELS, LEAVES = np.array([2.0, 1.2, 0.4]), np.array([2.02, 6.02])


def made(seeds=12):
    """One staircase, at all λ; from λ neurons leave 2/ln(1/λ) earlier."""
    unit = -np.log([1e-200, *(float(v) for v in SCALES[1:])])
    leaves = LEAVES - 2 / unit[:, None]
    step = 1 / (1 + np.exp(-np.clip((TIMES - leaves[..., None]) * 200, -300, 300)))
    loss = LEVELS[0] - 0.8 * step.sum(axis=1)
    weights = np.zeros((len(SCALES), len(TIMES), 3, 3))
    size = 1e-20 + step.transpose(0, 2, 1)
    weights[..., 0, 0], weights[..., 0, 2] = size[..., 0], size[..., 0]
    weights[..., 1, 1], weights[..., 1, 2] = size[..., 1], -size[..., 1]
    weights[..., 2, :] = 1e-20
    left = np.concatenate([leaves, np.full((len(SCALES), 1), np.nan)], axis=1)
    width = 1 + (leaves[:, 1:] < TIMES)
    dims = (SCALE, "time")
    ds = xr.Dataset(
        {
            "train_risk": (dims, loss),
            "width": (dims, width.astype(float)),
            "weights": ((*dims, "neuron", "weight"), weights),
            "left_time": ((SCALE, "event"), left),
            "status": ((SCALE,), np.ones(len(SCALES), np.int8)),
        },
        {SCALE: list(SCALES), "time": TIMES},
    )
    wide = ds.expand_dims(seed=np.arange(seeds)).copy(deep=True)
    return wide.transpose(SCALE, "seed", ...)


def test_the_neuron_that_escapes_is_read_on_the_plateau():
    seen = staircases(made()).isel(seed=0).sel({SCALE: LIMIT})
    assert int(seen["count"]) == 2
    np.testing.assert_allclose(seen["level"][:2], [1, 0.6], atol=1e-3)
    np.testing.assert_allclose(seen["leaves"][:2], LEAVES - 2 / np.log(1e200))
    np.testing.assert_allclose(seen["direction"][:2], np.eye(2), atol=1e-12)
    np.testing.assert_array_equal(seen["sign"][:2], [1, 0])
    np.testing.assert_array_equal(seen["width"][:2], [1, 2])


def test_equal_staircases_agree_and_slopes_are_times_of_the_limit():
    found = claims(made())
    by = {c.statement: c for c in found}
    assert by["λ = 1e-32: as many plateaus as the limit"].estimate.value == 1
    slopes = [c.estimate.value for c in found if c.statement.startswith("slope")]
    # The limit here is λ = 1e-200.
    expected = LEAVES / (LEAVES - 2 / np.log(1e200))
    np.testing.assert_allclose(slopes[:2], expected, rtol=1e-12)
    assert by["control, λ = 0.3: plateaus and losses of the limit"].verdict == (
        "contradicted"
    )


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        ("loss", {"agrees"}),
        ("step", {"has_count", "agrees"}),
        ("direction", {"has_neurons"}),
        ("sign", {"has_neurons"}),
        ("width", {"has_widths"}),
    ],
)
def test_what_differs_is_named(change, differs):
    ds = made()
    at = {SCALE: 1}
    if change == "loss":
        between = (ds["time"] > 1.98) & (ds["time"] < 5.98)
        low = ds["train_risk"] - 0.05 * between
        ds["train_risk"] = low.where(ds[SCALE] == "1e-32", ds["train_risk"])
    elif change == "step":
        ds["train_risk"][at] = ds["train_risk"][at].clip(LEVELS[1])
    elif change == "direction":
        ds["weights"][{**at, "neuron": 1, "weight": 0}] = ds["weights"][
            {**at, "neuron": 1, "weight": 1}
        ]
    elif change == "sign":
        ds["weights"][{**at, "weight": 2}] *= -1
    else:
        ds["width"][at] = 1
    seen = numbers(ds).sel({SCALE: "1e-32"})
    names = ("has_count", "agrees", "has_neurons", "has_widths")
    assert {k for k in names if float(seen[k].min()) == 0} == differs

"""Claims on the norm tell networks near the least norm from others."""

import numpy as np
import pytest
import xarray as xr

from simbias.experiments.interpolation import norm_gap


@pytest.mark.parametrize(
    ("small", "verdicts"),
    [
        (1.05, ["supported", "supported", "supported"]),
        (1.0005, ["supported", "contradicted", "supported"]),
        (3.0, ["contradicted", "supported", "supported"]),
    ],
)
def test_the_claims_tell_near_from_equal_and_from_far(monkeypatch, small, verdicts):
    scale = [1e-6, 1e-3, 1.0, 10.0]
    rng = np.random.default_rng(0)
    noise = 1 + 1e-4 * rng.standard_normal((1, 4, 40))
    values = np.array([small, small, 2, 50])[None, :, None] * noise
    ratio = xr.DataArray(values, {"n": [4], "scale": scale}, ("n", "scale", "seed"))
    moved = 1 + 0 * ratio + 1e-3 * noise
    found = xr.Dataset({"ratio": ratio, "moved": moved, "fits": 0 * ratio + 1})
    monkeypatch.setattr(norm_gap, "ratios", lambda _: found)
    rows = norm_gap.claims(found)
    assert [c.verdict for c in rows] == [*verdicts, "supported", "supported"]

"""What is known of the limit, and what a map makes of it."""

import numpy as np
import pytest
import xarray as xr

from simbias.core import Status
from simbias.experiments import phase_diagram
from simbias.experiments.interpolation._map import refined, shares, verdict
from simbias.experiments.interpolation._rest import known_limits, size_of_half

SIGMA = 0.5
REST, CLOCK = int(Status.STATIONARY), int(Status.REACHED_TIME)


def result(n, status, loss):
    """Of sizes and seeds, at one λ, with losses over σ²."""
    axes = ("n", "scale", "seed")
    status, loss = (np.asarray(v, float)[:, None] for v in (status, loss))
    coords = {"n": n, "scale": [1e-3], "seed": range(status.shape[2])}
    return xr.Dataset(
        {
            "status": (axes, status),
            "train_risk": ((*axes, "time"), loss[..., None] * SIGMA**2),
        },
        {**coords, "time": [1.0], "sigma": SIGMA, "d": 3, "m": 10},
    )


def test_a_clock_decides_nothing_but_interpolation():
    ds = result([4, 8], [[REST, CLOCK], [CLOCK, REST]], [[0.4, 0.4], [1e-3, 1e-3]])
    seen = known_limits(ds)["interpolates"].values[:, 0]
    np.testing.assert_array_equal(seen, [[0, np.nan], [1, 1]])


def test_what_is_undecided_makes_the_interval_of_n_star_wider():
    values = np.repeat([[1.0], [1.0], [0.0], [0.0]], 20, axis=1)
    dims, n = ("n", "seed"), {"n": [4, 8, 16, 32]}
    known = size_of_half(xr.DataArray(values, n, dims))
    values[1:3, :15] = np.nan
    wide = size_of_half(xr.DataArray(values, n, dims))
    assert wide.low < known.low < known.high < wide.high


def test_a_cell_is_decided_by_the_interval_of_its_share():
    status = [[REST] * 12, [REST] * 12, [CLOCK] * 12]
    loss = [[0.0] * 12, [0.4] * 12, [0.4] * 12]
    found = shares(result([3, 6, 12], status, loss))
    assert [verdict(found[n, 1e-3]) for n in (3, 6, 12)] == [1, -1, 0]


def test_a_cell_says_what_is_unknown_of_it():
    status = [[REST] * 4, [REST, REST, REST, CLOCK], [CLOCK] * 4]
    loss = [[0.0, 0.0, 0.0, 0.4], [0.0, 0.4, 0.4, 0.4], [0.4] * 4]
    axes = phase_diagram.figure(result([3, 6, 12], status, loss)).axes[0]
    assert [text.get_text() for text in axes.texts] == [
        "0.75\nof 4",
        "0.25…0.50\nof 4",
        "?\nof 4",
    ]


def test_seeds_are_added_where_it_is_open_and_sizes_between_what_is_not():
    status = [[REST] * 12] * 3
    loss = [[0.0] * 12, [0.4] * 12, [0.0, 0.4] * 6]
    ds = result([3, 12, 24], status, loss)
    expected = {(3, 1e-3): 12, (6, 1e-3): 12, (12, 1e-3): 12, (24, 1e-3): 20}
    assert refined(ds, most=20) == expected


def test_no_seeds_are_added_where_time_is_what_is_missing():
    status = [[REST] * 4 + [CLOCK] * 8, [REST] * 8 + [CLOCK] * 4]
    ds = result([3, 12], status, [[0.4] * 12] * 2)
    assert refined(ds, most=64) == {(3, 1e-3): 12, (12, 1e-3): 24}


@pytest.mark.parametrize("preset", ["smoke", "quick", "paper"])
def test_a_map_holds_a_size_beyond_the_one_of_theory(preset):
    cell = phase_diagram.experiment(preset).cell
    assert max(cell["n"]) >= np.min(cell["d"]) ** 3

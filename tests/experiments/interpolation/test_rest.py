"""What is known of the limit, and what a map makes of it."""

import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import simbias
from simbias.core import Dataset, Status
from simbias.experiments import phase_diagram
from simbias.experiments.interpolation import _rest
from simbias.experiments.interpolation._map import refined, shares, verdict
from simbias.experiments.interpolation._rest import known_limits, size_of_half, spurious

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


def spurious_of(monkeypatch, x, y, status, loss, norm, **options):
    """Of one size, for networks with samples (x, y) and losses over σ²."""
    with simbias.exact_numerics():
        data = Dataset(jnp.asarray(x, float), jnp.asarray(y, float)[:, None])
    drawn = lambda ds, _, wanted: ((v, {}, data) for v in np.argwhere(wanted.values))
    places = lambda *given: ((tuple(v), c, d) for v, c, d in drawn(*given))
    monkeypatch.setattr(_rest, "samples", places)
    ds = result([len(y)], [status], [loss])
    ds["norm"] = (ds["train_risk"].dims, np.reshape(norm, (1, 1, -1, 1)))
    return spurious(ds, phase_diagram.experiment(), **options).values.ravel()


def test_a_limit_is_spurious_if_a_network_of_any_width_is_better(monkeypatch):
    x, y = np.eye(3), np.ones(3)
    status, loss = [REST, REST, CLOCK, CLOCK], [0.4, 0.4, 1e-3, 0.4]
    # A proof says nothing if the neurons are so large that they may still fit.
    seen = spurious_of(monkeypatch, x, y, status, loss, [1.0, 300.0, 1.0, 1.0])
    np.testing.assert_array_equal(seen, [1, np.nan, 0, np.nan])
    # Nor is a limit above the witness of its own width, if that is no better.
    seen = spurious_of(monkeypatch, x, y, status, loss, np.ones(4), witness=0.1)
    np.testing.assert_array_equal(seen, [np.nan, np.nan, 0, np.nan])


def test_what_no_network_fits_makes_no_limit_spurious(monkeypatch):
    """Two labels ±δ of one input leave δ²."""
    x, y = np.ones((2, 3)), 0.4 * SIGMA * np.array([1.0, -1.0])
    seen = spurious_of(monkeypatch, x, y, [REST, REST], [0.161, 0.2], [1e-3, 1e-3])
    np.testing.assert_array_equal(seen, [0, 1])


def test_outputs_move_by_no_more_than_the_bound_of_a_proof():
    rng = np.random.default_rng(0)
    tau, x = 1e-3, np.array([1.0, 2.0, -1.0])
    z = rng.standard_normal((500, 4))
    step = rng.standard_normal((500, 4))
    step *= (tau * np.linalg.norm(z, axis=1) / np.linalg.norm(step, axis=1))[:, None]
    # The worst: one neuron along x, whose w and a grow.
    z[0], step[0] = [*x, 6**0.5], tau * np.array([*x, 6**0.5])
    f = lambda z: z[:, 3] * np.maximum(z[:, :3] @ x, 0)
    moved = np.abs(f(z + step) - f(z))
    bound = _rest.further(tau) * (z**2).sum(1) / 2 * np.linalg.norm(x)
    assert np.all(moved <= bound * (1 + 1e-9))
    assert moved[0] == pytest.approx(bound[0])

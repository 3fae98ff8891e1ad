"""Seeds until claims are decided: rounds, cells, budget, and what is kept."""

import dataclasses
import itertools
import sys
import types

import pytest
from small import small

from simbias.claims import mean_of, smallest_of
from simbias.results import is_finished
from simbias.verbs.decide import decide


def spread(ds, scale):
    """One value per seed, of mean ½ in [0, 1], drawn from the start of a network."""
    value = ds["risk"].isel(time=0).sel(scale=scale)
    return (1e6 * value) % 1.0


def claims(ds):
    ours = lambda scale, band: mean_of(f"at {scale}", spread(ds, scale), band, "ours")
    return [
        ours(0.1, (0.0, 1.0)),
        ours(0.5, (0.4, 0.6)),
        smallest_of("all", [1], (0, 2), ""),
    ]


@pytest.fixture
def experiment():
    return small(cell={"n": 6, "scale": (0.1, 0.5)}, seeds=2)


@pytest.mark.slow
def test_seeds_go_where_claims_are_open(experiment, tmp_path):
    ds, decided = decide(experiment, claims, tmp_path / "run.zarr")
    easy, hard, exact = decided
    assert (easy.claim.verdict, easy.seeds, easy.needed) == ("supported", 20, None)
    assert exact.seeds == 20
    assert hard.claim.verdict == "supported"
    assert hard.seeds > 20
    done = is_finished(ds).sum("seed")
    assert done.sel(scale=0.5) == hard.seeds
    assert done.sel(scale=0.1) < hard.seeds
    # The same call computes nothing, and says the same.
    again, twice = decide(experiment, claims, tmp_path / "run.zarr")
    assert twice == decided
    assert again.identical(ds)


def test_no_round_is_begun_beyond_the_budget(experiment, tmp_path):
    _, decided = decide(experiment, claims, tmp_path / "run.zarr", budget=1e-9)
    assert [one.seeds for one in decided] == [20, 20, 20]
    hard = decided[1]
    assert hard.claim.verdict == "inconclusive"
    assert hard.needed > 20


@pytest.mark.slow
def test_a_run_whose_first_look_is_stored_goes_on(experiment, tmp_path, monkeypatch):
    place = tmp_path / "run.zarr"
    _, (_, before, _) = decide(experiment, claims, place, budget=1e-9)
    # A second passes at each look at the clock: 20 networks at the pace of those that
    # were read would take longer than the budget.
    clock = types.SimpleNamespace(monotonic=itertools.count().__next__)
    monkeypatch.setattr(sys.modules["simbias.verbs.decide"], "time", clock)
    _, (_, after, _) = decide(experiment, claims, place, budget=10.0)
    assert after.seeds > before.seeds


def test_what_cannot_be_decided_is_refused(experiment, tmp_path):
    alone = dataclasses.replace(experiment, seeds=None)
    with pytest.raises(ValueError, match="no replicates"):
        decide(alone, claims, tmp_path / "run.zarr")
    with pytest.raises(ValueError, match="`budget` must be positive"):
        decide(experiment, claims, tmp_path / "run.zarr", budget=0.0)

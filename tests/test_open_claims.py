"""What more seeds decided is counted and listed as it is stored."""

import json

import pytest
from tree import ROOT


@pytest.fixture
def tools(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import open_claims  # pyright: ignore

    return open_claims


def claim(statement, verdict, **more):
    ends = {"value": 0.5, "low": 0.4, "high": 0.6, "level": 0.95, "band": [0, 1]}
    return {"statement": statement, "verdict": verdict, **ends, **more}


def check(*claims, **more):
    return {"experiment": "threshold", "preset": "quick", "claims": [*claims], **more}


QUICK = {
    "threshold": check(
        claim("a", "inconclusive"), claim("b", "supported"), claim("c", "inconclusive")
    ),
    "parity": check(claim("d", "inconclusive")),
    "slabs": check(claim("e", "inconclusive")),
}
TOOK = {"members": 80, "finished": 40, "processor_seconds": 60.0, "is_stopped": False}
MORE = {
    "threshold": check(
        claim("a", "contradicted", seeds=20, seeds_needed=None),
        claim("b", "inconclusive", seeds=40, seeds_needed=100),
        claim("c", "inconclusive", seeds=40, seeds_needed=None),
        **TOOK,
    ),
    "parity": check(**{**TOOK, "is_stopped": True}),
}


def rows(text):
    lines = text.splitlines()[2:]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]


@pytest.fixture
def place(tmp_path):
    for name, one in MORE.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(one))
    return tmp_path


def test_totals_replace_the_runs_that_finished_with_more_seeds(tools, place):
    totals = rows(tools.open_claims("totals", QUICK, place))
    # Supported, contradicted, inconclusive, not applicable.
    assert [row[1:] for row in totals] == [
        ["1", "0", "4", "0"],
        ["0", "1", "4", "0"],
        ["1", "0", "2", "0"],
        ["0", "1", "2", "0"],
        # b keeps its quick verdict.
        ["1", "1", "3", "0"],
    ]


def test_claims_that_turned_are_listed_in_both_directions(tools, place):
    turned = rows(tools.open_claims("turned", QUICK, place))
    assert [(row[1], row[-1]) for row in turned] == [
        ("a", "inconclusive → contradicted"),
        ("b", "supported → inconclusive"),
    ]


def test_every_open_claim_has_a_reason_and_the_cost_of_the_further_seeds(tools, place):
    left = {row[1]: row[-2:] for row in rows(tools.open_claims("left", QUICK, place))}
    # Two cells of 40 seeds; 60 s for 40 networks are 3 s a seed, and 60 seeds are left.
    assert left["b"] == ["budget spent", "100 seeds, 3.0 min"]
    assert left["c"] == ["at the edge of the band", "over 1000 times the seeds"]
    assert left["d"] == ["the run was stopped", "over 1.0 min"]
    assert left["e"][0] == "not run with more seeds"


def test_a_claim_without_a_finite_value_is_not_decided_by_seeds(tools, tmp_path):
    infinite = claim("a", "inconclusive", value=None, seeds=20, seeds_needed=None)
    (tmp_path / "threshold.json").write_text(json.dumps(check(infinite, **TOOK)))
    left = rows(tools.open_claims("left", QUICK, tmp_path))
    assert ["no finite value", "seeds do not decide"] in [row[-2:] for row in left]


def test_stored_claims_count_as_they_are_listed(tools):
    folder = ROOT / "benchmarks" / "results" / "check_quick"
    checked = {f.stem: json.loads(f.read_text()) for f in folder.glob("*.json")}
    after = rows(tools.open_claims("totals", checked))[1]
    assert len(rows(tools.open_claims("left", checked))) == int(after[3])

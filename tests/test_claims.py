"""A claim is a band, and what was seen, with its interval, is judged against it."""

import json

import pytest
import xarray as xr

from simbias.cli._shown import claims_document, print_claims
from simbias.core import Claim, Status

NAN = float("nan")
INF = float("inf")


def claim(observed, interval=None, low=0.0, high=1.0):
    return Claim("share", observed, low, high, "ours", interval)


@pytest.mark.parametrize(
    ("observed", "interval", "verdict"),
    [
        (0.5, None, "holds"),
        (0.0, None, "holds"),
        (1.5, None, "fails"),
        (NAN, None, "undecided"),
        (0.5, (0.25, 0.75), "holds"),
        (0.5, (0.0, 1.0), "holds"),
        # The number alone would do, or would not; its interval knows neither.
        (0.9, (0.75, 1.25), "undecided"),
        (1.1, (0.75, 1.25), "undecided"),
        (0.5, (-1.0, 2.0), "undecided"),
        (1.5, (1.25, 1.75), "fails"),
        (-0.5, (-0.75, -0.25), "fails"),
        (0.5, (-INF, INF), "undecided"),
        (NAN, (0.25, 0.75), "undecided"),
        (0.5, (NAN, 0.75), "undecided"),
    ],
)
def test_a_claim_holds_where_the_whole_interval_lies_in_the_band(
    observed, interval, verdict
):
    assert claim(observed, interval).verdict == verdict


def test_a_band_without_an_end_takes_an_interval_without_one():
    assert claim(3.0, (2.0, INF), low=1.0, high=INF).verdict == "holds"


def test_intervals_are_printed_and_written_as_json(capsys):
    ds = xr.Dataset({"status": ("seed", [int(Status.REACHED_TIME)])})
    claims = [claim(0.5, (0.25, INF)), claim(0.5)]
    print_claims("toy", ds, claims)
    lines = capsys.readouterr().out.splitlines()[-2:]
    assert lines[0] == "  undecided share: 0.5 [0.25, inf] (expected 0 … 1; ours)"
    assert lines[1] == "  holds     share: 0.5 (expected 0 … 1; ours)"
    text = json.dumps(claims_document("toy", "quick", ds, claims), allow_nan=False)
    assert [c["interval"] for c in json.loads(text)["claims"]] == [[0.25, None], None]

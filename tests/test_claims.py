"""A claim is a band, and what was seen, with its interval, is compared with it."""

import json
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import simbias
from simbias import claims
from simbias.analysis.at import at
from simbias.cli._figures_and_claims import claims_document, print_claims
from simbias.core import Claim, Estimate, Status
from simbias.errors import BadInput

NAN = float("nan")
INF = float("inf")


def claim(value, interval, low=0.0, high=1.0):
    low_seen, high_seen = interval
    seen = Estimate(value, low_seen, high_seen, "by hand")
    return Claim("share", seen, low, high, "ours")


@pytest.mark.parametrize(
    ("value", "interval", "verdict"),
    [
        (0.5, (0.5, 0.5), "supported"),
        (0.0, (0.0, 0.0), "supported"),
        (1.5, (1.5, 1.5), "contradicted"),
        (NAN, (NAN, NAN), "inconclusive"),
        (0.5, (0.25, 0.75), "supported"),
        (0.5, (0.0, 1.0), "supported"),
        # The number alone would do, or would not; its interval knows neither.
        (0.9, (0.75, 1.25), "inconclusive"),
        (1.1, (0.75, 1.25), "inconclusive"),
        (0.5, (-1.0, 2.0), "inconclusive"),
        (1.5, (1.25, 1.75), "contradicted"),
        (-0.5, (-0.75, -0.25), "contradicted"),
        (0.5, (-INF, INF), "inconclusive"),
        (NAN, (0.25, 0.75), "inconclusive"),
        (0.5, (NAN, 0.75), "inconclusive"),
    ],
)
def test_a_claim_holds_where_the_whole_interval_lies_in_the_band(
    value, interval, verdict
):
    assert claim(value, interval).verdict == verdict


def test_a_band_without_an_end_takes_an_interval_without_one():
    assert claim(3.0, (2.0, INF), low=1.0, high=INF).verdict == "supported"


def test_a_claim_without_an_interval_is_refused():
    # The tests check types before the claim does.
    bare = types.SimpleNamespace(statement="train error", estimate=1e-4)
    with pytest.raises(simbias.BadInput, match="must be an Estimate.*claims.value_of"):
        Claim.__post_init__(bare)  # pyright: ignore[reportArgumentType]


def test_variants_may_read_other_axes():
    status = xr.DataArray(np.ones((2, 3, 1)), dims=("m", "depth", "seed"))
    ds = xr.Dataset({"status": status}, {"m": [1, 2], "depth": [3, 4, 5]})
    ds = ds.assign_coords(time=("time", [1.0]))
    law = types.SimpleNamespace(
        AXES=lambda ds: ("m",) if "wide" in ds.attrs else ("depth",),
        claims=lambda part: [claim(1.5, (1.0, 2.0))],
    )
    labels = lambda ds: [c.statement[-5:] for c in simbias.check(law, ds)]
    assert labels(ds) == ["m = 1", "m = 2"]
    assert len(labels(ds.assign_attrs(wide=True))) == 3


def test_a_claim_whose_needs_are_not_met_is_not_applicable_whatever_was_seen():
    seen = claim(1.5, (1.25, 1.75))
    assert seen.given(True, "t ≥ 1").verdict == "contradicted"
    unmet = seen.given(False, "t ≥ 1").given(False, "two sizes").given(True, "noise")
    assert (unmet.verdict, unmet.needs) == ("not applicable", "t ≥ 1")
    assert unmet.estimate == seen.estimate


def test_claims_are_printed_and_written_with_their_intervals(capsys):
    ds = xr.Dataset({"status": ("seed", [int(Status.REACHED_TIME)])})
    found = [claim(0.5, (0.25, INF)), claim(0.5, (0.5, 0.5)).given(False, "t ≥ 9")]
    print_claims("toy", ds, found)
    lines = capsys.readouterr().out.splitlines()[-2:]
    assert lines[0] == (
        "  inconclusive   share: 0.5 [0.25, inf] by hand (expected 0 … 1; ours)"
    )
    assert lines[1] == "  not applicable share: needs t ≥ 9"
    text = json.dumps(claims_document("toy", "quick", ds, found), allow_nan=False)
    first, second = json.loads(text)["claims"]
    assert first == {
        "statement": "share",
        "value": 0.5,
        "low": 0.25,
        "high": None,
        "level": 0.95,
        "method": "by hand",
        "band": [0.0, 1.0],
        "verdict": "inconclusive",
        "needs": "",
        "source": "ours",
    }
    assert (second["verdict"], second["needs"]) == ("not applicable", "t ≥ 9")


# Kinds.


def test_an_exact_number_near_the_end_of_its_band_is_not_known_better_than_it_is():
    at = lambda v, **k: claims.value_of("error", v, (0.0, 1.0), "ours", **k).verdict
    assert at(1.0) == "supported"
    assert at(0.9999, tolerance=1e-3) == at(1.0001, tolerance=1e-3) == "inconclusive"
    assert at(1.01, tolerance=1e-3) == "contradicted"
    # A cosine does not exceed 1, and an error is not negative.
    assert at(1.0, tolerance=1e-3, most=1.0) == at(0.0, tolerance=1e-3) == "supported"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (lambda v: claims.largest_of("x", v, (0, 9), "ours"), 5.0),
        (lambda v: claims.smallest_of("x", v, (0, 9), "ours"), 1.0),
        (lambda v: claims.farthest_of("x", v, 4.0, (0, 9), "ours"), 1.0),
    ],
)
def test_the_worst_member_speaks_for_all_and_none_for_none(kind, value):
    assert kind([3.0, 1.0, 5.0]).estimate.value == value
    assert kind([3.0, NAN, 5.0]).verdict == "inconclusive"
    assert kind([]).verdict == "not applicable"


def test_nineteen_of_twenty_do_not_show_a_share_of_nine_tenths():
    of = lambda k, n: claims.share_of("x", np.arange(n) < k, (0.9, 1.0), "ours").verdict
    assert [of(19, 20), of(20, 20), of(200, 200)] == ["inconclusive"] * 2 + [
        "supported"
    ]
    assert of(10, 20) == "contradicted"


def test_pairs_tell_a_difference_that_the_spread_of_the_seeds_hides():
    before = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    after = before - np.array([0.1, 0.11, 0.09, 0.1, 0.12, 0.08])
    found = claims.difference_of("fall", before, after, (0.0, INF), "ours")
    assert found.verdict == "supported"
    apart = claims.mean_of("fall", np.append(before, -after), (0.0, INF), "ours")
    assert apart.verdict == "inconclusive"


def test_an_interval_ends_where_all_possible_values_do():
    seeds = np.array([-1, -0.99, -0.98, -0.9, -0.99, -1])
    of = lambda **known: claims.mean_of("r", seeds, (-1, -0.5), "ours", **known)
    assert of().estimate.low < -1
    assert of().verdict == "inconclusive"
    one = of(within=(-1, 1))
    assert (one.estimate.low, one.verdict) == (-1.0, "supported")
    assert one.estimate.high == of().estimate.high


def test_values_of_one_seed_count_once():
    one = xr.DataArray(np.arange(6.0), {"seed": np.arange(6)}, ("seed",))
    same = one.expand_dims(n=[5])
    of = lambda values: claims.mean_of("s", values, (0, 9), "ours").estimate
    assert of(same) == of(one)


def test_a_slope_is_as_well_known_as_its_points_lie_on_a_line():
    x = np.arange(5.0)
    of = lambda y, at=x: claims.slope_of("p", at, y, (1.9, 2.1), "ours")
    assert of(2 * x).verdict == "supported"
    assert of(2 * x + [0, 1, 0, -1, 0]).verdict == "inconclusive"
    # Two points have no residual.
    assert of(2 * x[:2], x[:2]).verdict == "inconclusive"


# What a run is checked by.


class Short:
    """A phenomenon about t ≥ 5, whose law is computed by JAX."""

    LEAST_TIME = 5.0

    def figure(self, ds):
        raise NotImplementedError

    def claims(self, ds):
        law = float(jnp.asarray(1 / 3))
        return [claims.value_of("law", law - 1 / 3, (0.0, 0.0), "ours")]


@pytest.mark.parametrize(
    ("end", "verdict"), [(5.0, "supported"), (4.0, "not applicable")]
)
def test_claims_about_late_times_are_not_applicable_to_a_short_run(end, verdict):
    ds = xr.Dataset(coords={"time": [0.0, end]})
    # Whatever the types of the process are, those of the run decide.
    with jax.enable_x64(False):
        (found,) = simbias.check(Short(), ds)
    assert found.verdict == verdict
    assert found.needs == ("" if end == 5 else "t ≥ 5")


def test_claims_refuse_what_they_would_count_wrongly():
    seeds = np.arange(6.0)
    one = xr.DataArray(seeds, {"seed": np.arange(6)}, ("seed",))
    for call, message in (
        (lambda: claims.share_of("s", [0.5, 1.0], (0, 1), "ours"), "`is_true` must be"),
        (
            lambda: claims.share_of(
                "s", xr.concat([one, one], "n") > 2, (0, 1), "ours"
            ),
            "`is_true` must be one per seed",
        ),
        (
            lambda: claims.farthest_of("s", seeds, np.nan, (0, 1), "ours"),
            "`law` must be",
        ),
        (
            lambda: claims.value_of("s", 1, (0, 1), "ours", tolerance=-1.0),
            "`tolerance`",
        ),
        (
            lambda: claims.difference_of("s", seeds, seeds[:, None], (0, 1), "ours"),
            "same seeds",
        ),
        (
            lambda: claims.difference_of(
                "s", one, one.assign_coords(seed=one["seed"] + 1), (0, 1), "ours"
            ),
            "same seeds",
        ),
        (lambda: claims.mean_of("s", seeds, (1, 0), "ours"), "`band` must be"),
        (
            lambda: claims.mean_of("s", seeds, (0, 9), "ours", within=(0, 1)),
            "`values` must lie in `within`",
        ),
        *(
            (lambda of=of, v=v: of("s", v, (0, 9), "ours"), "one per seed")
            for of in (claims.mean_of, claims.median_of)
            for v in (xr.concat([one, one], "n"), np.ones((6, 2)))
        ),
    ):
        with pytest.raises(BadInput, match=message):
            call()
    left = claims.share_of("s", [True, np.nan, True], (0, 1), "ours")
    assert left.estimate.value == 1.0
    assert claims.share_of("s", [np.nan], (0, 1), "ours").verdict == "inconclusive"
    assert (
        claims.value_of("s", np.inf, (0, 1), "ours", tolerance=0.1).verdict
        == "contradicted"
    )
    endless = [*seeds, np.inf]
    assert claims.mean_of("s", endless, (0, 9), "ours").verdict == "inconclusive"
    assert claims.median_of("s", endless, (0, 5), "ours").estimate.value == 3.0


def test_a_share_counts_the_values_of_an_axis_only_where_it_is_named():
    one = xr.DataArray([True, True, False], dims="seed")
    found = claims.share_of(
        "s, all n", xr.concat([one, one], "n"), (0, 1), "ours", pooled=("n",)
    )
    assert found.estimate == claims.share_of("s", [*one, *one], (0, 1), "o").estimate


def test_a_value_that_an_axis_lacks_makes_the_row_not_applicable():
    ds = xr.Dataset(
        {"risk": (("m", "seed"), [[0.9, 1, 1.1]] * 2)}, {"m": [5, 10], "seed": range(3)}
    )
    here, not_there = at(ds["risk"], "m", 5), at(ds["risk"], "m", 50)
    band, where = (0.5, 1.5), "ours"
    lacking = [
        claims.mean_of("s", not_there / 2, band, where),
        claims.median_of("s", not_there, band, where),
        claims.largest_of("s", not_there, band, where),
        claims.smallest_of("s", not_there, band, where),
        claims.farthest_of("s", not_there, 1, band, where),
        claims.difference_of("s", here, not_there, band, where),
        claims.share_of("s", not_there < 1, band, where),
        claims.slope_of("s", np.arange(3.0), not_there, band, where),
        claims.value_of("s", not_there.mean(), band, where),
        claims.statistic_of("s", not_there.mean(), band, where),
    ]
    assert [(c.verdict, c.needs) for c in lacking] == 10 * [
        ("not applicable", "m = 50")
    ]
    assert claims.largest_of("s", here, band, where).verdict == "supported"


def test_rows_share_what_they_need_of_a_run():
    row = claims.value_of("s", 1, (0, 2), "ours")
    rows = claims.Claims(needs={"t ≥ 5": True, "two seeds": False}).rows(row, row)
    assert [c.needs for c in rows] == ["two seeds"] * 2
    assert claims.Claims().rows(row) == [row]


def test_rows_about_a_part_say_so_before_the_statement():
    row = claims.value_of("loss", 1, (0, 2), "ours")
    (found,) = claims.Claims(where="m = 20").rows(row)
    assert found.statement == "m = 20: loss"

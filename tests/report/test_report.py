import re
from html.parser import HTMLParser

import numpy as np
import pytest
from runs import HOSTILE, large_result

from simbias.core import Claim, Estimate
from simbias.errors import BadInput
from simbias.report._html import element, raw, written
from simbias.report.claims_table import claims_table, interval
from simbias.report.comparison import comparison
from simbias.report.page_contents import PageContents, page_contents
from simbias.report.report import report


class Reader(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.attributes = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.texts.append(data)


def test_text_is_text_wherever_it_stands():
    root = element("p", HOSTILE, element("b", HOSTILE), HOSTILE, title=HOSTILE)
    read = Reader(written(root))
    assert read.tags == ["p", "b"]
    assert "".join(read.texts).strip() == HOSTILE * 3
    assert read.attributes == [("title", HOSTILE)]


@pytest.mark.parametrize("text", ["a</script>", "a</SCRIPT >", "<!-- b"])
def test_a_script_that_would_end_early_is_refused(text):
    with pytest.raises(ValueError, match="must not end it"):
        raw("script", text)


@pytest.mark.process
def test_the_page_runs_two_scripts_and_asks_for_nothing(page):
    read = Reader(page)
    assert read.tags.count("script") == 3
    found = [
        v for k, v in read.attributes if k == "content" and v.startswith("default")
    ]
    (policy,) = found
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "connect-src 'none'" in policy
    addresses = [v for k, v in read.attributes if k in ("src", "href")]
    assert all(v.startswith(("data:", "#")) for v in addresses)
    assert not any(k.startswith("on") for k, _ in read.attributes)


def test_the_page_says_question_statuses_configuration_and_verdicts(page):
    texts = " ".join(Reader(page).texts)
    assert f"Is it so? {HOSTILE}" in texts
    assert "12 of 18 networks finished, 6 failed" in texts
    for said in (
        "1  supported",
        "1  contradicted",
        "2  inconclusive",
        "1  not applicable",
    ):
        assert said.replace("  ", " ") in re.sub(r"\s+", " ", texts)
    assert "A weight, the loss or the field became NaN or infinite." in texts
    assert "PlainDescent(rate=0.05)" in texts


def test_a_page_of_a_thousand_seeds_is_small():
    text = report(PageContents(large_result()))
    assert len(text.encode()) < 15e6


def claim_of(seen, band):
    return Claim("it", Estimate(*map(float, seen), "exact"), *map(float, band), "us")


@pytest.mark.parametrize(
    ("seen", "band"),
    [((1, 0, 2), (0, 3)), ((5, 4, 6), (-np.inf, 3)), ((1, -np.inf, 2), (0, np.inf))],
)
def test_an_interval_is_drawn_where_it_lies_in_its_band(seen, band):
    claim = claim_of(seen, band)
    picture = interval(claim)
    rect, dot = picture.find("rect"), picture.find("circle")
    left = float(rect.get("x"))
    right = left + float(rect.get("width"))
    is_in = band[0] <= seen[0] <= band[1]
    assert (left <= float(dot.get("cx")) <= right) == is_in
    assert picture.get("role") == "img"
    assert picture.get("aria-label").startswith(claim.verdict)


def test_verdicts_differ_by_word_mark_and_line_not_by_colour_alone():
    values = {
        "supported": (1, 0, 2),
        "contradicted": (9, 8, 9.5),
        "inconclusive": (3, 2, 4),
    }
    rows = [claims_table([claim_of(v, (-1, 3.5))], 20) for v in values.values()]
    texts = [written(row) for row in rows]
    for verdict, text in zip(values, texts, strict=True):
        assert f'class="interval {verdict}"' in text
        assert f"</span> {verdict}</td>" in text
    marks = [re.search(r'class="mark [a-z]+"[^>]*>(.)<', text)[1] for text in texts]
    assert len({*marks}) == 3


def test_numbers_of_a_claim_have_the_digits_that_tell_them_apart():
    seen = Estimate(0.1750431, 0.1750393, 0.1750469, "exact")
    text = written(claims_table([Claim("close", seen, 0.17503, 0.175056, "here")], 20))
    assert "[0.17504, 0.17505]" in text
    assert "band 0.17503 … 0.17506" in text
    seen = Estimate(1.0, 1.0, 1.0, "exact")
    text = written(claims_table([Claim("far", seen, 0.0, 2.34567, "here")], 20))
    assert "band 0 … 2.346" in text


def test_claims_that_are_not_about_the_run_are_folded():
    claim = claim_of((1, 0, 2), (0, 3)).given(False, "two n")
    table = claims_table([claim], 20)
    assert table.find("table") is None
    assert table.find("details/table") is not None
    assert "Needs two n" in written(table)


def test_an_unfinished_run_has_neither_claims_nor_figures(result):
    ds = result.copy(deep=True)
    ds["status"][0, 0, 0] = 0
    import simbias.experiments.interpolation.threshold as phenomenon

    made = page_contents(ds, phenomenon)
    assert made.claims == ()
    assert made.figures == {}
    assert made.question.startswith("The optimisation threshold")
    assert "17" not in made.question


def test_a_film_without_figures_stands_under_a_heading_of_its_own(result):
    texts = Reader(report(PageContents(result, film=b"GIF89a"))).texts
    assert "A film" in texts
    assert "The setting" not in texts


def test_a_device_that_is_named_twice_is_named_once(result):
    for device, text in (("cpu:cpu", "cpu"), ("gpu:Some Card", "gpu:Some Card")):
        ds = result.assign_attrs(device=device)
        texts = Reader(report(PageContents(ds))).texts
        assert texts[texts.index("device") + 1] == text


def test_two_runs_are_set_side_by_side_with_their_differences(shown_result):
    other = shown_result.ds.copy(deep=True)
    other["train_risk"] = other["train_risk"] + 1
    text = comparison(shown_result, PageContents(other), ("a", HOSTILE))
    read = Reader(text)
    assert read.tags.count("script") == 3
    assert '"difference":{' in text
    assert "Nothing of their configurations." in " ".join(read.texts)


def test_beside_a_run_that_is_not_finished_it_says_that_none_are_made(shown_result):
    ds = shown_result.ds.copy(deep=True)
    ds["status"][0, 0, 0] = 0
    text = comparison(shown_result, PageContents(ds))
    assert text.count("Not finished: none are made.") == 2
    assert "Not finished" not in comparison(shown_result, shown_result)


def test_two_runs_of_other_axes_are_refused_by_name(shown_result):
    ds = shown_result.ds.rename(scale="sigma_w")
    with pytest.raises(BadInput, match="`scale`|`sigma_w`"):
        comparison(shown_result, PageContents(ds))

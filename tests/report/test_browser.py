import json
import time

import numpy as np
import pytest
import xarray as xr
from runs import EXPERIMENT, large_result

from simbias.report.comparison import comparison
from simbias.report.numbers import numbers
from simbias.report.page_contents import PageContents
from simbias.report.report import report
from simbias.report.server import Server

pytestmark = pytest.mark.process
WIDTHS, THEMES = (390, 1280), ("light", "dark")
FIGURES = {"over-time", "against", "member-losses", "neurons", "array", "events"}


class Reader:
    """A page in a browser, and what a reader does with it."""

    def __init__(self, browser):
        self.browser = browser

    def run(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def look(self, width=1280, theme="light"):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": theme}]
        self.browser.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": features}
        )

    def open(self, url, until="drawn"):
        for log in ("browser", "performance"):
            self.browser.get_log(log)
        self.browser.get(url)
        self.wait(f"return document.documentElement.dataset.{until} === 'yes'")

    def wait(self, script, seconds=90):
        until = time.monotonic() + seconds
        while not self.run(script):
            wrong = [line["message"] for line in self.browser.get_log("browser")]
            assert time.monotonic() < until, (script, wrong)
            assert not [line for line in wrong if "rror" in line], wrong
            time.sleep(0.1)

    def requests(self):
        logs = self.browser.get_log("performance")
        events = [json.loads(line["message"])["message"] for line in logs]
        sent = [
            e["params"] for e in events if e["method"] == "Network.requestWillBeSent"
        ]
        return [one["request"]["url"] for one in sent]

    def find(self, selector):
        return self.browser.find_element("css selector", selector)

    def choose(self, label, text, within="body"):
        from selenium.webdriver.support.select import Select

        Select(self.labelled(label, within)).select_by_visible_text(text)

    def labelled(self, label, within="body"):
        found = self.run(
            "return [...document.querySelector(arguments[1]).querySelectorAll('label')]"
            ".find(one => one.textContent.trim() === arguments[0]).control",
            label,
            within,
        )
        assert found is not None, label
        return found

    def traces(self, figure):
        return self.run(
            "return document.getElementById(arguments[0]).data.map(one => "
            "({x: [...one.x], y: [...(one.y || [])], mode: one.mode || ''}))",
            figure,
        )


@pytest.fixture
def reader(browser):
    reader = Reader(browser)
    reader.look()
    return reader


@pytest.fixture(scope="module")
def address(page, tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "report.html"
    file.write_text(page, encoding="utf-8")
    return file.as_uri()


def slide(reader, control, value):
    reader.run(
        "arguments[0].value = arguments[1]; "
        "arguments[0].dispatchEvent(new Event('input'))",
        control,
        value,
    )


def test_every_figure_is_drawn_without_an_error_or_a_request(reader, address):
    reader.open(address)
    assert reader.browser.get_log("browser") == []
    # Pages of the browser itself, such as its settings, load chrome:// files.
    own = ("data:", "blob:", "chrome://")
    assert [url for url in reader.requests() if not url.startswith(own)] == [address]
    drawn = reader.run(
        "return [...document.querySelectorAll('.plot')].filter(one => "
        "one.offsetHeight > 100 && one.querySelector('.plot-container path, image'))"
        ".map(one => one.id)"
    )
    assert {*drawn} == FIGURES
    sizes = reader.run(
        "return [...document.querySelectorAll('figure img')].map(one => "
        "[one.naturalWidth, one.offsetWidth])"
    )
    assert len(sizes) == 2
    assert all(natural > 0 and shown > 0 for natural, shown in sizes)


def test_texts_of_a_run_never_become_markup_or_script(reader, address):
    reader.open(address)
    reader.choose("Show", "networks")
    reader.choose("Show", "medians and networks")
    assert reader.run("return window.hacked") is None
    assert reader.run("return document.querySelectorAll('img[src=x]').length") == 0
    assert "<img src=x" in reader.find("h1").text


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_fits_the_window_in_both_themes(reader, address, width, theme):
    reader.look(width, theme)
    reader.open(address)
    reader.run("document.querySelectorAll('details').forEach(one => one.open = true)")
    time.sleep(0.3)
    assert reader.run("return document.documentElement.scrollWidth") <= width
    colour = "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g)"
    is_light = int(reader.run(colour)[0]) > 128
    assert is_light == (theme == "light")
    font = (
        "return document.getElementById('over-time').layout.font.color.match(/\\d+/g)"
    )
    assert (int(reader.run(font)[0]) < 128) == is_light
    reader.find("#theme").click()
    assert (int(reader.run(colour)[0]) > 128) != is_light
    assert (int(reader.run(font)[0]) < 128) != is_light
    assert reader.browser.get_log("browser") == []


def test_curves_are_switched_on_and_off_by_axis(reader, address):
    reader.open(address)
    before = len(reader.traces("over-time"))
    reader.labelled("■20", "#curves").click()
    assert len(reader.traces("over-time")) == before / 2
    reader.labelled("■20", "#curves").click()
    assert len(reader.traces("over-time")) == before


def test_boxes_of_the_second_axis_bear_its_dashes(reader, address):
    dashes = (
        "return [...document.querySelectorAll('#curves .dash line')]"
        ".map(one => one.getAttribute('stroke-dasharray'))"
    )
    reader.open(address)
    reader.choose("Show", "medians and bands")
    assert len({*reader.run(dashes)}) == 3
    reader.choose("Colour by", "scale")
    assert len({*reader.run(dashes)}) == 2
    drawn = (
        "return document.getElementById('against').data.map(one => one.line.dash)"
        ".filter(Boolean)"
    )
    reader.choose("Against", "scale")
    assert {*reader.run(drawn)} == {"solid", "dash"}


def test_a_third_axis_is_told_by_marks_and_the_first_by_colour_alone(reader, tmp_path):
    axes = {"n": [1, 2], "law": ["a", "b"], "m": [3, 4, 5]}
    shape = (2, 2, 3, 2, 4)
    dims = (*axes, "seed", "time")
    values = np.random.default_rng(0).uniform(1, 2, shape)
    coords = {**axes, "seed": [0, 1], "time": [0.0, 1.0, 2.0, 3.0]}
    of = {"status": (dims[:-1], np.ones(shape[:-1], int)), "risk": (dims, values)}
    file = tmp_path / "three.html"
    file.write_text(report(PageContents(xr.Dataset(of, coords))), encoding="utf-8")
    reader.open(file.as_uri())
    reader.choose("Show", "medians and bands")
    marks = (
        "return [...document.querySelectorAll('#curves fieldset')].map(one => "
        "[...one.querySelectorAll('.box')].map(box => box.textContent[0] + "
        "!!box.querySelector('svg')))"
    )
    seen = reader.run(marks)
    assert seen == [
        ["●false", "●false"],
        ["atrue", "btrue"],
        ["●false", "■false", "◆false"],
    ]
    curves = (
        "return document.getElementById('over-time').data.filter(one => one.marker)"
        ".map(one => [one.marker.color, one.line.dash, one.marker.symbol].join())"
    )
    drawn = reader.run(curves)
    assert len({*drawn}) == len(drawn) == 12
    reader.choose("Colour by", "m")
    assert len({*reader.run(curves)}) == 12
    reader.choose("Against", "m")
    against = curves.replace("over-time", "against")
    assert len({*reader.run(against)}) == 4


def test_neurons_bear_their_clusters_and_these_are_counted_over_time(reader, address):
    reader.open(address)
    names = (
        "return document.getElementById('neurons').data.filter(one => one.showlegend)"
        ".map(one => one.name)"
    )
    assert {*reader.run(names)} <= {"output weight ≥ 0", "output weight < 0"}
    reader.choose("Colour by", "cluster at the end", "#neurons-controls")
    assert reader.run(names)[0].startswith("1: ")
    assert "Clusters at this time: " in reader.find("#neurons-note").text
    reader.choose("Quantity", "clusters of its neurons", "#member-controls")
    (curve,) = reader.traces("member-losses")
    assert curve["x"] == pytest.approx([0, 0.5, 1, 5])
    assert all(1 <= count <= 6 for count in curve["y"])
    reader.choose("Colour by", "cluster at that time", "#neurons-controls")
    slide(reader, reader.labelled("time", "#neurons-controls"), 0)
    said = f"Clusters at this time: {curve['y'][0]:g} "
    assert said in reader.find("#neurons-note").text


def test_long_values_of_an_axis_stand_below_it_clear_of_its_title(
    reader, result, tmp_path
):
    texts = [f"{word} weights of a balanced network" for word in ("no", "few", "many")]
    file = tmp_path / "long.html"
    named = result.assign_coords(scale=texts)
    file.write_text(report(PageContents(named)), encoding="utf-8")
    reader.open(file.as_uri())
    reader.choose("Against", "scale")
    boxes = (
        "return [...document.querySelectorAll('#against ' + arguments[0])].map(one => "
        "{ const box = one.getBoundingClientRect(); return [box.left, box.right]; })"
    )
    ticks = sorted(reader.run(boxes, ".xtick text"))
    assert len(ticks) == 3
    assert reader.run(boxes, ".ytitle")[0][1] < ticks[0][0]
    assert all(a[1] < b[0] for a, b in zip(ticks, ticks[1:], strict=False))


def test_a_quantity_is_chosen_and_drawn_on_another_scale(reader, address):
    reader.open(address)
    title = "return document.getElementById('against').layout.yaxis.title.text"
    assert reader.run(title) == "test risk"
    reader.choose("Quantity", "final risk")
    assert reader.run(title) == "final risk"
    assert not reader.find("#over-time-figure").is_displayed()
    kind = "return document.getElementById('against').layout.yaxis.type"
    before = reader.run(kind)
    reader.labelled("logarithmic values").click()
    assert reader.run(kind) != before
    reader.choose("Quantity", "masses, along cluster")
    assert reader.find("#against-title").text == "Along cluster, at the end"


def test_an_axis_bears_the_short_name_in_lines_and_not_the_unit_1(
    reader, result, tmp_path
):
    long = "mean over the sample of what a network gets wrong, for every member"
    named = result.rename(test_risk="a_measure_of_many_words_that_no_axis_can_hold")
    for array in named.data_vars.values():
        array.attrs |= {"long_name": long, "units": "1"}
    file = tmp_path / "long.html"
    file.write_text(report(PageContents(named)), encoding="utf-8")
    reader.open(file.as_uri())
    short = "a measure of many words that no axis can hold"
    reader.choose("Quantity", short, "#controls")
    assert reader.find("#meaning").text == f"{short}: {long}"
    for figure in ("over-time", "against"):
        title = f"return document.getElementById('{figure}').layout.yaxis.title.text"
        lines = reader.run(title).split("<br>")
        assert max(map(len, lines)) <= 35
        assert " ".join(lines) in {name.replace("_", " ") for name in named}
        inside = (
            f"const all = document.getElementById('{figure}').getBoundingClientRect();"
            f"const one = document.querySelector('#{figure} .ytitle')"
            ".getBoundingClientRect();"
            "return one.top >= all.top && one.bottom <= all.bottom"
        )
        assert reader.run(inside)
    assert "(1)" not in reader.find("#controls").text


def test_a_point_tells_seed_axes_and_losses_and_opens_its_member(reader, address):
    from selenium.webdriver.common.action_chains import ActionChains

    reader.open(address)
    reader.choose("Show", "networks")
    reader.run("document.getElementById('against').scrollIntoView({block: 'center'})")
    point = reader.find("#against .point")
    ActionChains(reader.browser).move_to_element(point).perform()
    reader.wait("return document.querySelector('#against .hoverlayer text')")
    said = reader.find("#against .hoverlayer").get_attribute("textContent")
    for word in ("seed", "n = ", "scale = ", "test risk", "train risk", "t = 5"):
        assert word in said
    reader.run(
        "document.getElementById('against').emit('plotly_click',"
        " {points: [{customdata: [4, 2, 3]}]})"
    )
    member = "n = 20, scale = 0.5, seed 2: reached time."
    assert reader.find("#member-said").text == member


def test_one_member_is_one_that_ended_and_one_that_runs_says_so(
    reader, result, tmp_path
):
    partial = result.copy(deep=True)
    runs = np.ones(partial["status"].shape, bool)
    runs[1, 1, 2] = False
    for name, array in partial.items():
        where = xr.DataArray(runs, dims=partial["status"].dims)
        partial[name] = array.where(~where, 0 if name == "status" else np.nan)
    file = tmp_path / "half.html"
    shown = PageContents(partial, experiment=EXPERIMENT)
    file.write_text(report(shown), encoding="utf-8")
    reader.open(file.as_uri())
    member = "n = 20, scale = 0.5, seed 2: reached time."
    assert reader.find("#member-said").text == member
    assert reader.find("#member-losses").is_displayed()
    reader.choose("seed", "0")
    assert not reader.find("#member-losses").is_displayed()
    assert not reader.find("#neurons").is_displayed()
    said = "Its curves are stored when it has finished."
    assert reader.find("#member-losses-note").text == said


def test_neurons_move_with_the_slider_and_the_line_in_the_losses(reader, address):
    reader.open(address)
    first = reader.traces("neurons")
    slide(reader, reader.labelled("time", "#neurons-controls"), 0)
    assert reader.traces("neurons") != first
    assert "t = 0" in reader.find("#neurons-controls").text
    line = "return document.getElementById('member-losses').layout.shapes[0].x0"
    assert reader.run(line) == 0
    reader.find("#neurons-controls button").click()
    reader.wait(f"{line} === 5")
    assert reader.find("#neurons-controls button").text in ("Play", "Stop")


@pytest.mark.parametrize("width", WIDTHS)
def test_many_times_and_decades_have_few_labels_that_are_read_level(
    reader, result, tmp_path, width
):
    times = np.geomspace(1.234e-3, 3000.0, 50)
    ds = result.isel(time=np.repeat([1, 3], 25)).assign_coords(time=times)
    risk = ds["train_risk"] * xr.DataArray(np.geomspace(1e-12, 1, 50), dims="time")
    file = tmp_path / "many.html"
    text = report(PageContents(ds.assign(train_risk=risk), experiment=EXPERIMENT))
    file.write_text(text, encoding="utf-8")
    reader.look(width)
    reader.open(file.as_uri())
    for place, axis in (("array", "x"), ("member-losses", "y")):
        labels = reader.run(
            "return [...document.querySelectorAll(arguments[0])].map(one => "
            "[one.textContent, one.getAttribute('transform') || ''])",
            f"#{place} .{axis}tick text",
        )
        assert 2 <= len(labels) <= 9
        assert not [text for text, turned in labels if "rotate(90" in turned]


def test_tables_hold_what_the_figures_show(reader, address):
    reader.open(address)
    reader.find("#over-time-table summary").click()
    reader.wait("return document.querySelector('#over-time-table tbody tr')")
    rows = reader.run(
        "return [...document.querySelectorAll('#over-time-table tbody tr')]"
        ".map(row => [...row.cells].map(cell => cell.textContent))"
    )
    assert len(rows) == 6 * 4
    assert rows[0][:3] == ["6", "0.1", "0"]
    assert rows[0][-1] == "3 of 3"
    assert rows[-1][-1] == "0 of 3"


def test_everything_is_reached_by_keyboard_and_has_a_name(reader, address):
    from selenium.webdriver.common.keys import Keys

    reader.open(address)
    nameless = reader.run(
        "return [...document.querySelectorAll('input, select, button, a, img')].filter("
        "one => !(one.labels && one.labels.length && one.labels[0].textContent.trim())"
        " && !one.getAttribute('aria-label') && !one.textContent.trim() && !one.alt)"
        ".map(one => one.outerHTML)"
    )
    assert nameless == []
    unsaid = "return [...document.querySelectorAll('.plot')].filter(one => "
    assert reader.run(f"{unsaid} !one.getAttribute('aria-label')).length") == 0
    expected = reader.run(
        "const all = [...document.querySelectorAll('a, button, select, input, summary,"
        '[tabindex="0"]\')].filter(one => one.checkVisibility()'
        " && !one.closest('details:not([open]) > :not(summary)'));"
        "all.forEach((one, i) => { one.dataset.place = i; }); return all.length"
    )
    seen = []
    for _ in range(expected + 2):
        reader.browser.switch_to.active_element.send_keys(Keys.TAB)
        place = reader.run("return document.activeElement.dataset.place")
        seen += [] if place is None else [int(place)]
    assert {*seen} == {*range(expected)}
    assert seen[:expected] == sorted(seen[:expected])
    box = reader.labelled("●6", "#curves")
    before = len(reader.traces("over-time"))
    box.send_keys(Keys.SPACE)
    assert len(reader.traces("over-time")) < before


def test_networks_of_a_small_run_are_drawn_at_first_and_can_be_clicked(reader, address):
    reader.open(address)
    assert "Click a network" in reader.find("#point-hint").text
    clicked = (
        "return document.getElementById(arguments[0]).data.some(one => one.customdata)"
    )
    assert reader.run(clicked, "over-time")
    assert reader.run(clicked, "against")
    reader.choose("Show", "medians and bands")
    assert not reader.run(clicked, "over-time")
    assert "choose “networks” at Show" in reader.find("#point-hint").text
    assert "Drag over a figure" in reader.find("#closer .mouse").text


def test_of_many_curves_a_band_is_seen_where_a_reader_points(reader, address):
    reader.open(address)
    reader.choose("Show", "medians and bands")
    opacities = (
        "return document.getElementById('over-time').data"
        ".filter(one => one.fill === 'toself').map(one => one.opacity ?? 1)"
    )
    assert reader.run(opacities) == [0] * 6
    assert "its band" in reader.find("#point-hint").text
    point = "{points: [{curveNumber: 3}]}"
    reader.run(f"document.getElementById('over-time').emit('plotly_hover', {point})")
    assert reader.run(opacities) == [0, 1, 0, 0, 0, 0]
    reader.run(f"document.getElementById('over-time').emit('plotly_unhover', {point})")
    assert reader.run(opacities) == [0] * 6
    reader.labelled("■20", "#curves").click()
    assert reader.run(opacities) == [1] * 3
    assert "its band" not in reader.find("#point-hint").text


def test_shares_of_a_whole_are_drawn_as_steps(reader, result, tmp_path):
    bins = {"bin": np.linspace(-1, 1, 5)}
    shares = result["status"].expand_dims(bins, -1) * 0 + 0.2
    file = tmp_path / "shares.html"
    file.write_text(report(PageContents(result.assign(shares=shares))), "utf-8")
    reader.open(file.as_uri())
    reader.choose("Quantity", "shares, along bin", "#controls")
    shapes = "return document.getElementById('against').data.map(one => one.line.shape)"
    assert {*reader.run(shapes)} == {"hvh"}
    reader.choose("Quantity", "masses, along cluster", "#controls")
    assert {*reader.run(shapes)} == {"linear"}


def test_the_figure_is_dark_on_a_dark_page_and_white_on_paper(reader, address):
    seen = "return getComputedStyle(document.querySelector('figure img')).filter"
    reader.look(theme="dark")
    reader.open(address)
    assert "invert" in reader.run(seen)
    reader.find("#theme").click()
    assert reader.run(seen) == "none"
    reader.find("#theme").click()
    reader.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert reader.run(seen) == "none"
    assert not reader.find("#controls").is_displayed()
    reader.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_the_figure_of_a_run_fits_a_phone(reader, address):
    reader.look(390)
    reader.open(address)
    edges = (
        "return [...document.querySelectorAll('figure img')]"
        ".map(one => one.getBoundingClientRect().right)"
    )
    assert max(reader.run(edges)) <= 390


def test_what_the_solver_did_stands_below_what_the_networks_are(
    reader, result, tmp_path
):
    counts = result["status"] * 0 + 7
    counts.attrs["long_name"] = "steps that were taken"
    file = tmp_path / "counts.html"
    file.write_text(report(PageContents(result.assign(accepted=counts))), "utf-8")
    reader.open(file.as_uri())
    groups = (
        "return [...document.querySelectorAll('#controls optgroup')].map(one => "
        "[one.label, [...one.children].map(option => option.textContent)])"
    )
    found = dict(reader.run(groups))["What the solver did"]
    assert "steps that were taken" in found
    assert "time at which a member ended (flow time)" in found


def test_a_thousand_seeds_open_soon_and_can_be_looked_at(reader, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(report(PageContents(large_result())), encoding="utf-8")
    assert file.stat().st_size < 15e6
    began = time.monotonic()
    reader.open(file.as_uri(), until="seen")
    assert time.monotonic() - began < 60  # 2 s on a machine of its own
    assert reader.run("return document.getElementById('over-time').data.length")
    reader.wait("return document.documentElement.dataset.drawn === 'yes'")
    reader.choose("Show", "medians and networks")
    assert "of 1000 networks" in reader.find("#over-time-note").text
    assert "--keep" in reader.find("#member-hint").text
    assert reader.browser.get_log("browser") == []


def test_two_runs_are_drawn_on_the_same_axes(reader, shown_result, tmp_path):
    other = shown_result.ds.copy(deep=True)
    other["train_risk"] = other["train_risk"] + 1
    file = tmp_path / "two.html"
    file.write_text(comparison(shown_result, PageContents(other)), encoding="utf-8")
    for width in WIDTHS:
        reader.look(width)
        reader.open(file.as_uri())
        assert reader.browser.get_log("browser") == []
        layout = "return document.getElementById('over-time').layout"
        assert reader.run(f"{layout}.yaxis2.matches") == "y"
        assert reader.run("return document.documentElement.scrollWidth") <= width
    reader.choose("Quantity", "train risk", "#difference-controls")
    middle = reader.traces("difference")[1]["y"]
    assert middle == pytest.approx([-1] * len(middle), rel=1e-3)


def test_a_page_that_is_live_draws_what_is_new(reader, result):
    import threading

    partial = result.copy(deep=True)
    partial["status"][:] = 0
    now = {"ds": partial, "stamp": "first"}

    def state():
        done = int((now["ds"]["status"] != 0).sum())
        return {"stamp": now["stamp"], "members": 18, "done": done} | {
            "said": f"{done} of 18.",
            "isFinished": False,
        }

    shown = PageContents(partial, experiment=EXPERIMENT)
    answers = {"": lambda: report(shown, is_live=True), "state": state}
    answers["numbers"] = lambda: numbers(now["ds"], EXPERIMENT)
    with Server(answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        reader.open(server.url)
        reader.choose("Show", "medians and bands")
        reader.wait("return document.getElementById('progress-said').textContent")
        assert reader.find("#progress-said").text == "0 of 18."
        drawn = (
            "return document.getElementById('over-time').data.some(one => one.x.length)"
        )
        assert not reader.run(drawn)
        now |= {"ds": result, "stamp": "second"}
        reader.wait(drawn)
        assert reader.find("#progress-said").text == "18 of 18."
        asked = [url for url in reader.requests() if not url.startswith("data:")]
        assert all(url.startswith(server.url) for url in asked)
        assert reader.browser.get_log("browser") == []
        server.shutdown()

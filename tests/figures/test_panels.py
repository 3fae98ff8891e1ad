"""A figure that is declared draws what the declaration says."""

import matplotlib.colors
import numpy as np
import pytest
import xarray as xr

from simbias.errors import BadInput
from simbias.figures.axis_end import AxisEnd
from simbias.figures.kinds import (
    Drawing,
    Estimates,
    HeatMap,
    Histogram,
    Points,
    Spectrum,
    means,
)
from simbias.figures.look import Law, VerticalLaw, evenly
from simbias.figures.median_curves import Curves
from simbias.figures.panels import Panels
from simbias.figures.style import COLOURS
from simbias.figures.unknown_names import check_panels

TIMES, SEEDS = np.geomspace(0.1, 100, 12), range(6)
COORDS = {
    "m": [10, 20],
    "sample": ["train", "test"],
    "seed": list(SEEDS),
    "time": TIMES,
    "frequency": np.arange(1, 6),
}


def array(*dims):
    rng = np.random.default_rng(0)
    sizes = [len(COORDS[dim]) for dim in dims]
    return xr.DataArray(rng.random(sizes), {k: COORDS[k] for k in dims}, dims)


DS = xr.Dataset(
    {
        "accuracy": array("m", "sample", "seed", "time"),
        "amplitude": array("m", "seed", "time", "frequency"),
    }
).assign_coords(scale=0.001)
TRAIN = DS.isel(sample=0)


def lines(axes, label):
    return [line for line in axes.lines if line.get_label() == label]


def test_every_value_of_the_columns_has_a_panel_of_every_kind():
    figure = Panels(
        Curves("accuracy", colour="sample", ylabel="share"),
        Spectrum("amplitude", x="frequency"),
        columns="m",
    )(DS)
    panels = figure.get_axes()
    assert len(panels) == 4
    assert [axes.get_title("left") for axes in panels] == ["m = 10", "m = 20", "", ""]
    assert [axes.get_ylabel() for axes in panels] == ["share", "", "", ""]


def test_rows_turn_it_round_and_title_places_hold_coordinates():
    figure = Panels(
        Curves("accuracy", title="λ = {scale:g}"), Curves("accuracy"), rows="m"
    )(TRAIN)
    titles = [axes.get_title("left") for axes in figure.get_axes()]
    assert titles == ["m = 10: λ = 0.001", "m = 10", "m = 20: λ = 0.001", "m = 20"]


def test_a_panel_that_needs_what_is_missing_is_left_out():
    kinds = (
        Curves("loss", title="loss", needs="loss"),
        Curves("accuracy", title="accuracy", needs="accuracy"),
    )
    calls = []
    figure = Panels(*kinds, rows="m", of=lambda ds: calls.append(1) or ds)(TRAIN)
    titles = [axes.get_title("left") for axes in figure.get_axes()]
    assert titles == ["m = 10: accuracy", "m = 20: accuracy"]
    assert calls == [1]


def test_a_level_that_is_not_a_number_has_no_line_and_no_name():
    law = Law(lambda part: xr.DataArray(0.5).where(part["m"] == 10), "half")
    figure = Panels(Curves("accuracy", laws=(law,)), columns="m")(TRAIN)
    assert [len(lines(axes, "half")) for axes in figure.get_axes()] == [1, 0]


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_the_end_of_an_axis_is_a_level_beyond_it_in_the_colour_of_its_value(scale):
    limit = array("sample", "seed").rename("limit")
    figure = Panels(
        Curves(
            "accuracy",
            of=lambda ds: ds.isel(time=-1),
            x="m",
            colour="sample",
            xscale=scale,
            beyond=(AxisEnd("limit", "∞"), AxisEnd(lambda _: xr.DataArray(0.5), "0")),
        )
    )(DS.assign(limit=limit).isel(time=slice(-1, None)))
    (axes,) = figure.get_axes()
    first, second, zero = axes.lines[-3:]
    for line, sample, colour in zip(
        (first, second), DS["sample"], COLOURS, strict=False
    ):
        assert line.get_ydata()[0] == pytest.approx(limit.sel(sample=sample).median())
        assert min(line.get_xdata()) > 20
        assert line.get_color() == colour
    assert max(zero.get_xdata()) < 10
    assert zero.get_ydata()[0] == 0.5
    left, right = axes.get_xlim()
    assert left <= min(zero.get_xdata())
    assert right >= max(first.get_xdata())
    texts = [text.get_text() for text in axes.get_xticklabels()]
    assert texts[-1] == "0"
    assert "∞" in texts


def test_an_end_is_0_or_infinity():
    with pytest.raises(BadInput, match="`at` must be"):
        AxisEnd("limit", "1")


def test_a_curve_is_the_median_over_the_seeds_in_the_colour_of_its_value():
    figure = Panels(Curves("accuracy", colour="sample"), columns="m")(DS)
    for i, axes in enumerate(figure.get_axes()):
        for colour, sample in zip(COLOURS, ("train", "test"), strict=False):
            (line,) = lines(axes, sample)
            seen = DS["accuracy"].isel(m=i).sel(sample=sample).median("seed")
            np.testing.assert_allclose(line.get_ydata(), seen)
            assert matplotlib.colors.to_hex(line.get_color()).upper() == colour


def test_values_are_called_by_their_names_once_in_the_legend():
    names = {"sample": {"train": "trained on"}, "m": {10: "narrow"}}
    figure = Panels(Curves("accuracy", colour="sample"), columns="m", names=names)(DS)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["trained on", "test"]
    assert figure.get_axes()[0].get_title("left") == "narrow"


def test_a_legend_has_fewer_columns_where_the_figure_is_narrow():
    long = {"sample": {"train": "x" * 40, "test": "y" * 40}}
    both = lambda size: Panels(
        Curves("accuracy", colour="sample"), names=long, size=size
    )(DS.isel(m=0))
    columns = [both(size).legends[0]._ncols for size in ((4.4, 3.4), (9.0, 3.4))]
    assert columns == [1, 2]


def test_seeds_can_be_drawn_one_by_one():
    part = DS.isel(m=0, sample=0)
    figure = Panels(Curves("accuracy", spread="each"))(part)
    assert len(figure.get_axes()[0].lines) == len(SEEDS)


def test_two_axes_have_colours_and_line_styles():
    figure = Panels(Curves("accuracy", colour="sample", line="m", xscale="log"))(DS)
    (axes,) = figure.get_axes()
    (line,) = lines(axes, "test, m = 20")
    assert line.get_linestyle() == "--"
    assert axes.get_xscale() == "log"


def test_laws_are_levels_moments_or_curves_in_the_colour_of_what_they_are_of():
    law = lambda part: 1 / (1 + part["time"]) * xr.ones_like(part["sample"], float)
    kind = Curves(
        lambda part: part["accuracy"].isel(m=0),
        colour="sample",
        laws=(Law(0.5, "chance"), VerticalLaw(10.0, "t*"), Law(law, "law")),
    )
    (axes,) = Panels(kind)(DS.assign_coords(sample=[0, 1])).get_axes()
    assert lines(axes, "chance")[0].get_ydata()[0] == 0.5
    assert lines(axes, "t*")[0].get_xdata()[0] == 10
    (one,) = lines(axes, "law")
    assert matplotlib.colors.to_hex(one.get_color()).upper() == COLOURS[0]


def test_points_maps_and_histograms_show_their_numbers():
    last = lambda part: part["accuracy"].isel(time=-1)
    first = lambda part: part["amplitude"].isel(time=0)
    figure = Panels(
        Points(last, x="m", colour="sample", ticks=True),
        HeatMap(lambda p: p["amplitude"].isel(m=0), x="frequency", label="median"),
        Histogram(first, x="frequency", colour="m"),
        Points(lambda p: last(p).isel(m=0), x="sample", is_joined=False),
        legend=0,
    )(DS)
    points, colours, shares, texts = figure.get_axes()[:4]
    (line,) = lines(points, "train")
    seen = last(DS).sel(sample="train").median("seed")
    np.testing.assert_allclose(line.get_ydata(), seen)
    drawn = colours.collections[0].get_array()
    seen = DS["amplitude"].isel(m=0).median("seed")
    np.testing.assert_allclose(np.ravel(drawn), seen.values.ravel())
    assert len(shares.patches) == 2
    assert [t.get_text() for t in texts.get_xticklabels()] == ["train", "test"]
    assert texts.lines[-1].get_linestyle() == "None"  # nothing lies between texts
    assert points.lines[-1].get_linestyle() == "-"
    assert not figure.legends


def test_values_that_are_texts_are_at_equal_distances_with_their_names():
    names = {"m": {"10": "narrow"}}
    kind = Curves(lambda part: part["accuracy"].isel(time=-1, sample=0), mark="o")
    (axes,) = Panels(kind, x=evenly("m"), names=names)(DS).get_axes()
    assert axes.lines[0].get_xdata().tolist() == [0, 1]
    assert [t.get_text() for t in axes.get_xticklabels()] == ["narrow", "20"]


def test_colours_of_values_in_order_go_from_dark_to_light():
    kind = Curves(
        lambda p: p["amplitude"].isel(m=0), colour="frequency", is_graded=True
    )
    (axes,) = Panels(kind)(DS).get_axes()
    shades = [sum(matplotlib.colors.to_rgb(v.get_color())) for v in axes.lines]
    assert shades == sorted(shades)
    assert len({*shades}) == DS.sizes["frequency"]


def test_points_show_one_quantity_against_another():
    train, test = (
        lambda part, k=k: part["accuracy"].isel(time=-1, sample=k, drop=True)
        for k in (0, 1)
    )
    (axes,) = Panels(Points(test, x=train, colour="m"))(DS).get_axes()
    for i, line in enumerate(axes.lines):
        np.testing.assert_array_equal(line.get_xdata(), train(DS).isel(m=i))
        np.testing.assert_array_equal(line.get_ydata(), test(DS).isel(m=i))


def test_a_function_draws_what_no_kind_can():
    cross = Drawing(lambda axes, part: axes.plot(part["m"], part["m"], "x"), title="T")
    one, two = Panels(cross, rows="sample", legend=0)(
        DS.assign(seen=("sample", [1, 2]))
    ).get_axes()
    assert one.get_title("left") == "train: T"
    assert two.lines[0].get_xdata().tolist() == [10, 20]


def test_cells_of_a_map_can_be_even_and_ticks_are_chosen():
    powers = DS.assign_coords(frequency=[1, 2, 4, 8, 16])
    mean = lambda part: part["accuracy"].mean(["sample", "seed", "m"])
    figure = Panels(
        HeatMap(lambda p: p["amplitude"].isel(time=0), x="frequency", y="m"),
        HeatMap(
            lambda p: p["amplitude"].isel(time=0), x="frequency", y="m", is_even=True
        ),
        Curves(mean, yscale="log", yticks=(0.3, 1)),
        Curves(lambda p: p["m"], x="m", yticks="m"),
    )(powers)
    uneven, even, curve, sizes = figure.get_axes()
    assert uneven.get_xlim()[1] > 16
    assert even.get_xlim() == (-0.5, 4.5)
    labels = lambda ticks: [t.get_text() for t in ticks]
    assert labels(even.get_xticklabels()) == ["1", "2", "4", "8", "16"]
    assert labels(even.get_yticklabels()) == ["10", "20"]
    assert labels(curve.get_yticklabels()) == ["0.3", "1"]
    np.testing.assert_allclose(curve.lines[0].get_ydata(), mean(DS))
    assert labels(sizes.get_yticklabels()) == ["10", "20"]


def test_a_kind_with_a_facet_has_a_panel_for_each_value_beside_the_others():
    figure = Panels(
        Curves("accuracy", colour="sample", facet="m", title="λ = {scale:g}"),
        Curves(lambda part: part["accuracy"].isel(sample=0), colour="m"),
    )(DS)
    panels = figure.get_axes()
    titles = [axes.get_title("left") for axes in panels]
    assert titles == ["m = 10: λ = 0.001", "m = 20: λ = 0.001", ""]
    (line,) = lines(panels[1], "train")
    seen = DS["accuracy"].isel(m=1, sample=0).median("seed")
    np.testing.assert_allclose(line.get_ydata(), seen)


def test_an_axis_may_have_a_symbol_and_its_names_in_titles_places():
    names = {"m": "p", "sample": {"train": "λ = {scale:g}"}}
    kind = Curves("accuracy", colour="m", facet="sample")
    figure = Panels(kind, names=names)(DS)
    panels = figure.get_axes()
    assert [axes.get_title("left") for axes in panels] == ["λ = 0.001", "test"]
    assert lines(panels[0], "p = 20")
    assert Panels(kind, names={"sample": "s"})(DS).get_axes()[1].get_title("left") == (
        "s = test"
    )


def test_x_may_differ_along_the_colours_and_curves_without_values_are_left_out():
    last = lambda part: part["accuracy"].isel(sample=0)
    x = lambda part: part["time"] * part["m"]
    figure = Panels(Curves(last, colour="m", x=x))(DS)
    (axes,) = figure.get_axes()
    np.testing.assert_allclose(lines(axes, "m = 20")[0].get_xdata(), 20 * TIMES)
    known = lambda part: last(part).where(part["m"] > 10)
    (axes,) = Panels(Curves(known, colour="m"))(DS).get_axes()
    assert [line.get_label() for line in axes.lines] == ["m = 20"]


def test_panels_follow_in_more_rows_with_a_legend_in_each():
    one = {"m": lambda ds: ds.isel(sample=0), "sample": lambda ds: ds.isel(m=0)}
    kinds = [Curves("accuracy", colour=k, of=one[k]) for k in ("m", "sample", "m")]
    figure = Panels(*kinds, across=2, legend="inside")(DS)
    panels = figure.get_axes()
    places = [axes.get_subplotspec().get_topmost_subplotspec() for axes in panels]
    assert [(p.rowspan.start, p.colspan.start) for p in places[:3]] == [
        (0, 0),
        (0, 1),
        (1, 0),
    ]
    texts = panels[1].get_legend().get_texts()
    assert [text.get_text() for text in texts] == ["train", "test"]
    assert not figure.legends


def test_a_panel_of_a_value_bears_its_name_in_any_row():
    kind = Curves("accuracy", colour="m", facet="sample")
    panels = Panels(kind, across=1)(DS).get_axes()
    assert [axes.get_title("left") for axes in panels] == ["train", "test"]


def test_a_kind_may_be_of_a_part_whose_coordinates_its_title_names():
    kind = Curves(
        "accuracy", colour="sample", of=lambda ds: ds.isel(m=1), title="m is {m}"
    )
    (axes,) = Panels(kind)(DS).get_axes()
    assert axes.get_title("left") == "m is 20"
    (line,) = lines(axes, "test")
    seen = DS["accuracy"].isel(m=1, sample=1).median("seed")
    np.testing.assert_allclose(line.get_ydata(), seen)


def test_a_line_per_seed_may_end_at_a_time_of_its_own():
    part = DS.isel(m=0)[["accuracy"]]
    ends = xr.DataArray(np.arange(1, 7.0), dims="seed")
    kind = Curves(
        "accuracy",
        colour="sample",
        x=lambda part: part["time"].where(part["time"] < ends, ends),
        spread="each",
        has_end=True,
    )
    (axes,) = Panels(kind)(part).get_axes()
    assert len(axes.lines) == 2 * len(SEEDS)
    for line, end in zip(axes.lines[6:], ends.values, strict=True):
        assert line.get_xdata()[-1] == end
        assert line.get_markevery() == [-1]
    seen = part["accuracy"].isel(sample=1, seed=2)
    np.testing.assert_allclose(axes.lines[8].get_ydata(), seen)


def test_zeros_alone_are_drawn_on_a_logarithmic_scale_of_given_limits():
    zero = lambda part: 0 * part["accuracy"].isel(m=0, sample=0)
    kind = Curves(zero, yscale="log", ylim=(1e-3, 1))
    (axes,) = Panels(kind)(DS).get_axes()
    assert axes.get_ylim() == (1e-3, 1)


def test_where_colours_repeat_lines_differ():
    values = xr.DataArray(np.zeros((8, 2)), {"k": np.arange(8)}, ("k", "time"))
    ds = values.assign_coords(time=[0.0, 1.0]).to_dataset(name="v")
    (axes,) = Panels(Curves("v", colour="k"))(ds).get_axes()
    first, last = axes.lines[0], axes.lines[-1]
    assert first.get_color() == last.get_color()
    assert (first.get_linestyle(), last.get_linestyle()) == ("-", "--")


def test_colours_in_order_do_not_repeat_and_so_lines_do_not_differ():
    values = (("seed", "k", "time"), np.ones((2, 9, 3)))
    ds = xr.Dataset({"v": values}, {"k": range(9), "time": np.arange(3.0)})
    (axes,) = Panels(Curves("v", colour="k", is_graded=True))(ds).get_axes()
    assert {line.get_linestyle() for line in axes.lines} == {"-"}


def test_a_column_with_a_drawing_shares_no_axis_and_whole_numbers_have_whole_ticks():
    def draw(axes, part):
        axes.plot([0.0, 100.0], [0.0, float(part["m"])])

    figure = Panels(Drawing(draw), Curves("risk", x="frequency"), columns="m")(
        xr.Dataset({"risk": array("m", "seed", "frequency")})
    )
    first, _, last, _ = figure.get_axes()
    figure.draw_without_rendering()
    assert first.get_xlim()[1] >= 100 > 10 > last.get_xlim()[1]
    assert all(float(tick).is_integer() for tick in last.get_xticks())


def test_what_no_figure_can_have_is_named():
    with pytest.raises(BadInput, match="needs a kind"):
        Panels()
    with pytest.raises(BadInput, match="has one kind, got 2"):
        Panels(Curves("accuracy"), Curves("accuracy"), rows="m", columns="sample")
    with pytest.raises(BadInput, match="no axis `depth`"):
        Panels(Curves("accuracy"), columns="depth")(DS)
    with pytest.raises(BadInput, match="no axis `depth`"):
        Panels(Curves("accuracy", facet="depth"))(DS)
    with pytest.raises(BadInput, match="goes without `rows`"):
        Panels(Curves("accuracy", facet="m"), rows="sample")


WRONG = [
    (lambda: Curves("accuracy", laws=Law(0.5)), "`laws` must be a tuple"),
    (lambda: Curves("accuracy", laws=(0.5,)), "`laws` must be a tuple"),
    (lambda: Curves("accuracy", yscale="logarithmic"), "`yscale` must be one of"),
    (lambda: Panels(Curves("accuracy"), xscale="lin"), "`xscale` must be one of"),
    (lambda: Panels(*2 * [Curves("a", title="T")]), "two panels have the title 'T'"),
]


@pytest.mark.parametrize(("make", "message"), WRONG)
def test_a_wrong_declaration_is_refused_when_it_is_made(make, message):
    with pytest.raises(BadInput, match=message):
        make()


def test_titles_may_repeat_where_their_places_or_their_values_differ():
    first, last = (lambda ds, i=i: ds.isel(m=i) for i in (0, 1))
    Panels(
        Curves("a", title="m = {m}", of=first), Curves("a", title="m = {m}", of=last)
    )
    Panels(Curves("a", title="T", ylabel="a"), Curves("b", title="T", ylabel="b"))


UNKNOWN = [
    (Panels(Curves("acuracy")), "`Curves.values` .* `acuracy`.*mean `accuracy`"),
    (Panels(Curves("accuracy"), columns="n"), "`columns` .* names `n`"),
    (Panels(Curves("accuracy"), rows="n"), "`rows` .* names `n`"),
    (Panels(Curves("accuracy", facet="n")), "`facet` .* names `n`"),
    (Panels(Curves("accuracy", colour="n")), "`Curves.colour` .* names `n`"),
    (Panels(HeatMap("accuracy", y="n")), "`HeatMap.y` .* names `n`"),
    (Panels(Curves(lambda ds: ds["accuracy"], x="n")), "`Curves.x` .* names `n`"),
    (Panels(Curves("accuracy", title="{mm}")), "`Curves.title` .* names `mm`"),
    (Panels(Curves("accuracy"), title="{mm:g}"), "`title` .* names `mm`"),
    (Panels(Curves("accuracy"), names={"n": "N"}), "`names` .* names `n`"),
]


@pytest.mark.parametrize(("panels", "message"), UNKNOWN)
def test_names_that_no_result_can_have_are_found_before_it_is_there(panels, message):
    with pytest.raises(BadInput, match=message):
        check_panels(panels, [*DS.variables])


def test_what_a_function_may_make_is_left_to_the_function():
    known = [*DS.variables]
    made = lambda part: part["accuracy"].rename(sample="of")
    check_panels(Panels(Curves(made, colour="of"), names={"of": "o"}), known)
    check_panels(Panels(Curves("gap", title="{k}"), columns="k", of=made), known)
    check_panels(Panels(Curves("gap", title="{k}", of=made), Drawing(made)), known)
    check_panels(Panels(Curves("gap", needs="gap"), Curves("accuracy")), known)


def test_an_axis_that_would_be_pooled_is_named():
    with pytest.raises(BadInput, match="would pool the values of `sample`"):
        Panels(Curves("accuracy", colour="m"))(DS)
    Panels(Curves("accuracy", colour="m"))(DS.isel(sample=[0]))
    pooled = Curves("accuracy", colour="m", pooled=("sample",))
    (axes,) = Panels(pooled)(DS).get_axes()
    seen = DS["accuracy"].isel(m=0).median(["sample", "seed"])
    np.testing.assert_allclose(axes.lines[0].get_ydata(), seen)


def test_colours_of_an_axis_that_is_not_there_are_refused():
    with pytest.raises(BadInput, match="`depth` for colours .* no such axis"):
        Panels(Curves("accuracy", colour="depth", line="m"))(DS.isel(sample=0))
    # Of an axis that is held fixed there is one colour.
    (axes,) = Panels(Curves("accuracy", colour="m"))(DS.isel(m=0, sample=0)).get_axes()
    assert len(axes.lines) == 1


def test_names_that_are_not_there_are_named_when_it_is_drawn():
    with pytest.raises(BadInput, match="draws `acuracy`.*mean `accuracy`"):
        Panels(Curves("acuracy"))(DS)
    with pytest.raises(BadInput, match="names `mm`, which is no coordinate"):
        Panels(Curves("accuracy", colour="sample", title="{mm}"), columns="m")(DS)
    with pytest.raises(BadInput, match="names `m`, which is no coordinate with one"):
        Panels(Curves("accuracy", colour="sample", facet="m"), title="{m}")(DS)


def test_an_estimate_has_a_bar_and_an_open_end_a_triangle():
    rows = [[2.0, 1.0, 4.0], [np.nan, 3.0, np.inf], [np.nan, 0.0, 5.0]]
    coords = {"n": [10, 20, 40], "end": ["value", "low", "high"]}
    ds = xr.Dataset({"seen": (("n", "end"), rows)}, coords)
    (axes,) = Panels(Estimates("seen", x="n", is_joined=True))(ds).get_axes()
    (bars,) = axes.containers
    ends = bars.lines[2][0].get_segments()[0]
    np.testing.assert_array_equal(ends, [[10, 1], [10, 4]])
    marks = {line.get_marker(): line.get_xydata().tolist() for line in axes.lines}
    assert (marks["^"], marks["v"]) == ([[20, 3]], [[40, 5]])


def test_means_are_those_of_the_seeds_with_their_interval():
    found = means(DS["accuracy"].isel(time=-1))
    mean = DS["accuracy"].isel(time=-1).mean("seed")
    np.testing.assert_allclose(found.sel(end="value"), mean)
    assert (found.sel(end="low") <= mean).all()


def test_marks_alone_leave_the_line_to_the_law():
    kind = Curves("accuracy", colour="sample", mark="o", is_joined=False)
    (axes,) = Panels(kind)(DS.isel(m=0)).get_axes()
    assert {line.get_linestyle() for line in axes.lines} == {"None"}


def test_a_logarithmic_axis_without_a_value_above_zero_stays_linear():
    nothing = 0 * TRAIN[["accuracy"]].isel(m=0)
    figure = Panels(Curves("accuracy", yscale="log"), xscale="log")(nothing)
    (axes,) = figure.get_axes()
    figure.canvas.draw()
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")


def test_the_exponent_of_a_power_law_is_in_the_legend():
    rise = DS["time"] ** 1.5 * (1 + 0 * DS["accuracy"].isel(m=0))
    figure = Panels(Curves(lambda _: rise, colour="sample", has_exponent=True))(
        DS.isel(m=0)
    )
    names = [t.get_text() for legend in figure.legends for t in legend.get_texts()]
    names += [line.get_label() for axes in figure.get_axes() for line in axes.lines]
    assert "train, exponent 1.50" in names

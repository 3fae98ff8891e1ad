"""The matrix of biases: its tasks, its network, its rule from end to end."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure
from matrix_rates import TENTH

from simbias.analysis.at_stage import STAGES, at_stage
from simbias.analysis.effects import observed_stages
from simbias.analysis.parts import with_axes
from simbias.analysis.spearman import row_correlations
from simbias.analysis.verdicts import lost_verdicts
from simbias.datasets.biases._laws import inputs, positions
from simbias.datasets.biases.circle_waves import FREQUENCIES
from simbias.datasets.biases.component_sum import VARIANCES
from simbias.ensemble.plan import make_plan
from simbias.experiments.matrix import _numbers, bias_matrix
from simbias.experiments.matrix._dependence import dependence
from simbias.experiments.matrix._optimisers import RATES, MatrixDescent
from simbias.experiments.matrix._rows import ROWS
from simbias.experiments.matrix._settings import (
    ACTIVATIONS,
    AXES,
    EVERY,
    GAIN,
    HIDDEN,
    INPUTS,
    KINDS,
    QUICK,
    SHAPES,
    STARTS,
    parsed,
)
from simbias.introspection.tangents import tangent_kernel
from simbias.losses import half_mse, logistic, logistic_or_half_mse
from simbias.measures import LearnedParts
from simbias.networks import centred_mlp

BIASES, D = tuple(ROWS), 8
KEY = jax.random.key(0)


def test_every_level_of_every_factor_is_among_the_settings_of_quick():
    seen = [{*levels} for levels in zip(*map(parsed, QUICK), strict=True)]
    assert seen == [{*INPUTS}, {*ACTIVATIONS}, {*SHAPES}, {*STARTS}]
    assert len({*EVERY}) == 72
    assert {*QUICK} <= {*EVERY}
    assert {*TENTH} <= {*EVERY}
    levels = [{*of} for of in zip(*map(parsed, TENTH), strict=True)]
    assert levels == [{*INPUTS}, {*ACTIVATIONS}, {*SHAPES}, {*STARTS}]


def test_settings_of_quick_differ_from_the_first_in_one_factor():
    first = parsed(QUICK[0])
    changed = [
        sum(a != b for a, b in zip(parsed(one), first, strict=True)) for one in QUICK
    ]
    assert changed == [0] + [1] * 8


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ("uniform relu wide", "four words"),
        ("uniform relu wide hot", "start.*rich, lazy.*'hot'"),
        ("gauss relu wide rich", "inputs.*'gauss'"),
        ("uniform relu flat rich", "shape.*'flat'"),
        ("uniform gelu wide rich", "activation.*'gelu'"),
    ],
)
def test_a_setting_that_there_is_not_is_refused_by_name(setting, named):
    with pytest.raises(ValueError, match=named):
        bias_matrix.make(KEY, setting=setting)


def test_a_bias_that_there_is_not_is_refused_by_name():
    with pytest.raises(ValueError, match=r"cell.bias.*'simplicity'"):
        make_plan(bias_matrix.experiment("smoke", bias="simplicity"))


def test_all_tables_have_the_same_rows_in_one_order():
    page = bias_matrix.lecture_page()
    assert tuple(bias_matrix.TASKS) == BIASES == bias_matrix.BIASES == tuple(page)
    columns = {tuple(said) for said in page.values()}
    assert columns == {("data", "architecture", "proof", "real_data", "space")}
    spaces = {said["space"] for said in page.values()}
    assert spaces == {"input", "parameter", "hypothesis", "Fourier"}


@pytest.mark.parametrize("law", INPUTS)
def test_laws_of_inputs_have_mean_zero_and_variance_one(law):
    x = np.asarray(inputs(KEY, law, 80_000, 3))
    if law == "clusters":  # eight centres are few
        x = np.concatenate([inputs(k, law, 80, 3) for k in jax.random.split(KEY, 2000)])
    assert np.abs(x.mean(axis=0)).max() < 0.03
    assert np.abs(x.var(axis=0) - 1).max() < (0.2 if law == "heavy" else 0.05)


def test_the_density_of_steps_is_one_to_two_to_four():
    place = np.asarray(positions(KEY, "steps", 70_000))
    counts = np.histogram(place, bins=3, range=(0, 1))[0] / 10_000
    assert np.abs(counts - [1, 2, 4]).max() < 0.05


@pytest.mark.parametrize("law", INPUTS)
@pytest.mark.parametrize("bias", BIASES)
def test_every_task_has_the_shapes_that_make_one_program(bias, law):
    draw = lambda key: bias_matrix.TASKS[bias](key, law=law)
    shapes = jax.tree.map(lambda v: v.shape, jax.eval_shape(draw, KEY))
    one = jax.eval_shape(lambda key: bias_matrix.TASKS["spectral"](key, law=law), KEY)
    assert shapes == jax.tree.map(lambda v: v.shape, one)


def test_targets_are_the_sum_of_their_parts():
    for bias in ("spectral", "principal"):
        data = bias_matrix.TASKS[bias](KEY, law="clusters")
        gap = np.asarray(data.parts.sum(axis=1) - data.y[:, 0])
        assert np.abs(gap).max() < 1e-10, bias


@pytest.mark.parametrize("bias", ["width", "information", "spectral"])
def test_an_odd_network_may_learn_tasks_that_are_not_odd(bias):
    # Of an odd network f(−x) = −f(x): a constant input tells x from −x.
    x = np.asarray(bias_matrix.TASKS[bias](KEY, law="heavy").x)
    assert ((np.ptp(x, axis=0) == 0) & (x[0] != 0)).any()


def test_principal_components_are_uncorrelated_on_the_sample():
    data = bias_matrix.TASKS["principal"](KEY, law="heavy")
    seen = np.asarray(data.x.T @ data.x) / len(data.x)
    law = 8 / np.arange(1, D + 1) / sum(1 / j for j in range(1, D + 1))
    assert np.abs(seen - np.diag(law)).max() < 1e-10


def test_a_linear_function_cannot_tell_rows_from_their_clone_of_two_moments():
    data = bias_matrix.TASKS["distributional"](KEY, law="heavy")
    y = data.test.y
    for moment in (lambda x: x.T @ y, lambda x: x.T @ x):
        gap = moment(data.others["covariances"].x) - moment(data.test.x)
        assert np.abs(np.asarray(gap)).max() < 1e-8
    gap = data.others["means"].x.T @ y - data.test.x.T @ y
    assert np.abs(np.asarray(gap)).max() < 1e-8


def test_a_linear_function_has_no_wave_but_the_first():
    data = bias_matrix.TASKS["spectral"](KEY, law="uniform")
    seen = LearnedParts()(
        lambda x: jnp.sum(x * jnp.arange(1.0, D + 1), keepdims=True), data
    )
    np.testing.assert_allclose(seen[1 : len(FREQUENCIES)], 0, atol=1e-10)


def test_shapes_have_about_as_many_weights():
    count = lambda hidden: sum(
        p * q for p, q in zip((D, *hidden), (*hidden, 1), strict=True)
    )
    wide, equal = count(HIDDEN["wide"]), count(HIDDEN["equal"])
    assert equal == pytest.approx(wide, rel=0.05)


def test_the_loss_is_that_of_the_kind_of_target():
    f = jax.random.normal(KEY, (6, 1))
    one = jnp.ones(6)
    label, value = jnp.sign(f + 0.3), 1.7 * f - 0.2
    assert logistic_or_half_mse(f, label, one) == pytest.approx(
        float(logistic(f, label, one))
    )
    assert logistic_or_half_mse(f, value, one) == pytest.approx(
        float(half_mse(f, value, one))
    )


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_rich_and_lazy_starts_are_zero_and_have_one_tangent_kernel(activation):
    x = jax.random.normal(KEY, (5, D))
    name, law = KINDS[activation]
    nets = [
        centred_mlp(
            KEY, (D, *HIDDEN["deep"], 1), gain=GAIN[k], law=law, activation=name
        )
        for k in STARTS
    ]
    for net in nets:
        assert np.abs(np.asarray(jax.vmap(net)(x))).max() == 0
    rich, lazy = (np.asarray(tangent_kernel(net, x)) for net in nets)
    assert rich == pytest.approx(lazy, rel=1e-10, abs=1e-12)


def test_the_matrix_before_the_last_of_the_weights_row_is_in_a_linear_layer():
    _, net = bias_matrix.make(KEY, bias="weights", setting="steps relu deep lazy")
    x = jax.random.normal(KEY, (D,))
    below, top = net.activations(x)[-2:]
    assert np.asarray(net.gain.value * top) == pytest.approx(
        np.asarray(net.weights[-2] @ below)
    )


def _fake(seeds: int = 20) -> xr.Dataset:
    """A result in which one cell of "low_dim" is as it should be, and one is not."""
    seed, time = np.arange(seeds), np.array([0.0, 1.0, 2.0, 3.0])
    dims = ("bias", "setting", "flow.optimiser", "seed")
    noise = np.random.default_rng(0).normal(size=(1, 1, 2, seeds))
    loss = np.broadcast_to([1.0, 0.8, 0.3, 0.05], (1, 1, 2, seeds, 4))
    right = np.empty((1, 1, 2, seeds, 4, 3, 2))
    right[..., 0, 0], right[..., 1, 0], right[..., 2, 0] = 0.95, 0.5, 0.9
    right[:, :, 1, :, :, 2, 0] = 0.5
    right[..., 2, 0] += 0.02 * noise[..., None]
    return xr.Dataset(
        {
            "status": (dims, np.full((1, 1, 2, seeds), 1)),
            "loss": ((*dims, "time"), loss),
            "projected": ((*dims, "time", "mixed", "score"), right),
        },
        {
            "bias": ["low_dim"],
            "setting": [QUICK[0]],
            "flow.optimiser": ["gd", "adam"],
            "seed": seed,
            "time": time,
            "mixed": ["nothing", "inside", "outside"],
            "score": ["accuracy", "logit_change"],
        },
    )


def test_the_matrix_tells_an_effect_from_none_and_says_since_when():
    table = bias_matrix.table(_fake())
    assert table["verdict"].values.ravel().tolist() == ["observed", "absent"]
    assert table["stage"].values.ravel().tolist() == ["early", ""]
    assert lost_verdicts(table["verdict"], "flow.optimiser", "gd") == [
        ("low_dim", QUICK[0], "adam", "absent")
    ]


def together(table):
    return row_correlations(table["value"], "bias", "setting")


def _table(values):
    """A matrix of two biases, with these values over settings and optimisers."""
    values = np.asarray(values)
    dims = ("bias", "setting", "flow.optimiser")
    coords = {"bias": ["low_dim", "weights"]}
    return xr.Dataset({"value": (dims, values)}, coords)


def test_biases_that_rise_together_have_the_correlation_one():
    rise = np.arange(32.0).reshape(8, 4)
    seen = together(_table([rise, rise**3]))
    at = {"bias": "low_dim", "other": "weights"}
    assert [seen[k].sel(at).item() for k in ("rho", "low", "high")] == [1, 1, 1]
    seen = together(_table([rise, -rise]))
    assert seen["rho"].sel(at).item() == -1


def test_optimisers_of_one_setting_are_no_further_settings():
    # Two settings, each of four optimisers that agree: no interval.
    rise = np.repeat([[0.0], [1.0]], 4, axis=1) + 1e-3 * np.arange(4)
    seen = together(_table([rise, rise])).isel(bias=0, other=1)
    assert seen["rho"].item() == 1
    assert np.isnan(seen["low"].item())
    # Eight: settings of noise have a wide one, which as 32 cells would be narrow.
    noise = np.random.default_rng(0).normal(size=(2, 8, 1)) + np.zeros((1, 1, 4))
    seen = together(_table(noise)).isel(bias=0, other=1)
    assert seen["high"].item() - seen["low"].item() > 0.8


def test_few_cells_have_no_correlation():
    seen = together(_table(np.arange(8.0).reshape(2, 1, 4)))
    assert np.isnan(seen["rho"].values).all()


def test_a_bias_that_few_learned_members_show_is_undefined_for_another_reason():
    ds = _fake()
    ds["projected"].values[:, :, 0, :12, -1, 1, 0] = np.nan
    table = bias_matrix.table(ds)
    assert table["verdict"].values.ravel()[0] == "undefined"
    assert table["why"].values.ravel()[0] == "too few members have the number"
    assert isinstance(bias_matrix.figure(ds), Figure)


def test_a_task_that_is_not_learned_is_undefined():
    ds = _fake()
    ds["projected"].values[:, :, 0, :12, -1, 0, 0] = 0.6
    table = bias_matrix.table(ds)
    assert table["verdict"].values.ravel()[0] == "undefined"
    assert table["why"].values.ravel()[0] == "task not learned"
    assert table["count"].values.ravel()[0] == 8


def test_a_member_that_failed_has_no_scalar():
    ds = _fake()
    ds["status"].values[:, :, 0, :11] = 4
    assert bias_matrix.table(ds)["verdict"].values.ravel()[0] == "undefined"


def test_stages_are_the_last_records_before_the_loss_has_fallen():
    ds = _fake().isel({"bias": 0, "setting": 0, "flow.optimiser": 0})
    value = xr.zeros_like(ds["loss"]) + np.arange(4)
    seen = [float(at_stage(value, ds["loss"], stage)[0]) for stage in STAGES]
    assert seen == [0, 1, 2, 3]


def test_a_linear_net_has_no_row_where_it_could_not_be_otherwise():
    setting = "uniform linear wide rich"
    without = [name for name, row in ROWS.items() if row.why_undefined(setting)]
    assert without == ["distributional", "embeddings", "randomised", "information"]


def test_times_that_rise_with_the_frequency_have_the_scalar_one():
    time = np.array([0.0, 1, 2, 3, 4])
    rise = np.clip(time[None, :] / np.array([1, 2, 3, 40])[:, None], 0, 1)
    ds = xr.Dataset({"learned": (("seed", "part", "time"), rise[None])}, {"time": time})
    assert _numbers.spectral(ds).values == pytest.approx([1.0])
    assert _numbers.reached(2, 0.9)(ds).all()
    low = ds.isel(part=[3, 2, 1, 0])
    assert _numbers.spectral(low).values == pytest.approx([-1.0])


def test_components_with_times_over_their_variance_have_the_slope_one():
    time = np.geomspace(0.01, 100, 400)
    variance = np.asarray(VARIANCES)
    learned = 1 - np.exp(-variance[:, None] * time)
    ds = xr.Dataset(
        {"learned": (("seed", "part", "time"), learned[None])}, {"time": time}
    )
    assert _numbers.principal(ds).values == pytest.approx([1.0], abs=1e-3)


def test_the_quick_preset_is_thirty_six_cells_of_eleven_rows():
    quick = bias_matrix.experiment()
    cells = len(quick.cell["setting"]) * len(quick.cell["flow.optimiser"])
    assert (cells, len(quick.cell["bias"]), quick.seeds) == (36, 11, 20)
    assert dataclasses.replace(quick).loss is logistic_or_half_mse


@pytest.mark.parametrize("name", ["gd", "sgd", "adam", "adamw"])
def test_an_optimiser_of_the_matrix_is_descent_at_its_best_rate(name):
    flow = MatrixDescent(optimiser=name)
    assert flow.prepared().rate == RATES[name].tried[RATES[name].best]
    assert MatrixDescent(optimiser=name, rate=2).prepared().rate == RATES[name].tried[2]
    assert (flow.prepared().batch is None) == (name != "sgd")
    assert flow.clock == "steps" == flow.prepared().clock


def _of_all_settings(seeds: int = 8) -> xr.Dataset:
    """Results of "low_dim" in all settings: 0.5 from a rich start, or 0; and noise."""
    part = _fake(seeds).sel({"flow.optimiser": "gd"})
    rng, out = np.random.default_rng(0), []
    for setting in EVERY:
        one = part.assign_coords(setting=[setting]).copy(deep=True)
        gap = 0.5 * (parsed(setting).start == "rich")
        gap += 0.1 * (parsed(setting).shape == "wide") + 0.01 * rng.normal(size=seeds)
        right = one["projected"].values  # bias, setting, seed, time, mixed, score
        right[..., 1, 0] = right[..., 2, 0] - gap[:, None]
        out.append(one)
    # Axes as of a run: two optimisers that do the same.
    whole = xr.concat(out, "setting")
    both = xr.concat([whole, whole], "flow.optimiser")
    return both.assign_coords({"flow.optimiser": ["gd", "adam"]})


def test_the_start_explains_a_bias_of_rich_networks():
    ds = with_axes(_of_all_settings(), AXES)
    found = dependence(ds).sel(bias="low_dim")
    share = found["share"].to_series()
    # Variances 0.5²/4 of the start and 0.1² · 2/9 of the shape.
    start, shape = 0.25 / 4, 0.01 * 2 / 9
    assert share["start"] == pytest.approx(start / (start + shape), abs=0.01)
    assert share["shape"] == pytest.approx(shape / (start + shape), abs=0.01)
    assert abs(share["optimiser"]) < 1e-6
    assert int(found["missing"]) == 0
    assert isinstance(bias_matrix.figure(ds), Figure)
    gap = bias_matrix.paired_differences(ds).sel(bias="low_dim")
    assert float(gap["value"]) == pytest.approx(0.1, abs=0.01)
    assert gap["low"] < 0.1 < gap["high"]


def test_a_result_of_one_setting_has_its_figure():
    assert isinstance(bias_matrix.figure(_fake().isel(setting=0)), Figure)


def test_shares_need_all_settings():
    with pytest.raises(ValueError, match="preset='paper'"):
        dependence(_fake())


def test_stages_are_shares_of_the_entries_that_are_observed():
    seen = observed_stages(bias_matrix.table(_fake()), "bias")
    assert seen.sel(bias="low_dim").values.tolist() == [0, 1, 0, 0]

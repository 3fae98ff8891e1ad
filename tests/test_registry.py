"""Contracts that every file of a folder keeps."""

import contextlib
import dataclasses
import functools
import json

import jax
import pytest
import xarray as xr
from full import fully_optimised
from matplotlib.figure import Figure
from tree import ROOT

import simbias
from simbias.core import Claim, Experiment
from simbias.ensemble.plan import make_plan
from simbias.errors import MissingFiles
from simbias.experiment_presets import Presets, presets
from simbias.flows.descent import Descent
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import half_mse
from simbias.preset_names import preset_of, run_name, size_of
from simbias.registry import (
    component,
    experiments,
    flows,
    modules,
    preset_names,
    titles,
    variants,
)

EXPERIMENTS = sorted(experiments())
CHECKED = ROOT / "benchmarks" / "results" / "check_quick"


# The smallest one is planned and run below, the quick one for the stored checks.
LONG_TO_PLAN = ("bias_architectures", "bias_matrix", "dominoes", "sensitivity_patches")
PLANNED = [
    pytest.param(
        name,
        preset,
        marks=[pytest.mark.long] * (preset != "paper" or name in LONG_TO_PLAN),
    )
    for name in EXPERIMENTS
    for preset in preset_names(name)
    if size_of(preset) != "smoke"
]


@pytest.mark.smoke
@pytest.mark.parametrize(("name", "preset"), PLANNED)
def test_every_experiment_can_be_planned_at_every_preset(name, preset):
    experiment = experiments()[name].experiment(preset)
    assert isinstance(experiment, Experiment)
    assert experiment.name == name
    # Every name of an axis and the ends of its numbers, side by side: to trace all
    # cells of a large grid takes a while.  Very many names are products of few.
    axes = {k: v for k, v in experiment.cell.items() if isinstance(v, tuple)}
    for k, v in axes.items():
        axes[k] = v if isinstance(v[0], str) and len(v) < 20 else (v[0], v[-1])
    for i in range(max(map(len, axes.values()), default=1)):
        cell = {k: v[min(i, len(v) - 1)] for k, v in axes.items()}
        cell = {**experiment.cell, **cell}
        assert make_plan(dataclasses.replace(experiment, cell=cell)).size > 0


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_preset_of_another_name_is_refused_by_name(name):
    with pytest.raises(simbias.BadInput, match=r"smoke, quick, paper.*mean 'quick'"):
        experiments()[name].experiment("quik")


QUICK = Experiment(
    name="mine",
    make=lambda key, *, n=1, m=2: key,
    cell={"n": (1, 2), "m": 3},
    seeds=2,
    flow=ReluFlow(),
    loss=half_mse,
    times=(1.0,),
    measures={},
)


def test_presets_replace_values_of_the_cell_and_take_them_away():
    quick = QUICK
    sizes = presets(quick, smoke={"cell": {"n": 1, "m": None}}, paper={"seeds": 9})
    assert sizes() == quick
    assert sizes("smoke") == dataclasses.replace(quick, cell={"n": 1})
    flow = ReluFlow(rtol=1e-3)
    assert sizes(n=5, seeds=3, flow=flow) == dataclasses.replace(
        quick, cell={"n": 5, "m": 3}, seeds=3, flow=flow
    )
    assert sizes("paper", m=(4, 5)) == dataclasses.replace(
        quick, seeds=9, cell={"n": (1, 2), "m": (4, 5)}
    )


def test_a_variant_comes_in_every_size():
    sgd = {"flow": Descent(), "cell": {"m": (7, 8)}}
    smoke, paper = {"seeds": 1, "cell": {"m": 3}}, {"seeds": 9}
    sizes = presets(
        QUICK, smoke=smoke, paper=paper, sgd=sgd, sgd_smoke={"cell": {"m": 4}}
    )
    is_sgd = functools.partial(dataclasses.replace, QUICK, flow=Descent())
    assert sizes("sgd") == is_sgd(cell={"n": (1, 2), "m": (7, 8)})
    assert sizes("sgd_smoke") == is_sgd(cell={"n": (1, 2), "m": 4}, seeds=1)
    assert sizes("sgd_paper") == is_sgd(cell={"n": (1, 2), "m": (7, 8)}, seeds=9)
    assert sizes("smoke") == dataclasses.replace(
        QUICK, seeds=1, cell={"n": (1, 2), "m": 3}
    )
    with pytest.raises(simbias.BadInput, match=r"paper, sgd_smoke, sgd, .*mean 'sgd'"):
        sizes("sdg")
    with pytest.raises(simbias.BadInput, match=r"`sgd_paper` is a size of a variant"):
        presets(QUICK, smoke={}, paper={}, sgd_paper={})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"smoke": {"seedz": 3}}, "`smoke` names `seedz`.*mean `seeds`"),
        ({"sgd": {"flw": 3}}, "`sgd` names `flw`.*mean `flow`"),
        ({"sgd": {}, "sgd_paper": {"n": 3}}, "`sgd_paper` names `n`.*'cell'"),
    ],
)
def test_a_preset_of_what_is_no_field_is_refused_when_it_is_made(wrong, message):
    with pytest.raises(simbias.BadInput, match=message):
        presets(QUICK, **{"smoke": {}, "paper": {}, **wrong})


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_presets_of_a_file_are_those_of_its_experiment(name):
    made = experiments()[name].experiment
    if isinstance(made, Presets):
        assert preset_names(name) == [*made.differences]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_fields_of_every_experiment_are_replaced_by_name(name):
    changed = experiments()[name].experiment("smoke", seeds=17, times=(2.0, 3.0))
    assert (changed.seeds, changed.times) == (17, (2.0, 3.0))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_says_what_it_shows_and_whose_it_is(name):
    text = experiments()[name].__doc__
    assert len(text.splitlines()[0]) < 100
    assert "Reference:" in text


def test_titles_are_the_first_lines_of_the_experiments():
    lines = {name: m.__doc__.splitlines()[0] for name, m in experiments().items()}
    assert titles() == lines


def test_flows_are_named_after_their_files():
    import simbias.flows

    assert list(flows()) == sorted(modules(simbias.flows))
    for name, module in modules(simbias.flows).items():
        assert component(module).__name__.lower() == name.replace("_", "")


# They run longer than they compile.
OPTIMISED = ("dominoes", "dominoes-fashion", "random_fit")

# The longest to compile and run; others of their theme stay.
LONGEST = (
    "bias_architectures",
    "bias_architectures-strings",
    "bias_matrix",
    "cantor",
    "condensation",
    "decay_landscape",
    "deep_alignment",
    "deep_escape",
    "deep_low_rank",
    "deep_threshold",
    "distributional_clones",
    "distributional_images",
    "dominoes",
    "dominoes-fashion",
    "early_alignment",
    "extremal_vectors",
    "first_filters",
    "first_filters-fashion",
    "flat_channels",
    "frequency_robustness",
    "global_gap",
    "grokking",
    "interpolating_samples",
    "layer_resets",
    "layer_resets-fashion",
    "layer_resets-mnist5k",
    "layer_similarity",
    "layer_similarity-fashion",
    "low_dim_dominoes",
    "low_dim_pair",
    "low_rank_classes",
    "low_rank_factors",
    "low_rank_linear",
    "low_rank_random_search",
    "low_rank_weights-flow",
    "matrix_completion",
    "max_margin",
    "mean_field",
    "mode_connectivity",
    "mode_connectivity-mnist5k",
    "mode_connectivity_fork",
    "mode_connectivity_teacher",
    "norm_drift",
    "norm_drift-control",
    "norm_gap",
    "one_pass",
    "order_of_limits",
    "orthogonal",
    "orthogonal_toy",
    "orthogonally_separable",
    "parity",
    "path_spectrum",
    "phase_diagram",
    "phase_diagram-five",
    "population",
    "principal_components-controls",
    "principal_components-images",
    "random_fit",
    "random_sensitivity",
    "sample_influence",
    "sensitivity_patches",
    "sensitivity_training-twenty_bits",
    "simple_first",
    "simple_first-law",
    "six_architectures",
    "slabs",
    "slabs-adversarial",
    "slabs-noisy",
    "sliding_share",
    "spectral_label_noise",
    "spectral_petals",
    "spectral_white_noise",
    "staircase",
    "stewart_snapshots",
    "stragglers",
    "symmetric_data",
    "symmetry_breaking-lattice",
    "threshold-large",
    "threshold-sgd",
    "threshold_scaling",
    "times_of_memorisation",
    "times_of_memorisation-centred",
    "unseen_entry",
    "vanishing_start",
    "xor_clusters",
    "xor_four_neurons",
)
# The shortest of its theme, part of the default run.
FIRST = (
    "distributional_linear",
    "extremal_count",
    "low_dim_inputs",
    "low_rank_regression",
    "parity_sparse",
    "random_design",
    "sensitivity_training",
    "spectral_optimisers",
    "spurious_minimum",
    "symmetry_breaking",
)


def marks_of(name: str) -> list[pytest.MarkDecorator]:
    if name in FIRST:
        return []
    return [pytest.mark.long if name in LONGEST else pytest.mark.smoke]


SMALL = [
    pytest.param(
        *(name, variant),
        marks=marks_of(run_name(name, variant)),
        id=run_name(name, variant),
    )
    for name in EXPERIMENTS
    for variant in ("quick", *variants(name))
]

# What a small run has is not enough for any of their claims.
FEW_SEEDS = (
    "bias_architectures",
    "bias_architectures-strings",
    "cantor",
    "decay_landscape",
    "deep_alignment",
    "deep_escape",
    "deep_low_rank",
    "deep_threshold",
    "distributional",
    "distributional_clones",
    "distributional_images",
    "distributional_linear",
    "dominoes",
    "dominoes-fashion",
    "extremal_count_space",
    "flat_channels",
    "frequency_robustness",
    "global_gap",
    "grokking",
    "interpolating_samples",
    "low_dim_dominoes",
    "low_dim_inputs-five_slabs",
    "low_dim_pair",
    "low_rank_squared",
    "low_rank_targets",
    "low_rank_weights",
    "low_rank_weights-flow",
    "matrix_completion",
    "mean_field",
    "norm_drift",
    "norm_drift-control",
    "norm_gap",
    "ntk_circle",
    "ntk_density",
    "one_pass",
    "order_of_limits",
    "phase_diagram",
    "phase_diagram-five",
    "population",
    "principal_components-controls",
    "principal_components-images",
    "sample_influence",
    "sensitivity_patches",
    "simple_first",
    "simple_first-law",
    "six_architectures",
    "sliding_share",
    "spectral_label_noise",
    "spurious_minimum",
    "staircase",
    "symmetric_data",
    "threshold",
    "threshold-large",
    "threshold-sgd",
    "threshold_scaling",
    "times_of_memorisation",
    "times_of_memorisation-centred",
    "vanishing_start",
)


def contradicted_by_the_stored_check(name: str) -> set[str]:
    claims = json.loads((CHECKED / f"{name}.json").read_text())["claims"]
    return {c["statement"] for c in claims if c["verdict"] == "contradicted"}


@pytest.mark.parametrize(("name", "variant"), SMALL)
def test_every_experiment_runs_small_and_draws_its_figure(name, variant, monkeypatch):
    from simbias.verbs.simulate import simulate

    module, name = experiments()[name], run_name(name, variant)
    smoke = "smoke" if variant == "quick" else preset_of(variant, "smoke")
    experiment = module.experiment(smoke)
    with fully_optimised() if name in OPTIMISED else contextlib.nullcontext():
        try:
            ds = simulate(experiment)
        except MissingFiles as error:
            pytest.skip(str(error))
    figures = simbias.draw(module, ds)
    assert [*figures] == [""]
    assert isinstance(figures[""], Figure)
    claims = simbias.check(module, ds)
    assert claims
    assert all(isinstance(c, Claim) for c in claims)
    # Small runs may be inconclusive, but contradict only what larger ones do too.
    contradicted = {c.statement for c in claims if c.verdict == "contradicted"}
    assert contradicted <= contradicted_by_the_stored_check(name)
    assert any(c.verdict == "supported" for c in claims) or name in FEW_SEEDS
    # An axis that this experiment has never heard of: nothing is left out of sight.
    twice = [ds.assign_coords({"flow.foreign": v}) for v in (1.5, 2.5)]
    wider = xr.concat(twice, "flow.foreign", coords="minimal").assign_attrs(ds.attrs)
    if hasattr(module, "AXES"):
        monkeypatch.setattr(module, "figure", lambda _: Figure())  # of what was drawn
    labels = [*simbias.draw(module, wider)]
    if hasattr(module, "AXES"):
        assert labels == ["flow.foreign = 1.5", "flow.foreign = 2.5"]
        said = [f"{c.statement}, {label}" for label in labels for c in claims]
        assert [c.statement for c in simbias.check(module, wider)] == said
    else:
        assert labels == [""]
        assert len(simbias.check(module, wider)) >= len(claims)
    jax.clear_caches()  # no experiment needs the programs of another

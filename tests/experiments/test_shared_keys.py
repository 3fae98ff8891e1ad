"""Experiments whose cells are compared on one sample and one start, seed by seed."""

import pytest

from simbias.ensemble.grid import make_grid
from simbias.registry import experiment_module, preset_names

NAMES = (
    "condensation",
    "early_alignment",
    "grokking",
    "interpolating_samples",
    "low_dim_dominoes",
    "low_dim_inputs",
    "low_rank_factors",
    "low_rank_random_search",
    "low_rank_regression",
    "matrix_completion",
    "max_margin",
    "order_of_limits",
    "phase_diagram",
    "principal_components",
    "sensitivity_patches",
    "slabs",
    "spurious_minimum",
    "stewart_snapshots",
    "stragglers",
    "threshold_scaling",
    "unseen_entry",
)


@pytest.mark.parametrize("name", NAMES)
def test_all_networks_of_a_seed_have_one_key(name):
    for preset in preset_names(name):
        cells = make_grid(experiment_module(name).experiment(preset)).cells
        assert len({cell.identity for cell in cells}) == 1, preset

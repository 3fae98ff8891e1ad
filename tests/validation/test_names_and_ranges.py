"""Names and numbers out of range are refused by name, also where nobody runs them."""

import dataclasses
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from toy import KEY, sample, toy_network
from tree import ROOT

from simbias.analysis.verdicts import effect_interval
from simbias.core import Dataset
from simbias.datasets import moment_classes, parity, slabs
from simbias.errors import BadInput
from simbias.flows.descent import Descent
from simbias.losses import half_mse
from simbias.measures import (
    AdversarialAccuracy,
    DecisionPlane,
    UniversalPerturbation,
)
from simbias.measures.rest.least_subgradient import LeastSubgradient
from simbias.networks import balanced
from simbias.networks.adversarial import Adversarial
from simbias.networks.dense.mlp_init import torch_default
from simbias.numerics.boolean_sensitivity import degree_weights
from simbias.theory.early_limit import early_limit
from simbias.theory.max_margin import max_margin
from simbias.theory.random_matrices import ridgeless_risk

NETWORK, DATA = toy_network("relu"), sample()
TESTED = dataclasses.replace(DATA, test=DATA)
TWO = jnp.asarray(2.0)  # no float, and no tracer
TWICE = jax.tree.map(lambda v: v[:4, :2] if v.ndim > 1 else v[:4], sample())
UNTAUGHT = dataclasses.replace(TWICE, y=0 * TWICE.y)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: parity(KEY, flips=TWO), "`flips` must be at most 1"),
        (lambda: moment_classes(KEY, correlation=TWO), "`correlation` must be below 1"),
        (lambda: moment_classes(KEY, peak=TWO), "`peak` must be at most 1"),
        (lambda: slabs(KEY, noise=TWO), "`noise` must be at most 1"),
        (lambda: slabs(KEY, simple=5, noise=0.1), "`noise` must be 0 unless simple=2"),
        (lambda: slabs(KEY, margin=TWO), "`margin` must be below 1/6"),
        (lambda: Descent(optimiser="adam", beta2=TWO), "`beta2` must be below 1"),
        (lambda: balanced(KEY, m=2, d=2, activation="relo"), "`activation` must be on"),
        (lambda: torch_default(KEY, d=2, activation="relo"), "`activation` must be on"),
        (lambda: AdversarialAccuracy(simple=5)(NETWORK, TESTED), "`simple` must be at"),
        (lambda: UniversalPerturbation(simple=5)(NETWORK, TESTED), "`simple` must be"),
        (lambda: DecisionPlane()(NETWORK, TESTED), "`data.features` must be two or"),
        (
            lambda: LeastSubgradient(half_mse)(
                dataclasses.replace(NETWORK, frozen=("w",)), DATA
            ),
            "`LeastSubgradient` knows of frozen weights those of the output",
        ),
        (
            lambda: effect_interval(np.ones(9), low=0, high=1, level=2.0),
            "`level` must lie in",
        ),
        (lambda: degree_weights(jnp.ones(6)), "`values` must be at 2ⁿ points"),
        (
            lambda: early_limit(UNTAUGHT, half_mse, jnp.eye(2), jnp.ones(2)),
            "with a label that pulls",
        ),
    ],
)
def test_it_is_refused_by_name(call, message):
    with pytest.raises(BadInput, match=message):
        call()


# Here the checker of types of the tests is faster.
WITHOUT_TYPES = """
from simbias import BadInput, measures
from simbias.networks.adversarial import Adversarial
for call in (
    lambda: Adversarial(None, norm="l1"),
    lambda: measures.AdversarialAccuracy(norm="l1"),
    lambda: measures.AngularDeviation(centre="group"),
    lambda: measures.LastLayerProbe(target="easy"),
):
    try:
        call()
    except BadInput as error:
        print(error)
"""


@pytest.mark.slow
def test_a_name_that_is_none_is_refused_where_types_are_not_checked():
    words = [sys.executable, "-c", WITHOUT_TYPES]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT)
    said = [line.partition(" must be one of ")[0] for line in done.stdout.splitlines()]
    assert said == ["`norm`", "`norm`", "`centre`", "`target`"]


def test_without_noise_there_is_no_variance():
    assert ridgeless_risk(5, 5, sigma=0.0) == (0.0, 0.0)
    assert ridgeless_risk(5, 5, sigma=1.0)[1] == np.inf


def test_the_largest_margin_knows_no_unit():
    x = np.array([[2.0, 1.0], [1.0, -1.0], [-1.0, 0.5]])
    y, ones = np.sign(x[:, :1]), jnp.ones(3)

    def found(unit):
        rows = jnp.asarray(unit * x)
        return max_margin(Dataset(rows, jnp.asarray(y), ones, jnp.asarray(y), rows))

    small, plain = found(1e-12), found(1.0)
    np.testing.assert_allclose(1e-12 * small.u, plain.u, rtol=1e-9)
    np.testing.assert_array_equal(small.support, plain.support)


def test_features_of_a_network_under_attack_are_those_of_the_inner_one():
    x = DATA.x[0]
    attacked = Adversarial(NETWORK)
    np.testing.assert_array_equal(attacked.features(x), NETWORK.features(x))

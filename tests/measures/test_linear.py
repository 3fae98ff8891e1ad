"""Measures of linear networks and of components keep the contract of all measures."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias import measures
from simbias.datasets import linear_modes
from simbias.ensemble.padding import padded
from simbias.experiments.linear._deep_linear import Tied
from simbias.experiments.linear._entries import Factors
from simbias.networks.dense.deep_linear import DeepLinear

KEYS = jax.random.split(jax.random.key(0), 4)
TRAIN, TEST = (linear_modes(key) for key in KEYS[:2])
# Not white, so that components differ.
STRETCH = jnp.array([3.0, 2.0, 1.0])[None]
DATA = dataclasses.replace(TRAIN, x=TRAIN.x * STRETCH, test=TEST)
SHAPES = ((5, 3), (4, 5), (3, 4))
DEEP = DeepLinear(
    tuple(
        jax.random.normal(key, shape)
        for key, shape in zip(KEYS[1:], SHAPES, strict=True)
    )
)
SHALLOW = DeepLinear(DEEP.weights[:1])
FACTORS = Factors((DEEP.product, DEEP.product.T))
OF_DATA = [
    measures.InputEigenvalues(),
    measures.GramEigenvalues(),
    measures.LeastNorm(),
    measures.RidgeRisk((0.0, 0.3)),
]
CASES = [
    *((measure, DEEP, DATA) for measure in OF_DATA),
    (measures.SpanError(), DEEP, DATA),
    (measures.OutsideSpan(), DEEP, DATA),
    (measures.RidgeDistance((0.1, 1.0)), DEEP, DATA),
    (measures.EarlyStrengths(), DEEP, DATA),
    (measures.ModeStrengths(), DEEP, DATA),
    (measures.ScaleMatrices(), DEEP, DATA),
    (measures.ScaleMatrices(), SHALLOW, DATA),
    (measures.ProductColumns(), DEEP, DATA),
    (measures.PrincipalColumns(), DEEP, DATA),
    (measures.MatrixEntry(1, 2), DEEP, DATA),
    (measures.DeterminantSign(), FACTORS, DATA),
    (measures.LogDeterminant(), FACTORS, DATA),
    (measures.TiedVelocity(), Tied(jnp.diag(STRETCH[0])), TRAIN),
    (measures.UnseenError(), DEEP, DATA),
    (measures.CorrectRows(), DEEP, DATA),
    (measures.ProjectedAccuracy(first=(1, 3)), DEEP, DATA),
]


@pytest.mark.parametrize(
    ("measure", "network", "data"), CASES, ids=lambda v: type(v).__name__
)
def test_a_measure_is_finite_has_the_axes_it_names_and_sees_no_padding(
    measure, network, data
):
    of = jax.jit(lambda data: measure(network, data))
    found = np.asarray(of(data))
    assert found.ndim == len(measure.dims)
    assert np.all(np.isfinite(found))
    for axis, coordinate in measure.coords().items():
        assert len(coordinate) == found.shape[measure.dims.index(axis)]
    if isinstance(measure, measures.GramEigenvalues):
        return  # It has a zero more for each row of padding.
    wider = np.asarray(of(padded(data, data.x.shape[0] + 5)))
    np.testing.assert_allclose(wider, found, rtol=1e-9, atol=1e-12)


def test_an_entry_and_columns_are_those_of_the_product():
    entry = measures.MatrixEntry(1, 2)(DEEP, DATA)
    np.testing.assert_allclose(entry, DEEP.product[1, 2])
    columns = measures.ProductColumns()(DEEP, DATA)
    np.testing.assert_allclose(columns, DEEP.product @ DATA.features.T)
    # On a white sample those are the regression of the outputs on the components.
    white = measures.PrincipalColumns()(DEEP, TRAIN)
    np.testing.assert_allclose(columns, white, rtol=1e-10)


def test_scale_matrices_of_two_layers_are_the_grams_of_each():
    first, second = DEEP.weights[0], DEEP.weights[1]
    found = measures.ScaleMatrices()(DeepLinear((first, second)), DATA)
    gap = lambda gram: np.linalg.norm(gram - np.eye(len(gram))) / len(gram) ** 0.5
    expected = [gap(second @ second.T), gap(first.T @ first)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_eigenvalues_of_inputs_and_of_their_gram_matrix_are_the_same():
    small = np.asarray(measures.GramEigenvalues()(DEEP, DATA))[-3:][::-1]
    np.testing.assert_allclose(measures.InputEigenvalues()(DEEP, DATA), small)

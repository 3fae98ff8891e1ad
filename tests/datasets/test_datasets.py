"""Laws of the data: a contract for every file of the folder, then each law's own."""

import dataclasses
import functools
import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import simbias.datasets
from simbias.core import Dataset
from simbias.datasets.orthogonality.orthogonal import orthogonal
from simbias.datasets.orthogonality.orthogonal_toy import orthogonal_toy
from simbias.datasets.separable.hinted import hinted
from simbias.datasets.teachers.gaussian_teacher import gaussian_teacher
from simbias.datasets.teachers.stewart_1d import KNOTS, VALUES, stewart_1d
from simbias.datasets.teachers.three_points import three_points
from simbias.registry import component, modules

KEY = jax.random.key(0)
COMPONENTS = {name: component(m) for name, m in modules(simbias.datasets).items()}
# `Npz` is made with a file first.
LAWS = {name: law for name, law in COMPONENTS.items() if inspect.isfunction(law)}
INPUT_LAWS = ("gaussian", "sphere", "rademacher")
every_law = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
every_input_law = pytest.mark.parametrize("inputs", INPUT_LAWS)


def bare(law):
    """The function as a user runs it, without the type checks of the tests."""
    return inspect.unwrap(law)


@functools.cache
def draw(law, **sizes):
    """The sample of one key, drawn once for all tests that look at it."""
    return law(KEY, **sizes)


def leaves_equal(a, b):
    pairs = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    return all(np.array_equal(u, v) for u, v in pairs)


@every_law
def test_a_law_takes_a_key_and_keywords_with_defaults(law):
    key, *others = inspect.signature(law).parameters.values()
    assert key.name == "key"
    assert all(p.kind is p.KEYWORD_ONLY for p in others)
    assert all(p.default is not p.empty for p in others)


@every_law
def test_a_sample_is_finite_float64_of_agreeing_shapes_and_not_padded(law):
    data = draw(law)
    assert isinstance(data, Dataset)
    for part in filter(None, (data, data.test)):
        n, d = part.x.shape
        assert part.y.shape == part.mean.shape
        assert part.y.shape[0] == n
        assert part.features.ndim == 2
        assert part.features.shape[1] == d
        assert np.array_equal(part.weight, np.ones(n))
        # The law of fresh rows has what it needs, also truth values.
        for leaf in jax.tree.leaves(dataclasses.replace(part, fresh=None)):
            assert leaf.dtype == jnp.float64
            # A weak type would be a second compile key for the same program.
            assert not leaf.weak_type
            assert np.all(np.isfinite(leaf))
    assert data.test is None or data.test.test is None


@every_law
def test_a_law_is_a_pure_function_of_its_key(law):
    assert leaves_equal(draw(law), law(KEY))


# They ask whether they are traced; of the others this one.
ASKING = ("images", "moment_pairs", "slabs", "gaussian_teacher")


@pytest.mark.slow
@pytest.mark.parametrize(
    "law",
    [
        pytest.param(law, marks=() if name in ASKING else pytest.mark.long, id=name)
        for name, law in LAWS.items()
    ],
)
def test_a_law_draws_the_same_sample_traced_or_not(law):
    traced, plain = jax.jit(law)(KEY), draw(law)
    for a, b in zip(jax.tree.leaves(traced), jax.tree.leaves(plain), strict=True):
        # A compiled program may fuse a product and a sum: a few ulp.
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@every_law
def test_two_samples_of_a_random_law_differ(law):
    fixed = {hinted, orthogonal_toy, three_points}
    other = law(jax.random.key(1))
    assert leaves_equal(draw(law), other) == (law in fixed)


SIZES = [
    (law, name)
    for law in LAWS.values()
    for name, parameter in inspect.signature(law).parameters.items()
    if parameter.annotation is int
]


@pytest.mark.parametrize("value", [0, -3, True, 10.5, float("nan"), "10"])
@pytest.mark.parametrize(("law", "name"), SIZES)
def test_a_size_that_is_no_positive_integer_is_refused_by_name(law, name, value):
    with pytest.raises(ValueError, match=f"`{name}` must be a positive integer"):
        bare(law)(KEY, **{name: value})


@pytest.mark.parametrize("sigma", [-0.1, float("nan"), float("inf")])
def test_a_noise_that_is_negative_or_not_finite_is_refused(sigma):
    with pytest.raises(ValueError, match="`sigma` must be finite and 0 or more"):
        gaussian_teacher(KEY, sigma=sigma)


@pytest.mark.parametrize(
    ("law", "name"),
    [
        (gaussian_teacher, "teacher"),
        (gaussian_teacher, "inputs"),
        (orthogonal, "labels"),
        (orthogonal, "inputs"),
    ],
)
def test_an_unknown_name_is_refused_with_the_known_ones(law, name):
    with pytest.raises(ValueError, match=f"`{name}` must be one of .*'gausian'"):
        bare(law)(KEY, **{name: "gausian"})


def test_sizes_that_contradict_each_other_are_refused():
    with pytest.raises(ValueError, match="`sparsity` must be at most d"):
        gaussian_teacher(KEY, d=3, teacher="sparse", sparsity=4)
    with pytest.raises(ValueError, match="`n` must be at most d"):
        orthogonal(KEY, n=6, d=5)


# gaussian_teacher


@every_input_law
def test_inputs_are_isotropic_symmetric_and_have_the_fourth_moment_of_their_law(inputs):
    n, d = 40_000, 4
    x = np.asarray(draw(gaussian_teacher, n=n, d=d, inputs=inputs).x)
    # Bands of 5 standard errors; the variance of a product of inputs is at most 2.
    band = 5 * np.sqrt(2 / n)
    np.testing.assert_allclose(x.T @ x / n, np.eye(d), atol=band)
    np.testing.assert_allclose(x.mean(0), 0, atol=band)
    fourth = {"gaussian": 3, "sphere": 3 * d / (d + 2), "rademacher": 1}[inputs]
    # Var x⁴ = 96 for the Gaussian, the largest of the three.
    np.testing.assert_allclose((x**4).mean(0), fourth, atol=5 * np.sqrt(96 / n))


def test_inputs_on_the_sphere_have_length_root_d():
    x = draw(gaussian_teacher, d=4, inputs="sphere").x
    np.testing.assert_allclose(jnp.linalg.norm(x, axis=1), 2, rtol=1e-14)


def test_rademacher_inputs_are_signs():
    x = draw(gaussian_teacher, d=4, inputs="rademacher").x
    assert set(np.unique(x)) == {-1.0, 1.0}


def test_the_noise_has_standard_deviation_sigma_and_no_part_along_the_inputs():
    n, d, sigma = 40_000, 4, 0.3
    data = draw(gaussian_teacher, n=n, d=d, sigma=sigma)
    noise = np.asarray(data.y - data.mean)[:, 0] / sigma
    band = 5 / np.sqrt(n)
    assert abs(noise.mean()) < band
    assert abs(noise.var() - 1) < np.sqrt(2) * band
    np.testing.assert_allclose(noise @ np.asarray(data.x) / n, 0, atol=band)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"teacher": "linear"}, [0.5, 0.5, 0.5, 0.5]),
        ({"teacher": "sparse", "sparsity": 1}, [1, 0, 0, 0]),
        ({"teacher": "sparse", "sparsity": 2}, [0.5**0.5, 0.5**0.5, 0, 0]),
    ],
)
def test_the_mean_is_a_linear_teacher_of_unit_length(choice, expected):
    data = draw(gaussian_teacher, d=4, **choice)
    np.testing.assert_allclose(data.features, [expected], rtol=1e-15)
    for part in (data, data.test):
        np.testing.assert_allclose(part.mean, part.x @ data.features.T, rtol=1e-12)


def test_without_noise_the_target_is_the_mean():
    data = draw(gaussian_teacher, sigma=0.0)
    assert np.array_equal(data.y, data.mean)


@pytest.mark.parametrize(
    ("law", "sizes"),
    [(gaussian_teacher, (20, 50)), (stewart_1d, (20, 50)), (orthogonal, (20, 50))],
)
def test_the_test_sample_does_not_depend_on_the_training_size(law, sizes):
    small, large = (draw(law, n=n).test for n in sizes)
    assert np.array_equal(small.x, large.x)
    assert np.array_equal(small.y, large.y)


@every_input_law
def test_a_larger_sample_of_the_same_key_contains_the_smaller_one(inputs):
    small, large = (draw(gaussian_teacher, n=n, inputs=inputs) for n in (20, 50))
    assert np.array_equal(small.x, large.x[:20])
    # The product x·β* may round differently in a matrix of another shape.
    np.testing.assert_allclose(small.y, large.y[:20], rtol=1e-13, atol=1e-14)


def test_the_noise_is_the_same_for_every_law_of_the_inputs():
    samples = [draw(gaussian_teacher, d=4, inputs=inputs) for inputs in INPUT_LAWS]
    noise = [np.asarray(data.y - data.mean) for data in samples]
    for other in noise[1:]:
        # y − mean cancels digits of the mean.
        np.testing.assert_allclose(other, noise[0], atol=1e-14)


def test_training_test_and_noise_come_from_independent_keys():
    data = draw(gaussian_teacher, n=5000, d=1, n_test=5000)
    draws = np.stack(
        [
            np.asarray(v)[:, 0]
            for part in (data, data.test)
            for v in (part.x, part.y - part.mean)
        ]
    )
    correlation = np.corrcoef(draws) - np.eye(4)
    assert np.abs(correlation).max() < 5 / np.sqrt(5000)


def test_a_sweep_over_the_noise_scales_one_draw_of_it():
    sweep = jax.jit(lambda sigma: gaussian_teacher(KEY, sigma=sigma))
    small, large = sweep(0.1), sweep(0.4)
    np.testing.assert_allclose(
        4 * (small.y - small.mean), large.y - large.mean, rtol=1e-9, atol=1e-12
    )


# orthogonal


@pytest.mark.parametrize("labels", ["teacher", "random", "signs"])
@pytest.mark.parametrize("inputs", ["orthogonal", "axes"])
def test_inputs_are_orthogonal_and_of_length_root_d(labels, inputs):
    data = draw(orthogonal, n=9, d=12, labels=labels, inputs=inputs)
    np.testing.assert_allclose(data.x @ data.x.T, 12 * np.eye(9), atol=1e-13 * 12)
    np.testing.assert_allclose(jnp.sum(data.test.x**2, axis=1), 12, rtol=1e-13)


def test_gaussian_inputs_are_those_that_are_made_orthogonal_one_after_another():
    given = draw(orthogonal, n=9, d=12, inputs="gaussian", n_test=20_000)
    made = draw(orthogonal, n=9, d=12)
    # Gram–Schmidt: the i-th input lies in the span of the first i directions.
    factor = np.asarray(given.x @ made.x.T)
    np.testing.assert_allclose(np.triu(factor, 1), 0, atol=1e-13 * 12)
    assert (np.diag(factor) > 0).all()
    # Of the 12² second moments, five standard errors of the diagonal.
    second = np.asarray(given.test.x.T @ given.test.x) / 20_000
    np.testing.assert_allclose(second, np.eye(12), atol=5 * np.sqrt(2 / 20_000))


@pytest.mark.long
def test_each_orthogonal_input_is_uniform_on_the_sphere():
    keys = jax.random.split(KEY, 4000)
    inputs = lambda key: orthogonal(key, n=3, d=4, n_test=1).x
    x = np.asarray(jax.vmap(inputs)(keys))
    band = 5 / np.sqrt(4000)
    # A Householder factor as it comes has x[0, 0] < 0 always.
    np.testing.assert_allclose(x.mean(0), 0, atol=band)
    second = np.einsum("bni,bnj->nij", x, x) / 4000
    np.testing.assert_allclose(
        second, np.broadcast_to(np.eye(4), (3, 4, 4)), atol=np.sqrt(2) * band
    )


def test_teacher_labels_are_a_relu_network_shared_with_the_test_sample():
    # One teacher neuron in the plane: its direction is where the output peaks.
    data = draw(orthogonal, n=2, d=2, neurons=1, n_test=4000)
    y, x = np.asarray(data.test.y)[:, 0], np.asarray(data.test.x)
    peak = x[y.argmax()] / np.sqrt(2)
    # The best of 4000 angles is within 5·2π/4000 of v with probability 1 − e^(−10).
    np.testing.assert_allclose(y, np.maximum(x @ peak, 0), atol=2 * 5 * np.pi / 2000)
    train = np.maximum(np.asarray(data.x) @ peak, 0)
    np.testing.assert_allclose(data.y[:, 0], train, atol=2 * 5 * np.pi / 2000)


def test_the_default_teacher_gives_labels_of_both_signs():
    y = draw(orthogonal).y
    assert 0.2 < float(jnp.mean(y > 0)) < 0.8


def test_signs_are_of_size_one_with_equal_odds():
    y = np.asarray(draw(orthogonal, labels="signs", n_test=20_000, d=3, n=2).test.y)
    assert set(np.unique(y)) == {-1.0, 1.0}
    assert abs(y.mean()) < 4 / np.sqrt(y.size)


def test_random_labels_are_standard_normal_with_mean_zero():
    data = draw(orthogonal, labels="random", n_test=20_000, d=3, n=2)
    y = np.asarray(data.test.y)[:, 0]
    assert np.array_equal(data.test.mean, np.zeros((20_000, 1)))
    assert abs(y.mean()) < 5 / np.sqrt(20_000)
    assert abs(y.var() - 1) < 5 * np.sqrt(2 / 20_000)


def test_features_of_orthogonal_data_are_the_group_directions_longer_sum_first():
    data = draw(orthogonal, n=9, d=12)
    x, y = np.asarray(data.x), np.asarray(data.y)[:, 0]
    sums = [x[y > 0].T @ y[y > 0], x[y < 0].T @ y[y < 0]]
    sums.sort(key=np.linalg.norm, reverse=True)
    expected = [s / np.linalg.norm(s) for s in sums]
    np.testing.assert_allclose(data.features, expected, atol=1e-13)


def test_a_sign_without_samples_has_a_feature_of_zeros():
    data = draw(orthogonal, n=1, d=3, labels="random")
    np.testing.assert_allclose(jnp.linalg.norm(data.features, axis=1), [1, 0])


# The laws on a line


def test_the_published_points_are_as_published():
    data = three_points(KEY)
    np.testing.assert_array_equal(data.x, [[-0.75, 1], [-0.5, 1], [0.125, 1]])
    np.testing.assert_array_equal(data.y[:, 0], [1.1, 0.1, 0.8])
    toy = orthogonal_toy(KEY)
    np.testing.assert_array_equal(toy.x, [[-0.5, 1], [2, 1]])
    np.testing.assert_array_equal(toy.y[:, 0], [-1, 1])


def test_the_points_of_the_toy_are_orthogonal():
    x = orthogonal_toy(KEY).x
    assert float(x[0] @ x[1]) == 0


def test_stewart_interpolates_its_knots_at_uniform_points():
    data = draw(stewart_1d, n=20_000)
    x = np.asarray(data.x)
    np.testing.assert_allclose(
        data.y[:, 0], np.interp(x[:, 0], KNOTS, VALUES), atol=1e-14
    )
    assert np.array_equal(x[:, 1], np.ones(20_000))
    quantiles = np.quantile(x[:, 0], [0, 0.25, 0.5, 0.75, 1])
    # 5 standard errors of a median of 20,000 uniform points on an interval of length 2.
    np.testing.assert_allclose(quantiles, [-1, -0.5, 0, 0.5, 1], atol=5 / 141)


def test_inputs_and_targets_are_a_dataset():
    x, y = jnp.ones((3, 2)), jnp.arange(3.0)[:, None]
    data = Dataset(x, y)
    np.testing.assert_array_equal(data.weight, np.ones(3))
    np.testing.assert_array_equal(data.mean, y)
    assert data.features.shape == (0, 2)
    padded = dataclasses.replace(data, weight=jnp.array([1.0, 1.0, 0.0]))
    np.testing.assert_array_equal(padded.weight, [1, 1, 0])

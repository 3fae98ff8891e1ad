"""Filters told by least squares, opposite pairs, and convolutions of large kernels."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

from simbias.core import Dataset
from simbias.datasets.vision.images import images
from simbias.errors import BadInput
from simbias.experiments.layers import first_filters
from simbias.measures.filters import filter_fits
from simbias.measures.filters._gabor import blobs, gabor_pairs
from simbias.measures.filters.filter_fits import FilterFits
from simbias.measures.filters.filter_kinds import KINDS, FilterKinds, kinds
from simbias.measures.filters.negative_pairs import NegativePairs
from simbias.networks.convolution._layers import convolution
from simbias.networks.convolution.convolutional import convolutional
from simbias.networks.dense.mlp import mlp

KEY = jax.random.key(0)
ONES = jnp.ones((1, 1))
DATA = Dataset(ONES, ONES, jnp.ones(1), ONES, jnp.zeros((0, 1)))
jit = functools.partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})
fits_of = jit(filter_fits.fits_of)
GREY, ONE, OPPONENT = (1.0, 1.0, 1.0), (1.0, 0.0, 0.0), (1.0, -1.0, 0.0)


def wave(
    colour,
    *,
    phase=0.3,
    centre=(0.4, -0.7),
    angle=0.5,
    length=4.7,
    width=1.7,
    stretch=1.3,
):
    """A filter "3 7 7" that is a Gabor function, and on no point of the grid."""
    i = np.arange(7) - 3.0
    y, x = np.meshgrid(i - centre[0], i - centre[1], indexing="ij")
    u, v = np.cos(angle) * x + np.sin(angle) * y, np.cos(angle) * y - np.sin(angle) * x
    envelope = np.exp(-(u**2 + (v / stretch) ** 2) / (2 * width**2))
    stripes = envelope * np.cos(2 * np.pi * u / length + phase)
    stripes -= envelope * stripes.sum() / envelope.sum()
    return np.asarray(colour)[:, None, None] * stripes


def blob(colour):
    i = np.arange(7) - 3.0
    bump = np.exp(-(i[:, None] ** 2 + (i[None] - 0.5) ** 2) / (2 * 1.8**2))
    return np.asarray(colour)[:, None, None] * bump


def network(filters):
    """A convolutional network with these filters first."""
    filters = jnp.asarray(np.array(filters), jnp.float64)
    m, c, size, _ = filters.shape
    made = convolutional(KEY, image=(c, 4, 4), k=2, channels=(m,), p=2, size=size)
    return type(made)(
        (filters,), made.shifts, made.w, made.b, made.a, made.c, image=(c, 4, 4)
    )


def measured(measure, filters):
    return np.asarray(measure(network(filters), DATA))


def random_filters(seed, count, channels=3):
    return np.random.default_rng(seed).normal(size=(count, channels, 7, 7))


# Convolutions


@pytest.mark.parametrize(("size", "stride"), [(5, 1), (7, 2)])
def test_a_large_kernel_convolves_window_by_window(size, stride):
    rng = np.random.default_rng(0)
    h, kernel = rng.normal(size=(2, 3, 8, 12)), rng.normal(size=(4, 3, size, size))
    border = (size // 2,) * 2
    wide = np.pad(h, [(0, 0), (0, 0), border, border])
    windows = np.lib.stride_tricks.sliding_window_view(wide, (size, size), (2, 3))
    expected = np.einsum("ncyxij,ocij->noyx", windows[:, :, ::stride, ::stride], kernel)
    mine = jit(lambda h, kernel: convolution(h, kernel, stride))
    found = mine(jnp.asarray(h), jnp.asarray(kernel))
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


# Fits


def test_gabor_functions_of_every_phase_are_orthonormal_pairs_without_a_mean():
    pairs = gabor_pairs(7)
    assert pairs.shape == (4800, 2, 49)
    np.testing.assert_allclose(pairs.sum(axis=2), 0, atol=1e-12)
    gram = np.einsum("gpq,grq->gpr", pairs, pairs)
    np.testing.assert_allclose(gram, np.eye(2)[None].repeat(4800, 0), atol=1e-10)


def test_the_fit_is_that_of_least_squares():
    kernel = random_filters(0, 1)[0]
    found = fits_of(jnp.asarray(kernel[None]))[0]
    rows, total = kernel.reshape(3, -1), np.sum(kernel**2)
    for bank, (share, colour) in (
        (gabor_pairs(7), found[:2]),
        (blobs(7), found[2:]),
    ):
        # A rank-one matrix v pᵀ in the rows of a pair: the first singular value.
        u, s, _ = np.linalg.svd(np.einsum("cq,gpq->gcp", rows, bank))
        best = np.argmax(s[:, 0])
        v = u[best][:, 0]
        assert share == pytest.approx(s[best, 0] ** 2 / total, rel=1e-10)
        assert colour == pytest.approx(1 - v.sum() ** 2 / 3, rel=1e-8)


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e6])
@pytest.mark.parametrize("phase", [0.0, 0.8, 1.6])
def test_a_gabor_function_between_the_points_of_the_grid_is_told(phase, size):
    made = size * np.array([wave(v, phase=phase) for v in (GREY, ONE, OPPONENT)])
    found = fits_of(jnp.asarray(made, jnp.float32))
    assert np.all(found[:, 0] > 0.9)
    np.testing.assert_allclose(found[:, 1], [0, 2 / 3, 1], atol=1e-5)


def test_a_gabor_function_of_the_grid_is_told_whole():
    places, lengths = (-2.0, -1.0, 0.0, 1.0, 2.0), (3.0, 4.0, 5.5, 7.5)
    made = [
        wave(
            GREY,
            centre=centre,
            angle=np.pi * i / 8,
            length=lengths[i % 4],
            width=(1.0, 1.5, 2.2)[i % 3],
            stretch=(1.0, 1.6)[i % 2],
        )
        for i, centre in enumerate(itertools.product(places, places))
    ]
    np.testing.assert_allclose(fits_of(jnp.asarray(made))[:, 0], 1, rtol=1e-9)


def test_a_blob_is_no_gabor_function():
    found = fits_of(jnp.asarray(np.array([blob(GREY), blob(OPPONENT)])))
    assert np.all(found[:, 0] < 0.5)
    assert np.all(found[:, 2] > 0.95)


def test_noise_of_equal_size_lowers_the_fit_to_a_half():
    clean = wave(GREY)
    noise = random_filters(3, 20)
    length = np.sqrt(np.sum(noise**2, axis=(1, 2, 3), keepdims=True))
    noise *= np.linalg.norm(clean) / length
    found = fits_of(jnp.asarray(clean[None] + noise))[:, 0]
    # A fit of five numbers to 147 pixels explains some of the noise, too.
    assert 0.45 < np.mean(found) < 0.6


def test_kinds_are_told_by_fit_and_colour():
    made = [wave(GREY), wave(OPPONENT), blob(GREY), blob(OPPONENT), np.zeros((3, 7, 7))]
    made += list(random_filters(1, 5))
    found = np.asarray(kinds(fits_of(jnp.asarray(np.array(made)))))
    assert found.sum(axis=0).tolist() == [1] * 10
    named = np.argmax(found, axis=0).tolist()
    assert named == [0, 1, 2, 1, 2] + [2] * 5


def test_shares_are_of_all_filters_and_one_channel_has_no_colour():
    filters = [wave((1.0,)), blob((1.0,)), *random_filters(2, 2, channels=1)]
    measure = FilterKinds()
    assert dict(
        zip(measure.coords()["kind"], measured(measure, filters), strict=True)
    ) == {"gabor": 0.25, "colour": 0.0, "neither": 0.75}
    assert np.all(measured(FilterFits(), filters)[:, [1, 3]] == 0)


# Pairs


def pairs_of(filters, **options):
    measure = NegativePairs(**options)
    return dict(
        zip(measure.coords()["pairing"], measured(measure, filters), strict=True)
    )


def test_filters_and_their_negatives_are_opposite_and_random_pairs_are_not():
    half = random_filters(0, 8)
    found = pairs_of([*half, *-half])
    assert found["opposite"] == pytest.approx(1)
    # Every filter has one of 15 at −1, and the others cancel.
    assert found["random"] == pytest.approx(1 / 15)
    assert found["opposite"] - found["signs"] > 0.3


def test_filters_that_come_twice_are_no_opposites():
    half = random_filters(0, 8)
    found = pairs_of([*half, *half])
    assert found["random"] < 0
    assert found["opposite"] < found["signs"] - 0.3


def test_random_filters_are_as_opposite_as_with_signs_tossed():
    each = [pairs_of(random_filters(seed, 16)) for seed in range(20)]
    apart = np.array([found["opposite"] - found["signs"] for found in each])
    assert abs(apart.mean()) < 4 * apart.std() / 20**0.5 < 0.02
    assert all(found["opposite"] > found["random"] + 0.05 for found in each)


def test_a_filter_of_zeros_is_opposite_to_none():
    found = pairs_of(np.zeros((4, 3, 7, 7)))
    assert set(found.values()) == {0.0}


# The experiment


def test_fresh_leaves_are_rows_of_the_law_and_digits_have_none():
    fresh = lambda source: (
        images(KEY, n=4, n_test=2, source=source, permuted=True).fresh
    )

    def rows():
        law = fresh("dead_leaves")
        assert law is not None
        return law(jax.random.key(1), 6)

    x, y = jit(rows)()
    assert (x.shape, y.shape) == ((6, 768), (6, 3))
    np.testing.assert_array_equal(y.sum(axis=1), 1)
    assert fresh("digits") is None


def test_scale_is_that_of_the_filters_alone():
    made = jit(lambda s: first_filters.make(KEY, n=4, n_test=2, m=4, p=4, scale=s)[1])
    one, half = made(1.0), made(0.5)
    np.testing.assert_allclose(half.kernels[0], one.kernels[0] / 2)
    np.testing.assert_allclose(half.shifts[0], one.shifts[0] / 2)
    np.testing.assert_array_equal(half.w, one.w)


@pytest.mark.parametrize("measure", [FilterKinds(), FilterFits(), NegativePairs()])
def test_what_has_no_filters_to_tell_is_refused_by_name(measure):
    with pytest.raises(BadInput, match="`network` must have `kernels`, got Mlp"):
        measure(mlp(KEY, (4, 3, 1)), DATA)
    with pytest.raises(BadInput, match="`size` of the kernels"):
        measure(convolutional(KEY, image=(1, 8, 8), k=1), DATA)


def test_one_filter_makes_no_pair_and_draws_are_counted():
    with pytest.raises(BadInput, match="`channels`"):
        NegativePairs()(network(random_filters(0, 1)), DATA)
    with pytest.raises(BadInput, match="`draws`"):
        NegativePairs(draws=0)


def seen(channels, shares):
    """A result of eight seeds and five times; `shares` are those of Gabor functions."""
    gabor = shares + np.random.default_rng(3).normal(0, 0.002, (2, 8, 5))
    gabor = gabor * np.array([1.0, 0.0])[:, None, None]  # none with permuted pixels
    dims = ("permuted", "seed", "time")
    pairs = np.broadcast_to(np.arange(3.0), (2, 8, 5, 3))
    return xr.Dataset(
        {
            "kinds": ((*dims, "kind"), np.stack([gabor, 0 * gabor, 1 - gabor], -1)),
            "pairs": ((*dims, "pairing"), pairs),
        },
        {
            "permuted": [False, True],
            "time": np.arange(5.0),
            "kind": [*KINDS],
            "pairing": ["opposite", "random", "signs"],
            "channel": np.arange(channels),
        },
    )


@pytest.mark.parametrize(("channels", "verdict"), [(1, "not applicable"), (3, "")])
def test_images_without_colours_are_not_asked_for_colours(channels, verdict):
    found = first_filters.claims(seen(channels, [0, 0.2, 0.4, 0.5, 0.5]))
    of_colour = [c for c in found if c.statement.startswith("share colour")]
    assert len(of_colour) == 3
    assert all((c.verdict == "not applicable") == bool(verdict) for c in of_colour)


@pytest.mark.parametrize(
    ("last", "verdict"), [(0.51, "supported"), (0.7, "contradicted")]
)
def test_a_share_stands_still_if_it_does_since_seven_tenths_of_training(last, verdict):
    found = first_filters.claims(seen(1, [0, 0.2, 0.4, 0.5, last]))
    (still,) = [c for c in found if c.statement.startswith("share gabor: change")]
    assert still.estimate.value == pytest.approx(last - 0.5, abs=0.005)
    assert still.verdict == verdict

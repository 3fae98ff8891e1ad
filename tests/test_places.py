"""Folders and objects keep the same laws, and a wrong address is named."""

import itertools
import pathlib
import sys

import obstore
import pytest
from small import small

from simbias.simulate import simulate
from simbias.store.address import place_at

_NUMBERS = itertools.count()


def places(tmp_path):
    number = next(_NUMBERS)
    return [f"memory://places-{number}/a", f"file://{tmp_path}/a b#%", tmp_path / "c"]


@pytest.mark.parametrize("kind", range(3))
def test_the_laws_of_a_place(tmp_path, kind):
    root = place_at(places(tmp_path)[kind])
    one = root / "leases" / "7"
    assert one.name == "7"
    assert str(one.parent) == str(root / "leases")
    assert str(place_at(str(one))) == str(one)
    assert not one.exists()
    assert root.is_free()
    with pytest.raises(FileNotFoundError):
        one.read()
    one.delete()
    # Of two that create one does.
    assert one.create(b"first")
    assert not one.create(b"second")
    assert one.read() == b"first"
    # Of two that swap the same thing one does.
    assert not one.swap(b"somebody's", b"second")
    assert one.swap(b"first", b"second")
    assert not one.swap(b"first", b"third")
    assert one.read() == b"second"
    (root / "8").write(b"8")
    (root / "8").write(b"88")
    assert root.exists()
    assert not root.is_free()
    assert sorted(root.files()) == ["8", "leases/7"]
    assert (root / "leases").files() == ["7"]
    assert not (root / "lea").exists()
    root.clear()
    assert root.files() == []
    assert root.is_free()


def test_a_lease_that_was_taken_before_the_answer_was_lost_is_held(monkeypatch):
    one, put = place_at(f"memory://places-{next(_NUMBERS)}/7"), obstore.put

    def twice(*arguments, **options):
        put(*arguments, **options)
        return put(*arguments, **options)

    monkeypatch.setattr(obstore, "put", twice)
    assert one.create(b"mine")
    assert one.swap(b"mine", b"mine again")
    assert one.read() == b"mine again"


@pytest.mark.parametrize(
    ("store", "message"),
    [
        ("ftp://host/run.zarr", "`ftp` is not a kind of store that is known"),
        ("s3://", "is not a whole URL"),
        ("file://runs/mine", "Example: file:///data"),
        ("s3://bucket/../x", r"must not hold the steps `\.` or `\.\.`"),
        (pathlib.Path("s3://bucket/run.zarr"), "has lost a slash"),
        ("az://container/run.zarr", "az://container`: .*Account must be specified"),
    ],
)
def test_a_wrong_url_is_refused_with_the_cause(monkeypatch, store, message):
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_NAME", raising=False)
    with pytest.raises(ValueError, match=message):
        simulate(small(), store=store)


def test_without_obstore_the_extra_is_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "simbias.store.objects", raising=False)
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(ValueError, match=r"pip install 'simbias\[cloud\]'"):
        simulate(small(), store="s3://bucket/run.zarr")

"""Folders and objects keep the same laws, and a wrong address is named."""

import itertools
import os
import pathlib
import shutil
import sys

import obstore
import pytest
from small import small

from simbias.store.address import place_at
from simbias.verbs.simulate import simulate

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
    # Nothing is put in the place of what is not there.
    assert not one.swap(b"first", b"second")
    assert not one.exists()
    with pytest.raises(FileNotFoundError):
        one.tag()
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
    tag = (root / "8").tag()
    assert (root / "8").tag() == tag
    (root / "8").write(b"88")
    assert (root / "8").tag() != tag
    assert root.exists()
    assert not root.is_free()
    assert sorted(root.files()) == ["8", "leases/7"]
    assert (root / "leases").files() == ["7"]
    assert not (root / "lea").exists()
    root.clear()
    assert root.files() == []
    assert root.is_free()


@pytest.mark.parametrize("has_links", [True, False])
def test_who_swaps_too_late_leaves_what_another_one_put_there(
    tmp_path, monkeypatch, has_links
):
    """Between the look and the rename somebody else is faster."""
    one, rename = place_at(tmp_path / "7"), os.rename
    one.create(b"dead")

    def late(*paths):
        one.write(b"alive")
        rename(*paths)

    def refused(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "rename", late)
    if not has_links:
        monkeypatch.setattr(os, "link", refused)
    assert not one.swap(b"dead", b"mine")
    assert one.read() == b"alive"
    assert one.parent.files() == ["7"]


def test_what_is_held_is_never_what_has_its_name_now(tmp_path):
    (tmp_path / "run").mkdir()
    held = place_at(tmp_path / "run").held()
    (held / "a" / "1").write(b"1")
    (tmp_path / "run").rename(tmp_path / "before")
    (tmp_path / "run").mkdir()
    (held / "a" / "2").write(b"2")
    assert sorted(held.files()) == ["a/1", "a/2"]
    assert place_at(tmp_path / "run").is_free()
    shutil.rmtree(tmp_path / "before")
    for act in (held / "3").write, (held / "3").create:
        with pytest.raises(FileNotFoundError, match=f"{tmp_path}/run/3"):
            act(b"3")
    assert place_at(tmp_path / "run").is_free()


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
        ("ftp://host/run.zarr", "`ftp` must be one of"),
        ("s3://", "is not a complete URL"),
        ("file://runs/mine", "Example: file:///data"),
        ("s3://bucket/../x", r"must not contain the steps `\.` or `\.\.`"),
        (pathlib.Path("s3://bucket/run.zarr"), "must have two slashes"),
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


@pytest.mark.parametrize("call", ["fsync", "link"])
def test_who_writes_while_others_clear_up_makes_the_folder_again(
    tmp_path, monkeypatch, call
):
    one, cleared = place_at(tmp_path) / "work" / "owners" / "7", []
    inner = getattr(os, call)

    def cleared_once(*arguments):
        if not cleared:
            cleared.append(shutil.rmtree(tmp_path / "work"))
        return inner(*arguments)

    monkeypatch.setattr(os, call, cleared_once)
    if call == "link":
        assert one.create(b"mine")
    else:
        one.write(b"mine")
    assert cleared
    assert one.read() == b"mine"
    assert [*one.parent.files()] == ["7"]


def test_a_folder_that_goes_while_it_is_made_ready_is_made_again(tmp_path, monkeypatch):
    one, asked = place_at(tmp_path / "work"), []

    def gone_at_first(path, mode):
        asked.append(mode)
        if len(asked) == 1:
            shutil.rmtree(tmp_path / "work")
        return pathlib.Path(path).exists()

    monkeypatch.setattr(os, "access", gone_at_first)
    one.ready()
    assert len(asked) == 2
    assert one.exists()

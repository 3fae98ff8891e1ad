"""What is done once per block by whoever opens, lists or reads a store."""

import pathlib
import tempfile
import time

from _stores import sized, tiny

from simbias.ensemble.plan import make_plan
from simbias.ensemble.table import GROUPS, empty_table
from simbias.results import attributes, to_xarray
from simbias.store import blocks, layout, work
from simbias.store._mark import unmarked
from simbias.store.folder import Folder
from simbias.store.lease import Leases


def records(is_smallest: bool) -> list[dict]:
    """What takes the longer the more blocks there are, on this disk."""
    sizes = (50, 100) if is_smallest else (1000, 10_000, 100_000)
    return [synthetic(size, 10 if is_smallest else 100) for size in sizes]


def synthetic(count: int, block: int) -> dict:
    """A store of `count` blocks, one of which was written; the others are copies."""
    with tempfile.TemporaryDirectory() as folder, sized(block):
        path = pathlib.Path(folder) / "run.zarr"
        plan = make_plan(tiny(count * block))
        store = work.prepare(path, plan, attributes(plan))
        table = empty_table(plan, block)
        for columns in table.groups().values():
            for column in columns.values():
                column.values[:] = 1
        store.commit(0, table)
        for chunk in [p for p in path.rglob("c/0") if p.parent.name == "c"]:
            copied(store, path, chunk, count)
        store.work.clear()
        last, seconds = count // 2, {}
        store.forget(last)  # else the run counts as finished
        found = {}
        for name, act in {
            "prepare": lambda: work.prepare(path, plan, attributes(plan)),
            "list": store.committed,
            "start": lambda: blocks.Blocks(plan, store, Leases(store.work)),
            "missing": lambda: found["start"].missing(),
            "tidy": store.place.tidy,
            "complete": lambda: work.complete(written(path, store, last)),
            "to_xarray": lambda: to_xarray(found["complete"], attributes(plan)),
        }.items():
            began = time.monotonic()
            found[name] = act()
            seconds[name] = time.monotonic() - began
        if found["complete"] is None:
            raise AssertionError("the store is not complete")
        arrays = sum(len(columns) for columns in table.groups().values())
    return {
        "blocks": count,
        "members": count * block,
        "arrays": arrays,
        "files": count * arrays,
        "seconds": seconds,
    }


def written(run: pathlib.Path, store: layout.Store, block: int) -> layout.Store:
    """The store with a block whose status was left out."""
    first, last = store._status(0), store._status(block)
    assert isinstance(first, Folder)
    assert isinstance(last, Folder)
    moved(store, run, first.path, last.path)
    return store


def copied(
    store: layout.Store, run: pathlib.Path, chunk: pathlib.Path, count: int
) -> None:
    """The chunk of block 0 for all others, without waiting for the disk."""
    files = [p for p in (chunk, *chunk.rglob("*")) if p.is_file()]
    for i in range(1, count):
        for file in files:
            moved(store, run, file, chunk.with_name(str(i)) / file.relative_to(chunk))


def moved(
    store: layout.Store, run: pathlib.Path, file: pathlib.Path, target: pathlib.Path
) -> None:
    """A copy that says where it is."""
    content = file.read_bytes()
    mine, other = _mark(store, run, file), _mark(store, run, target)
    if content.endswith(mine):
        content = unmarked(content, mine) + other
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


def _mark(store: layout.Store, run: pathlib.Path, file: pathlib.Path) -> bytes:
    path = file.relative_to(run)
    return store.marks.of(path.as_posix()) if path.parts[0] in GROUPS else b""

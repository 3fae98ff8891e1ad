"""Run folders as a stranger may leave them."""

import contextlib
import copy
import dataclasses
import hashlib
import io
import json
import os
import pathlib
import random
import re
import shutil
import stat
from typing import Any

import numpy as np
from hypothesis import strategies as st

from simbias import cli
from simbias.cli._options import experiment_of
from simbias.ensemble.table import empty_table
from simbias.registry import experiment_module
from simbias.store._root import attributes_of, sealed
from simbias.store.checkpoint import run_hash, save_state
from simbias.store.evaluations import Evaluation, save_evaluation
from simbias.store.layout import open_store
from simbias.store.plain import listed
from simbias.verbs.simulate import planned

_RUN = ["run", "three_points", "--preset", "smoke", "--flow.name", "descent"]
_RUN += ["--times", "0", "5", "--cell.m", "20", "--seeds", "2", "--keep", "0"]
ESCAPE = "\x1b[2J\x9b\u202e"
SECRET = "what-is-outside"

INTEGERS = (0, -1, 2**28, 2**31, 2**63, 2**70, 10**15, 10**400)
VALUES: tuple[Any, ...] = (
    *INTEGERS,
    *(float("nan"), float("inf"), 1e300, True, None, "", "../x", "/etc/x"),
    *(ESCAPE, "\ud800", "x" * 10**5, [], {}, [0] * 80, [[]], {"a": 1}, ["0", "5"]),
)
SHAPES = ((2**27,), (10**15,), (2**70, 0), (1,) * 80, (10**9, 0), (0,), (), (7,))
DTYPES = ("<f8", "|O", "<U3", "|V1000000000", "<i4", ">f8", "|S0")
_NOTES = ("owners", "time_taken")
KINDS = ("pipe", "device", "folder", "link", "linked folder", "gone")


def templates(folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """A run that is finished and has everything beside it, and one in flight."""
    found = {name: folder / name for name in ("finished", "begun")}
    for name, out in found.items():
        more = ["--workers", "0"] if name == "begun" else []
        if cli.exit_code([*_RUN, "--out", str(out), *more]):
            raise RuntimeError(f"the run {name} could not be made")
        store = open_store(out / "run.zarr")
        recipe = store.attributes["recipe"]
        module = experiment_module("three_points")
        plan = planned(
            experiment_of(module, recipe["preset"], recipe["overrides"]),
            None,
            holds_result=False,
        )
        coords = {"z": [1, 2]}
        save_evaluation(store, "own", Evaluation(("z",), coords, np.arange(2.0), {}))
        note = {"run": store.attributes["run"], "began": 0.0, "ended": 1.0}
        note |= {"cpu": 1.0, "compiling": 0.0, "error": "one", "machine": "here"}
        (store.place.parent / "time_taken" / "0.json").write(
            json.dumps(note | {"process": 7}).encode()
        )
        (store.place.parent / "film.gif").write(b"GIF89a" + bytes(100))
        if name == "begun":
            table = empty_table(plan, store.block)
            run = run_hash(store.attributes, 0)
            lanes = {1: [np.arange(3.0), np.zeros((2, 2))]}
            save_state(store.work / "states" / "0", run, table, np.array([0]), lanes)
            beat = {"count": 1, "machine": "there", "process": 1, "at": 1, "seconds": 2}
            beat |= {"pending": {"0": 1}, "computed": 1}
            (store.work / "owners" / "one").write(json.dumps(beat).encode())
            (store.work / "leases" / "0").write(b"one")
    return found


@dataclasses.dataclass(frozen=True)
class Case:
    """One folder and what is done to it; numbers choose among what there is."""

    template: str
    harms: tuple[tuple[str, int, int, int], ...]
    command: str


FAST = ("status", "status --json", "doctor", "open")
SLOW = ("report", "export csv", "export nc", "figure", "resume", "worker")


@st.composite
def cases(draw: st.DrawFn, slow: int = 40) -> Case:
    """A case; one of `slow` is of a command that takes seconds."""
    chosen = random.Random(draw(st.integers(0, 2**64 - 1)))
    kinds = ("root", "root", "note", "document", "header", "bytes", "kind", "swap")
    place = lambda: chosen.randrange(2**30)
    harms = tuple(
        (chosen.choice(kinds), place(), place(), place())
        for _ in range(chosen.choice((1, 1, 2)))
    )
    command = chosen.choice(FAST if chosen.randrange(slow) else SLOW)
    return Case(chosen.choice(("finished", "begun")), harms, command)


def harm(run: pathlib.Path, outside: pathlib.Path, case: Case) -> None:
    """Do to a copy of a run what a case says."""
    for kind, which, where, what in case.harms:
        files = sorted(p for p in run.rglob("*") if _is_small(p))
        if kind == "root":
            files = [p for p in files if p.parent.name == "run.zarr"]
        if kind == "note":
            files = [p for p in files if p.parent.name in _NOTES or _has_seal(p)]
        if kind in ("root", "note", "document"):
            files = [p for p in files if _document(p) is not None]
        if kind == "header":
            files = [p for p in files if _has_seal(p)]
        if not files:
            continue
        file = files[which % len(files)]
        if kind in ("root", "note", "document"):
            _change_document(file, where, what)
        elif kind == "header":
            _change_header(file, where, what)
        elif kind == "bytes":
            _change_bytes(file, where, what)
        elif kind == "swap":
            other = files[where % len(files)]
            one, two = file.read_bytes(), other.read_bytes()
            file.write_bytes(two)
            other.write_bytes(one)
        else:
            _change_kind(run, file, outside, KINDS[what % len(KINDS)])


def _is_small(file: pathlib.Path) -> bool:
    about = file.lstat()
    return stat.S_ISREG(about.st_mode) and about.st_size < 2**24


def _has_seal(file: pathlib.Path) -> bool:
    """Whether it is a state or an evaluation, which begins with its checksum."""
    above = (file.parent.parent.name, file.parent.name)
    return above in (("work", "states"), ("run.zarr", "evaluations"))


def _document(file: pathlib.Path) -> tuple[bytes, Any, bytes] | None:
    """What stands before a document, the document, and what follows it."""
    raw = file.read_bytes()
    digest, _, body = raw.partition(b"\n")
    try:
        if _has_seal(file):
            line, _, rest = body.partition(b"\n")
            return digest, json.loads(line), b"\n" + rest
        if file.suffix == ".json" or file.parent.name == "owners":
            return b"", json.loads(raw), b""
    except ValueError:  # it was harmed before
        pass
    return None


def _change_document(file: pathlib.Path, where: int, what: int) -> None:
    found = _document(file)
    assert found is not None
    digest, document, rest = found
    is_root = file.parent.name == "run.zarr"
    is_whole = isinstance(document, dict) and bool(document.get("attributes"))
    if is_root and is_whole and isinstance(document["attributes"], dict) and where % 8:
        with contextlib.suppress(ValueError):  # it was harmed before
            document = attributes_of(document)
        document.pop("sha256", None)
        changed = _changed(document, where // 8, what)
        try:
            more = listed(document) if where % 2 else None
            file.write_bytes(sealed(changed, more))
        except Exception:  # what cannot be listed is sealed all the same
            file.write_bytes(sealed(changed))
        return
    text = json.dumps(_changed(document, where, what)).encode(errors="replace")
    body = text + rest
    seal = hashlib.sha256(body).hexdigest().encode() + b"\n" if digest else b""
    file.write_bytes(seal + body)


def _changed(document: Any, where: int, what: int) -> Any:
    """A document in which one value is another."""
    whole = copy.deepcopy(document)
    places = []
    stack = [whole]
    while stack:
        one = stack.pop()
        keys = one.keys() if isinstance(one, dict) else range(len(one))
        for key in keys:
            places.append((one, key))
            if isinstance(one[key], (dict, list)):
                stack.append(one[key])
    if not places:
        return VALUES[what % len(VALUES)]
    one, key = places[where % len(places)]
    kind, value = divmod(what, len(VALUES))
    if kind % 5 == 0:
        del one[key]
    elif kind % 5 == 1 and isinstance(one, list):
        one *= 40
    elif kind % 5 == 2 and isinstance(one, dict):
        one[("../x", ESCAPE, "a/b", "..", "time")[value % 5]] = one.pop(key)
    elif kind % 5 == 3:
        deep: Any = 1
        for _ in range(40 + value * 40):
            deep = [deep]
        one[key] = deep if value % 2 else [one[key], one[key]]
    else:
        one[key] = VALUES[value]
    return whole


def _change_header(file: pathlib.Path, where: int, what: int) -> None:
    """An array of a state or an evaluation whose header says something else."""
    raw = file.read_bytes()
    _, _, body = raw.partition(b"\n")
    head = {"shape": SHAPES[where % len(SHAPES)], "descr": DTYPES[what % len(DTYPES)]}
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"fortran_order": False, **head})
    new = out.getvalue()
    at = [found.start() for found in re.finditer(b"\x93NUMPY", body)]
    if not at:
        return
    start = at[(where // 8) % len(at)]
    body = body[:start] + new + body[start + len(new) :]
    file.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def _change_bytes(file: pathlib.Path, where: int, what: int) -> None:
    raw = bytearray(file.read_bytes())
    at, kind = where % max(1, len(raw)), what % 5
    if kind == 0 and raw:
        raw[at] ^= 1 << (what // 5) % 8
    elif kind == 1:
        del raw[at:]
    elif kind == 2:
        raw[at:at] = bytes(np.random.default_rng(what).bytes(50))
    elif kind == 3:
        raw += bytes(raw)
    else:
        os.truncate(file, 2**40)  # sparse
        return
    file.write_bytes(bytes(raw))


def _change_kind(
    run: pathlib.Path, file: pathlib.Path, outside: pathlib.Path, kind: str
) -> None:
    if kind == "linked folder" and file.parent != run:
        elsewhere = outside / f"moved-{len(list(outside.iterdir()))}"
        shutil.move(file.parent, elsewhere)
        file.parent.symlink_to(elsewhere)
        return
    file.unlink()
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "device":
        file.symlink_to("/dev/zero")
    elif kind == "folder":
        file.mkdir()
    elif kind == "link":
        file.symlink_to(outside / "secret")

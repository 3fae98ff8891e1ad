"""Where a run is, or may be."""

from simbias.errors import BadInput
from simbias.store.address import place_at
from simbias.store.folder import Folder
from simbias.store.layout import Store, open_store
from simbias.store.place import AbstractPlace


def found_run(folder: str) -> tuple[AbstractPlace, Store]:
    """The place of a run and its store; either may be given.

    Raises:
        ValueError: if it is not a run, naming those below if there are any.
    """
    out = place_at(folder)
    if out.name == "run.zarr" and not (out / "run.zarr").exists():
        out = out.parent
    store = out / "run.zarr"
    if not store.exists() and (below := _runs_below(out)):
        named = "\n".join(f"  {run}" for run in below)
        raise BadInput(f"{out} is not a run. These runs are inside it:\n\n{named}\n")
    return out, open_store(store)


def _runs_below(out: AbstractPlace) -> list[str]:
    """Runs in a folder or in those inside it, the first ten."""
    if not isinstance(out, Folder):
        return []
    found = [*out.path.glob("*/run.zarr"), *out.path.glob("*/*/run.zarr")]
    return sorted(str(store.parent) for store in found if not store.is_symlink())[:10]


def made_ready(out: AbstractPlace) -> str | None:
    """Why nothing can be written there, None if something can.

    Raises:
        ValueError: if something else is there, or if there is no run and can be none.
    """
    has_run = (out / "run.zarr").exists()
    if not has_run and not out.is_free():
        raise BadInput(
            f"`--out`: {out} is a file, or a folder with other content than a run. "
            "Nothing was written. Choose another folder."
        )
    try:
        out.ready()
    except OSError as error:
        if has_run:
            return error.strerror
        raise BadInput(f"`--out`: cannot write to {out}: {error.strerror}.") from None
    return None


def writable(file: AbstractPlace) -> AbstractPlace:
    """A file that `--out` names or leaves out, before anything is computed for it.

    Raises:
        ValueError: if its folder is not there, or cannot be written to.
    """
    folder = file.parent
    if isinstance(folder, Folder) and not folder.path.is_dir():
        raise BadInput(f"`--out`: the folder {folder} does not exist. Create it first.")
    try:
        folder.ready()
    except OSError as error:
        raise BadInput(
            f"cannot write to {folder}: {error.strerror}. Choose another place. "
            f"Example: --out elsewhere/{file.name}."
        ) from None
    return file

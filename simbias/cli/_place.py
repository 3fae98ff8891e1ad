"""Where a run is, or may be."""

from simbias.errors import BadInput
from simbias.store.address import place_at
from simbias.store.layout import Store, open_store
from simbias.store.place import AbstractPlace


def found_run(folder: str) -> tuple[AbstractPlace, Store]:
    """The place of a run and its store; either may be given.

    Raises:
        ValueError: if it is not a run.
    """
    out = place_at(folder)
    if out.name == "run.zarr" and not (out / "run.zarr").exists():
        out = out.parent
    return out, open_store(out / "run.zarr")


def made_ready(out: AbstractPlace) -> str | None:
    """Why nothing can be written there, None if something can.

    Raises:
        ValueError: if something else is there, or if there is no run and can be none.
    """
    has_run = (out / "run.zarr").exists()
    if not has_run and not out.is_free():
        raise BadInput(
            f"`--out`: {out} is a file, or holds something that is not a run; nothing "
            "was written."
        )
    try:
        out.ready()
    except OSError as error:
        if has_run:
            return error.strerror
        raise BadInput(f"`--out`: cannot write to {out}: {error.strerror}.") from None
    return None

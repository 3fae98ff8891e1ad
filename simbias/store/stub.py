"""What is left where a run was deleted while somebody worked on it."""

import re

from simbias.store.place import ROOT, AbstractPlace

_OURS = re.compile(
    r"work/(leases|owners|states)/[^/]+"
    r"|(members|trajectories|final|networks)/([^/]+/)?(zarr\.json|c(/\d+)+)"
)


def clear_stub(place: AbstractPlace) -> bool:
    """Remove it; False, and nothing is touched, if there is anything else.

    Only the files of one listing in which no store is are removed, so that of two who
    do this at once neither removes the store that the other has made meanwhile.
    """
    if (place / ROOT).exists():
        return False  # before a list is made, which is long for a store
    names = place.files()
    if not all(map(_OURS.fullmatch, names)) or not (names or _is_folder(place)):
        return False
    for name in names:
        (place / name).delete()
    return True


def _is_folder(place: AbstractPlace) -> bool:
    try:
        place.read()
    except OSError:
        return True
    return False

"""States of blocks that are not finished, as workers have saved them."""

import contextlib
from collections.abc import Iterator

from simbias.store.checkpoint import State, load_state, run_hash
from simbias.store.layout import Store


def block_states(store: Store, committed: set[int]) -> Iterator[tuple[int, State]]:
    """Blocks that are not `committed` and have a state that can be read, with it.

    A state that cannot be read is data that is not there yet.
    """
    states = store.work / "states"
    names = set(states.files())
    for block in range(store.attributes["extents"][-1]["blocks"]):
        if str(block) not in names or block in committed:
            continue
        run = run_hash(store.attributes, block)
        with contextlib.suppress(ValueError, OSError, KeyError, IndexError):
            state = load_state(states / str(block), run, store.block)
            if _fits(store, state):
                yield block, state


def _fits(store: Store, state: State) -> bool:
    """Whether its columns are those of the run."""
    columns = store.attributes["columns"]
    return state.columns.keys() == columns.keys() and all(
        values.dtype == columns[name]["dtype"]
        and values.ndim == 1 + len(columns[name]["dims"])
        for name, values in state.columns.items()
    )

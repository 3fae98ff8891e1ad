"""Room for compiled code in this process."""

import pathlib

import jax

# Share of the mappings that may be taken before compiled programs are given back.
_FULL = 0.6


def make_room() -> None:
    """Forget all compiled programs if little room is left for more.

    A Linux process may hold `vm.max_map_count` memory mappings (65,530 as a rule), and
    XLA's code takes about 2,000 for one program of the exact flow: a sweep over some
    thirty shapes would be its end.  What runs keeps its code; what is called again is
    compiled again, or read from the persistent cache if there is one.
    """
    try:
        limit = int(pathlib.Path("/proc/sys/vm/max_map_count").read_text())
        taken = pathlib.Path("/proc/self/maps").read_bytes().count(b"\n")
    except OSError:  # not Linux
        return
    if taken > _FULL * limit:
        jax.clear_caches()

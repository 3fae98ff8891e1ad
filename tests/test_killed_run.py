"""A run that is killed twice ends with the bytes of one that is not.

The least of what `store/test_durability.py` looks at, part of every run of the tests.
"""

import durable
import xarray as xr

from simbias.results import open_result
from simbias.verbs.simulate import simulate


def test_a_run_that_is_killed_twice_ends_with_the_same_bytes(tmp_path):
    store = tmp_path / "run.zarr"
    durable.program(store, "random", "2")
    whole = simulate(durable.LONG)
    xr.testing.assert_identical(open_result(store), whole)
    for name in whole:
        assert open_result(store)[name].values.tobytes() == whole[name].values.tobytes()

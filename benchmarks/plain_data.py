"""What does it take to write a finished run as plain data, beside its blocks?

A run of `threshold` (smoke: the smallest) is made, and its plain data are removed and
written again: seconds against those of the whole run, and bytes against its blocks.

    python benchmarks/plain_data.py [--smallest]
"""

import argparse
import pathlib
import tempfile
import time

from simbias.experiments import threshold
from simbias.flows.descent import Descent
from simbias.store.layout import open_store
from simbias.store.plain import clear_plain
from simbias.store.work import complete
from simbias.verbs.simulate import simulate

REPEATS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smallest", action="store_true")
    is_smallest = parser.parse_args().smallest
    preset, repeats, changes = "quick", REPEATS, {}
    if is_smallest:  # and what compiles soon
        preset, repeats, changes = "smoke", 1, {"flow": Descent(0.1), "stop": None}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "run.zarr"
        began = time.perf_counter()
        simulate(threshold.experiment(preset, **changes), store=path)
        whole = time.perf_counter() - began
        store = open_store(path)
        with_it = size(path)
        written, read = [], []
        for _ in range(repeats):
            read.append(seconds(lambda: complete(store)))
            clear_plain(store)
            blocks = size(path)
            written.append(seconds(lambda: complete(store)))
    took = min(written) - min(read)
    print(f"{preset}: {whole:.1f} s for the run, {took:.3f} s for plain data")
    print(f"blocks {blocks / 1e6:.3f} MB, plain data {(with_it - blocks) / 1e6:.3f} MB")


def seconds(call) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def size(path: pathlib.Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


if __name__ == "__main__":
    main()

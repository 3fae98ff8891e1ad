"""Does an accelerator give what the CPU gives, and how fast?  All of it in one call.

    python benchmarks/accelerator.py [--json FILE|-] [--figure FILE] [--seconds 480]
                                     [--parts PART ...] [--smallest]

Parts, in this order:

    agreement   every flow on the device against the CPU, to stated tolerances; the same
                bits again, with other companions, and (noted) in one lane
    kernels     the fused gradient against the plain one, and the plain one in its place
                where a kernel fails
    throughput  microseconds per member and step, beside a vmapped batch of JAX written
                by hand, diffrax under vmap, and simbias without its kernels
    scaling     the same against the number of lanes; lanes that were chosen for the
                memory, and what they took; one device against all
    paper       one member of the paper's size, for the time that is left

It is written down after every case.  A case begins while there is something left of the
share of `--seconds` that its part and those before it have; the others are named as
left out.  A row that `holds` is as it should be; the exit code is 1 if one does
not.  On a CPU, where `--smallest` stands for the rest, two devices are made of it and
lanes lie side by side, as they do on an accelerator.
"""

import argparse
import json
import pathlib
import sys
import time
from typing import Any

import jax
from _agreement import agreement
from _device_figure import drawn
from _device_kernels import kernels
from _device_scaling import paper, scaling, throughput_on
from _on_device import Clock, Place
from _results import load, machine
from _tally import compile_cache

# What makes the cases of a part, and its share of the time.
PARTS = {
    "agreement": (agreement, 0.35),
    "kernels": (kernels, 0.1),
    "throughput": (throughput_on, 0.25),
    "scaling": (scaling, 0.15),
    "paper": (paper, 0.15),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", default="-")
    parser.add_argument("--figure")
    parser.add_argument("--seconds", type=float, default=480.0)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    clock = Clock(options.seconds)
    if options.smallest:
        jax.config.update("jax_num_cpu_devices", 2)
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")
    place = Place(jax.local_devices(), clock, options.smallest)
    document: dict[str, Any] = {
        **machine(),
        "devices": len(place.devices),
        "bytes_of_a_device": place.bytes_limit,
        "platform_version": place.device.client.platform_version,
        "load_before": load(),
        "rows": [],
        "left_out": [],
    }
    whole, until = sum(PARTS[part][1] for part in options.parts), 0.0
    with compile_cache():
        for part in options.parts:
            cases, share = PARTS[part]
            until += share * options.seconds / whole
            for name, act in cases(place):
                if clock.passed() < until:
                    document["rows"].append(row(part, name, act))
                else:
                    document["left_out"].append(f"{part}: {name}")
                document["seconds"] = round(clock.passed(), 1)
                if options.json != "-":
                    pathlib.Path(options.json).write_text(text_of(document))
    if options.json == "-":
        print(text_of(document), end="")
    figure = drawn(document)
    if options.figure:
        figure.savefig(options.figure)
    if any(one["holds"] is False for one in document["rows"]):
        sys.exit(1)


def row(part: str, name: str, act: Any) -> dict[str, Any]:
    """What a case showed; one that fails is no reason to stop."""
    began = time.monotonic()
    out: dict[str, Any] = {"part": part, "case": name, "holds": None}
    try:
        out |= act()
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        out |= {"holds": False, "error": said[:500]}
    out["seconds"] = round(time.monotonic() - began, 2)
    print(json.dumps(out), file=sys.stderr, flush=True)
    return out


def text_of(document: dict[str, Any]) -> str:
    """JSON with a row per line."""
    rows = ",\n  ".join(json.dumps(one) for one in document["rows"])
    head = json.dumps({**document, "rows": []}, indent=1)
    return head.replace('"rows": []', f'"rows": [\n  {rows}\n ]') + "\n"


if __name__ == "__main__":
    main()

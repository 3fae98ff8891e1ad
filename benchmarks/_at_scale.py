"""From what was measured to a thousand workers and ten million members."""

import itertools
import math

from simbias.store import layout

# Requests per second that are documented as sustained, and the time of one:
# AWS, "Best practices design patterns: optimizing Amazon S3 performance", per
# partitioned prefix, where a new rate is reached within minutes; Google Cloud,
# "Request rate and access distribution guidelines", per bucket at the start; Microsoft,
# "Scalability targets for standard storage accounts", per account, of any kind.  The
# latency is what AWS names for small objects, 100 to 200 ms, for all of them.
STORES = {
    "S3": {"writes": 3500, "reads": 5500, "latency": 0.1},
    "Google Cloud Storage": {"writes": 1000, "reads": 5000, "latency": 0.1},
    "Azure": {"requests": 20_000, "latency": 0.1},
}
_PAGE = 1000  # names in one answer to a list request, of all three
# AWS names PUT, COPY, POST and DELETE beside GET and HEAD; lists count as reads.
_WRITES, _READS = ("put", "delete"), ("get", "head", "list")
_WORKERS, _MEMBERS = 1000, 10_000_000


def model(document: dict) -> dict:
    """Hours of a thousand workers on ten million members, and what bounds them.

    time = start-up + lists + ⌈B/W⌉ · (max(member seconds · block, commit) + claim),
    but at least B · q/s for writes and for reads: B blocks, W workers, q requests per
    block and s of them per second.  Requests of one worker follow one another; a commit
    is written while the next block is computed, a claim is waited for.  A worker lists
    all blocks when it starts, when it looks at what others have, and at the end: B/1000
    requests each time, so these grow with B · W.
    """
    asked = document["requests"]
    per_block = [asked["per_block"][phase] for phase in ("claim", "commit")]
    claim, commit = (sum(kinds.values()) for kinds in per_block)
    # With many workers a block is tried more than once.
    shared = [row for row in document["sharing"] if row["looks_at_others"]]
    extra = shared[-1]["requests_per_block"] - shared[0]["requests_per_block"]
    claim += extra
    # Each look lists blocks and leases; three more lists are made by everybody.
    looks = shared[-1]["lists_per_worker"] / 2 + 3
    q = {
        "writes": sum(kinds.get(k, 0.0) for kinds in per_block for k in _WRITES),
        "reads": sum(kinds.get(k, 0.0) for kinds in per_block for k in _READS) + extra,
    }
    q["requests"] = q["writes"] + q["reads"]
    q["lists_per_worker"] = looks
    startup = max(
        sum(v for k, v in run.items() if k.startswith("startup"))
        for case in document["workers"]
        for run in case["runs"]
    )
    rows = []
    for (name, store), seconds, block in itertools.product(
        STORES.items(), (0.01, 0.1, 1.0, 10.0), (8, 64, 256)
    ):
        count = math.ceil(_MEMBERS / block)
        latency, pages = store["latency"], looks * math.ceil(count / _PAGE)
        asks = {"writes": count * q["writes"]}
        asks["reads"] = count * q["reads"] + _WORKERS * pages
        asks["requests"] = asks["writes"] + asks["reads"]
        bound_by = {*asks} & {*store}
        busy = max(seconds * block, commit * latency) + claim * latency
        bounds = {
            "computing": startup + pages * latency + math.ceil(count / _WORKERS) * busy,
            **{kind: asks[kind] / store[kind] for kind in bound_by},
        }
        longest = max(bounds, key=lambda k: bounds[k])
        rows.append(
            {
                "store": name,
                "member_seconds": seconds,
                "block": block,
                "blocks": count,
                "objects": count * asked["arrays"],
                "hours": bounds[longest] / 3600,
                "bound_by": longest,
                "efficiency": _MEMBERS * seconds / _WORKERS / bounds[longest],
                "smallest_block_not_bound": max(
                    q[kind] * _WORKERS / store[kind] / seconds for kind in bound_by
                ),
            }
        )
    return {
        "workers": _WORKERS,
        "members": _MEMBERS,
        "startup_seconds": startup,
        "requests_per_block": {**q, "claim": claim, "commit": commit},
        "stores": STORES,
        "rows": rows,
        "once": once_per_run(document),
    }


def once_per_run(document: dict) -> dict:
    """What whoever opens, lists or reads the whole run waits for."""
    small, large = document["records"][-2:]
    arrays, count = document["requests"]["arrays"], math.ceil(_MEMBERS / 256)
    apart = max(large["blocks"] - small["blocks"], 1)
    disk = {}
    for name, seconds in large["seconds"].items():
        slope = (seconds - small["seconds"][name]) / apart
        # Arrays are listed and read one after another.
        more = arrays / large["arrays"] if name == "complete" else 1
        disk[name] = more * (seconds + slope * (count - large["blocks"]))
    latency, together = STORES["S3"]["latency"], layout.READS_AT_ONCE
    pages = math.ceil(count / _PAGE)
    return {
        "blocks": count,
        "seconds_on_this_disk": disk,
        "seconds_to_list_blocks": pages * latency,
        "seconds_to_read_all": arrays * latency * (pages + count / together),
        "reads_at_a_time": together,
    }

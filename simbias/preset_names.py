"""Names of presets: the sizes of an experiment, and those of its variants.

The sizes are "smoke", "quick" and "paper".  A variant, such as "sgd", is of the size
"quick"; "sgd_smoke" and "sgd_paper" are its other sizes.
"""

from collections.abc import Iterable

SIZES = ("smoke", "quick", "paper")


def size_of(preset: str) -> str:
    """The size of a preset: that of "sgd_paper" is "paper", that of "sgd" "quick"."""
    last = preset.rpartition("_")[2]
    return last if last in SIZES else "quick"


def preset_of(variant: str, size: str) -> str:
    """The preset of a variant in a size."""
    return variant if size == "quick" else f"{variant}_{size}"


def of_size(known: Iterable[str], size: str) -> list[str]:
    """Presets of a size, among those of an experiment."""
    return [preset for preset in known if size_of(preset) == size]


def run_name(experiment: str, preset: str) -> str:
    """A short name of a run: "threshold", and of a variant "threshold-sgd"."""
    return experiment if preset in SIZES else f"{experiment}-{preset}"

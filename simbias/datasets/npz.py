"""A sample of the user's own, from a file of NumPy arrays."""

import dataclasses
import hashlib
import inspect
import pathlib
from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from simbias.core import Dataset
from simbias.errors import BadInput
from simbias.numerics.packed_arrays import arrays_of
from simbias.numerics.regular_file import read_regular

_NEEDED = ("x", "y")
_KNOWN = (*_NEEDED, "weight", "mean", "features", "x_test", "y_test")
# Bytes of a file, and of what it unpacks to: an array of more is not compiled.
_MOST_BYTES = 1 << 30
_CONVERSIONS = {
    ".csv": "Example: a = numpy.loadtxt('mine.csv', delimiter=','); "
    "numpy.savez('mine.npz', x=a[:, :-1], y=a[:, -1]), where y is the last column.",
    ".npy": "Example: a = numpy.load('mine.npy'); "
    "numpy.savez('mine.npz', x=a[:, :-1], y=a[:, -1]), where y is the last column.",
}
_EXAMPLE = "Example: numpy.savez('mine.npz', x=x, y=y, x_test=x_test, y_test=y_test)."


@dataclasses.dataclass(frozen=True)
class Npz:
    """The empirical law of a file: n of its rows, drawn anew by every key.

    The file is read once, when this is made, and told by its bytes: a run in a store is
    not continued with another one.  All rows, in order, are the default.  What is
    computed is compiled with the arrays inside, so that it is for small files.

    Args:
        path: of a file that `numpy.savez` wrote, with `x` (n, d) and `y`, (n, k) or
            (n,); it may have `x_test` and `y_test`, a second sample, which is always
            taken whole, and `weight` (n,), `mean` as y and `features` (p, d) as in
            `Dataset`.
        sha256: of the file, where it must be a certain one; found out if not given.
    """

    path: str
    sha256: str = ""

    def __post_init__(self):
        raw, digest = _read(self.path, self.sha256)
        arrays = _checked(self.path, _arrays(self.path, raw))
        for name, value in (("sha256", digest), ("_arrays", arrays)):
            object.__setattr__(self, name, value)
        rows = self.rows
        key = inspect.Parameter("key", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        n = inspect.Parameter(
            "n", inspect.Parameter.KEYWORD_ONLY, default=rows, annotation=int
        )
        object.__setattr__(self, "__signature__", inspect.Signature([key, n]))

    @property
    def rows(self) -> int:
        """Number of rows of x."""
        return len(getattr(self, "_arrays")["x"])  # noqa: B009

    def __call__(self, key: PRNGKeyArray, *, n: int | None = None) -> Dataset:
        """The sample.

        Raises:
            ValueError: for fewer rows than 1, or more than there are.
        """
        arrays: Mapping[str, np.ndarray] = getattr(self, "_arrays")  # noqa: B009
        rows = len(arrays["x"])
        n = rows if n is None else n
        if not 1 <= n <= rows:
            raise BadInput(
                f"`n` must be from 1 to {rows}, the rows of {self.path}, got {n}."
            )
        taken = slice(None) if n == rows else jax.random.permutation(key, rows)[:n]
        of = lambda name: jnp.asarray(arrays[name], jnp.float64)
        test = None
        if "x_test" in arrays:
            x, y, d = of("x_test"), of("y_test"), arrays["x"].shape[1]
            test = Dataset(x, y, jnp.ones(len(x)), y, jnp.zeros((0, d)))
        rows_of = lambda name: of(name)[taken]
        return Dataset(
            rows_of("x"),
            rows_of("y"),
            rows_of("weight"),
            rows_of("mean"),
            of("features"),
            test,
        )


def _read(path: str, expected: str) -> tuple[bytes, str]:
    try:
        raw = read_regular(pathlib.Path(path).expanduser(), _MOST_BYTES)
    except OSError as error:
        raise BadInput(f"`path`: cannot read {path}: {error.strerror}.") from error
    digest = hashlib.sha256(raw).hexdigest()
    if expected not in ("", digest):
        raise BadInput(
            f"`path`: {path} is another file: its SHA-256 is not the expected "
            f"{expected}."
        )
    return raw, digest


def _arrays(path: str, raw: bytes) -> dict[str, np.ndarray]:
    """What is in the file; nothing of it is executed."""
    if not raw.startswith(b"PK"):  # as every zip file does
        suffix = pathlib.PurePath(path).suffix.lower()
        example = _CONVERSIONS.get(suffix, _EXAMPLE)
        raise BadInput(f"`path`: {path} is no npz file. {example}")
    try:
        found = arrays_of(raw, _MOST_BYTES)
    except BadInput as error:
        raise BadInput(
            f"`path`: {path} is no npz file of numbers: {error}. {_EXAMPLE}"
        ) from error
    for name in found:
        if name not in _KNOWN:
            raise BadInput(
                f"`path`: {path} holds `{name}`, which is not known here. "
                f"Known: {', '.join(_KNOWN)}."
            )
    for name in _NEEDED:
        if name not in found:
            raise BadInput(f"`path`: {path} does not hold `{name}`. {_EXAMPLE}")
    if ("x_test" in found) != ("y_test" in found):
        raise BadInput(f"`path`: {path} must hold `x_test` and `y_test`, or neither.")
    return found


def _checked(path: str, found: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Arrays of real numbers that fit each other, with those that are not given."""
    arrays = {}
    for name, value in found.items():
        is_real = value.dtype.kind in "biuf"
        with np.errstate(over="ignore"):
            is_finite = is_real and np.isfinite(value.astype(np.float64)).all()
        if not is_finite:
            beyond = " with NaN, ∞ or numbers beyond float64"
            raise BadInput(
                f"`path`: `{name}` in {path} must hold finite real numbers, got "
                f"{value.dtype}{beyond if value.dtype.kind == 'f' else ''}."
            )
        if name == "weight" and ((value < 0).any() or not value.any()):
            wrong = "a negative number" if (value < 0).any() else "0 everywhere"
            raise BadInput(
                f"`path`: `weight` in {path} must be positive, or 0 for some rows, "
                f"got {wrong}. Leave it out if all rows count alike."
            )
        is_column = name in ("y", "y_test", "mean") and value.ndim == 1
        arrays[name] = value[:, None] if is_column else value
    x, y = arrays["x"], arrays["y"]
    rows, d = len(x) if x.ndim else 0, x.shape[-1] if x.ndim else 0
    arrays.setdefault("weight", np.ones(rows))
    arrays.setdefault("mean", y)
    arrays.setdefault("features", np.zeros((0, d)))
    k, tests = y.shape[-1] if y.ndim else 0, len(arrays.get("x_test", ()))
    count = len(arrays["features"]) if arrays["features"].ndim else 0
    expected = {
        "x": (rows, d),
        "y": (rows, k),
        "weight": (rows,),
        "mean": (rows, k),
        "features": (count, d),
        "x_test": (tests, d),
        "y_test": (tests, k),
    }
    for name, value in arrays.items():
        is_empty = name in ("x", "x_test") and not value.size
        if value.shape != expected[name] or is_empty:
            raise BadInput(
                f"`path`: `{name}` in {path} has the shape {value.shape}, expected "
                f"{'rows and columns' if is_empty else expected[name]}: x is (n, d), "
                "y (n, k). "
                "An image is a row: x.reshape(len(x), -1)."
            )
    return arrays

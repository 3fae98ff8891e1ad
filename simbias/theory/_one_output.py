"""A check of the data, for theory that is about one output."""

from simbias.core import Dataset
from simbias.errors import BadInput


def check_one_output(data: Dataset) -> None:
    """Raise ValueError unless the targets have one column."""
    if data.y.shape[1] != 1:
        raise BadInput(
            f"`data.y` must have one column, got shape {data.y.shape}. "
            "Example: y=y[:, :1]."
        )

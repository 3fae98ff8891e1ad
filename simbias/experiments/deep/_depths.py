"""The number of matrices of a deep ReLU network."""

from simbias.errors import BadInput


def check_depth(depth: int) -> None:
    """Raise ValueError unless there are 2 matrices or more, and so a hidden layer."""
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 2:
        raise BadInput(
            "`depth` must be 2 or more, the number of matrices of the network, got "
            f"{depth!r}. Example: depth=3."
        )

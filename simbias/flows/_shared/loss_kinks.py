"""Losses whose gradient jumps, which no flow follows."""

from simbias.core import Dataset, Loss
from simbias.errors import BadInput
from simbias.introspection.kinks import kink_of_loss
from simbias.introspection.partials import whole


def refuse_kinks_of_loss(flow: str, loss: Loss, data: Dataset, or_else: str) -> None:
    """Raise ValueError if ∇ of the loss jumps, or may.

    Args:
        flow: its name, for the message.
        loss: of a network on the data.
        data: the sample.
        or_else: what one may do instead of marking the loss as smooth; may be empty.
    """
    found = kink_of_loss(loss, data.y, data.weight)
    if found is not None:
        raise BadInput(
            f"`loss`: {flow} needs a loss with a continuous gradient, and that of "
            f"{getattr(whole(loss), '__name__', loss)} may jump: {found}. Use the flow "
            '"descent" with a small rate, or logistic in the place of hinge. If you '
            "know that it does not jump, mark it with "
            f"`simbias.losses.smooth`{or_else}."
        )

"""How long, and how often, in words for a person."""


def about(seconds: float) -> str:
    """A time in the unit of which it holds two at least: "about 5 minutes"."""
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"about {seconds / size:.0f} {unit}"
    return f"about {max(seconds, 1):.0f} seconds"


def often(rate: float, what: str = "") -> str:
    """A rate per second in the unit in which it is 1 at least: "12 members per hour".

    Args:
        rate: per second.
        what: of what, before "per".
    """
    said = f" {what}" if what else ""
    for seconds, unit in ((1, "second"), (60, "minute"), (3600, "hour")):
        if rate * seconds >= 1:
            return f"{rate * seconds:.3g}{said} per {unit}"
    return f"{rate * 86400:.2g}{said} per day"

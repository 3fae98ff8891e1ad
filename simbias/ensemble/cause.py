"""What an error says that came out of a compiled program."""

import re

# Equinox has a stack before the message of `error_if`, and its advice after it.
_OF_EQUINOX = re.compile(r"EquinoxRuntimeError: (.*?)\n-{9,}\n", re.DOTALL)


def cause(error: Exception) -> str:
    """The message of who raised it, without the stack around it."""
    text = str(error).strip()
    if found := _OF_EQUINOX.search(text):
        return found[1].strip()
    # The last line names the cause, inside a callback too.
    return (text.splitlines() or [""])[-1]

"""What to say of a word that is not known."""

import difflib
from collections.abc import Iterable


def suggestion(word: str, known: Iterable[str]) -> str:
    """' Did you mean …?' or the list of what is known."""
    known = list(known)
    close = difflib.get_close_matches(word, known, n=1)
    if close:
        return f" Did you mean `{close[0]}`?"
    return f" Known: {', '.join(known)}."

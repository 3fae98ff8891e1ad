"""Which paragraphs of a docstring are formulas."""

import re

_SIGN = re.compile(r"[=≤≥∝≈∈→←~<>∇∂Σ∫√‖²±−′·]|O\(")
_SENTENCE = re.compile(
    r"[.:;]$|^(With|For|By|and) |^(Args|Returns|Raises|References?|Example):|^[*-] "
)
_CODE = re.compile(
    r"^(from|import|python) |\b(simbias|ds)[.\[]|simulate\(", re.MULTILINE
)
# Words of prose; names of functions, such as exp, are at most four letters long.
_WORD = re.compile(r"(?<![\w.])[A-Za-z][a-z]{4,}(?![\w(])")
_MOST_WORDS = 4


def is_formula(paragraph: str) -> bool:
    """True for a paragraph that is a formula and nothing else.

    It has a sign such as = or ≤, few words, and does not end like a sentence.
    """
    bare = paragraph.strip()
    if not bare or _SENTENCE.search(bare):
        return False
    few = len(_WORD.findall(bare)) <= _MOST_WORDS
    return bool(_SIGN.search(bare)) and few and not _CODE.search(bare)


def unindented(paragraph: str) -> str:
    """Its lines, as far to the left as they go, without signs of code."""
    lines = paragraph.replace("`", "").strip("\n").split("\n")
    indent = min(len(line) - len(line.lstrip()) for line in lines)
    return "\n".join(line[indent:] for line in lines)

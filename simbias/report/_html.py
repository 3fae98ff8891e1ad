"""Elements of HTML, made so that no text can be taken for markup."""

from collections.abc import Iterable
from xml.etree import ElementTree

Element = ElementTree.Element
Child = Element | str | None


def element(tag: str, *children: Child, **attributes: str | None) -> Element:
    """`<tag name="value">children</tag>`; nothing of None.

    `class_` is the attribute `class`, `aria_label` is `aria-label`, and one that is ""
    has no value.  Texts are escaped when the page is written, those of `script` and
    `style` are not.
    """
    names = {name.strip("_").replace("_", "-"): v for name, v in attributes.items()}
    made = ElementTree.Element(tag, {k: v for k, v in names.items() if v is not None})
    return filled(made, children)


def filled(made: Element, children: Iterable[Child]) -> Element:
    """The element, with more children behind those that it has."""
    for child in children:
        if child is None:
            continue
        if isinstance(child, Element):
            made.append(child)
        elif len(made):
            made[-1].tail = (made[-1].tail or "") + child
        else:
            made.text = (made.text or "") + child
    return made


def written(root: Element) -> str:
    """A whole document."""
    text = ElementTree.tostring(root, encoding="unicode", method="html")
    return f"<!doctype html>\n{text}\n"


def raw(tag: str, text: str, **attributes: str | None) -> Element:
    """`script` or `style`, whose text is as it stands.

    Raises:
        ValueError: if the text would end the element.
    """
    if f"</{tag}" in text.lower() or "<!--" in text:
        raise ValueError(f"a text of <{tag}> must not end it")
    return element(tag, text, **attributes)

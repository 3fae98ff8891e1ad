"""What docstrings say, as the pages of the reference show it.

An extension of griffe, which mkdocstrings finds in mkdocs.yml.
"""

import html
import re
from typing import Any

import griffe
from formulas import is_formula, unindented


class Docstrings(griffe.Extension):
    """Marks formulas, and gives the modules of Equinox the signature that they have."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called once for everything that is documented."""
        if obj.docstring:
            obj.docstring.value = with_formulas(obj.docstring.value)

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        """Called once for a class, when its members are known."""
        fields = [m for m in cls.members.values() if _is_field(m)]
        if fields and "__init__" not in cls.members:
            parameters = griffe.Parameters(*map(_parameter, fields))
            made = griffe.Function("__init__", parameters=parameters, parent=cls)
            cls.set_member("__init__", made)


def with_formulas(text: str) -> str:
    """A docstring in which every formula is a block of HTML."""
    first, *rest = text.split("\n\n")
    return "\n\n".join([first, *map(_shown, rest)])


def _shown(paragraph: str) -> str:
    if not is_formula(paragraph):
        return paragraph
    inner = html.escape(unindented(paragraph), quote=False)
    # Of what would be read as Markdown nothing is left.
    inner = re.sub(r"[*_`\\\[\]]", lambda found: f"&#{ord(found[0])};", inner)
    return f'<p class="formula">{inner}</p>'


def _is_field(member: griffe.Object | griffe.Alias) -> bool:
    is_one = isinstance(member, griffe.Attribute) and member.annotation is not None
    is_own = "instance-attribute" in member.labels  # no ClassVar
    return is_one and is_own and "ClassVar" not in str(member.annotation)


def _parameter(field: Any) -> griffe.Parameter:
    """Of a field; what `eqx.field` was given says whether it has a default."""
    default = None if field.value is None else str(field.value)
    if default and default.startswith(("eqx.field", "dataclasses.field")):
        found = re.search(r"\bdefault=(.+?)(, \w+=|\)$)", default)
        default = found[1] if found else "..." if "default_factory" in default else None
    kind = griffe.ParameterKind.positional_or_keyword
    return griffe.Parameter(
        field.name, annotation=field.annotation, kind=kind, default=default
    )

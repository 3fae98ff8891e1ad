"""What a docstring says: of an object in one line, and of each of its arguments.

What an argument is called by everybody, such as n or scale, need not be said each time.
"""

import dataclasses
import functools
import inspect
from collections.abc import Mapping
from typing import Any

import docstring_parser

# Letters and words that mean the same wherever a sample and a network are made.
VOCABULARY: Mapping[str, str] = {
    "activation": "Activation of the hidden neurons.",
    "d": "Dimension of an input.",
    "data_dir": "Folder that holds the files of the images; nothing is downloaded.",
    "depth": "Number of layers with weights.",
    "has_bias": "Whether hidden neurons have a bias.",
    "hidden": "Neurons of a hidden layer.",
    "initial": "Law of the initial weights.",
    "inputs": "Law of the inputs.",
    "k": "Dimension of an output.",
    "law": "Law of the dataset or of the initial weights.",
    "m": "Width: neurons of a hidden layer.",
    "n": "Number of training samples.",
    "n_test": "Number of test samples.",
    "network": "Kind of network.",
    "noise": "Standard deviation of the noise, or share of noise.",
    "rows": "Number of rows of the data set to sample from.",
    "scale": "Scale of the initial weights.",
    "sigma": "Standard deviation of the noise of the targets.",
    "source": "Which dataset.",
    "start": "Scale or law of the initial weights.",
    "verify": "Whether image files are checked against their published digests.",
}


def summary(thing: Any) -> str:
    """The first line of its docstring, without the stop; "" if there is none."""
    text = _text(thing).strip().partition("\n")[0].strip()
    return text.removesuffix(".")


def argument_docs(thing: Any) -> dict[str, str]:
    """Argument -> what its docstring says of it, in one line.

    Of an object made of others, such as `DrawnFrom(law, network)`, all that they say.
    """
    if isinstance(thing, functools.partial):
        return argument_docs(thing.func)
    found: dict[str, str] = {}
    is_made = dataclasses.is_dataclass(thing) and not isinstance(thing, type)
    for field in dataclasses.fields(thing) if is_made else ():
        value = getattr(thing, field.name, None)
        if callable(value):
            found |= argument_docs(value)
    style = docstring_parser.DocstringStyle.GOOGLE
    for one in docstring_parser.parse(_text(thing), style=style).params:
        if one.description:
            found[one.arg_name] = " ".join(one.description.split())
    return found


def meaning(name: str, said: Mapping[str, str]) -> str:
    """What an argument is: by its docstring, or as everybody calls it; or ""."""
    return said.get(name) or VOCABULARY.get(name, "")


def _text(thing: Any) -> str:
    if isinstance(thing, functools.partial):
        return _text(thing.func)
    is_named = isinstance(thing, type) or inspect.isroutine(thing)
    owner = thing if is_named else type(thing)
    text = owner.__doc__ or ""
    # What a dataclass writes for itself says nothing.
    return "" if text.startswith(f"{owner.__name__}(") else inspect.cleandoc(text)

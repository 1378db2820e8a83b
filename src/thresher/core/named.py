"""Things by name: `package.module:attribute`, imported when it is needed and not before."""

import importlib
from functools import cache
from typing import Any, TypeVar

from thresher.core.errors import UsageError

T = TypeVar("T")


def check_name(name: str, what: str) -> None:
    """Refuse a text that cannot name anything."""
    module, colon, attribute = name.partition(":")
    if not (colon and attribute.isidentifier() and all(part.isidentifier() for part in module.split("."))):
        raise UsageError(f"{what} is {name!r}; write package.module:name")


def loaded(thing: T | str) -> T:
    """A thing that may be given by its name."""
    return load_named(thing) if isinstance(thing, str) else thing


@cache
def load_named(name: str) -> Any:
    """What a name leads to."""
    place, _, attribute = name.partition(":")
    try:
        module = importlib.import_module(place)
    except ImportError as problem:
        raise UsageError(f"{name} leads nowhere: {problem}") from problem
    if not hasattr(module, attribute):
        raise UsageError(f"{name} leads nowhere: the module {place} has no {attribute!r}")
    return getattr(module, attribute)

"""Things by name: `package.module:attribute`, imported when it is needed and not before."""

import importlib
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from thresher.core.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path

T = TypeVar("T")


def check_name(name: str, what: str) -> None:
    """Refuse a text that is not a dotted name."""
    module, colon, attribute = name.partition(":")
    if not (colon and attribute.isidentifier() and all(part.isidentifier() for part in module.split("."))):
        raise UsageError(f"{what} is {name!r}; write package.module:name")


def loaded(thing: T | str) -> T:
    """Return a thing that may be given by its name."""
    return load_named(thing) if isinstance(thing, str) else thing


@cache
def load_named(name: str) -> Any:
    """Import what a name refers to."""
    place, _, attribute = name.partition(":")
    try:
        module = importlib.import_module(place)
    except ImportError as problem:
        raise UsageError(f"{name} cannot be loaded: {problem}") from problem
    if not hasattr(module, attribute):
        raise UsageError(f"{name} cannot be loaded: the module {place} has no {attribute!r}")
    return getattr(module, attribute)


def load_folder(where: "str | Path", what: str) -> "Traversable":
    """Find a folder of data: `package:folder`, or the path of one."""
    from importlib.resources import files  # noqa: PLC0415  slow to import, and `--help` reads no folder

    if not isinstance(where, str):
        return where
    package, _, folder = where.partition(":")
    try:
        return files(package).joinpath(folder)
    except ImportError as problem:
        raise ConfigError(f"{what}={where!r}: {problem}") from None


class _Nothing(dict[str, Any]):
    """An empty mapping that a dataclass takes for a default."""

    __hash__ = object.__hash__  # type: ignore[assignment]


NOTHING: Mapping[str, Any] = _Nothing()


class Named(Generic[T]):
    """A field of a frozen dataclass: a value, or the dotted name of one, which is imported when it is read.
    A tuple may have the names of other tuples in it.

    The dataclass has no slots: the descriptor keeps what it was given in the instance's dictionary.
    """

    def __init__(self, default: T) -> None:
        self._default = default
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object | None, owner: type | None = None) -> T:
        if instance is None:  # this is how a dataclass asks for the default
            return self._default
        given = vars(instance)[self._name]
        if isinstance(given, tuple) and any(isinstance(each, str) for each in given):
            given = _flat(given)
        return loaded(cast("T | str", given))

    def __set__(self, instance: object, value: T | str) -> None:
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, str):
                check_name(each, f"{self._name} of app {getattr(instance, 'name', '')!r}")
        vars(instance)[self._name] = value


def _flat(things: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(one for each in things for one in (load_named(each) if isinstance(each, str) else (each,)))

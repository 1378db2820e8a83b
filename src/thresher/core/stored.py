"""Read stored JSON as typed values and write it: a frozen dataclass names the fields, their types, their
defaults.

Stored data may come from an older release, from a task that knew only a part, or from an import. Reading
never raises: a field that is absent, or whose value is not of its type, has its default. Names of fields are
the names in the JSON.

What was written is read back as it was. Two names steer the writing of a class:

    NOT_STORED  defaults that are left out of the JSON, such as None; other values are always stored
    unknown     a field that holds what this release does not know, so that a record which an older worker
                reads, changes and writes keeps what a newer one wrote
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
Read = Callable[[Any], Any]
_NONSENSE = object()
UNKNOWN = "unknown"


def read(kind: type[T], data: object, **given: object) -> T:
    """Read a dataclass from the JSON that is stored of it; `given` are fields that are stored elsewhere."""
    said = data if isinstance(data, Mapping) else {}
    form = _form(kind)  # type: ignore[arg-type]  # a class can be hashed
    readers = form.readers
    found = {
        name: value
        for name, each in said.items()
        if name in readers and (value := readers[name](each)) is not _NONSENSE
    }
    if form.keeps_unknown:
        found[UNKNOWN] = {name: value for name, value in said.items() if name not in readers}
    return kind(**found, **given)


def made(kind: type[T], said: Mapping[str, Any]) -> T:
    """Make a dataclass of stored members that are already of their types, and pass over those that only a
    newer release knows. Raise TypeError where one is missing that has no default.
    """
    known = _names(kind)  # type: ignore[arg-type]
    return (
        kind(**said) if said.keys() <= known else kind(**{name: said[name] for name in known & said.keys()})
    )


@cache
def _names(kind: Any) -> frozenset[str]:
    return frozenset(each.name for each in fields(kind))


def written(value: Any) -> Any:
    """Write a dataclass, and what it is made of, as JSON. Fields that are stored elsewhere are left out."""
    if type(value) in _PLAIN:  # as most are, and every record is written
        return value
    if type(value) is dict:
        if _PLAIN.issuperset(map(type, value.values())):
            return value.copy()
        return {name: each if type(each) in _PLAIN else written(each) for name, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return _written(value)
    if isinstance(value, Mapping):
        return {name: written(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [written(each) for each in value]
    return value.value if isinstance(value, Enum) else value


def _written(value: Any) -> dict[str, Any]:
    form = _form(type(value))  # type: ignore[arg-type]
    said = ((name, getattr(value, name)) for name in form.readers)
    found = {
        name: written(each) for name, each in said if name not in form.left_out or each != form.left_out[name]
    }
    return {**getattr(value, UNKNOWN), **found} if form.keeps_unknown else found


class _Form(NamedTuple):
    """How a class is stored: the readers of the fields that have a default, for a field without one, such as
    the key, is not part of the JSON; and the defaults that are not written.
    """

    readers: Mapping[str, Read]
    keeps_unknown: bool
    left_out: Mapping[str, Any]


@cache
def _form(kind: Any) -> _Form:
    hints = get_type_hints(kind)
    known = {
        each.name: each.default
        for each in fields(kind)
        if each.name != UNKNOWN and (each.default is not MISSING or each.default_factory is not MISSING)
    }
    left_out = getattr(kind, "NOT_STORED", ())
    return _Form(
        {name: _reader(hints[name]) for name in known},
        UNKNOWN in hints,
        {name: default for name, default in known.items() if default in left_out},
    )


def _reader(hint: Any) -> Read:
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return _as_it_is
    if origin in (Union, UnionType):
        return _is(*args) if set(args) <= _PLAIN else _either([_reader(each) for each in args])
    if origin is tuple:
        return _items(_reader(args[0]))
    if origin is Mapping:
        return _entries(_reader(args[1]))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _member(hint)
    if isinstance(hint, type) and is_dataclass(hint):
        return lambda value: read(hint, value) if isinstance(value, Mapping) else _NONSENSE
    return _is(hint)


def _as_it_is(value: Any) -> Any:
    return value


def _either(readers: list[Read]) -> Read:
    def one(value: Any) -> Any:
        for each in readers:
            if (found := each(value)) is not _NONSENSE:
                return found
        return _NONSENSE

    return one


def _items(reader: Read) -> Read:
    def items(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            return _NONSENSE
        if reader is _as_it_is:
            return tuple(value)
        return tuple(found for each in value if (found := reader(each)) is not _NONSENSE)

    return items


def _entries(reader: Read) -> Read:
    def entries(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return _NONSENSE
        if reader is _as_it_is:
            return value
        read_ = ((name, reader(each)) for name, each in value.items() if isinstance(name, str))
        return {name: found for name, found in read_ if found is not _NONSENSE}

    return entries


def _member(kind: type[Enum]) -> Read:
    members = {each.value: each for each in kind}
    return lambda value: members.get(value, _NONSENSE) if isinstance(value, str) else _NONSENSE


_PLAIN = {str, int, float, bool, NoneType}


def _is(*types: type) -> Read:
    """A plain value of one of these types. Lists of thousands are read, so the usual case is one look."""
    exact = frozenset((*types, int) if float in types else types)
    others = tuple(exact - {bool})

    def plain(value: Any) -> Any:
        if type(value) in exact:
            return value
        return value if isinstance(value, others) and not isinstance(value, bool) else _NONSENSE

    return plain

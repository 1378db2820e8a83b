"""Read stored JSON as typed values: a frozen dataclass names the fields, their types and their defaults.

Stored data may come from an older release, from a task that knew only a part, or from an import. Reading
never raises: a field that is absent, or whose value is not of its type, has its default. Names of fields are
the names in the JSON.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
Read = Callable[[Any], Any]
_NONSENSE = object()


def read(kind: type[T], data: object, **given: object) -> T:
    """Read a dataclass from the JSON that is stored of it; `given` are fields that are stored elsewhere."""
    said = data if isinstance(data, Mapping) else {}
    found = {
        name: value
        for name, reader in _fields(kind)  # type: ignore[arg-type]  # a class can be hashed
        if name in said and (value := reader(said[name])) is not _NONSENSE
    }
    return kind(**(found | given))


def written(value: Any) -> Any:
    """Write a dataclass, and what it is made of, as JSON. Fields that are stored elsewhere are left out."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: written(getattr(value, name)) for name, _ in _fields(type(value))}
    if isinstance(value, Mapping):
        return {name: written(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [written(each) for each in value]
    return value.value if isinstance(value, Enum) else value


@cache
def _fields(kind: Any) -> tuple[tuple[str, Read], ...]:
    """Those with a default: a field without one, such as the key, is not part of the JSON."""
    hints = get_type_hints(kind)
    return tuple(
        (each.name, _reader(hints[each.name]))
        for each in fields(kind)
        if each.default is not MISSING or each.default_factory is not MISSING
    )


def _reader(hint: Any) -> Read:
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return lambda value: value
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


def _either(readers: list[Read]) -> Read:
    def one(value: Any) -> Any:
        return next((found for each in readers if (found := each(value)) is not _NONSENSE), _NONSENSE)

    return one


def _items(reader: Read) -> Read:
    def items(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            return _NONSENSE
        return tuple(found for each in value if (found := reader(each)) is not _NONSENSE)

    return items


def _entries(reader: Read) -> Read:
    def entries(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return _NONSENSE
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

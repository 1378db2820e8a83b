"""Values for the tests of stored records: any JSON, and what a type allows."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from thresher.core.stored import UNKNOWN

PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=8),
    int: st.integers(-(2**63), 2**63 - 1),
    float: st.floats(allow_nan=False, allow_infinity=False),  # JSON has neither
    bool: st.booleans(),
    NoneType: st.none(),
}
ANY_JSON: st.SearchStrategy[Any] = st.recursive(
    st.one_of(*PLAIN.values()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def stored_types(kind: type) -> dict[str, Any]:
    """The fields of a record that are part of its JSON, and their types."""
    hints = get_type_hints(kind)
    return {
        each.name: hints[each.name]
        for each in fields(kind)
        if each.name != UNKNOWN and (each.default is not MISSING or each.default_factory is not MISSING)
    }


def said_of(kind: type) -> st.SearchStrategy[Any]:
    """What may be stored of a record: its fields, some right and some wrong, or something else entirely."""
    mixed = {name: values_of(hint) | ANY_JSON for name, hint in stored_types(kind).items()}
    return st.fixed_dictionaries({}, optional=mixed) | ANY_JSON


def whole(kind: type, **given: Any) -> st.SearchStrategy[Any]:
    """A record with every field that is stored."""
    known = stored_types(kind)
    said = {name: values_of(hint) for name, hint in known.items()}
    if UNKNOWN in get_type_hints(kind):
        said[UNKNOWN] = st.dictionaries(
            st.text(max_size=8).filter(lambda name: name not in known), ANY_JSON, max_size=3
        )
    return st.fixed_dictionaries(said).map(lambda values: kind(**values, **given))


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return ANY_JSON
    if origin in (Union, UnionType):
        return st.one_of(*map(values_of, args))
    if origin is tuple:
        return st.lists(values_of(args[0]), max_size=3).map(tuple)
    if origin is Mapping:
        return st.dictionaries(st.text(max_size=5), values_of(args[1]), max_size=3)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(hint)
    return whole(hint) if is_dataclass(hint) else PLAIN[hint]


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is what its type says."""
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, UnionType):
        return any(fits(value, each) for each in args)
    if origin is tuple:
        return isinstance(value, tuple) and all(fits(each, args[0]) for each in value)
    if origin is Mapping:
        return isinstance(value, Mapping) and all(fits(each, args[1]) for each in value.values())
    if is_dataclass(hint):
        return isinstance(value, hint) and all_fit(value)  # type: ignore[arg-type]  # a class
    if hint is float:
        return type(value) in (int, float)
    return type(value) is hint or (isinstance(hint, type) and isinstance(value, Enum) and type(value) is hint)


def all_fit(record: Any) -> bool:
    return all(fits(getattr(record, name), hint) for name, hint in stored_types(type(record)).items())

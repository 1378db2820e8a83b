"""JSON Schema of what the API answers, from the types that make the answers: a dataclass or a typed
dictionary becomes a schema with a name. What the writer of answers does (times as text, members in camelCase)
is done here, too.

A route says its type as the return type of its endpoint, which mypy checks. So the description cannot say
anything else than the code.
"""

import inspect
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from thresher.admin.plain import is_time
from thresher.web.answer import Answer
from thresher.web.camel import CamelAnswer, renamed

Json = dict[str, Any]

NULL: Json = {"type": "null"}
TIME: Json = {"type": "string", "format": "date-time"}
END: Json = {"type": "string", "description": "A time, or `for ever`: until somebody changes it."}
_PLAIN: Mapping[Any, Json] = {
    Any: {},
    object: {},
    NoneType: NULL,
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    date: {"type": "string", "format": "date"},
    dict: {"type": "object"},
    list: {"type": "array"},
}
_OF_VALUES: Mapping[type, str] = {str: "string", int: "integer", bool: "boolean"}
# A type of ours: of an app, or of the machine.
_APP = re.compile(r"thresher\.(?:apps\.(\w+)\.)?")
_LISTS = (list, tuple, set, frozenset, Sequence, AbstractSet)


class AnswerSchemas:
    """Schemas of types, and the named ones among them, which the others refer to."""

    def __init__(self, taken: Mapping[str, Json]) -> None:
        self.named: dict[str, Json] = {}
        self._taken = taken
        self._names: dict[tuple[Any, frozenset[str] | None], str] = {}

    def of_answer(self, answer: Any, owner: str) -> Json:
        """The schema of `Answer[T]`."""
        (kind,) = get_args(answer)
        made_by = get_origin(answer)
        as_written = made_by.as_written if issubclass(made_by, CamelAnswer) else None
        return _Writer(self, owner, as_written).schema(kind)

    def name_of(self, kind: Any, writer: "_Writer") -> str:
        """The name of a type's schema; it is made when it is first asked for."""
        key = (kind, writer.as_written)
        if key not in self._names:
            plain = (kind, None)
            self._names[key] = self._free(kind, writer.owner)
            made = writer.members(kind)
            if plain != key and plain in self._names and self.named[self._names[plain]] == made:
                self._names[key] = self._names[plain]
            self.named[self._names[key]] = made
        return self._names[key]

    def _free(self, kind: Any, owner: str) -> str:
        """A name that nothing else has: that of the type, after that of its app. So no app changes the names
        of another by being enabled.
        """
        found = _APP.match(kind.__module__)
        app = (found[1] or "") if found else owner
        name = f"{app.title()}{kind.__name__.removesuffix('View')}"
        taken = {*self._taken, *self._names.values()}
        while name in taken:
            name = f"{name}Answer"
        return name


class _Writer:
    """Writes the types of one app's answers as schemas."""

    def __init__(self, schemas: AnswerSchemas, owner: str, as_written: frozenset[str] | None) -> None:
        self._schemas, self.owner, self.as_written = schemas, owner, as_written

    def schema(self, kind: Any, member: str = "") -> Json:
        """The schema of a type. A whole number under the name of a time is written as text."""
        if kind is int and is_time(member):
            return dict(END if member == "opens_at" or member.endswith("until") else TIME)
        if kind in _PLAIN:
            return dict(_PLAIN[kind])
        if isinstance(kind, type) and issubclass(kind, Enum):
            return _values([each.value for each in kind])
        if is_dataclass(kind) or is_typeddict(kind):
            return {"$ref": f"#/components/schemas/{self._schemas.name_of(kind, self)}"}
        return self._composed(kind, member)

    def _composed(self, kind: Any, member: str) -> Json:
        origin, args = get_origin(kind), get_args(kind)
        if origin is Annotated:
            shapes = [each for each in args[1:] if is_typeddict(each) or get_origin(each)]
            return self.schema(shapes[0] if shapes else args[0], member)
        if origin in (Union, UnionType):
            return _any_of([self.schema(each, member) for each in args])
        if origin is Literal:
            return _values(list(args))
        if origin is tuple and args[-1] is not Ellipsis:
            each = [self.schema(part) for part in args]
            return {"type": "array", "prefixItems": each, "minItems": len(each), "maxItems": len(each)}
        if origin in _LISTS:
            return {"type": "array", "items": self.schema(args[0])}
        if origin in (dict, Mapping):
            return {"type": "object", "additionalProperties": self.schema(args[1])}
        raise TypeError(f"{kind!r} is none of the types that an answer is made of")

    def members(self, kind: Any) -> Json:
        """The schema of a dataclass or a typed dictionary: all its members, each under its own name."""
        hints = get_type_hints(kind, include_extras=True)
        if is_dataclass(kind):
            hints = {each.name: hints[each.name] for each in fields(kind)}
        required = [name for name in hints if not _may_be_missing(kind, name)]
        found: Json = {
            "type": "object",
            "properties": {self._name(name): self._member(hints[name], name) for name in hints},
            "required": [self._name(name) for name in required],
        }
        said = unwrapped(kind.__doc__ or "")
        return {"description": said, **found} if said and not said.startswith(f"{kind.__name__}(") else found

    def _name(self, name: str) -> str:
        return name if self.as_written is None else renamed(name)

    def _member(self, kind: Any, name: str) -> Json:
        if get_origin(kind) is NotRequired:
            (kind,) = get_args(kind)
        if self.as_written is not None and name in self.as_written:
            return _Writer(self._schemas, self.owner, None).schema(kind, name)
        return self.schema(kind, name)


def unwrapped(text: str) -> str:
    """The paragraphs of a docstring, each on one line."""
    return "\n\n".join(" ".join(each.split()) for each in inspect.cleandoc(text).split("\n\n"))


def _may_be_missing(kind: Any, name: str) -> bool:
    return is_typeddict(kind) and name in kind.__optional_keys__


def _values(values: list[Any]) -> Json:
    kinds = {type(value) for value in values}
    kind = _OF_VALUES.get(kinds.pop()) if len(kinds) == 1 else None
    return {"type": kind, "enum": values} if kind else {"enum": values}


def _any_of(choices: list[Json]) -> Json:
    """One of several. Plain types are written as one list of types."""
    plain = all(set(each) == {"type"} for each in choices)
    if plain:
        return {"type": [each["type"] for each in choices]}
    if len(choices) == 2 and choices[1] == NULL and choices[0].keys() <= {"type", "format", "description"}:
        return {**choices[0], "type": [choices[0]["type"], "null"]} if choices[0] else {}
    return {} if {} in choices else {"anyOf": choices}


def answer_of(endpoint: Any) -> Any | None:
    """What an endpoint answers if all goes well: the `Answer[T]` of its return type; None if it has none."""
    found = get_type_hints(endpoint, include_extras=True).get("return")
    choices = get_args(found) if get_origin(found) in (Union, UnionType) else (found,)
    return next((each for each in choices if _is_answer(get_origin(each))), None)


def _is_answer(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Answer)


def rows_of(answer: Any) -> bool:
    """Tell whether an answer is a list of rows."""
    (kind,) = get_args(answer)
    return get_origin(kind) in _LISTS

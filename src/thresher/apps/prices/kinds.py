"""Kinds of items: which attributes an item of a kind has, and the check of what somebody says of one."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from thresher.apps.prices.gtin import normal_gtin
from thresher.core.errors import UsageError
from thresher.reading.structured.checked_yaml import (
    Path,
    choice_at,
    flag_at,
    list_at,
    mapping_of,
    number_at,
    pattern_of,
    read_checked,
    text_at,
    wrong,
)

FILE = "kinds.yaml"
MAX_VALUE = 200  # characters of an attribute
YES = "yes"
NO = "no"
_KEYS = (
    "title",
    "required",
    "flag",
    "pattern",
    "choices",
    "help",
    "weight",
    "compare",
    "names",
    "decides",
    "aspects",
    "words",
)
_FLAGS = {"yes": YES, "true": YES, "1": YES, "no": NO, "false": NO, "0": NO}


class Comparison(StrEnum):
    """How what a listing says is compared with an attribute."""

    WORDS = "words"  # its words, in any order
    NAMED = "named"  # by its other names; another thing of the group contradicts
    YEAR = "year"
    MINT_MARK = "mint_mark"
    VARIETY = "variety"
    GRADE = "grade"
    FLAG = "flag"
    BRAND = "brand"
    MODEL = "model"
    VARIANT = "variant"
    GTIN = "gtin"
    CONDITION = "condition"


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of a kind. A flag says yes or no; others are text that fits `pattern` whole, or one of
    `choices`.

    The rest says how listings are compared: `weight` is its share of the match strength, `compare` the way,
    `names` the group of the vocabulary that has its other names, `aspects` what marketplaces call it, `words`
    those that state a flag. A listing that contradicts an attribute which `decides` is about another item.
    """

    name: str
    title: str
    help: str
    required: bool = False
    flag: bool = False
    pattern: str | None = None
    choices: tuple[str, ...] = ()
    weight: int = 0
    compare: Comparison = Comparison.WORDS
    names: str = ""
    decides: bool = True
    aspects: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def checked(self, value: str) -> str:
        """A value as it is stored. Raises UsageError."""
        value = " ".join(value.split())
        if self.flag:
            if value.lower() not in _FLAGS:
                raise UsageError(f"{self.name}: must be yes or no, got {value[:40]!r}")
            return _FLAGS[value.lower()]
        if len(value) > MAX_VALUE:
            raise UsageError(f"{self.name}: has {len(value):,} characters; the limit is {MAX_VALUE}")
        if self.choices and value not in self.choices:
            raise UsageError(f"{self.name}: must be one of {', '.join(self.choices)}, got {value[:40]!r}")
        if self.pattern and not re.fullmatch(self.pattern, value):
            raise UsageError(f"{self.name}: {self.help} Got {value[:40]!r}")
        if self.compare is Comparison.GTIN and normal_gtin(value) is None:
            raise UsageError(
                f"{self.name}: the check digit of {value!r} is wrong; compare it with the bar code"
            )
        return value


@dataclass(frozen=True, slots=True)
class ItemKind:
    """A kind of item and its attributes, in the order in which people are asked for them. `never` are groups
    of the vocabulary: what a listing of theirs is about is not such an item.
    """

    name: str
    title: str
    attributes: tuple[Attribute, ...]
    never: tuple[str, ...] = ()

    @property
    def required(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.attributes if each.required)

    def attribute(self, name: str) -> Attribute | None:
        return next((each for each in self.attributes if each.name == name), None)

    def lacking(self, attributes: Mapping[str, str]) -> tuple[str, ...]:
        """The required attributes that are not said."""
        return tuple(name for name in self.required if not attributes.get(name))


def checked_attributes(kind: ItemKind, said: Mapping[str, str]) -> dict[str, str]:
    """What somebody says of an item of this kind, as it is stored; empty values are left out. Raises
    UsageError that names the attribute.
    """
    found = {}
    for name, value in said.items():
        attribute = kind.attribute(name)
        if attribute is None:
            known = ", ".join(each.name for each in kind.attributes)
            raise UsageError(f"{name!r} is no attribute of a {kind.name}; the attributes are {known}")
        if value.strip():
            found[name] = attribute.checked(value)
    return found


@cache
def kinds() -> Mapping[str, ItemKind]:
    """The kinds that come with the app, by name."""
    text = files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    return read_checked(text, FILE, _kinds)


def kind_named(name: str) -> ItemKind:
    """The kind of this name. Raises UsageError that lists the kinds."""
    found = kinds().get(name)
    if found is None:
        raise UsageError(f"{name[:40]!r} is no kind of item; the kinds are {', '.join(kinds())}")
    return found


def _kinds(data: Any) -> Mapping[str, ItemKind]:
    return {name: _kind(name, said, (name,)) for name, said in mapping_of(data, tuple(data), ()).items()}


def _kind(name: str, said: Any, path: Path) -> ItemKind:
    said = mapping_of(said, ("title", "attributes", "never"), path)
    attributes = said.get("attributes")
    if not isinstance(attributes, dict):
        wrong((*path, "attributes"), "must map names to attributes")
    made = (_attribute(each, told, (*path, "attributes", each)) for each, told in attributes.items())
    never = tuple(map(str, list_at(said, "never", path)))
    return ItemKind(name, text_at(said, "title", path) or name, tuple(made), never)


def _attribute(name: str, said: Any, path: Path) -> Attribute:
    said = mapping_of(said, _KEYS, path)
    pattern = text_at(said, "pattern", path)
    if pattern is not None:
        pattern_of(pattern, (*path, "pattern"))
    return Attribute(
        name,
        text_at(said, "title", path) or name,
        text_at(said, "help", path) or "",
        flag_at(said, "required", False, path),
        flag_at(said, "flag", False, path),
        pattern,
        tuple(map(str, list_at(said, "choices", path))),
        number_at(said, "weight", path, least=0) or 0,
        Comparison(choice_at(said, "compare", tuple(Comparison), Comparison.WORDS, path)),
        text_at(said, "names", path) or "",
        flag_at(said, "decides", True, path),
        tuple(map(str, list_at(said, "aspects", path))),
        tuple(map(str, list_at(said, "words", path))),
    )

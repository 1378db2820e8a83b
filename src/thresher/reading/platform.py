"""Hiring platforms as data: one file each, so that a board can be added without code.

A file says how the addresses of a platform look, what its boards leave behind in the pages of companies that use it, how
to ask for the list of postings, and where in the answer everything stands. All files are read once and checked whole: a
mistake in one names the file and the key.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from thresher.core.errors import ConfigError
from thresher.reading.paths import Field, field
from thresher.reading.yamlfile import read_yaml

_KEYS = {"name", "urls", "reserved", "home", "marks", "list", "paging", "empty_is_proof", "answers", "cards"}
_ANSWER_KEYS = {
    "format",
    "root",
    "rows",
    "single",
    "row_has",
    "root_has",
    "total",
    "next",
    "hidden",
    "escaped",
    "token_from",
    "day_first",
    "fields",
}
_LIST_KEYS = {"method", "url", "headers", "body", "own"}
_PAGING_KEYS = {"kind", "parameter", "size", "cap", "first", "path"}
_PAGINGS = ("none", "offset", "page", "next")
_MARK_KEYS = {"has", "pattern"}
_CARD_KEYS = {"rows", "title", "url", "company", "location", "posted", "employment_type", "salary", "description"}
FIELDS = (
    "id", "title", "url", "path", "company", "location", "posted", "employment_type", "salary", "low", "high", "currency", "period",
    "description", "token",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Answer:
    """One shape in which a platform answers. `rows` leads to the postings; with `single`, to the only one."""

    xml: bool
    root: str | None
    rows: str
    single: bool
    row_has: tuple[str, ...]
    root_has: tuple[str, ...]
    total: str | None
    next: str | None
    hidden: tuple[str, Any] | None
    escaped: bool
    token_from: str | None
    day_first: bool | None
    fields: Mapping[str, Field]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """How to ask for the list. `own` is the path at which a company's own domain answers the same."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] | None = None
    body: str | None = None
    own: str | None = None


@dataclass(frozen=True, slots=True)
class Paging:
    """How a list goes on; `cap` is where a platform stops telling the truth."""

    kind: str = "none"
    parameter: str | None = None
    size: int | None = None
    cap: int | None = None
    first: int | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """What a board leaves behind in a page: `has` is looked for first, because finding words is far cheaper than a pattern."""

    has: str
    pattern: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Platform:
    """Everything one file says."""

    name: str
    urls: tuple[re.Pattern[str], ...] = ()
    reserved: frozenset[str] = frozenset()
    home: str | None = None
    marks: tuple[Mark, ...] = ()
    endpoint: Endpoint | None = None
    paging: Paging = Paging()
    empty_is_proof: bool = True
    answers: tuple[Answer, ...] = ()
    cards: tuple[Mapping[str, tuple[str, ...]], ...] = ()


@cache
def platforms() -> tuple[Platform, ...]:
    """Every platform we know, by name."""
    folder = files("thresher.reading") / "platforms"
    found = sorted((each for each in folder.iterdir() if each.name.endswith(".yaml")), key=lambda each: each.name)
    return tuple(read_platform(each.read_text("utf-8"), each.name) for each in found)


def platform_named(name: str) -> Platform | None:
    return next((each for each in platforms() if each.name == name), None)


def read_platform(text: str, file: str) -> Platform:
    """One platform from the text of its file. Raises ConfigError that names file, key and what is wanted."""
    try:
        data = read_yaml(text)
    except yaml.YAMLError as problem:
        raise ConfigError(f"{file}: not YAML: {problem}") from None
    data = _mapping(data, _KEYS, file)
    if not isinstance(data.get("name"), str):
        raise ConfigError(f"{file}: name is missing; write the platform's name in lower case")
    return Platform(
        name=data["name"],
        urls=tuple(_pattern(each, f"{file}: urls") for each in _list(data, "urls", file)),
        reserved=frozenset(map(str, _list(data, "reserved", file))),
        home=data.get("home"),
        marks=tuple(_mark(each, f"{file}: marks") for each in _list(data, "marks", file)),
        endpoint=Endpoint(**_mapping(data["list"], _LIST_KEYS, f"{file}: list")) if "list" in data else None,
        paging=_paging(data.get("paging", {}), file),
        empty_is_proof=bool(data.get("empty_is_proof", True)),
        answers=tuple(_answer(each, f"{file}: answers") for each in _list(data, "answers", file)),
        cards=tuple(_card(each, f"{file}: cards") for each in _list(data, "cards", file)),
    )


def _answer(data: Any, where: str) -> Answer:
    data = _mapping(data, _ANSWER_KEYS, where)
    fields = _mapping(data.get("fields"), set(FIELDS), f"{where}: fields")
    if "title" not in fields or not data.get("row_has"):
        raise ConfigError(f"{where}: every answer needs row_has and the field title; without them any list would look like postings")
    hidden = data.get("hidden")
    return Answer(
        xml=data.get("format", "json") == "xml",
        root=data.get("root"),
        rows=str(data.get("rows", "")),
        single=bool(data.get("single", False)),
        row_has=tuple(data["row_has"]),
        root_has=tuple(data.get("root_has", ())),
        total=data.get("total"),
        next=data.get("next"),
        hidden=(str(hidden["path"]), hidden["is"]) if hidden else None,
        escaped=bool(data.get("escaped", False)),
        token_from=data.get("token_from"),
        day_first=data.get("day_first"),
        fields={name: field(spec, f"{where}: {name}") for name, spec in fields.items()},
    )


def _card(data: Any, where: str) -> Mapping[str, tuple[str, ...]]:
    """CSS selectors by field: one, or several of which the first that finds something counts."""
    data = _mapping(data, _CARD_KEYS, where)
    if "rows" not in data or "title" not in data:
        raise ConfigError(f"{where}: rows and title are needed; write CSS selectors, as in rows: li.opening, title: a")
    return {name: tuple(map(str, selector)) if isinstance(selector, list) else (str(selector),) for name, selector in data.items()}


def _paging(data: Any, file: str) -> Paging:
    paging = Paging(**_mapping(data, _PAGING_KEYS, f"{file}: paging"))
    if paging.kind not in _PAGINGS:
        raise ConfigError(f"{file}: paging: kind is {paging.kind!r}; write one of {', '.join(_PAGINGS)}")
    return paging


def _mark(data: Any, where: str) -> Mark:
    data = _mapping(data, _MARK_KEYS, where)
    if not isinstance(data.get("has"), str):
        raise ConfigError(f"{where}: a mark needs has, the words to look for; pattern then finds the token beside them")
    return Mark(data["has"], _pattern(data["pattern"], where) if "pattern" in data else None)


def _pattern(text: Any, where: str) -> re.Pattern[str]:
    try:
        pattern = re.compile(str(text))
    except re.error as problem:
        raise ConfigError(f"{where}: {text!r} is not a regular expression: {problem}") from None
    if "token" not in pattern.groupindex:
        raise ConfigError(f"{where}: {text!r} has no group (?P<token>...)")
    return pattern


def _list(data: Mapping[str, Any], key: str, file: str) -> list[Any]:
    found = data.get(key, [])
    if not isinstance(found, list):
        raise ConfigError(f"{file}: {key} is {found!r}; write a list")
    return found


def _mapping(data: Any, keys: set[str], where: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise ConfigError(f"{where}: {data!r} is not a mapping; the keys are {', '.join(sorted(keys))}")
    for key in data:
        if key not in keys:
            raise ConfigError(f"{where}: {key} is not known here; the keys are {', '.join(sorted(keys))}")
    return data

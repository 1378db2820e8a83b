"""The file of a platform, read and checked whole: a mistake is named with its file, its line, its key and
what is wanted.
"""

import re
import reprlib
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import yaml

from thresher.core.errors import ConfigError
from thresher.reading.html.parser import is_selector
from thresher.reading.platforms.definition import (
    AnswerShape,
    Auth,
    Confidence,
    Facet,
    Mark,
    Owner,
    Paging,
    Platform,
    PlatformEndpoint,
    named_origins,
)
from thresher.reading.platforms.paths import BadField, field
from thresher.reading.platforms.template import holes
from thresher.reading.structured.yaml_file import line_of, read_foreign_yaml

MAX_TEXT = 200_000  # characters of one file
FIELDS = (
    "id",
    "title",
    "url",
    "company",
    "location",
    "posted",
    "employment_type",
    "remote",
    "salary",
    "low",
    "high",
    "currency",
    "period",
    "description",
    "token",
)
CARD_FIELDS = (
    "rows",
    "id",
    "title",
    "url",
    "company",
    "location",
    "posted",
    "employment_type",
    "salary",
    "description",
)
PAGINGS = ("none", "offset", "page", "next")
PLACES = ("query", "body")
METHODS = ("GET", "POST")
AUTHS = ("bearer", "header", "query")
WORKPLACES = ("remote", "hybrid", "onsite")
_KEYS = (
    "name",
    "urls",
    "reserved",
    "home",
    "marks",
    "list",
    "detail",
    "posting",
    "owner",
    "paging",
    "guess",
    "confidence",
    "auth",
    "empty_is_proof",
    "answers",
    "cards",
    "day_first",
)
_ANSWER = (
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
)
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_ENV = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Path = tuple[str | int, ...]


class _Mistake(Exception):
    """Something is wrong at a place of the file."""

    def __init__(self, path: Path, advice: str) -> None:
        self.path, self.advice = path, advice


def read_platform(text: str, file: str) -> Platform:
    """One platform from the text of its file. Raises ConfigError."""
    if len(text) > MAX_TEXT:
        raise ConfigError(f"{file} is longer than {MAX_TEXT:,} characters; a platform file is a page or two")
    try:
        data = read_foreign_yaml(text)
    except yaml.YAMLError as problem:
        raise ConfigError(f"{file}: not YAML: {problem}") from None
    try:
        return _platform(data)
    except _Mistake as mistake:
        line = line_of(text, mistake.path)
        place = f"{file}, line {line}" if line else file
        raise ConfigError(": ".join(filter(None, (place, _written(mistake.path), mistake.advice)))) from None


def _platform(data: Any) -> Platform:
    data = _mapping(data, _KEYS, ())
    name = data.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        _wrong(
            ("name",),
            f"{name!r} is not a valid name; use a-z, 0-9 and -"
            if name
            else "name is missing; write the platform's name in lower case",
        )
    platform = Platform(
        name=name,
        urls=tuple(_each(data, "urls", _token_pattern)),
        reserved=frozenset(map(str, _list(data, "reserved"))),
        home=_text(data, "home"),
        marks=tuple(_each(data, "marks", _mark)),
        endpoint=_endpoint(data["list"], ("list",)) if "list" in data else None,
        detail=_endpoint(data["detail"], ("detail",)) if "detail" in data else None,
        posting=_pattern(data["posting"], ("posting",)) if "posting" in data else None,
        owner=_owner(data["owner"], ("owner",)) if "owner" in data else None,
        paging=_paging(data.get("paging", {}), ("paging",)),
        guess=_number(data, "guess", ()),
        confidence=Confidence(
            _choice(data, "confidence", tuple(Confidence), "medium" if "list" in data else "low", ())
        ),
        auth=_auth(data["auth"], ("auth",)) if "auth" in data else None,
        empty_is_proof=_flag(data, "empty_is_proof", True, ()),
        answers=tuple(_each(data, "answers", _answer)),
        cards=tuple(_each(data, "cards", _card)),
        day_first=_flag(data, "day_first", False, ()) if "day_first" in data else None,
    )
    _check_whole(platform)
    return platform


def _check_whole(platform: Platform) -> None:
    """What no single key shows: an address can only be filled with what the patterns find, and checked
    against them.
    """
    found = {"token"} | {name for pattern in platform.urls for name in pattern.groupindex}
    for name, template in (("list", platform.endpoint and platform.endpoint.url), ("home", platform.home)):
        if template and (missing := holes(template) - (found if platform.urls else set())):
            _wrong(
                (name,),
                f"{{{min(missing)}}} is not found by any of the urls; write (?P<{min(missing)}>...) "
                "in one of them",
            )
    if platform.endpoint and not platform.endpoint.is_fixed and not platform.home:
        _wrong(("list",), "home is missing: it is used to check a board's URL before anything is requested")
    if platform.auth and not named_origins(platform):
        _wrong(
            ("auth",),
            "no URL in the file says where the secret may be sent; write the domain out in list, "
            "detail, owner or home",
        )
    if platform.paging.kind in ("offset", "page") and not (
        platform.paging.parameter and platform.paging.size
    ):
        _wrong(
            ("paging",),
            f"{platform.paging.kind} needs parameter and size, as in {{kind: offset, parameter: skip, size: 100}}",
        )


def _endpoint(data: Any, path: Path) -> PlatformEndpoint:
    data = _mapping(data, ("method", "url", "headers", "body", "own"), path)
    url = _text(data, "url", path)
    if url is None or not url.startswith(("https://", "http://")):
        _wrong((*path, "url"), f"{url!r} is not a URL; write one that starts with https://")
    body = data.get("body")
    if body is not None and not isinstance(body, dict):
        _wrong(
            (*path, "body"),
            f"{_shown(body)} is not a mapping; it is sent as JSON, as in {{limit: 20, offset: 0}}",
        )
    method = _choice(data, "method", METHODS, "POST" if body is not None else "GET", path)
    return PlatformEndpoint(url, method, _texts(data, "headers", path), body, _text(data, "own", path))


def _owner(data: Any, path: Path) -> Owner:
    data = _mapping(data, ("url", "headers", "path", "select"), path)
    if ("path" in data) == ("select" in data):
        _wrong(path, "write where the board's own name is: path in data, or select in a page")
    return Owner(
        _text(data, "url", path),
        _text(data, "path", path),
        _selectors(data.get("select", []), (*path, "select")),
        _texts(data, "headers", path),
    )


def _paging(data: Any, path: Path) -> Paging:
    data = _mapping(
        data, ("kind", "parameter", "in", "size", "cap", "first", "total_once", "facets", "facet"), path
    )
    facets = tuple(map(str, _list(data, "facets", path)))
    facet = _facet(data["facet"], (*path, "facet")) if "facet" in data else None
    if facets and facet is None:
        _wrong(
            (*path, "facets"),
            "facet is missing: where the response counts its rows, as in {parameter: facets, path: "
            "facets, ...}",
        )
    return Paging(
        kind=_choice(data, "kind", PAGINGS, "none", path),
        parameter=_text(data, "parameter", path),
        place=_choice(data, "in", PLACES, "query", path),
        size=_number(data, "size", path),
        cap=_number(data, "cap", path),
        first=_number(data, "first", path, least=0) or 0,
        total_once=_flag(data, "total_once", False, path),
        facets=facets,
        facet=facet,
    )


def _facet(data: Any, path: Path) -> Facet:
    names = ("parameter", "path", "name", "values", "id", "count")
    data = _mapping(data, names, path)
    if missing := [name for name in names if not isinstance(data.get(name), str)]:
        _wrong(path, f"{missing[0]} is missing; a facet needs {', '.join(names)}")
    return Facet(**data)


def _auth(data: Any, path: Path) -> Auth:
    data = _mapping(data, ("env", "as", "name"), path)
    env, how = _text(data, "env", path), _choice(data, "as", AUTHS, "bearer", path)
    if env is None or not _ENV.fullmatch(env):
        _wrong(
            (*path, "env"),
            "write the name of the environment variable that holds the secret, never the secret itself",
        )
    name = _text(data, "name", path)
    if how != "bearer" and not name:
        _wrong(
            (*path, "name"),
            f"name is missing: the {'header' if how == 'header' else 'parameter'} that carries the secret",
        )
    return Auth(env, how, name or "authorization")


def _answer(data: Any, path: Path) -> AnswerShape:
    data = _mapping(data, _ANSWER, path)
    said = dict(_mapping(data.get("fields"), FIELDS, (*path, "fields")))
    row_has = tuple(map(str, _list(data, "row_has", path)))
    if "title" not in said or not row_has:
        _wrong(
            path,
            "every response needs row_has and the field title; without them any list would look "
            "like postings",
        )
    hidden, remote = data.get("hidden"), said.pop("remote", [])
    if hidden is not None and not (isinstance(hidden, dict) and set(hidden) == {"path", "is"}):
        _wrong((*path, "hidden"), f"{_shown(hidden)} is wrong; write {{path: listed, is: false}}")
    return AnswerShape(
        xml=_choice(data, "format", ("json", "xml"), "json", path) == "xml",
        root=_text(data, "root", path),
        rows=str(data.get("rows", "")),
        single=_flag(data, "single", False, path),
        row_has=row_has,
        root_has=tuple(map(str, _list(data, "root_has", path))),
        total=_text(data, "total", path),
        next=_text(data, "next", path),
        hidden=(str(hidden["path"]), hidden["is"]) if hidden else None,
        escaped=_flag(data, "escaped", False, path),
        token_from=_text(data, "token_from", path),
        day_first=data.get("day_first"),
        fields={name: _field(spec, (*path, "fields", name)) for name, spec in said.items()},
        remote=_remote(remote, (*path, "fields", "remote")),
    )


def _field(spec: Any, path: Path) -> Any:
    try:
        return field(spec)
    except BadField as problem:
        _wrong(path, str(problem))


def _remote(data: Any, path: Path) -> tuple[tuple[str, Mapping[str, str]], ...]:
    """Where the work is done, by what stands at a path: the first of them that says something known
    counts.
    """
    found = []
    for each in data if isinstance(data, list) else [data]:
        said = each.get("is") if isinstance(each, dict) and set(each) == {"path", "is"} else None
        if not isinstance(said, dict) or not set(said.values()) <= set(WORKPLACES):
            _wrong(
                path,
                f"{_shown(each)} is wrong; write {{path: place, is: {{anywhere: remote, office: onsite}}}} ({', '.join(WORKPLACES)})",
            )
        found.append((str(each["path"]), {str(value).lower(): str(place) for value, place in said.items()}))
    return tuple(found)


def _card(data: Any, path: Path) -> Mapping[str, tuple[str, ...]]:
    """CSS selectors by field: one, or several of which the first that finds something counts."""
    data = _mapping(data, CARD_FIELDS, path)
    if "rows" not in data or "title" not in data:
        _wrong(path, "rows and title are needed; write CSS selectors, as in rows: li.opening, title: a")
    return {name: _selectors(selector, (*path, name)) for name, selector in data.items()}


def _selectors(said: Any, path: Path) -> tuple[str, ...]:
    choices = tuple(map(str, said)) if isinstance(said, list) else (str(said),)
    for choice in choices:
        if not is_selector(choice):
            _wrong(
                path, f"{choice!r} is not a CSS selector; write one as in a.title, or a@href for an attribute"
            )
    return choices


def _mark(data: Any, path: Path) -> Mark:
    data = _mapping(data, ("has", "pattern"), path)
    if not isinstance(data.get("has"), str):
        _wrong(path, "a mark needs has, the words to look for; pattern then finds the token beside them")
    return Mark(data["has"], _token_pattern(data["pattern"], path) if "pattern" in data else None)


def _token_pattern(text: Any, path: Path) -> re.Pattern[str]:
    pattern = _pattern(text, path)
    if "token" not in pattern.groupindex:
        _wrong(path, f"{_shown(text)} has no group (?P<token>...)")
    return pattern


def _pattern(text: Any, path: Path) -> re.Pattern[str]:
    try:
        return re.compile(str(text))
    except re.error as problem:
        _wrong(path, f"{_shown(text)} is not a regular expression: {problem}")


def _each(data: Mapping[str, Any], key: str, read: Callable[[Any, Path], Any]) -> list[Any]:
    return [read(each, (key, at)) for at, each in enumerate(_list(data, key))]


def _list(data: Mapping[str, Any], key: str, path: Path = ()) -> list[Any]:
    found = data.get(key, [])
    if not isinstance(found, list):
        _wrong((*path, key), f"{_shown(found)} is not a list; write [one, another]")
    return found


def _text(data: Mapping[str, Any], key: str, path: Path = ()) -> str | None:
    found = data.get(key)
    if found is not None and not isinstance(found, str):
        _wrong((*path, key), f"{_shown(found)} is not text; write it in quotes")
    return found


def _texts(data: Mapping[str, Any], key: str, path: Path) -> dict[str, str]:
    found = data.get(key, {})
    if not isinstance(found, dict) or not all(
        isinstance(each, str) for pair in found.items() for each in pair
    ):
        _wrong((*path, key), f"{_shown(found)} is not a mapping of text; write {{accept: application/json}}")
    return found


def _number(data: Mapping[str, Any], key: str, path: Path, least: int = 1) -> int | None:
    found = data.get(key)
    if found is not None and (not isinstance(found, int) or isinstance(found, bool) or found < least):
        _wrong((*path, key), f"{_shown(found)} is wrong; write a whole number from {least} on")
    return found


def _flag(data: Mapping[str, Any], key: str, default: bool, path: Path) -> bool:
    found = data.get(key, default)
    if not isinstance(found, bool):
        _wrong((*path, key), f"{_shown(found)} is wrong; write true or false")
    return found


def _choice(data: Mapping[str, Any], key: str, choices: tuple[str, ...], default: str, path: Path) -> str:
    found = data.get(key, default)
    if found not in choices:
        _wrong((*path, key), f"{key} is {_shown(found)}; write one of {', '.join(choices)}")
    return str(found)


def _mapping(data: Any, keys: tuple[str, ...], path: Path) -> dict[str, Any]:
    if not isinstance(data, dict):
        _wrong(path, f"{_shown(data)} is not a mapping; the keys are {', '.join(sorted(keys))}")
    for key in data:
        if key not in keys:
            _wrong((*path, key), f"{key} is not a known key; the keys are {', '.join(sorted(keys))}")
    return data


def _shown(value: Any) -> str:
    """What is written, shortened."""
    return reprlib.repr(value)


def _wrong(path: Path, advice: str) -> NoReturn:
    raise _Mistake(path, advice)


def _written(path: Path) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")

"""The file of a platform, read and checked whole: a mistake is named with its file, its line, its key and
what is wanted.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

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
    Workplaces,
    named_origins,
)
from thresher.reading.platforms.paths import BadField, Field, field
from thresher.reading.platforms.template import holes
from thresher.reading.structured.checked_yaml import (
    Path,
    choice_at,
    flag_at,
    list_at,
    mapping_of,
    number_at,
    pattern_of,
    read_checked,
    shown,
    text_at,
    texts_at,
    wrong,
)

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


def read_platform(text: str, file: str) -> Platform:
    """One platform from the text of its file. Raises ConfigError."""
    return read_checked(text, file, _platform)


def _platform(data: Any) -> Platform:
    data = mapping_of(data, _KEYS, ())
    name = data.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        wrong(
            ("name",),
            f"{name!r} is not a valid name; use a-z, 0-9 and -"
            if name
            else "name is missing; write the platform's name in lower case",
        )
    platform = Platform(
        name=name,
        urls=tuple(_each(data, "urls", _token_pattern)),
        reserved=frozenset(map(str, list_at(data, "reserved"))),
        home=text_at(data, "home"),
        marks=tuple(_each(data, "marks", _mark)),
        endpoint=_endpoint(data["list"], ("list",)) if "list" in data else None,
        detail=_endpoint(data["detail"], ("detail",)) if "detail" in data else None,
        posting=pattern_of(data["posting"], ("posting",)) if "posting" in data else None,
        owner=_owner(data["owner"], ("owner",)) if "owner" in data else None,
        paging=_paging(data.get("paging", {}), ("paging",)),
        guess=number_at(data, "guess", ()),
        confidence=Confidence(
            choice_at(data, "confidence", tuple(Confidence), "medium" if "list" in data else "low", ())
        ),
        auth=_auth(data["auth"], ("auth",)) if "auth" in data else None,
        empty_is_proof=flag_at(data, "empty_is_proof", True, ()),
        answers=tuple(_each(data, "answers", _answer)),
        cards=tuple(_each(data, "cards", _card)),
        day_first=flag_at(data, "day_first", False, ()) if "day_first" in data else None,
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
            wrong(
                (name,),
                f"{{{min(missing)}}} is not found by any of the urls; write (?P<{min(missing)}>...) "
                "in one of them",
            )
    if platform.endpoint and not platform.endpoint.is_fixed and not platform.home:
        wrong(("list",), "home is missing: it is used to check a board's URL before anything is requested")
    if platform.auth and not named_origins(platform):
        wrong(
            ("auth",),
            "no URL in the file says where the secret may be sent; write the domain out in list, "
            "detail, owner or home",
        )
    if platform.paging.kind in ("offset", "page") and not (
        platform.paging.parameter and platform.paging.size
    ):
        wrong(
            ("paging",),
            f"{platform.paging.kind} needs parameter and size, as in {{kind: offset, parameter: skip, size: 100}}",
        )


def _endpoint(data: Any, path: Path) -> PlatformEndpoint:
    data = mapping_of(data, ("method", "url", "headers", "body", "own"), path)
    url = text_at(data, "url", path)
    if url is None or not url.startswith(("https://", "http://")):
        wrong((*path, "url"), f"{url!r} is not a URL; write one that starts with https://")
    body = data.get("body")
    if body is not None and not isinstance(body, dict):
        wrong(
            (*path, "body"),
            f"{shown(body)} is not a mapping; it is sent as JSON, as in {{limit: 20, offset: 0}}",
        )
    method = choice_at(data, "method", METHODS, "POST" if body is not None else "GET", path)
    return PlatformEndpoint(url, method, texts_at(data, "headers", path), body, text_at(data, "own", path))


def _owner(data: Any, path: Path) -> Owner:
    data = mapping_of(data, ("url", "headers", "path", "select"), path)
    if ("path" in data) == ("select" in data):
        wrong(path, "write where the board's own name is: path in data, or select in a page")
    return Owner(
        text_at(data, "url", path),
        text_at(data, "path", path),
        _selectors(data.get("select", []), (*path, "select")),
        texts_at(data, "headers", path),
    )


def _paging(data: Any, path: Path) -> Paging:
    data = mapping_of(
        data, ("kind", "parameter", "in", "size", "cap", "first", "total_once", "facets", "facet"), path
    )
    facets = tuple(map(str, list_at(data, "facets", path)))
    facet = _facet(data["facet"], (*path, "facet")) if "facet" in data else None
    if facets and facet is None:
        wrong(
            (*path, "facets"),
            "facet is missing: where the response counts its rows, as in {parameter: facets, path: "
            "facets, ...}",
        )
    return Paging(
        kind=choice_at(data, "kind", PAGINGS, "none", path),
        parameter=text_at(data, "parameter", path),
        place=choice_at(data, "in", PLACES, "query", path),
        size=number_at(data, "size", path),
        cap=number_at(data, "cap", path),
        first=number_at(data, "first", path, least=0) or 0,
        total_once=flag_at(data, "total_once", False, path),
        facets=facets,
        facet=facet,
    )


def _facet(data: Any, path: Path) -> Facet:
    names = ("parameter", "path", "name", "values", "id", "count")
    data = mapping_of(data, names, path)
    if missing := [name for name in names if not isinstance(data.get(name), str)]:
        wrong(path, f"{missing[0]} is missing; a facet needs {', '.join(names)}")
    return Facet(**data)


def _auth(data: Any, path: Path) -> Auth:
    data = mapping_of(data, ("env", "as", "name"), path)
    env, how = text_at(data, "env", path), choice_at(data, "as", AUTHS, "bearer", path)
    if env is None or not _ENV.fullmatch(env):
        wrong(
            (*path, "env"),
            "write the name of the environment variable that holds the secret, never the secret itself",
        )
    name = text_at(data, "name", path)
    if how != "bearer" and not name:
        wrong(
            (*path, "name"),
            f"name is missing: the {'header' if how == 'header' else 'parameter'} that carries the secret",
        )
    return Auth(env, how, name or "authorization")


def _answer(data: Any, path: Path) -> AnswerShape:
    data = mapping_of(data, _ANSWER, path)
    said = dict(mapping_of(data.get("fields"), FIELDS, (*path, "fields")))
    row_has = tuple(map(str, list_at(data, "row_has", path)))
    if "title" not in said or not row_has:
        wrong(
            path,
            "every response needs row_has and the field title; without them any list would look "
            "like postings",
        )
    hidden, remote = data.get("hidden"), said.pop("remote", [])
    if hidden is not None and not (isinstance(hidden, dict) and set(hidden) == {"path", "is"}):
        wrong((*path, "hidden"), f"{shown(hidden)} is wrong; write {{path: listed, is: false}}")
    return AnswerShape(
        xml=choice_at(data, "format", ("json", "xml"), "json", path) == "xml",
        root=text_at(data, "root", path),
        rows=str(data.get("rows", "")),
        single=flag_at(data, "single", False, path),
        row_has=row_has,
        root_has=tuple(map(str, list_at(data, "root_has", path))),
        total=text_at(data, "total", path),
        next=text_at(data, "next", path),
        hidden=(str(hidden["path"]), hidden["is"]) if hidden else None,
        escaped=flag_at(data, "escaped", False, path),
        token_from=text_at(data, "token_from", path),
        day_first=data.get("day_first"),
        fields={name: field_of(spec, (*path, "fields", name)) for name, spec in said.items()},
        remote=workplaces_of(remote, (*path, "fields", "remote")),
    )


def field_of(spec: Any, path: Path) -> Field:
    try:
        return field(spec)
    except BadField as problem:
        wrong(path, str(problem))


def workplaces_of(data: Any, path: Path) -> Workplaces:
    """Where the work is done, by what stands at a path: the first of them that says something known
    counts.
    """
    found = []
    for each in data if isinstance(data, list) else [data]:
        said = each.get("is") if isinstance(each, dict) and set(each) == {"path", "is"} else None
        if not isinstance(said, dict) or not set(said.values()) <= set(WORKPLACES):
            wrong(
                path,
                f"{shown(each)} is wrong; write {{path: place, is: {{anywhere: remote, office: onsite}}}} ({', '.join(WORKPLACES)})",
            )
        words = {word: str(place) for value, place in said.items() for word in _words_for(value)}
        found.append((str(each["path"]), words))
    return tuple(found)


def _words_for(value: Any) -> tuple[str, ...]:
    """How an answer may write a value: YAML reads a bare yes as true, and JSON has no other word for it."""
    if isinstance(value, bool):
        return ("true", "yes", "y", "on") if value else ("false", "no", "n", "off")
    return (str(value).lower(),)


def _card(data: Any, path: Path) -> Mapping[str, tuple[str, ...]]:
    """CSS selectors by field: one, or several of which the first that finds something counts."""
    data = mapping_of(data, CARD_FIELDS, path)
    if "rows" not in data or "title" not in data:
        wrong(path, "rows and title are needed; write CSS selectors, as in rows: li.opening, title: a")
    return {name: _selectors(selector, (*path, name)) for name, selector in data.items()}


def _selectors(said: Any, path: Path) -> tuple[str, ...]:
    choices = tuple(map(str, said)) if isinstance(said, list) else (str(said),)
    for choice in choices:
        if not is_selector(choice):
            wrong(
                path, f"{choice!r} is not a CSS selector; write one as in a.title, or a@href for an attribute"
            )
    return choices


def _mark(data: Any, path: Path) -> Mark:
    data = mapping_of(data, ("has", "pattern"), path)
    if not isinstance(data.get("has"), str):
        wrong(path, "a mark needs has, the words to look for; pattern then finds the token beside them")
    return Mark(data["has"], _token_pattern(data["pattern"], path) if "pattern" in data else None)


def _token_pattern(text: Any, path: Path) -> re.Pattern[str]:
    pattern = pattern_of(text, path)
    if "token" not in pattern.groupindex:
        wrong(path, f"{shown(text)} has no group (?P<token>...)")
    return pattern


def _each(data: Mapping[str, Any], key: str, read: Callable[[Any, Path], Any]) -> list[Any]:
    return [read(each, (key, at)) for at, each in enumerate(list_at(data, key))]

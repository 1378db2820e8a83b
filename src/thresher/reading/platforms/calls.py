"""The calls of a board, filled in from its platform's file: for its list, for one posting, for its owner's
name.

No call leaves the origins that the file names. A board whose parts do not fit the patterns of its platform (a
stored record may say anything) gives no call at all, nor does a next-page link to another host.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, urlsplit

import ada_url
import orjson

from thresher.core.credentials import Credentials, origin_of
from thresher.core.errors import ConfigError
from thresher.core.keys import MAX_URL
from thresher.reading.html.document import Document
from thresher.reading.html.parser import first_selected
from thresher.reading.platforms.boards import Board, known_from, parts_of
from thresher.reading.platforms.definition import (
    Facet,
    Owner,
    Paging,
    Platform,
    PlatformEndpoint,
    is_named_by,
)
from thresher.reading.platforms.paths import first, values
from thresher.reading.platforms.platform import platform_named
from thresher.reading.platforms.template import filled, filled_value
from thresher.reading.postings.posting import Posting

# A call: one request of a platform's file, filled in for one board, ready to be sent.


@dataclass(frozen=True, slots=True)
class Call:
    """What to send. Secrets stand in `credentials` and nowhere else, so that the URL and the headers may be
    kept and shown.
    """

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    credentials: Credentials | None = None


MAX_CURSOR = 2_000
MAX_NAME = 200
DEEPEST_FACET = 3


def list_call(
    board: Board,
    *,
    at: int = 0,
    cursor: str | None = None,
    facets: Mapping[str, Sequence[str]] = {},
    page: int | None = None,
) -> Call | None:
    """The call for the list, or for the part of it that comes after `at` rows.

    Platforms that count pages are asked for number `page` (0 is the first) where it is said: how many rows a
    page really has is known only to who has read it. None where the platform has no such list, or where it
    does not go on in this way.
    """
    platform = platform_named(board.platform)
    call = _call(platform.endpoint, board) if platform and platform.endpoint else None
    if platform is None or call is None:
        return None
    if facets:
        call = _with_facets(call, platform.paging, facets)
    if call is None or not (at or page or cursor):
        return call
    return _next(call, platform.paging, at, page, cursor)


def detail_call(board: Board, posting: Posting) -> Call | None:
    """The call for one posting, by its key or its address; None where the list already says everything, or
    too little is known.
    """
    platform = platform_named(board.platform)
    if platform is None or platform.detail is None:
        return None
    return _call(
        platform.detail,
        board,
        {**known_from(platform, posting.url), **({"id": posting.key} if posting.key else {})},
    )


def owner_call(board: Board) -> Call | None:
    """The call whose answer says whose board it is; the call for the list where that says it."""
    platform = platform_named(board.platform)
    if platform is None or platform.owner is None:
        return None
    if platform.owner.url is None:
        return list_call(board)
    return _call(PlatformEndpoint(platform.owner.url, headers=platform.owner.headers), board)


def owner_name(board: Board, data: Any) -> str | None:
    """The board's own name out of the answer: `data` is what JSON or XML holds, or the text of a page."""
    platform = platform_named(board.platform)
    if platform is None or platform.owner is None:
        return None
    said = _selected(data, platform.owner, board) if isinstance(data, str) else _said(data, platform.owner)
    return " ".join(said.split())[:MAX_NAME] or None if said else None


def facets_of(board: Board, data: Any) -> Mapping[str, Mapping[str, int]]:
    """How many rows an answer counts for each value of each facet, the platform's best facet first."""
    platform = platform_named(board.platform)
    if platform is None or platform.paging.facet is None:
        return {}
    counted = dict(_counted(values(platform.paging.facet.path, data), platform.paging.facet))
    return {name: counted[name] for name in platform.paging.facets if counted.get(name)}


def with_auth(call: Call, platform: Platform, env: Mapping[str, str]) -> Call:
    """The call with the secret that the platform wants, out of the environment. Raises ConfigError where it
    is not set.

    The secret goes only to the origins that the platform's file itself names. A company's own site may show
    the platform's mark and answer as it does; it is asked without the secret.
    """
    auth = platform.auth
    if auth is None or not is_named_by(platform, call.url):
        return call
    secret = env.get(auth.env, "").strip()
    if not secret:
        raise ConfigError(f"{platform.name} needs a key: set the environment variable {auth.env}")
    if not secret.isprintable() or not secret.isascii():
        raise ConfigError(
            f"the environment variable {auth.env} does not hold a valid key (a line break?); set it again"
        )
    origin = origin_of(call.url)
    if auth.how == "query":
        return replace(call, credentials=Credentials(origin, query={auth.name: secret}))
    sent = f"Bearer {secret}" if auth.how == "bearer" else secret
    return replace(call, credentials=Credentials(origin, headers={auth.name.lower(): sent}))


def _call(endpoint: PlatformEndpoint, board: Board, more: Mapping[str, str] = {}) -> Call | None:
    parts = parts_of(board)
    url = _address(endpoint, board, {**more, **parts}) if parts is not None else None
    if url is None:
        return None
    body = (
        orjson.dumps(filled_value(endpoint.body, {**more, **(parts or {})}))
        if endpoint.body is not None
        else b""
    )
    headers = {name.lower(): value for name, value in endpoint.headers.items()}
    return Call(
        url, endpoint.method, {**({"content-type": "application/json"} if body else {}), **headers}, body
    )


def _address(endpoint: PlatformEndpoint, board: Board, parts: Mapping[str, str]) -> str | None:
    if endpoint.is_fixed:
        return endpoint.url
    if board.token is None:  # on a company's own domain
        return filled("://".join(_origin(board.url)) + endpoint.own, parts) if endpoint.own else None
    return filled(endpoint.url, parts)


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme if parts.scheme in ("http", "https") else "", parts.netloc.lower()


def _next(call: Call, paging: Paging, at: int, page: int | None, cursor: str | None) -> Call | None:
    match paging.kind:
        case "offset" if at > 0:
            return _with_value(call, paging, paging.first + at)
        case "page" if at > 0 or page:
            return _with_value(
                call, paging, paging.first + (at // (paging.size or 1) if page is None else page)
            )
        case "next" if cursor and len(cursor) <= MAX_CURSOR:
            return _with_value(call, paging, cursor) if paging.parameter else _at_link(call, cursor)
        case _:
            return None


def _at_link(call: Call, link: str) -> Call | None:
    try:
        url = ada_url.join_url(call.url, link)
    except ValueError:
        return None
    return replace(call, url=url) if len(url) <= MAX_URL and _origin(url) == _origin(call.url) else None


def _with_value(call: Call, paging: Paging, value: int | str) -> Call | None:
    name = paging.parameter or ""
    if paging.place == "query":
        return replace(call, url=_with_parameter(call.url, name, str(value)))
    return replace(call, body=orjson.dumps(_placed(orjson.loads(call.body or b"{}"), name.split("."), value)))


def _with_facets(call: Call, paging: Paging, facets: Mapping[str, Sequence[str]]) -> Call | None:
    if paging.facet is None:
        return None
    chosen = {name: list(ids) for name, ids in facets.items() if ids}
    return replace(
        call,
        body=orjson.dumps(
            _placed(orjson.loads(call.body or b"{}"), paging.facet.parameter.split("."), chosen)
        ),
    )


def _placed(data: Any, path: Sequence[str], value: Any) -> Any:
    """The data with a value at a path, made where it does not lead anywhere yet."""
    inner = data if isinstance(data, dict) else {}
    return {**inner, path[0]: _placed(inner.get(path[0]), path[1:], value) if len(path) > 1 else value}


def _with_parameter(url: str, name: str, value: str) -> str:
    """The address with a parameter set, wherever in the query it stands: some keep theirs inside another one
    (`;offset=0`).
    """
    bare, hash_sign, fragment = url.partition("#")
    path, _, query = bare.partition("?")
    written = f"{name}={quote(value, safe='-._~')}"
    query, found = re.subn(
        rf"(?:(?<=^)|(?<=[&;,])){re.escape(name)}=[^&;,]*", lambda _: written, query, count=1
    )
    asked = query if found else "&".join(filter(None, (query, written)))
    return f"{path}?{asked}{hash_sign}{fragment}"


def _said(data: Any, owner: Owner) -> str | None:
    found = first(owner.path, data) if owner.path else None
    return str(found) if isinstance(found, str | int) and not isinstance(found, bool) else None


def _selected(html: str, owner: Owner, board: Board) -> str | None:
    return first_selected(Document.from_html(html, board.url).root, owner.select)


def _counted(found: list[Any], facet: Facet, depth: int = 0) -> Iterator[tuple[str, dict[str, int]]]:
    """Every facet with its counts. Some stand inside others, as the towns inside the places."""
    for each in found:
        for entry in each if isinstance(each, list) else [each]:
            inside = values(facet.values, entry) if isinstance(entry, Mapping) else []
            inside = inside[0] if len(inside) == 1 and isinstance(inside[0], list) else inside
            name = first(facet.name, entry)
            counts = {
                str(first(facet.id, value)): _count(first(facet.count, value))
                for value in inside
                if first(facet.id, value) is not None
            }
            if isinstance(name, str) and any(counts.values()):
                yield name, {value: count for value, count in counts.items() if count > 0}
            if depth < DEEPEST_FACET:
                yield from _counted(
                    [value for value in inside if first(facet.values, value) is not None], facet, depth + 1
                )


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0

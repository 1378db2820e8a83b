"""APIs behind a page: addresses of JSON that stand in its markup or in its scripts, and what an answer holds.

An address is only ever a candidate. It counts once it was fetched, and once its rows tell the wanted fields.
Only addresses of the page's own site are tried: a script names many others that are nobody's business.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

import orjson

from thresher.apps.extractions.model import ApiSource
from thresher.core.errors import InvalidUrl
from thresher.core.keys import canonical_url
from thresher.core.schema import Field, Kind, Schema
from thresher.learning.meaning import SYNONYMS, meaning, properties
from thresher.reading.html.document import Document
from thresher.reading.platforms.paths import first
from thresher.reading.structured.embedded import walk
from thresher.reading.values.addresses import registered_domain

MAX_SCRIPT = 2_000_000  # characters of scripts that are read
MAX_ENDPOINTS = 6
MAX_SCRIPTS = 4
MAX_LISTS = 400  # places of an answer that are looked at
MIN_ROWS = 2
SAMPLE = 20  # rows
MAX_COMPARED = 100  # rows
MIN_SHARE = 0.5  # of the rows that must tell a field
_QUOTED = re.compile(r"""["'`]((?:https?://|/)[^"'`\s<>\\]{1,300})["'`]""")
_LIKELY = re.compile(
    r"/api/|/api$|/v\d{1,2}/|\.json(?:$|\?)|/graphql|/rest/|/ajax/|/search(?:$|\?)|/wp-json/", re.IGNORECASE
)
_CALLED = re.compile(r"(?:fetch|axios(?:\.get)?|getJSON|\.get|open|ajax|url\s{0,3}:)\s{0,3}\(?[^\n;]{0,40}$")
_HOLE = re.compile(r"\$\{[^{}]{0,100}\}")
# `"/api/items?page=" + page`: the script adds the number.
_LEFT_OPEN = re.compile(r"[?&](?:page|p|pageNumber|page_number)=$", re.IGNORECASE)
_PAGE_WORD = re.compile(r"page|seite|pag", re.IGNORECASE)
_NOT_DATA = re.compile(
    r"\.(?:js|css|png|jpe?g|gif|svg|ico|woff2?|map|webp|mp4|pdf|html?)(?:$|\?)", re.IGNORECASE
)
_ATTRIBUTES = (
    "data-url",
    "data-api",
    "data-api-url",
    "data-endpoint",
    "data-src",
    "data-source",
    "data-feed",
)
_WITH_ADDRESS = ", ".join(f"[{name}]" for name in _ATTRIBUTES)
_TOTALS = (
    "total",
    "count",
    "total_count",
    "totalcount",
    "totalresults",
    "total_results",
    "numfound",
    "totalitems",
)
_NEXT = ("next", "next_url", "nextlink", "next_page_url", "next_page")
_CURSORS = ("next_cursor", "nextcursor", "cursor", "next_token", "nextpagetoken", "next_page_token")
_PAGES = ("page", "p", "pagenumber", "page_number", "pageindex", "currentpage")
_OFFSETS = ("offset", "skip", "start", "from")
_NEXT_OF = re.compile(r"^next[_-]?", re.IGNORECASE)
_IDS = ("id", "_id", "uuid", "guid", "key", "code", "slug")
_ADDRESSES = ("url", "link", "href", "permalink", "uri", "path", "detail_url")
_STEPS = frozenset(".[]^")  # what paths are written with
_SIZES = ("limit", "size", "per_page", "perpage", "pagesize", "page_size", "rows", "count", "take")


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of an answer: where they stand, how many, and which path of a row tells which field. `total`,
    `next` and `cursor` are paths in the whole answer; `position` is the member that says which page this is,
    if there are more. `id` and `url` are members of a row that tell it from the others. `keys` are digests of
    the rows, to compare two answers.
    """

    NOT_STORED: ClassVar = (None,)

    path: str = ""
    number: int = 0
    fields: Mapping[str, str] = field(default_factory=dict)
    total: str | None = None
    claimed: int | None = None
    next: str | None = None
    cursor: str | None = None
    position: str | None = None
    id: str | None = None
    url: str | None = None
    keys: tuple[str, ...] = ()
    sample: tuple[Mapping[str, str], ...] = ()


def endpoints(document: Document) -> tuple[str, ...]:
    """Addresses of the page's own site that may answer with data, the likeliest first."""
    return tuple(dict.fromkeys(_ranked(document, _candidates(document))))[:MAX_ENDPOINTS]


def endpoints_of_script(text: str, document_url: str) -> tuple[str, ...]:
    """The same of a script that the page loads."""
    document = Document.from_html("", document_url)
    return tuple(dict.fromkeys(_ranked(document, _in_script(text[:MAX_SCRIPT]))))[:MAX_ENDPOINTS]


def scripts(document: Document) -> tuple[str, ...]:
    """The scripts of the page's own origin, the last first: libraries come before what uses them."""
    found = (document.absolute(node.attribute("src") or "") for node in document.root.css("script[src]")[:50])
    own = [url for url in found if url is not None and _is_own(url, document.url)]
    return tuple(dict.fromkeys(reversed(own)))[:MAX_SCRIPTS]


def _candidates(document: Document) -> Iterator[tuple[str, bool]]:
    left = MAX_SCRIPT
    for node in document.root.css("script:not([src])")[:200]:
        text = node.text[:left]
        left -= len(text)
        yield from _in_script(text)
    for node in document.root.css(_WITH_ADDRESS)[:50]:
        yield from ((node.attribute(name) or "", False) for name in _ATTRIBUTES)
    for node in document.root.css("link[href][type*=json], link[rel=preload][as=fetch]")[:20]:
        yield node.attribute("href") or "", True


def _in_script(text: str) -> Iterator[tuple[str, bool]]:
    """Quoted addresses, and whether something is called with them."""
    for match in _QUOTED.finditer(text):
        before = text[max(0, match.start() - 60) : match.start()]
        yield match[1], _CALLED.search(before) is not None


def _ranked(document: Document, candidates: Iterable[tuple[str, bool]]) -> list[str]:
    found: dict[str, int] = {}
    for written, called in candidates:
        url = document.absolute(_LEFT_OPEN.sub(r"\g<0>1", _HOLE.sub(_filled, written)))
        if url is None or _NOT_DATA.search(url) or not _is_own(url, document.url):
            continue
        rank = 2 * (_LIKELY.search(url) is not None) + called
        if rank:
            found[_spelled(url)] = max(rank, found.get(_spelled(url), 0))
    return sorted(found, key=lambda url: -found[url])


def _filled(hole: re.Match[str]) -> str:
    """What a script puts in at run time: the first page where it says so, else nothing."""
    return "1" if _PAGE_WORD.search(hole[0]) else ""


def _is_own(url: str, page_url: str) -> bool:
    one, other = (urlsplit(each).hostname or "" for each in (url, page_url))
    return one == other or (registered_domain(one) or one) == (registered_domain(other) or other)


def _spelled(url: str) -> str:
    try:
        return canonical_url(url)
    except InvalidUrl:
        return url


# --- answers


def read_rows(data: Any, schema: Schema) -> Rows | None:
    """The rows of an answer that tell most of the wanted fields; None where it has no rows."""
    found = [rows for path, value in _lists(data) if (rows := _rows_at(path, value, schema)) is not None]
    best = max(found, key=lambda rows: (len(rows.fields), rows.number), default=None)
    return None if best is None else _with_paging(best, data)


def _lists(data: Any) -> Iterator[tuple[str, list[Any]]]:
    for seen, (path, value) in enumerate(walk(data)):
        if seen > MAX_LISTS:
            return
        # A list within a row belongs to that row.
        if isinstance(value, list) and "[" not in path:
            yield path.removeprefix("$").removeprefix("."), value


def _rows_at(path: str, listed: list[Any], schema: Schema) -> Rows | None:
    rows = [row for row in listed if isinstance(row, Mapping)]
    if len(rows) < MIN_ROWS or len(rows) < len(listed):
        return None
    sample = rows[:SAMPLE]
    fields = {each.name: where for each in schema.fields if (where := _where(each, sample)) is not None}
    shown = tuple({name: _text(where, row) for name, where in fields.items()} for row in sample[:3])
    keys = tuple(_digest(row) for row in rows[:MAX_COMPARED])
    id_, url = _telling(rows, _IDS, _is_id), _telling(rows, _ADDRESSES, _is_address)
    return Rows(path, len(rows), fields, keys=keys, sample=shown, id=id_, url=url)


def _telling(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str], fits: Callable[[Any], bool]
) -> str | None:
    """The first of these members that every row has, each with another value."""
    known = {name.casefold(): name for name in rows[0] if isinstance(name, str) and not set(name) & _STEPS}
    found = (known[name] for name in names if name in known)
    return next((name for name in found if _is_distinct([row.get(name) for row in rows], fits)), None)


def _is_distinct(values: Sequence[Any], fits: Callable[[Any], bool]) -> bool:
    return all(map(fits, values)) and len(set(map(str, values))) == len(values)


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def _digest(row: Mapping[str, Any]) -> str:
    """A short name of a row, to compare those of two answers."""
    said = orjson.dumps(row, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    return sha256(said).hexdigest()[:12]


def _text(path: str, row: Any) -> str:
    value = first(path, row)
    return "" if value is None else str(value)[:300]


def _where(wanted: Field, rows: Sequence[Mapping[str, Any]]) -> str | None:
    """The path of a row that tells a field: by its name, a synonym, or the name schema.org has for it."""
    if wanted.judged:
        return None
    for path in _paths(wanted, rows):
        told = [value for row in rows if _fits(value := first(path, row), wanted)]
        if len(told) >= MIN_SHARE * len(rows):
            return path
    return None


def _paths(wanted: Field, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    names = [
        wanted.name,
        meaning(wanted),
        *(name for name, same in SYNONYMS.items() if same == meaning(wanted)),
    ]
    keys = dict.fromkeys(key for row in rows[:3] for key in _keys(row))
    for name in dict.fromkeys(map(_plain, names)):
        yield from (key for key in keys if _plain(key.rpartition(".")[2]) == name)
    yield from properties(wanted)


def _keys(row: Mapping[str, Any]) -> Iterator[str]:
    """The names of a row, and those one level below: `attributes.name`."""
    for name, value in row.items():
        if isinstance(name, str) and name and not set(name) & set(".[]^"):
            yield name
            if isinstance(value, Mapping):
                yield from (
                    f"{name}.{each}"
                    for each in value
                    if isinstance(each, str) and not set(each) & set(".[]^")
                )


def _plain(name: str) -> str:
    """`courseCode`, `course_code` and `Course-Code` are one name."""
    return re.sub(r"[\W_]", "", name).casefold()


def _fits(value: Any, wanted: Field) -> bool:
    if value is None or value == "" or isinstance(value, Mapping):
        return False
    return not isinstance(value, list) or wanted.many or wanted.kind is Kind.TEXT


def _with_paging(rows: Rows, data: Any) -> Rows:
    total = _member(data, _TOTALS, lambda value: _count(value) is not None)
    following = _member(data, _NEXT, _is_address)
    cursor = _member(data, _CURSORS, lambda value: isinstance(value, str) and bool(value))
    claimed = _count(first(total, data)) if total else None
    more = claimed is not None and claimed > rows.number
    position = _member(data, (*_PAGES, *_OFFSETS), lambda value: _count(value) is not None) if more else None
    return replace(rows, total=total, claimed=claimed, next=following, cursor=cursor, position=position)


def _member(data: Any, names: Sequence[str], fits: Callable[[Any], bool]) -> str | None:
    """The path of the first member of an answer with one of these names whose value fits."""
    around = list(_keys(data)) if isinstance(data, Mapping) else []
    wanted = [_plain(name) for name in names]
    named = (path for name in wanted for path in around if _plain(path.rpartition(".")[2]) == name)
    return next((path for path in named if fits(first(path, data))), None)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _is_address(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(("http://", "https://", "/", "?"))


def source_of(url: str, rows: Rows, *, paged: bool = True) -> ApiSource:
    """The declarative source of an answer: what is sent, how it goes on, and where the fields stand. What is
    not `paged` is asked for once, as it was asked for here.
    """
    base, _, query = url.partition("?")
    asked = dict(parse_qsl(query, keep_blank_values=True))
    paging, asked = _paging(asked, rows) if paged else ({"kind": "none"}, asked)
    answer: dict[str, Any] = {"rows": rows.path, "fields": dict(rows.fields)}
    others = {"total": rows.total, "next": rows.next or rows.cursor, "id": rows.id, "url": rows.url}
    answer |= {name: path for name, path in others.items() if path}
    request = {"url": base, "headers": {"accept": "application/json"}} | ({"query": asked} if asked else {})
    return ApiSource(definition={"request": request, "paging": paging, "answer": answer})


def _paging(asked: dict[str, str], rows: Rows) -> tuple[dict[str, Any], dict[str, str]]:
    """How the list goes on, and the parameters with the place of what changes."""
    size = _parameter(asked, _SIZES)
    # A server may show fewer rows than it is asked for, and a short page is taken for the last.
    number = (
        min(int(asked[size]) or rows.number, rows.number) if size and asked[size].isdecimal() else rows.number
    )
    sized = asked | ({size: "{size}"} if size else {})
    if rows.next is not None:
        return {"kind": "link"}, asked
    if rows.cursor is not None:
        named = _parameter(asked, _CURSORS) or _NEXT_OF.sub("", rows.cursor.rpartition(".")[2]) or "cursor"
        return {"kind": "cursor", "size": number}, sized | {named: "{cursor}"}
    for names, kind, start in ((_OFFSETS, "offset", 0), (_PAGES, "page", 1)):
        told = rows.position if rows.position and _plain(rows.position) in map(_plain, names) else None
        if (name := _parameter(asked, names) or told) is not None:
            value = asked.get(name, "")
            begins = int(value) if value.isdecimal() and int(value) <= 1 else start
            return {"kind": kind, "first": begins, "size": number}, sized | {name: f"{{{kind}}}"}
    return {"kind": "none"}, asked


def _parameter(asked: Mapping[str, str], names: Sequence[str]) -> str | None:
    wanted = set(map(_plain, names))
    return next((name for name in asked if _plain(name) in wanted), None)


def second_page(source: ApiSource) -> str | None:
    """The address of the second page of an API that counts; None where it does not."""
    definition = source.definition or {}
    paging, asked = definition["paging"], definition["request"].get("query", {})
    if paging["kind"] not in ("page", "offset"):
        return None
    step = paging["size"] if paging["kind"] == "offset" else 1
    filled = {"page": paging["first"] + step, "offset": paging["first"] + step, "size": paging["size"]}
    pairs = "&".join(f"{name}={_fill(value, filled)}" for name, value in asked.items())
    return f"{definition['request']['url']}?{pairs}"


def _fill(value: str, filled: Mapping[str, int]) -> str:
    return str(filled[value[1:-1]]) if value in ("{page}", "{offset}", "{size}") else value

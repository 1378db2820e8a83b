"""A search API by its definition: build the request for a page, and read the page that came back.

What a query says is somebody's input: it is put into parameters and bodies, escaped, and into a path only
where the definition has a pattern for it. No request leaves the definition's origin.

What a provider answers is a stranger's: an answer that is not as described is trouble, never an empty list;
a row that is no offer is named and left out; and the end of a list is believed only as far as its own figures
agree.
"""

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import quote, unquote_plus, urlsplit

import ada_url
import orjson

from thresher.apps.queries.clients.client import Client, Place, bounded, day_of, key_of, place_of
from thresher.apps.queries.clients.definition import (
    NUMBERS,
    Answer,
    Definition,
    Parameter,
    Request,
    Secret,
    Window,
    read_definition,
    written_day,
)
from thresher.apps.queries.clients.search import Offer, Search, SearchPage, WindowKind
from thresher.core.credentials import Credentials, origin_of
from thresher.core.errors import ConfigError, InvalidPayload, Malformed
from thresher.core.keys import MAX_URL
from thresher.core.page import Page
from thresher.reading.inspect.body import Body, Format, read_body
from thresher.reading.platforms.answers import count_at, workplace_at
from thresher.reading.platforms.calls import Call
from thresher.reading.platforms.paths import Field, field, first, values
from thresher.reading.postings.posting import Posting
from thresher.reading.structured.xml import XmlData
from thresher.reading.text.plain import described
from thresher.reading.values.addresses import registered_domain
from thresher.reading.values.salaries import salary_of
from thresher.reading.verdict.wall import wall

MAX_ROWS = 5_000  # of one page
MAX_CURSOR = 2_000
MAX_WHY = 160  # characters of a reason
REFUSED = 400  # statuses from here on
LATEST = date(2100, 1, 1)  # where nobody knows which day it is, no day is too late
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HOLE = re.compile(r"\{(\w+)\}")
_NO = ("false", "0", "none", "", "no")
_SPREAD = re.compile(r"\[\]")
_LISTED = re.compile(r"[,;]")
# Words that may be a key. An answer repeats the request it refuses, secrets included.
_SECRET_LIKE = re.compile(r"[\w+/=.~-]{20,}|[\w+/=.~-]*\d[\w+/=.~-]*")
_ERRORS = ("error", "exception", "fault")
_SAYING = (
    "error.message",
    "error.description",
    "error",
    "errors[0].message",
    "errors[0]",
    "message",
    "detail",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiClient(Client):
    """A client by its definition."""

    api: Definition

    @property
    def definition(self) -> Any:
        return self.api.written

    def call(self, search: Search, cursor: str | None, env: Mapping[str, str]) -> Call:
        parts = _checked_parts(self.api, self.checked(search), search)
        place = _place(self.api, cursor)
        sent = _filled(self.api.request, {**parts, **_position(self.api, place)}, self.api.parameters)
        if self.api.paging.kind == "link" and place.at:
            sent = replace(sent, url=_checked_link(self.api, str(place.at)))
        return replace(sent, credentials=_credentials(self.api, env))

    def read_page(self, search: Search, cursor: str | None, page: Page) -> SearchPage:
        try:
            return _read_page(self.api, search, _place(self.api, cursor), page)
        except _NotAsDescribed as problem:
            return SearchPage(trouble=str(problem))

    def detail_call(self, offer: Offer, env: Mapping[str, str]) -> Call | None:
        detail = self.api.detail
        known = {"id": offer.posting.key or "", "company_id": offer.company_id or ""}
        if detail is None or not all(known[name] for name in detail.request.holes):
            return None
        if any(known[name] in (".", "..") for name in detail.request.path_holes):
            return None
        return replace(_filled(detail.request, known, {}), credentials=_credentials(self.api, env))

    def read_detail(self, offer: Offer, page: Page) -> Offer:
        detail = self.api.detail
        if detail is None:
            return offer
        try:
            body = _body(self.api, page)
            answer, rows = _shape((detail.answer,), body, single=True)
            today = _day_of(page) or offer.day or LATEST
            found = _offer(self.api, answer, rows[0], body.data, today, page.final_url)
        except _NotAsDescribed as problem:
            raise Malformed(f"{self.name}: the detail of an offer cannot be read: {problem}") from None
        if isinstance(found, str):
            raise Malformed(f"{self.name}: the detail of an offer cannot be read: {found}")
        key = offer.posting.key
        if key and found.posting.key and found.posting.key != key:
            raise Malformed(f"{self.name}: this is the detail of another offer")
        return _completed(offer, found)


def api_client(text: str, file: str) -> ApiClient:
    """The client that a file defines. Raises ConfigError."""
    api = read_definition(text, file)
    return ApiClient(
        name=api.name,
        title=api.title,
        reach=api.reach,
        parameters={name: each.help for name, each in api.parameters.items()},
        defaults={name: each.default for name, each in api.parameters.items() if each.default},
        env=api.env,
        has_details=api.detail is not None,
        takes_text="text" in api.request.holes,
        terms=api.terms,
        timezone=api.timezone,
        pause=api.pause,
        api=api,
    )


# Requests.


def _checked_parts(api: Definition, given: Mapping[str, str], search: Search) -> dict[str, str]:
    """What fills the holes of a request, without its place in the list. Raises ConfigError."""
    for name, parameter in api.parameters.items():
        value = given.get(name, "")
        if not value and (parameter.required or name in api.request.path_holes):
            raise ConfigError(f"{api.name} needs the parameter {name}: {parameter.help}")
        if value and parameter.choices and value not in parameter.choices:
            raise ConfigError(
                f"the parameter {name} of {api.name} is {value!r}; write one of {', '.join(parameter.choices)}"
            )
        if value and parameter.pattern and not re.fullmatch(parameter.pattern, value, re.ASCII):
            raise ConfigError(
                f"the parameter {name} of {api.name} is {value!r}, which does not fit {parameter.pattern}"
            )
        if name in api.request.path_holes and not set(value) - {"."}:
            raise ConfigError(f"the parameter {name} of {api.name} is {value!r}, which would change the path")
    return {**given, "text": search.text.strip(), **_window_parts(api.window, search)}


def _window_parts(window: Window, search: Search) -> dict[str, str]:
    since, until = search.updated_since, search.until
    if since is None and window.kind is not WindowKind.RANGE:
        return {"bucket": window.any or ""}
    # Both ends count: since yesterday are two days.
    days = max((search.today - since).days + 1, window.min_days) if since else 0
    if window.kind is WindowKind.BUCKETS:
        fits = next((window.buckets[each] for each in sorted(window.buckets) if each >= days), None)
        return {"bucket": fits or window.any or window.buckets[max(window.buckets)]}
    if window.kind is WindowKind.NONE:
        return {}
    if window.max_days is not None and since:
        since = max(since, search.today - timedelta(days=window.max_days - 1))
        days = min(days, window.max_days)
    last = until + timedelta(days=1) if until and window.exclusive else until
    return {
        "since": written_day(since, window.format) if since else "",
        "until": written_day(last, window.format) if last else "",
        "days": str(days) if days else "",
    }


def _place(api: Definition, cursor: str | None) -> Place:
    match api.paging.kind:
        case "page" | "offset":
            return place_of(cursor, api.paging.first)
        case _:
            return place_of(cursor, "")


def _position(api: Definition, place: Place) -> dict[str, str]:
    at, size = str(place.at), api.paging.size
    return {"page": at, "offset": at, "cursor": at, "size": str(size) if size else ""}


def _filled(request: Request, parts: Mapping[str, str], parameters: Mapping[str, Parameter]) -> Call:
    """The request with its holes filled, each value escaped for the place where it stands."""
    path = _HOLE.sub(lambda hole: quote(parts.get(hole[1], ""), safe=""), request.url)
    pairs = [
        f"{quote(name, safe='')}={quote(value, safe='')}"
        for name, template in request.query.items()
        for value in _values(template, parts, parameters)
    ]
    url = "?".join(filter(None, (path, "&".join(pairs))))
    if len(url) > MAX_URL:
        raise ConfigError(f"the query makes a URL of {len(url):,} characters; the limit is {MAX_URL:,}")
    body = b"" if request.body is None else orjson.dumps(_filled_body(request.body, parts, parameters))
    kind = {"content-type": "application/json"} if body else {}
    return Call(url, request.method, {**kind, **request.headers}, body)


def _values(template: str, parts: Mapping[str, str], parameters: Mapping[str, Parameter]) -> Iterable[str]:
    """What a parameter is sent with: nothing, a value, or several one after the other."""
    only = _HOLE.fullmatch(template)
    if only is None:
        return (_HOLE.sub(lambda hole: parts.get(hole[1], ""), template),)
    value = parts.get(only[1], "")
    if only[1] in parameters and parameters[only[1]].repeat:
        return tuple(each.strip() for each in _LISTED.split(value) if each.strip())
    return (value,) if value else ()


def _filled_body(value: Any, parts: Mapping[str, str], parameters: Mapping[str, Parameter]) -> Any:
    """The same in JSON, where nothing needs to be escaped. Counts are sent as numbers."""
    if isinstance(value, dict):
        made = {name: _filled_body(each, parts, parameters) for name, each in value.items()}
        return {name: each for name, each in made.items() if each is not None}
    if isinstance(value, list):
        return [_filled_body(each, parts, parameters) for each in value]
    if not isinstance(value, str):
        return value
    only = _HOLE.fullmatch(value)
    if only is None:
        return _HOLE.sub(lambda hole: parts.get(hole[1], ""), value)
    found = list(_values(value, parts, parameters))
    if only[1] in parameters and parameters[only[1]].repeat:
        return found or None
    return None if not found else int(found[0]) if only[1] in NUMBERS else found[0]


def _credentials(api: Definition, env: Mapping[str, str]) -> Credentials | None:
    """Everything secret that a request needs, for the definition's origin alone. Raises ConfigError."""
    headers: dict[str, str] = {}
    query: dict[str, str] = {}
    for secret in api.auth:
        target = query if secret.how == "query" else headers
        target[secret.name] = _secret(api, secret, env)
    origin = origin_of(_HOLE.sub("0", api.request.url))
    return Credentials(origin, headers, query) if api.auth else None


def _secret(api: Definition, secret: Secret, env: Mapping[str, str]) -> str:
    value = _from_env(api, secret.env, env)
    if secret.how == "basic":
        password = _from_env(api, secret.password_env, env)
        if ":" in value:
            raise ConfigError(f"the environment variable {secret.env} must not have a colon; set it again")
        return f"Basic {base64.b64encode(f'{value}:{password}'.encode()).decode()}"
    return f"Bearer {value}" if secret.how == "bearer" else value


def _from_env(api: Definition, name: str, env: Mapping[str, str]) -> str:
    value = env.get(name, "").strip()
    if not value:
        raise ConfigError(f"{api.name} needs a key: set the environment variable {name}")
    if not value.isprintable() or not value.isascii():
        raise ConfigError(
            f"the environment variable {name} does not hold a valid key (a line break?); set it again"
        )
    return value


def _checked_link(api: Definition, link: str) -> str:
    url = _same_origin(api, link, link)
    if url is None:
        raise InvalidPayload(f"the cursor of a list leads away from {api.name}; start the query again")
    return url


def _same_origin(api: Definition, link: str, base: str) -> str | None:
    """A link of the list's own origin, without the secrets that it may repeat; None where it leads
    elsewhere.
    """
    try:
        url = ada_url.join_url(base, link)
    except ValueError:
        return None
    if len(url) > MAX_URL or origin_of(url) != origin_of(_HOLE.sub("0", api.request.url)):
        return None
    secret = {each.name for each in api.auth if each.how == "query"}
    path, _, query = url.partition("#")[0].partition("?")
    kept = "&".join(each for each in query.split("&") if unquote_plus(each.partition("=")[0]) not in secret)
    return f"{path}?{kept}" if kept else path


# Answers.


class _NotAsDescribed(Exception):
    """The answer is not what the definition describes. Says what it is instead."""


def _read_page(api: Definition, search: Search, place: Place, page: Page) -> SearchPage:
    body = _body(api, page)
    answer, found = _shape(api.answers, body)
    rows = [row for row in found[:MAX_ROWS] if not _is_skipped(answer, row)]
    fields = {name: field(spec) for name, spec in answer.fields.items()}
    read = [_offer(api, answer, row, body.data, search.today, page.final_url, fields) for row in rows]
    offers = [each for each in read if isinstance(each, Offer)]
    bad = tuple(f"row {at + 1}: {each}" for at, each in enumerate(read) if isinstance(each, str))
    keys = [key_of(each) if isinstance(each, Offer) else each for each in read]
    made = SearchPage(_each_once(offers), len(rows), bad, count_at(answer.total, body.data))
    if len(found) > MAX_ROWS:
        return replace(made, trouble=f"the page has {len(found):,} rows; only {MAX_ROWS:,} were read")
    if rows and not offers:
        return replace(made, trouble=f"none of {len(rows):,} rows is an offer; {bad[0]}")
    if place.pages and place.repeats(keys):
        return replace(made, offers=(), trouble=f"page {place.pages + 1} repeats the rows of an earlier one")
    return _ListEnd(api, answer, body.data, made, place, keys, len(found), page).page()


def _body(api: Definition, page: Page) -> Body:
    """The body, if there is data in it. Raises _NotAsDescribed."""
    if page.status >= REFUSED:
        raise _NotAsDescribed(f"the answer has the status {page.status}")
    ours, theirs = origin_of(_HOLE.sub("0", api.request.url)), origin_of(page.final_url)
    if ours != theirs and not _is_related(ours, theirs):
        raise _NotAsDescribed(f"the request was redirected to {theirs or 'nowhere'}")
    body = read_body(page, replay=False)
    if body.error:
        raise _NotAsDescribed(_masked(body.error))
    if body.format is Format.HTML:
        stands = wall(page.status, page.headers, body.text)
        raise _NotAsDescribed(f"a page for people came instead of data{f': {stands}' if stands else ''}")
    return body


def _is_related(ours: str, theirs: str) -> bool:
    host, other = urlsplit(ours).hostname or "", urlsplit(theirs).hostname or ""
    return registered_domain(host) is not None and registered_domain(host) == registered_domain(other)


def _shape(answers: Iterable[Answer], body: Body, *, single: bool = False) -> tuple[Answer, list[Any]]:
    """The shape that the answer has, and its rows. With `single` it is about one offer, and has one row.
    Raises _NotAsDescribed.
    """
    of_format = [each for each in answers if each.xml == (body.format is Format.XML)]
    if not of_format:
        raise _NotAsDescribed(f"the answer is {body.format.upper()}, which the definition does not describe")
    for answer in of_format:
        if answer.root in (None, body.root) or not answer.xml:
            for path in answer.rows:
                rows = _rows(answer, path, body.data, single=single)
                if rows is not None and (len(rows) == 1 or not single):
                    return answer, rows
    names = " or ".join(path or "row" for path in of_format[0].rows)
    if body.format is Format.XML and body.root not in {each.root for each in of_format}:
        names = f"<{of_format[0].root}>"
    raise _NotAsDescribed(f"the answer has no {names}{_saying(body.data)}")


def _rows(answer: Answer, path: str, data: Any, *, single: bool) -> list[Any] | None:
    """The rows at a path; None where the answer does not have this shape. A single row counts as a list of
    one. No rows are an empty list only where the list itself is there, or the answer counts none.
    """
    found = values(path, data) if path else [data]
    if len(found) == 1 and isinstance(found[0], list):
        return list(found[0])
    if not path and not single:
        return None  # an object where a bare list should be
    rows = [each for each in found if each not in ("", None)]
    if rows:
        return rows if all(isinstance(each, Mapping) for each in rows) else None
    if single or _is_error(data):
        return None
    if _are_empty_lists(path, data) or count_at(answer.total, data) == 0:
        return []
    around = path.rpartition(".")[0]
    is_there = not around or bool(values(around, data))
    return [] if answer.xml and is_there and answer.total is None else None


def _are_empty_lists(path: str, data: Any) -> bool:
    """Whether a path of lists in lists leads to lists, and to nothing in them."""
    lists = (values(path[: at.start()], data) for at in _SPREAD.finditer(path))
    return any(found and all(each == [] for each in found) for found in lists)


def _is_error(data: Any) -> bool:
    """Whether an answer speaks of an error. One that does is not empty, whatever it counts."""
    return isinstance(data, Mapping) and any(
        str(name).lower().startswith(_ERRORS) and value not in (None, "", [], {}, False)
        for name, value in data.items()
    )


def _is_skipped(answer: Answer, row: Any) -> bool:
    return any(first(path, row) is not None for path in answer.skip)


def _saying(data: Any) -> str:
    """What an answer says of itself, without anything that might be a key."""
    if not isinstance(data, Mapping):
        return ""
    said = next((text for path in _SAYING if isinstance(text := _text_of(first(path, data)), str)), None)
    if said:
        return f"; it says: {_masked(said)}"
    names = ", ".join(_masked(str(name)) for name in list(data)[:6])
    return f"; it has {names}" if names else ""


def _text_of(value: Any) -> str | None:
    text = value.said if isinstance(value, XmlData) else value
    return text if isinstance(text, str) and text.strip() else None


def _masked(text: str) -> str:
    """A stranger's sentence, made fit to be stored and shown."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text[: MAX_WHY * 4]).split())
    return _SECRET_LIKE.sub(lambda word: "***" if len(word[0]) > 5 else word[0], line)[:MAX_WHY]


def _offer(
    api: Definition,
    answer: Answer,
    row: Any,
    data: Any,
    today: date,
    url: str,
    fields: Mapping[str, Field] | None = None,
) -> Offer | str:
    """A row as an offer, or why it is none."""
    if not isinstance(row, Mapping):
        return f"it is {_kind(row)}, not an object"
    made = fields or {name: field(spec) for name, spec in answer.fields.items()}
    said = {name: each(row, data) for name, each in made.items()}
    title = " ".join((described(said.get("title"), escaped=answer.escaped) or "").split())
    if not any(char.isalpha() for char in title):
        return "it has no title"
    link = _web(said.get("url"), url)
    if not said.get("id") and link is None:
        return "it has neither an id nor a link"

    def day(name: str) -> date | None:
        return day_of(said.get(name), today, timezone=api.timezone, day_first=api.day_first)

    posting = Posting(
        title=title,
        company=_plain(said.get("company")),
        location=_plain(said.get("location")),
        url=link,
        posted_date=day("posted"),
        employment_type=_plain(said.get("employment_type")),
        salary=salary_of(
            said.get("salary"), *(said.get(name) for name in ("low", "high", "currency", "period"))
        ),
        description=_description(answer, said),
        key=said.get("id"),
        remote=answer.always or workplace_at(answer.remote, row, data),
        where=f"{api.name}: {answer.rows[0] or 'the answer'}",
    )
    company_url = _web(said.get("company_url"), url)
    return bounded(Offer(posting, day("updated"), said.get("company_id"), company_url))


def _kind(value: Any) -> str:
    return {str: "a text", int: "a number", float: "a number", list: "a list"}.get(type(value), "nothing")


def _plain(text: str | None) -> str | None:
    return described(text) if text and ("&" in text or "<" in text) else text


def _description(answer: Answer, said: Mapping[str, str | None]) -> str | None:
    texts = (described(said.get(name), escaped=answer.escaped) for name in ("description", "requirements"))
    return "\n\n".join(dict.fromkeys(text for text in texts if text)) or None


def _web(link: str | None, base: str) -> str | None:
    """A link made absolute; None where it is none of the web's."""
    if not link or len(link) > MAX_URL:
        return None
    try:
        url = ada_url.join_url(base, link.strip())
    except ValueError:
        return None
    return url if url.startswith(("https://", "http://")) and len(url) <= MAX_URL else None


def _each_once(offers: Iterable[Offer]) -> tuple[Offer, ...]:
    found: dict[str, Offer] = {}
    for each in offers:
        found.setdefault(key_of(each), each)
    return tuple(found.values())


# Where a list ends, and whether it says so truly.


@dataclass(frozen=True, slots=True)
class _ListEnd:
    """A page that was read, and all that tells whether it is the last. `stood` is how many entries stood on
    it, those included that are no rows.
    """

    api: Definition
    answer: Answer
    data: Any
    read: SearchPage
    place: Place
    keys: list[str]
    stood: int
    source: Page

    @property
    def seen(self) -> int:
        return self.place.rows + self.read.rows

    @property
    def total(self) -> int | None:
        """What the answer counts. Less than was seen already is a lie, or the count of something else."""
        total = self.read.total
        return total if total is not None and total >= self.seen else None

    @property
    def missing(self) -> str | None:
        total = self.total or 0
        return f"it says that there are {total:,}, and shows {self.seen:,}" if total > self.seen else None

    def page(self) -> SearchPage:
        """The page, with where the list goes on, or why it ends."""
        match self.api.paging.kind:
            case "none":
                return self._whole()
            case "cursor" | "link":
                return self._followed()
            case _:
                return self._counted()

    def _whole(self) -> SearchPage:
        if not self.read.rows and self.missing:
            return self._trouble(f"the list is empty, although {self.missing}")
        most = self.api.paging.max_rows
        full = f"it shows {most:,} rows at most" if most and self.read.rows >= most else None
        return replace(self.read, capped=self.missing or (full if self.total is None else None))

    def _followed(self) -> SearchPage:
        mark = first(self.answer.next or "", self.data)
        mark = mark.said if isinstance(mark, XmlData) else mark
        following = str(mark).strip() if isinstance(mark, str | int) and not isinstance(mark, bool) else ""
        if not following or (self.answer.more and self._says_no_more):
            return self._whole()
        if len(following) > MAX_CURSOR:
            return self._trouble(f"the mark of the next page has {len(following):,} characters")
        if self.api.paging.kind == "link":
            link = _same_origin(self.api, following, self.source.final_url)
            if link is None:
                return self._trouble("the link to the next page leads to another host")
            following = link
        here = (_same_origin(self.api, url, url) for url in (self.source.url, self.source.final_url))
        if following in (str(self.place.at), *here):
            return self._trouble("the link to the next page leads to the page itself")
        return self._next(following)

    def _counted(self) -> SearchPage:
        """What a list says of its own length counts first; without a word from it, a page that is not full is
        the last.
        """
        pages, number = count_at(self.answer.pages, self.data), self.place.pages + 1
        if not self.read.rows:
            more = f"it says that there are {pages:,} pages" if pages and pages > number else None
            lost = self.missing or more
            return self._trouble(f"page {number} is empty, although {lost}") if lost else self.read
        if self.answer.more:
            last = self._says_no_more
        elif self.total is not None:
            last = self.total <= self.seen
        elif pages:
            last = pages <= number
        else:
            last = self.stood < (self.api.paging.size or 1)
        if last:
            return replace(self.read, capped=self.missing)
        return self._next(int(self.place.at) + (1 if self.api.paging.kind == "page" else self.stood))

    @property
    def _says_no_more(self) -> bool:
        return str(first(self.answer.more or "", self.data)).strip().lower() in _NO

    def _next(self, at: int | str) -> SearchPage:
        """The next page, unless the provider is known to show no more."""
        paging, why = self.api.paging, ""
        if paging.max_pages and self.place.pages + 1 >= paging.max_pages:
            why = f"it shows {paging.max_pages:,} pages at most"
        elif paging.max_rows and self.seen >= paging.max_rows:
            why = f"it shows {paging.max_rows:,} rows at most"
        if why:
            return replace(self.read, capped="; ".join(filter(None, (why, self.missing))))
        return replace(self.read, next=str(self.place.after(self.keys, at)))

    def _trouble(self, why: str) -> SearchPage:
        return replace(self.read, trouble=why)


# Details.


def _day_of(page: Page) -> date | None:
    """The day on which a page was fetched, where it is known."""
    return (_EPOCH + timedelta(microseconds=page.fetched_at)).date() if page.fetched_at else None


def _completed(offer: Offer, found: Offer) -> Offer:
    """The offer with what its detail says; what the detail leaves out stays."""
    names = (
        "company",
        "location",
        "url",
        "posted_date",
        "employment_type",
        "salary",
        "description",
        "remote",
    )
    said = {name: getattr(found.posting, name) or getattr(offer.posting, name) for name in names}
    return Offer(
        replace(offer.posting, **said),
        found.updated or offer.updated,
        offer.company_id or found.company_id,
        found.company_url or offer.company_url,
    )

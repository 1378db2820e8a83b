"""The answers of an API, checked against its definition: the rows, what the answer counts, and whether the
list goes on.

What a provider answers is a stranger's. An answer that is not as described is trouble, never an empty list,
and the end of a list is believed only as far as its own figures agree.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic
from urllib.parse import urlsplit

import orjson

from thresher.core.credentials import origin_of
from thresher.core.page import Page
from thresher.reading.apis.definition import AnswerT, Api
from thresher.reading.apis.paging import ListPlace, place_of
from thresher.reading.apis.request import same_origin
from thresher.reading.inspect.body import Body, Format, read_body
from thresher.reading.platforms.answers import count_at
from thresher.reading.platforms.paths import Leaf, first, located, values
from thresher.reading.structured.xml import XmlData
from thresher.reading.values.addresses import registered_domain
from thresher.reading.verdict.wall import wall

MAX_ROWS = 5_000  # of one page
MAX_CURSOR = 2_000
MAX_WHY = 160  # characters of a reason
REFUSED = 400  # statuses from here on
_NO = ("false", "0", "none", "", "no")
_SPREAD = re.compile(r"\[\]")
# Words that may be a key. An answer repeats the request it refuses, secrets included.
_SECRET_LIKE = re.compile(r"[\w+/=.~-]{20,}|[\w+/=.~-]*\d[\w+/=.~-]*")
_ERRORS = ("error", "exception", "fault")
_SAYING = (
    "error.message",
    "error.description",
    "error",
    "errors[0].longMessage",
    "errors[0].message",
    "errors[0]",
    "message",
    "detail",
)


class NotAsDescribed(Exception):
    """The answer is not what the definition describes. Says what it is instead."""


@dataclass(frozen=True, slots=True)
class ListAnswer(Generic[AnswerT]):
    """A page of a list as its shape says it. `stood` is how many entries stood on it, those included that
    are no rows. Each row knows where in the answer it stands.
    """

    shape: AnswerT
    data: Any
    rows: list[Leaf]
    stood: int
    page: Page

    @property
    def total(self) -> int | None:
        """How many rows the answer says there are in all."""
        return count_at(self.shape.total, self.data)


@dataclass(frozen=True, slots=True)
class Following:
    """What follows a page: `next` is the cursor of the next one, None at the end. `capped` says why the
    provider shows no more although there is more; `trouble`, why the page proves nothing.
    """

    next: str | None = None
    capped: str | None = None
    trouble: str | None = None


def read_list(api: Api, answers: Iterable[AnswerT], page: Page) -> ListAnswer[AnswerT]:
    """The rows of a page of a list. Raises NotAsDescribed."""
    body = body_of(api, page)
    shape, found = shape_of(answers, body)
    rows = [row for row in found[:MAX_ROWS] if not _is_skipped(shape.skip, row.value)]
    return ListAnswer(shape, body.data, rows, len(found), page)


def body_of(api: Api, page: Page) -> Body:
    """The body, if there is data in it. Raises NotAsDescribed."""
    if page.status >= REFUSED:
        raise NotAsDescribed(f"the answer has the status {page.status}")
    ours, theirs = api.request.origin, origin_of(page.final_url)
    if ours != theirs and not _is_related(ours, theirs):
        raise NotAsDescribed(f"the request was redirected to {theirs or 'nowhere'}")
    body = read_body(page, replay=False)
    if body.error:
        raise NotAsDescribed(masked(body.error))
    if body.format is Format.HTML:
        stands = wall(page.status, page.headers, body.text)
        raise NotAsDescribed(f"a page for people came instead of data{f': {stands}' if stands else ''}")
    return body


def _is_related(ours: str, theirs: str) -> bool:
    host, other = urlsplit(ours).hostname or "", urlsplit(theirs).hostname or ""
    return registered_domain(host) is not None and registered_domain(host) == registered_domain(other)


def shape_of(answers: Iterable[AnswerT], body: Body, *, single: bool = False) -> tuple[AnswerT, list[Leaf]]:
    """The shape that the answer has, and its rows. With `single` it is about one thing, and has one row.
    Raises NotAsDescribed.
    """
    of_format = [each for each in answers if each.xml == (body.format is Format.XML)]
    if not of_format:
        raise NotAsDescribed(f"the answer is {body.format.upper()}, which the definition does not describe")
    for answer in of_format:
        if answer.root in (None, body.root) or not answer.xml:
            for path in answer.rows:
                rows = _rows(answer, path, body.data, single=single)
                if rows is not None and (len(rows) == 1 or not single):
                    return answer, rows
    names = " or ".join(path or "row" for path in of_format[0].rows)
    if body.format is Format.XML and body.root not in {each.root for each in of_format}:
        names = f"<{of_format[0].root}>"
    raise NotAsDescribed(f"the answer has no {names}{_saying(body.data)}")


def _rows(answer: AnswerT, path: str, data: Any, *, single: bool) -> list[Leaf] | None:
    """The rows at a path; None where the answer does not have this shape. A single row counts as a list of
    one. No rows are an empty list only where the list itself is there, or the answer counts none.
    """
    found = located(path, data) if path else [Leaf(data)]
    if len(found) == 1 and isinstance(found[0].value, list):
        return [Leaf(each, (*found[0].trail, at)) for at, each in enumerate(found[0].value)]
    if not path and not single:
        return None  # an object where a bare list should be
    rows = [each for each in found if each.value not in ("", None)]
    if rows:
        return rows if all(isinstance(each.value, Mapping) for each in rows) else None
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


def _is_skipped(skip: Iterable[str], row: Any) -> bool:
    return any(first(path, row) is not None for path in skip)


def _saying(data: Any) -> str:
    """What an answer says of itself, without anything that might be a key."""
    if not isinstance(data, Mapping):
        return ""
    said = next((text for path in _SAYING if isinstance(text := _text_of(first(path, data)), str)), None)
    if said:
        return f"; it says: {masked(said)}"
    names = ", ".join(masked(str(name)) for name in list(data)[:6])
    return f"; it has {names}" if names else ""


def refusal_said(text: str) -> str:
    """What an API that refuses us says, without anything that might be a key; empty where it is not JSON."""
    try:
        data = orjson.loads(text)
    except orjson.JSONDecodeError:
        return ""
    return _saying(data).removeprefix("; it says: ").removeprefix("; ")


def _text_of(value: Any) -> str | None:
    text = value.said if isinstance(value, XmlData) else value
    return text if isinstance(text, str) and text.strip() else None


def masked(text: str) -> str:
    """A stranger's sentence, made fit to be stored and shown."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text[: MAX_WHY * 4]).split())
    return _SECRET_LIKE.sub(lambda word: "***" if len(word[0]) > 5 else word[0], line)[:MAX_WHY]


def kind_of(value: Any) -> str:
    """What a value is, for a sentence about a row that is none."""
    return {str: "a text", int: "a number", float: "a number", list: "a list"}.get(type(value), "nothing")


# Where a list ends, and whether it says so truly.


def list_place(api: Api, cursor: str | None) -> ListPlace:
    """The place that a cursor names; the first one for None. Raises InvalidPayload."""
    return place_of(cursor, api.paging.first if api.paging.kind in ("page", "offset") else "")


def following(api: Api, read: ListAnswer[AnswerT], place: ListPlace, keys: list[str]) -> Following:
    """What follows a page whose rows have these keys."""
    if read.stood > MAX_ROWS:
        return Following(trouble=f"the page has {read.stood:,} rows; only {MAX_ROWS:,} were read")
    if place.pages and place.repeats(keys):
        return Following(trouble=f"page {place.pages + 1} repeats the rows of an earlier one")
    return _ListEnd(api, read, place, keys).following()


@dataclass(frozen=True, slots=True)
class _ListEnd(Generic[AnswerT]):
    """A page that was read, and all that tells whether it is the last."""

    api: Api
    read: ListAnswer[AnswerT]
    place: ListPlace
    keys: list[str]

    @property
    def seen(self) -> int:
        return self.place.rows + len(self.read.rows)

    @property
    def total(self) -> int | None:
        """What the answer counts. Less than was seen already is a lie, or the count of something else."""
        total = self.read.total
        return total if total is not None and total >= self.seen else None

    @property
    def missing(self) -> str | None:
        total = self.total or 0
        return f"it says that there are {total:,}, and shows {self.seen:,}" if total > self.seen else None

    def following(self) -> Following:
        """Where the list goes on, or why it ends."""
        match self.api.paging.kind:
            case "none":
                return self._whole()
            case "cursor" | "link":
                return self._followed()
            case _:
                return self._counted()

    def _whole(self) -> Following:
        if not self.read.rows and self.missing:
            return Following(trouble=f"the list is empty, although {self.missing}")
        most = self.api.paging.max_rows
        full = f"it shows {most:,} rows at most" if most and len(self.read.rows) >= most else None
        return Following(capped=self.missing or (full if self.total is None else None))

    def _followed(self) -> Following:
        mark = first(self.read.shape.next or "", self.read.data)
        mark = mark.said if isinstance(mark, XmlData) else mark
        after = str(mark).strip() if isinstance(mark, str | int) and not isinstance(mark, bool) else ""
        if not after or (self.read.shape.more and self._says_no_more):
            return self._whole()
        if len(after) > MAX_CURSOR:
            return Following(trouble=f"the mark of the next page has {len(after):,} characters")
        if self.api.paging.kind == "link":
            link = same_origin(self.api, after, self.read.page.final_url)
            if link is None:
                return Following(trouble="the link to the next page leads to another host")
            after = link
        here = (same_origin(self.api, url, url) for url in (self.read.page.url, self.read.page.final_url))
        if after in (str(self.place.at), *here):
            return Following(trouble="the link to the next page leads to the page itself")
        return self._next(after)

    def _counted(self) -> Following:
        """What a list says of its own length counts first; without a word from it, a page that is not full is
        the last.
        """
        pages, number = count_at(self.read.shape.pages, self.read.data), self.place.pages + 1
        if not self.read.rows:
            more = f"it says that there are {pages:,} pages" if pages and pages > number else None
            lost = self.missing or more
            return Following(trouble=f"page {number} is empty, although {lost}") if lost else Following()
        if self.read.shape.more:
            last = self._says_no_more
        elif self.total is not None:
            last = self.total <= self.seen
        elif pages:
            last = pages <= number
        else:
            last = self.read.stood < (self.api.paging.size or 1)
        if last:
            return Following(capped=self.missing)
        return self._next(int(self.place.at) + (1 if self.api.paging.kind == "page" else self.read.stood))

    @property
    def _says_no_more(self) -> bool:
        return str(first(self.read.shape.more or "", self.read.data)).strip().lower() in _NO

    def _next(self, at: int | str) -> Following:
        """The next page, unless the provider is known to show no more."""
        paging, why = self.api.paging, ""
        if paging.max_pages and self.place.pages + 1 >= paging.max_pages:
            why = f"it shows {paging.max_pages:,} pages at most"
        elif paging.max_rows and self.seen >= paging.max_rows:
            why = f"it shows {paging.max_rows:,} rows at most"
        if why:
            return Following(capped="; ".join(filter(None, (why, self.missing))))
        return Following(next=str(self.place.after(self.keys, at)))

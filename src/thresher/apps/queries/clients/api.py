"""A search API by its definition: build the request for a page, and read the offers of the page that came
back. A row that is no offer is named and left out.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from thresher.apps.queries.clients.client import Client, bounded, day_of, key_of
from thresher.apps.queries.clients.definition import (
    Definition,
    OfferAnswer,
    WindowParameters,
    read_definition,
    written_day,
)
from thresher.apps.queries.clients.search import Offer, Search, SearchPage, WindowKind
from thresher.core.errors import Malformed
from thresher.core.page import Page
from thresher.reading.apis.answer import (
    MAX_ROWS,
    NotAsDescribed,
    body_of,
    following,
    kind_of,
    list_place,
    read_list,
    shape_of,
)
from thresher.reading.apis.paging import ListPlace
from thresher.reading.apis.request import check_parameters, detail_call, list_call, web_link
from thresher.reading.platforms.answers import workplace_at
from thresher.reading.platforms.calls import Call
from thresher.reading.platforms.paths import Field, field
from thresher.reading.postings.posting import Posting
from thresher.reading.text.plain import described
from thresher.reading.values.salaries import salary_of

LATEST = date(2100, 1, 1)  # where nobody knows which day it is, no day is too late
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiClient(Client):
    """A client by its definition."""

    api: Definition

    @property
    def definition(self) -> Any:
        return self.api.written

    def call(self, search: Search, cursor: str | None, env: Mapping[str, str]) -> Call:
        given = self.checked(search)
        check_parameters(self.api, given)
        parts = {**given, "text": search.text.strip(), **_window_parts(self.api.window, search)}
        return list_call(self.api, list_place(self.api, cursor), parts, env)

    def read_page(self, search: Search, cursor: str | None, page: Page) -> SearchPage:
        try:
            return _read_page(self.api, search, list_place(self.api, cursor), page)
        except NotAsDescribed as problem:
            return SearchPage(trouble=str(problem))

    def detail_call(self, offer: Offer, env: Mapping[str, str]) -> Call | None:
        if self.api.detail is None:
            return None
        known = {"id": offer.posting.key or "", "company_id": offer.company_id or ""}
        return detail_call(self.api, self.api.detail.request, known, env)

    def read_detail(self, offer: Offer, page: Page) -> Offer:
        detail = self.api.detail
        if detail is None:
            return offer
        try:
            body = body_of(self.api, page)
            answer, rows = shape_of((detail.answer,), body, single=True)
            today = _day_of(page) or offer.day or LATEST
            found = _offer(self.api, answer, rows[0].value, body.data, today, page.final_url)
        except NotAsDescribed as problem:
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


def _window_parts(window: WindowParameters, search: Search) -> dict[str, str]:
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


# Answers.


def _read_page(api: Definition, search: Search, place: ListPlace, page: Page) -> SearchPage:
    answer = read_list(api, api.answers, page)
    fields = {name: field(spec) for name, spec in answer.shape.fields.items()}
    read = [
        _offer(api, answer.shape, row.value, answer.data, search.today, page.final_url, fields)
        for row in answer.rows
    ]
    offers = [each for each in read if isinstance(each, Offer)]
    bad = tuple(f"row {at + 1}: {each}" for at, each in enumerate(read) if isinstance(each, str))
    keys = [key_of(each) if isinstance(each, Offer) else each for each in read]
    made = SearchPage(_each_once(offers), len(answer.rows), bad, answer.total)
    if answer.rows and not offers and answer.stood <= MAX_ROWS:
        return replace(made, trouble=f"none of {len(answer.rows):,} rows is an offer; {bad[0]}")
    if place.pages and place.repeats(keys):
        made = replace(made, offers=())
    after = following(api, answer, place, keys)
    return replace(made, next=after.next, capped=after.capped, trouble=after.trouble)


def _offer(
    api: Definition,
    answer: OfferAnswer,
    row: Any,
    data: Any,
    today: date,
    url: str,
    fields: Mapping[str, Field] | None = None,
) -> Offer | str:
    """A row as an offer, or why it is none."""
    if not isinstance(row, Mapping):
        return f"it is {kind_of(row)}, not an object"
    made = fields or {name: field(spec) for name, spec in answer.fields.items()}
    said = {name: each(row, data) for name, each in made.items()}
    title = " ".join((described(said.get("title"), escaped=answer.escaped) or "").split())
    if not any(char.isalpha() for char in title):
        return "it has no title"
    link = web_link(said.get("url"), url)
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
    company_url = web_link(said.get("company_url"), url)
    return bounded(Offer(posting, day("updated"), said.get("company_id"), company_url))


def _plain(text: str | None) -> str | None:
    return described(text) if text and ("&" in text or "<" in text) else text


def _description(answer: OfferAnswer, said: Mapping[str, str | None]) -> str | None:
    texts = (described(said.get(name), escaped=answer.escaped) for name in ("description", "requirements"))
    return "\n\n".join(dict.fromkeys(text for text in texts if text)) or None


def _each_once(offers: Iterable[Offer]) -> tuple[Offer, ...]:
    found: dict[str, Offer] = {}
    for each in offers:
        found.setdefault(key_of(each), each)
    return tuple(found.values())


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

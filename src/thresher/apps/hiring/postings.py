"""List and show postings: what a board says, the facts read from it, its history and the decisions about
it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from thresher.admin.records import PORTION, among, every, find, maybe, moment
from thresher.admin.tasks import list_tasks
from thresher.core.clock import DAY, HOUR, SECOND
from thresher.core.errors import InvalidUrl, UnknownName, UsageError
from thresher.core.evidence import as_json
from thresher.core.keys import canonical_url
from thresher.core.record import Between, Found, Is, Link, Where
from thresher.core.stored import read
from thresher.hiring.kinds import GROUP, POSTING
from thresher.hiring.records import PostingRecord, posting_key
from thresher.hiring.same_opening import page_of
from thresher.store.store import Store

DECISION = "decision"
QUERY = "query"  # the name of the link from a posting to a query that has found it
STATES = ("open", "closed")
OUTCOMES = ("saved", "skipped", "filtered", "unknown")
MAX_MEMBERS = 100
MAX_TASKS = 20  # of one address
MAX_SEARCHED = 20_000  # postings whose addresses are compared with one that a person typed


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an app that judges postings says of one, in records under the posting's own key."""

    outcome: str | None = None
    status: str | None = None


@dataclass(frozen=True, slots=True)
class PostingView:
    """One posting in a list. `pay` is how it is written there; `outcome` is what was decided."""

    key: str
    title: str | None
    company_name: str | None
    location: str | None
    pay: str | None
    url: str | None
    posted: str | None
    state: str | None
    outcome: str | None
    completeness: str | None
    board: str | None
    group: str | None
    first_seen_at: int | None
    seen_at: int | None
    closed_at: int | None


@dataclass(frozen=True, slots=True)
class PostingDetail:
    """One posting with everything that is known of it. `same` are the other postings of its group, `apart`
    those that it must not be grouped with; `outcome` is what was decided.
    """

    posting: PostingView
    data: dict[str, Any]
    evidence: dict[str, Any] | None
    group: dict[str, Any] | None
    same: list[PostingView]
    apart: list[str]
    outcome: str | None
    status: str | None
    tasks: list[int]

    @property
    def record(self) -> PostingRecord:
        return read(PostingRecord, self.data, key=self.posting.key)


def list_postings(
    store: Store,
    *,
    state: str | None = None,
    board: str | None = None,
    company: str | None = None,
    query: str | None = None,
    outcome: str | None = None,
    seen_since: int | None = None,
    before: str | None = None,
    limit: int = 50,
) -> list[PostingView]:
    """Postings, the newest first; those after the one of the key `before`."""
    wanted = among(state, STATES, "the state of a posting")
    decided = among(outcome, OUTCOMES, "the outcome of a posting")
    where: list[Where] = [
        Is(name, value)
        for name, value in (("state", wanted), ("board", board), ("company", company))
        if value
    ]
    if seen_since is not None:
        where.append(Between("seen_at", low=seen_since))
    link = Link(QUERY, query) if query else None
    if decided and (board or company or query):  # which name fewer than an outcome does
        return _of_owner(store, decided, link, where, before, limit)
    if decided:
        return _decided(store, decided, where, before, limit)
    found = find(store, POSTING, link=link, where=where, before=before, limit=limit)
    outcomes = _outcomes(store, [each.key for each in found])
    return [posting_view(each, outcomes.get(each.key)) for each in found]


def _of_owner(
    store: Store, outcome: str, link: Link | None, where: list[Where], before: str | None, limit: int
) -> list[PostingView]:
    """Postings of one board, company or query about which this was decided, the newest posting first."""
    views: list[PostingView] = []
    rest = every(store, POSTING, link=link, where=where, before=before)
    while len(views) < limit and (some := list(islice(rest, PORTION))):
        outcomes = _outcomes(store, [each.key for each in some])
        views += [posting_view(each, outcome) for each in some if outcomes.get(each.key) == outcome]
    return views[:limit]


def _decided(
    store: Store, outcome: str, where: list[Where], before: str | None, limit: int
) -> list[PostingView]:
    """Postings about which this was decided, the newest decision first."""
    views: list[PostingView] = []
    while len(views) < limit:
        some = find(store, DECISION, where=[Is("outcome", outcome)], before=before, limit=limit)
        keys = [each.key for each in some]
        found = (
            {each.key: each for each in find(store, POSTING, keys=keys, where=where, limit=limit)}
            if keys
            else {}
        )
        views += [posting_view(found[key], outcome) for key in keys if key in found]
        if len(some) < limit:
            break
        before = keys[-1]
    return views[:limit]


def _outcomes(store: Store, keys: list[str]) -> dict[str, str | None]:
    found = find(store, DECISION, keys=keys, limit=len(keys)) if keys else []
    return {each.key: read(Judgement, each.data).outcome for each in found}


def find_posting(store: Store, what: str) -> Found | None:
    """The posting of this key, or of this address as a person types it: with tracking parameters, with or
    without a slash at its end.
    """
    if found := maybe(store, POSTING, what):
        return found
    urls = spellings(what)
    keys = [posting_key("", None, url) for url in urls]
    keys += [
        str(task["payload"].get("posting"))
        for url in urls
        for task in list_tasks(store, url=url, limit=MAX_TASKS)
    ]
    if found := next((each for key in keys if (each := maybe(store, POSTING, key))), None):
        return found
    page = page_of(what) if urls else ""
    some = islice(every(store, POSTING), MAX_SEARCHED) if page else ()
    return next((each for each in some if page_of(PostingRecord.of(each).url or "") == page), None)


def spellings(url: str) -> list[str]:
    """The canonical spellings of an address, with and without a slash at its end; none of what is no
    address.
    """
    try:
        whole = canonical_url(url)
    except InvalidUrl:
        return []
    path, mark, query = whole.partition("?")
    other = path.removesuffix("/") if path.endswith("/") else f"{path}/"
    return [whole, canonical_url(f"{other}{mark}{query}")]


def show_posting(store: Store, what: str) -> PostingDetail:
    """One posting, by its key or its address."""
    found = find_posting(store, what)
    if found is None:
        raise UnknownName(_nothing(store, what))
    key = found.key
    decision, match = maybe(store, DECISION, key), maybe(store, "match", key)
    name = next(iter(found.linked(GROUP)), None)
    group = maybe(store, GROUP, name) if name else None
    tasks = {
        each
        for record in (found, decision, match)
        if record
        for each in (record.first_task, record.last_task)
    }
    evidence = as_json(found.evidence) if found.evidence else None
    outcome = read(Judgement, decision.data).outcome if decision else None
    status = read(Judgement, match.data).status if match else None
    said, same, apart = (
        dict(group.data) if group else None,
        _same(store, found, group),
        list(found.linked("apart")),
    )
    return PostingDetail(
        posting_view(found, outcome),
        _shown(found.data),
        evidence,
        said,
        same,
        apart,
        outcome,
        status,
        sorted(tasks - {0}),
    )


def _shown(data: Mapping[str, Any]) -> dict[str, Any]:
    """What the record says, with every time named as times are, so that all are shown alike."""
    said = {"first_seen_at" if name == "first_seen" else name: value for name, value in data.items()}
    return {name: (value or None) if name.endswith("_at") else value for name, value in said.items()}


def _nothing(store: Store, what: str) -> str:
    tasks = [task for url in spellings(what) for task in list_tasks(store, url=url, limit=1)]
    if tasks:
        return f"nothing is stored of {what} yet; task {tasks[0]['id']} is about it: thresher explain {tasks[0]['id']}"
    return f"there is no posting {what!r}; thresher postings list shows them"


def _same(store: Store, found: Found, group: Found | None) -> list[PostingView]:
    if group is None:
        return []
    members = find(store, POSTING, link=Link(GROUP, group.key), limit=MAX_MEMBERS)
    return [posting_view(each) for each in members if each.key != found.key]


def posting_view(found: Found, outcome: str | None = None) -> PostingView:
    """A posting as a line of a list."""
    posting = PostingRecord.of(found)
    return PostingView(
        posting.key,
        posting.title,
        posting.company_name,
        posting.location,
        posting.pay,
        posting.url,
        posting.posted,
        posting.state,
        outcome,
        posting.completeness,
        posting.board,
        posting.group,
        moment(posting.first_seen),
        moment(posting.seen_at),
        moment(posting.closed_at),
    )


# Parse an age: 12h, 7d, 2w, or a date such as 2026-01-31.

_AGO = re.compile(r"([0-9]{1,6})\s*([hdw])")
_UNITS = {"h": HOUR, "d": DAY, "w": 7 * DAY}


def since(text: str, now: int) -> int:
    """The moment that a text names, in microseconds since 1970."""
    if match := _AGO.fullmatch(text.strip()):
        return max(0, now - int(match[1]) * _UNITS[match[2]])
    try:
        day = datetime.strptime(text.strip(), "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise UsageError(f"since must be 12h, 7d, 2w or a day such as 2026-01-31; got {text!r}") from None
    return max(0, int(day.timestamp()) * SECOND)

"""List and show postings: what a board says, the facts read from it, its history and the decisions about
it.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from thresher.admin.records import among, find, maybe, moment, one
from thresher.core.clock import DAY, HOUR, SECOND
from thresher.core.errors import UsageError
from thresher.core.evidence import as_json
from thresher.core.record import Between, Found, Is, Link, Where
from thresher.core.stored import read
from thresher.hiring.kinds import GROUP, POSTING
from thresher.hiring.records import PostingRecord
from thresher.store.store import Store

SHOWN_BY = "thresher postings list"
STATES = ("open", "closed")
MAX_MEMBERS = 100


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an app that judges postings says of one, in records under the posting's own key."""

    outcome: str | None = None
    status: str | None = None


@dataclass(frozen=True, slots=True)
class PostingView:
    """One posting in a list. `pay` is how it is written there."""

    key: str
    title: str | None
    company_name: str | None
    location: str | None
    pay: str | None
    url: str | None
    posted: str | None
    state: str | None
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
    seen_since: int | None = None,
    before: str | None = None,
    limit: int = 50,
) -> list[PostingView]:
    """Postings, the newest first; those after the one of the key `before`."""
    wanted = among(state, STATES, "the state of a posting")
    where: list[Where] = [
        Is(name, value)
        for name, value in (("state", wanted), ("board", board), ("company", company))
        if value
    ]
    if seen_since is not None:
        where.append(Between("seen_at", low=seen_since))
    return [posting_view(each) for each in find(store, POSTING, where=where, before=before, limit=limit)]


def show_posting(store: Store, key: str) -> PostingDetail:
    """One posting."""
    found = one(store, POSTING, key, SHOWN_BY)
    decision, match = maybe(store, "decision", key), maybe(store, "match", key)
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
        posting_view(found),
        dict(found.data),
        evidence,
        said,
        same,
        apart,
        outcome,
        status,
        sorted(tasks - {0}),
    )


def _same(store: Store, found: Found, group: Found | None) -> list[PostingView]:
    if group is None:
        return []
    members = find(store, POSTING, link=Link(GROUP, group.key), limit=MAX_MEMBERS)
    return [posting_view(each) for each in members if each.key != found.key]


def posting_view(found: Found) -> PostingView:
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

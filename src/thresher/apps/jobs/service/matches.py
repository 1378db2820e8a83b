"""Matches: list and show them, save searches, and set a status, which no later analysis changes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Any, ClassVar, cast

from thresher.admin.records import among, every, find, in_order, moment, one, write_records
from thresher.admin.requests import look_up
from thresher.admin.times import read_now
from thresher.apps.hiring.postings import since
from thresher.apps.jobs.model import MATCH, VIEW, MatchFields, MatchRecord, SavedView, Status, match_entry
from thresher.core.errors import UnknownName, UsageError
from thresher.core.record import Between, Found, Is, Where
from thresher.core.stored import read, written
from thresher.hiring.kinds import POSTING
from thresher.hiring.records import PostingRecord, company_name_key
from thresher.store.store import Store

MAX_NAME = 80
MAX_VIEWS = 1_000


@dataclass(frozen=True, slots=True)
class Changed:
    """A match whose status was set."""

    key: str
    title: str
    was: str
    status: str


def set_status(store: Store, keys: Sequence[str], status: str, note: str | None = None) -> list[Changed]:
    """Set the status of matches, all or none."""
    if status not in list(Status):
        raise UsageError(f"the status must be one of {', '.join(Status)}; got {status!r}")
    found = look_up(store, MATCH, keys)
    missing = [key for key in keys if key not in found]
    if missing:
        raise UnknownName(
            f"there is no match {', '.join(missing)}; thresher jobs matches shows them. Nothing was changed."
        )
    fields: MatchFields = {"status": status, "status_at": read_now(store)}
    if note is not None:
        fields["note"] = note.strip()
    write_records(store, [match_entry(key, fields) for key in found])
    return [_changed(MatchRecord.of(found[key]), status) for key in dict.fromkeys(keys)]


def _changed(match: MatchRecord, status: str) -> Changed:
    return Changed(match.key, match.title or match.key, match.status or Status.NEW, status)


def save_view(store: Store, name: str, filters: Mapping[str, Any]) -> None:
    """Keep a search under a name; the same name again replaces it."""
    if not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise UsageError(
            f"a view's name must be one line of at most {MAX_NAME} characters, got {name[:MAX_NAME]!r}"
        )
    write_records(store, [SavedView(name.strip(), filters).record()])


PRIORITIES = ("high", "medium", "low")
MAX_MATCHES = 10_000  # matches that one search looks through
PORTION = 100  # of them at a time
VIEWS = "thresher jobs views list"


@dataclass(frozen=True, slots=True)
class Search:
    """Which matches are meant. What is None is not asked for. `since` stays as it was written: last week
    moves along.
    """

    NOT_STORED: ClassVar = (None,)

    status: str | None = None
    priority: str | None = None
    min_score: int | None = None
    since: str | None = None
    company: str | None = None
    words: str | None = None

    @property
    def filters(self) -> Mapping[str, Any]:
        """What is asked for, by name: the stored form of the search."""
        return cast("Mapping[str, Any]", written(self))


@dataclass(frozen=True, slots=True)
class MatchView:
    """One match. `location`, `pay` and `state` are its posting's; `withdrawn` is why it is none any more;
    `found_at` is when it first was one, `status_at` when its status was set, `posting` the key of its
    posting.
    """

    key: str
    score: int | None
    priority: str | None
    status: str | None
    title: str | None
    company: str | None
    location: str | None
    pay: str | None
    url: str | None
    state: str | None
    matched_skills: tuple[str, ...]
    skill_gaps: tuple[str, ...]
    explanation: Any
    resume_intake: Any
    note: str | None
    withdrawn: str | None
    decided_at: int | None
    notified_at: int | None
    found_at: int | None = None
    status_at: int | None = None
    posting: str = ""


@dataclass(frozen=True, slots=True)
class ViewView:
    """A search that was saved, and how many matches it finds now."""

    name: str
    filters: dict[str, Any]
    matches: int = field(default=0)


def list_matches(
    store: Store, search: Search, now: int, limit: int = 50, before: str | None = None
) -> list[MatchView]:
    """Matches, the best first; those after the one of the key `before`. New ones that are none any more are
    left out.
    """
    return match_views(store, list(islice(_suiting(store, search, now, before), limit)))


def found_since(
    store: Store, search: Search, now: int, since: int, limit: int = 50, before: str | None = None
) -> list[MatchView]:
    """Matches that were first found after a moment, the newest first; those after the one of the key
    `before`.
    """
    fresh = takewhile(
        lambda each: each.created_at > since,
        every(store, MATCH, where=_where(search, now), before=before, portion=limit + 1),
    )
    return match_views(store, list(islice((each for each in fresh if _is_asked(search, each)), limit)))


def match_views(store: Store, found: Sequence[Found]) -> list[MatchView]:
    """These records of matches as lines of a list, with what their postings say."""
    matches = [(MatchRecord.of(each), each.created_at) for each in found]
    postings = look_up(store, POSTING, [match.of_posting for match, _ in matches])
    read = {key: PostingRecord.of(each) for key, each in postings.items()}
    return [_view(match, at, read.get(match.of_posting)) for match, at in matches]


def list_views(store: Store, now: int) -> list[ViewView]:
    """The searches that were saved, by name."""
    return [
        ViewView(each.key, dict(each.filters), sum(1 for _ in _suiting(store, search_of(each), now)))
        for each in saved_views(store)
    ]


def saved_views(store: Store) -> list[SavedView]:
    """The searches that were saved, by name, without looking what they find."""
    return sorted(map(SavedView.of, find(store, VIEW, limit=MAX_VIEWS)), key=lambda each: each.key)


def saved_search(store: Store, name: str) -> Search:
    """The search that was saved under a name."""
    return search_of(SavedView.of(one(store, VIEW, name, VIEWS)))


def search_of(view: SavedView) -> Search:
    """A saved search; fields that this version does not know are left out."""
    return read(Search, view.filters)


def check(search: Search, now: int) -> Search:
    """The same search, if it can be made. Raises `UsageError`."""
    _where(search, now)
    if search.company is not None and not company_name_key(search.company):
        raise UsageError(f"company must be part of a company's name, got {search.company!r}")
    return search


def _where(search: Search, now: int) -> list[Where]:
    status, priority = (
        among(search.status, Status, "the status of a match"),
        among(search.priority, PRIORITIES, "the priority of a match"),
    )
    where: list[Where] = [
        Is(name, value) for name, value in (("status", status), ("priority", priority)) if value
    ]
    if search.min_score is not None:
        where.append(Between("score", low=search.min_score))
    if search.since is not None:
        where.append(Between("decided_at", low=since(search.since, now)))
    return where


def _suiting(store: Store, search: Search, now: int, after: str | None = None) -> Iterator[Found]:
    """The matches that a search finds, the best first, among the `MAX_MATCHES` best that its marks name."""
    found = in_order(store, MATCH, "-score", where=_where(search, now), after=after, portion=PORTION)
    return (each for each in islice(found, MAX_MATCHES) if _is_asked(search, each))


def _is_asked(search: Search, found: Found) -> bool:
    match = MatchRecord.of(found)
    return match.is_current and _suits(search, match)


def _suits(search: Search, match: MatchRecord) -> bool:
    company, title = match.company or "", (match.title or "").lower()
    if search.company is not None and company_name_key(search.company) not in company_name_key(company):
        return False
    return all(word in title for word in (search.words or "").lower().split())


def _view(match: MatchRecord, found_at: int, posting: PostingRecord | None) -> MatchView:
    return MatchView(
        match.key,
        match.score,
        match.priority,
        match.status,
        match.title,
        match.company,
        posting.location if posting else None,
        posting.pay if posting else None,
        match.url,
        posting.state if posting else None,
        match.matched_skills,
        match.skill_gaps,
        match.explanation,
        match.resume_intake,
        match.note,
        match.withdrawn,
        moment(match.decided_at),
        moment(match.notified_at),
        moment(found_at),
        moment(match.status_at),
        match.of_posting,
    )

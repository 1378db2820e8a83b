"""What can be exported of the search for work: matches with their postings, companies, boards."""

from collections.abc import Iterator
from typing import Any

from thresher.admin.export import record_export, whole
from thresher.admin.records import PORTION, every, find
from thresher.apps.jobs.model import MATCH, MatchRecord, Status
from thresher.apps.jobs.service import boards, companies
from thresher.core.extension import Export
from thresher.core.record import Found, Is, Where
from thresher.hiring.kinds import BOARD, COMPANY, POSTING
from thresher.store.store import Store


def _found(store: Store, status: str | None) -> Iterator[Found]:
    where: list[Where] = [Is("status", status)] if status else []
    return every(store, MATCH, where=where)


def _lines(store: Store, status: str | None) -> Iterator[dict[str, Any]]:
    return map(whole, _found(store, status))


def _rows(store: Store, status: str | None) -> Iterator[dict[str, Any]]:
    some: list[Found] = []
    for each in _found(store, status):
        some.append(each)
        if len(some) == PORTION:
            yield from _with_postings(store, some)
            some = []
    yield from _with_postings(store, some)


def _with_postings(store: Store, matches: list[Found]) -> Iterator[dict[str, Any]]:
    keys = [MatchRecord.of(each).of_posting for each in matches]
    postings = (
        {each.key: each.data for each in find(store, POSTING, keys=keys, limit=len(keys))} if keys else {}
    )
    for key, each in zip(keys, matches, strict=True):
        yield {**each.data, "key": each.key, "posting": postings.get(key, {})}


# `posting.` reaches into the posting of a match.
MATCHES = Export(
    _rows,
    (
        "score",
        "priority",
        "status",
        "title",
        "company",
        "location=posting.location",
        "pay=posting.salary.text|posting.facts.pay.text",
        "url",
        "posted=posting.posted",
        "state=posting.state",
        "matched_skills",
        "skill_gaps",
        "note",
        "withdrawn",
        "decided_at",
        "key",
    ),
    tuple(Status),
    _lines,
)
COMPANIES = record_export(
    COMPANY,
    (
        "name",
        "website",
        "tier",
        "score",
        "status",
        "completeness",
        "size",
        "size_category",
        "headquarters",
        "industry",
        "founded",
        "tech",
        "remote_first",
        "ai_focus",
        "about",
        "mission",
        "culture",
        "careers_url",
        "board_url",
        "board_confidence",
        "analyzed_at",
        "key",
    ),
    companies.STATUSES,
)
BOARDS = record_export(
    BOARD,
    (
        "company_name",
        "platform",
        "url",
        "status",
        "confidence",
        "open",
        "verdict=last_look.verdict",
        "reason=last_look.reason",
        "complete=last_look.complete",
        "failures",
        "scraped_at",
        "last_success_at=succeeded_at",
        "due_at",
        "alarms",
        "disabled_reason",
        "excluded",
        "proof",
        "method",
        "company",
        "key",
    ),
    boards.STATUSES,
)
EXPORTS = {"matches": MATCHES, "companies": COMPANIES, "boards": BOARDS}

"""Companies as a person sees them: what was read of each, how much it matters, and where it lists its
openings.
"""

from dataclasses import dataclass
from typing import Any

from thresher.core.evidence import as_json
from thresher.core.record import Found, Is, Link
from thresher.hiring.kinds import BOARD, COMPANY, POSTING
from thresher.insight.boards import BoardView, board_view
from thresher.insight.decisions import company_parts
from thresher.insight.lookup import among, count, find, moment, one
from thresher.store.store import Store

SHOWN_BY = "thresher companies list"
STATUSES = ("analyzing", "complete", "partial", "unknown_site", "failed")
TIERS = ("S", "A", "B", "C", "D")


@dataclass(frozen=True, slots=True)
class CompanyView:
    """One company in a list. `boards` and `postings` are counts."""

    key: str
    name: str | None
    website: str | None
    status: str | None
    tier: str | None
    score: int | None
    completeness: str | None
    size: str | None
    headquarters: str | None
    boards: int
    postings: int
    analyzed_at: int | None


@dataclass(frozen=True, slots=True)
class CompanyDetail:
    """One company with everything that is known of it, where each value stands, and what its score is made of
    (`points`).
    """

    company: CompanyView
    data: dict[str, Any]
    evidence: dict[str, Any] | None
    boards: list[BoardView]
    points: list[str]
    tasks: list[int]


def list_companies(
    store: Store,
    *,
    status: str | None = None,
    tier: str | None = None,
    before: str | None = None,
    limit: int = 50,
) -> list[CompanyView]:
    """Companies, the newest first; those after the one of the key `before`."""
    asked = {
        "status": among(status, STATUSES, "the status of a company"),
        "tier": among(tier, TIERS, "a tier"),
    }
    where = [Is(name, value) for name, value in asked.items() if value]
    return [_view(store, each) for each in find(store, COMPANY, where=where, before=before, limit=limit)]


def show_company(store: Store, key: str) -> CompanyDetail:
    """One company."""
    found = one(store, COMPANY, key, SHOWN_BY)
    boards = [board_view(each) for each in find(store, BOARD, link=Link("company", key), limit=50)]
    evidence = as_json(found.evidence) if found.evidence else None
    points, tasks = company_parts(found.data), sorted({found.first_task, found.last_task} - {0})
    return CompanyDetail(_view(store, found), dict(found.data), evidence, boards, points, tasks)


def _view(store: Store, found: Found) -> CompanyView:
    data, own = found.data, Link("company", found.key)
    return CompanyView(
        found.key,
        data.get("name"),
        data.get("website"),
        data.get("status"),
        data.get("tier"),
        data.get("score"),
        data.get("completeness"),
        data.get("size"),
        data.get("headquarters"),
        count(store, BOARD, link=own),
        count(store, POSTING, link=own),
        moment(data.get("analyzed_at")),
    )

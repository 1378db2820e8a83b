"""`company_signals` and `query_offers` as people see them: companies by strength, and offers."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import orjson

from thresher.store.session import Row, Session, one

MAX_OFFERS = 200  # of one company that are shown


@dataclass(frozen=True, slots=True)
class CompanyView:
    """A company with its figures and what a person decided about it. Times are microseconds since 1970.

    `posting_activity` counts every offer and every repost of it. `problem` says why the figures could not be
    computed; they are then those of the last time.
    """

    company: str
    name: str
    max_score: int
    strong_offer_count: int
    unique_offer_count: int
    offer_count: int
    open_offers: int
    posting_activity: int
    avg_strong_score: float | None
    top_category: str | None
    top_offer: str | None
    top_offer_url: str | None
    category_max_scores: Mapping[str, int]
    last_strong_at: int | None
    first_seen_at: int
    updated_at: int
    resolution: str
    resolved: bool
    resolution_at: int | None
    feedback: str | None
    notes: str | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class OfferView:
    """An offer as a signal, with the parts of its score."""

    posting: str
    title: str
    url: str | None
    score: int | None
    category: str | None
    hits: list[dict[str, Any]]
    reposts: int
    canonical: str | None
    posted_on: str | None
    first_seen_at: int
    state: str

    @property
    def reasons(self) -> list[str]:
        """The parts of the score in words: the points, and the words that brought them."""
        return [f"{hit.get('points') or 0:+g} {_named(hit)}" for hit in self.hits]


def _named(hit: Mapping[str, Any]) -> str:
    said = hit.get("quote") or f"{hit.get('kind', '')} {hit.get('name', '')}"
    return str(said).strip()


_COLUMN = {"first_seen_at": "first_seen"}
_COMPANY = tuple(each.name for each in fields(CompanyView))
_OFFER = tuple(each.name for each in fields(OfferView))
_SELECT = f"select {', '.join(_COLUMN.get(name, name) for name in _COMPANY)} from company_signals"
_STRONGEST = """order by max_score desc, strong_offer_count desc, coalesce(last_strong_at, 0) desc, company
    limit :limit"""
# Those behind this company in the order of the strongest. Its score bounds what the index is read for.
_BEHIND = """max_score <= (select max_score from company_signals where company = :before)
    and (-max_score, -strong_offer_count, -coalesce(last_strong_at, 0), company) > (select -max_score,
        -strong_offer_count, -coalesce(last_strong_at, 0), company from company_signals where company = :before_too)"""
_AFTER = f"{_SELECT} where company > :after order by company limit :limit"
_FAILED = f"{_SELECT} where problem is not null order by company limit :limit"
_ONE = f"{_SELECT} where company = :company"
_NAMED = f"{_SELECT} where lower(name) = lower(:name) order by company limit 2"
_OFFERS = f"""select {", ".join(_COLUMN.get(name, name) for name in _OFFER)} from query_offers where company = :company
    order by coalesce(score, -1) desc, last_seen desc, posting limit :limit"""


def list_companies(
    session: Session, resolution: str | None = None, limit: int = 100, before: str | None = None
) -> list[CompanyView]:
    """Companies, the strongest first; those behind the company `before`."""
    wanted = {
        "resolution = :resolution": {"resolution": resolution},
        _BEHIND: {"before": before, "before_too": before},
    }
    given: dict[str, Any] = {"limit": limit}
    clauses = [clause for clause, values in wanted.items() if None not in values.values()]
    for clause in clauses:
        given |= wanted[clause]
    where = f"where {' and '.join(clauses)}" if clauses else ""
    return [_company(row) for row in session.rows(f"{_SELECT} {where} {_STRONGEST}", given)]


def is_known(session: Session, company: str) -> bool:
    """Tell whether there is a company of this key."""
    return one(session, _ONE, {"company": company}) is not None


def companies_after(session: Session, after: str, limit: int) -> list[CompanyView]:
    """Companies in the order of their keys: whoever goes through all of them misses none meanwhile."""
    return [_company(row) for row in session.rows(_AFTER, {"after": after, "limit": limit})]


def failed_companies(session: Session, limit: int = 100) -> list[CompanyView]:
    """Companies whose figures could not be computed."""
    return [_company(row) for row in session.rows(_FAILED, {"limit": limit})]


def find_companies(session: Session, name: str) -> list[CompanyView]:
    """The company of this key, else those of this name: more than one, where the name does not tell."""
    row = one(session, _ONE, {"company": name})
    return [_company(each) for each in ([row] if row else session.rows(_NAMED, {"name": name}))]


def company_offers(session: Session, company: str, limit: int = MAX_OFFERS) -> list[OfferView]:
    """The offers of a company, the strongest first."""
    rows = session.rows(_OFFERS, {"company": company, "limit": limit})
    said = (dict(zip(_OFFER, row, strict=True)) for row in rows)
    return [OfferView(**{**each, "hits": orjson.loads(each["hits"])}) for each in said]


def _company(row: Row) -> CompanyView:
    said = dict(zip(_COMPANY, row, strict=True))
    average = said["avg_strong_score"]
    said |= {
        "avg_strong_score": None if average is None else average / 100,
        "category_max_scores": orjson.loads(said["category_max_scores"]),
        "resolved": bool(said["resolved"]),
    }
    return CompanyView(**said)

"""Companies as signals: the strongest first, one with its offers and weeks, and what a person decides."""

from dataclasses import dataclass
from typing import Any

import orjson

from thresher.apps.queries.signals.rules import parsed_rules
from thresher.apps.queries.store.aggregates import CompanySignals, find_signals, weekly_signals
from thresher.apps.queries.store.options import option
from thresher.apps.queries.store.resolution import (
    Decision,
    decisions_of,
    set_feedback,
    set_notes,
    set_resolution,
)
from thresher.core.errors import UnknownName
from thresher.store.session import Session
from thresher.store.store import Store
from thresher.store.transaction import in_transaction

MAX_OFFERS = 200

_STRONGEST = "order by max_score desc, strong_offer_count desc, last_strong_at desc, company limit :limit"
_KEYS = f"select company from company_signals {_STRONGEST}"
_RESOLVED = f"select company from company_signals where resolution = :resolution {_STRONGEST}"
_OFFERS = """select posting, title, url, score, category, hits, reposts, canonical, posted_on, first_seen, state
    from query_offers where company = :company order by score is null, score desc, last_seen desc, posting limit :limit"""
_OFFER_FIELDS = (
    "posting",
    "title",
    "url",
    "score",
    "category",
    "hits",
    "reposts",
    "canonical",
    "posted_on",
    "first_seen",
    "state",
)


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
    first_seen: int
    state: str


@dataclass(frozen=True, slots=True)
class CompanyDetail:
    """A company with its offers, its weeks, the oldest first, and what people decided about it."""

    company: CompanySignals
    offers: list[OfferView]
    weeks: list[dict[str, Any]]
    decisions: list[Decision]


def list_companies(store: Store, *, resolution: str | None = None, limit: int = 100) -> list[CompanySignals]:
    """Companies, the strongest first."""
    with store.read() as session:
        sql, wanted = (_KEYS, {}) if resolution is None else (_RESOLVED, {"resolution": resolution})
        keys = [row[0] for row in session.rows(sql, {**wanted, "limit": limit})]
        return [found for key in keys if (found := find_signals(session, key))]


def show_company(store: Store, key: str) -> CompanyDetail:
    """One company, by its key."""
    with store.read() as session:
        found = find_signals(session, key)
        if found is None:
            raise UnknownName(
                f"no query has found offers of {key[:80]!r}; thresher signals list shows companies"
            )
        now = store.backend.now(session)
        offers = session.rows(_OFFERS, {"company": key, "limit": MAX_OFFERS})
        weeks = weekly_signals(session, {"company": key}, now)
        return CompanyDetail(found, list(map(_offer, offers)), weeks, decisions_of(session, key))


def _offer(row: tuple[Any, ...]) -> OfferView:
    said = dict(zip(_OFFER_FIELDS, row, strict=True))
    return OfferView(**{**said, "hits": orjson.loads(said["hits"])})


def decide(
    store: Store,
    key: str,
    by: str,
    *,
    resolution: str | None = None,
    feedback: str | None = None,
    notes: str | None = None,
) -> CompanyDetail:
    """Write down what a person says about a company. What is None stays as it is."""

    def work(session: Session) -> None:
        now = store.backend.now(session)
        allowed = parsed_rules(option(session, "rules")).resolutions
        if resolution is not None:
            set_resolution(session, key, resolution, by, now, allowed)
        if feedback is not None:
            set_feedback(session, key, feedback or None, by, now)
        if notes is not None:
            set_notes(session, key, notes or None, by, now)

    in_transaction(store, work)
    return show_company(store, key)

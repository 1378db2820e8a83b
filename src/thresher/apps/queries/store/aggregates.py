"""The figures of companies, computed again for those whose offers have changed, and read for a page.

Each company is computed for itself: what is wrong with one is written down there, and the others are done.
The columns that a person writes are none of those that are written here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import orjson

from thresher.apps.queries.signals.company import CompanyFigures, OfferSignal, aggregate
from thresher.core.clock import DAY, FOREVER, SECOND
from thresher.store.bulk import Columns, among, pour
from thresher.store.session import Session, one

WEEKS = 26
MAX_WEEKS = 520
MAX_PROBLEM = 300  # characters
PROBLEMS = 5  # that are named in a warning

_FIGURES = (
    "max_score",
    "offer_count",
    "unique_offer_count",
    "strong_offer_count",
    "open_offers",
    "avg_strong_score",
    "posting_activity",
    "top_category",
    "top_offer",
    "top_offer_url",
    "category_max_scores",
    "last_strong_at",
    "first_seen",
)
_TEXTS = frozenset(("top_category", "top_offer", "top_offer_url", "category_max_scores"))
_HOLD = (
    "select company, first_seen from company_signals where company {keys} and resolved = 0 order by company"
)
_OFFERS = """select company, posting, canonical, score, strong, category, categories, first_seen, url, state
    from query_offers where company {keys}"""
_COLUMNS: Columns = (
    ("company", "text"),
    *((name, "text" if name in _TEXTS else "bigint") for name in _FIGURES),
    ("now", "bigint"),
)
_UPDATE = f"""update company_signals set {", ".join(f"{name} = n.{name}" for name in _FIGURES)},
    updated_at = n.now, dirty = 0, problem = null from {{rows}} where company_signals.company = n.company"""
_FAILED = "update company_signals set problem = n.problem, updated_at = n.now from {rows} where company_signals.company = n.company"
_PROBLEMS: Columns = (("company", "text"), ("problem", "text"), ("now", "bigint"))
_DIRTY = """select company from company_signals where dirty = 1 and resolved = 0 and (problem is null or updated_at < :before)
    order by updated_at, company limit :limit"""
_WEEKS = """select posted_on, first_seen, strong, canonical from query_offers
    where company = :company and first_seen >= :since"""
_DECIDED = (
    "company",
    "name",
    "resolution",
    "resolved",
    "resolution_at",
    "feedback",
    "notes",
    "dirty",
    "problem",
    "updated_at",
)
_ONE = f"select {', '.join((*_DECIDED, *_FIGURES))} from company_signals where company = :company"


def aggregate_companies(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:
    """Effect: compute the figures of these companies. One that a person has resolved keeps those that it has.

    Counts those that were computed and those that failed. A company that failed stays dirty and goes to the
    end of the line; its `problem` says why.
    """
    held: dict[str, int] = dict(
        among(session.dialect, session, _HOLD + session.dialect.lock, sorted(set(data["companies"])))
    )
    offers = _offers(session, held)
    figures, problems = [], []
    for company, first_seen in held.items():
        try:
            found = aggregate(_signal(row) for row in offers[company])
        except (ValueError, TypeError) as problem:
            problems.append((company, f"{type(problem).__name__}: {problem}"[:MAX_PROBLEM], now))
        else:
            figures.append(_values(company, replace(found, first_seen=found.first_seen or first_seen), now))
    pour(session.dialect, session, _UPDATE, _COLUMNS, figures)
    pour(session.dialect, session, _FAILED, _PROBLEMS, problems)
    for company, why, _ in problems[:PROBLEMS]:
        session.warnings.append(f"the signals of company {company!r} cannot be computed: {why}")
    return {"companies_aggregated": len(figures), "companies_failed": len(problems)}


def aggregate_company(session: Session, company: str, now: int) -> bool:
    """Compute the figures of one company; False where they were not: it is unknown, resolved, or failed."""
    return aggregate_companies(session, {"companies": [company]}, now)["companies_aggregated"] == 1


def _offers(session: Session, companies: Iterable[str]) -> dict[str, list[tuple[Any, ...]]]:
    found: dict[str, list[tuple[Any, ...]]] = {company: [] for company in companies}
    for row in among(session.dialect, session, _OFFERS, sorted(found)):
        found[row[0]].append(row[1:])
    return found


def _signal(row: tuple[Any, ...]) -> OfferSignal:
    posting, canonical, score, strong, category, categories, first_seen, url, state = row
    counted = tuple(str(each) for each in orjson.loads(categories))
    return OfferSignal(posting, canonical, score, bool(strong), category, counted, first_seen, url, state)


def _values(company: str, figures: CompanyFigures, now: int) -> list[Any]:
    written = {name: getattr(figures, name) for name in _FIGURES}
    written["category_max_scores"] = orjson.dumps(figures.category_max_scores).decode()
    return [company, *written.values(), now]


# Reads


@dataclass(frozen=True, slots=True)
class CompanySignals:
    """A row of `company_signals`: what a person decided, and the figures."""

    company: str
    name: str
    resolution: str
    resolved: bool
    resolution_at: int | None
    feedback: str | None
    notes: str | None
    dirty: bool
    problem: str | None
    updated_at: int
    figures: CompanyFigures


def find_signals(session: Session, company: str) -> CompanySignals | None:
    """What is known of a company."""
    row = one(session, _ONE, {"company": company})
    if row is None:
        return None
    decided, figures = row[: len(_DECIDED)], dict(zip(_FIGURES, row[len(_DECIDED) :], strict=True))
    figures["category_max_scores"] = orjson.loads(figures["category_max_scores"])
    said = dict(zip(_DECIDED, decided, strict=True))
    said |= {"resolved": bool(said["resolved"]), "dirty": bool(said["dirty"])}
    return CompanySignals(**said, figures=CompanyFigures(**figures))


def dirty_companies(session: Session, data: Mapping[str, Any], now: int) -> list[str]:  # noqa: ARG001  every read gets the time
    """Read: companies whose figures are to be computed, those that wait longest first; at most `limit`. One
    that failed since `before` waits for the next time.
    """
    before = int(data.get("before", FOREVER))
    return [row[0] for row in session.rows(_DIRTY, {"limit": int(data["limit"]), "before": before})]


@dataclass(slots=True)
class _Week:
    offers: int = 0
    strong: int = 0
    reposts: int = 0


def weekly_signals(session: Session, data: Mapping[str, Any], now: int) -> list[dict[str, Any]]:
    """Read: what a company published in each of the last weeks (26 unless `weeks` says otherwise), the oldest
    first, weeks without any included. A week begins on Monday, in UTC.

    An offer counts on the day that it was posted, where the client says so and that is before we saw it.
    """
    number = min(max(int(data.get("weeks", WEEKS)), 1), MAX_WEEKS)
    today = _day(now)
    last = today - timedelta(days=today.weekday())
    first = last - timedelta(weeks=number - 1)
    weeks = {first + timedelta(weeks=at): _Week() for at in range(number)}
    since = int(datetime(first.year, first.month, first.day, tzinfo=UTC).timestamp()) * SECOND
    for posted_on, first_seen, strong, canonical in session.rows(
        _WEEKS, {"company": data["company"], "since": since}
    ):
        day = _published(posted_on, first_seen)
        week = weeks.get(day - timedelta(days=day.weekday()))
        if week is None:
            continue  # posted before the first of them
        week.offers += canonical is None
        week.strong += bool(strong)
        week.reposts += canonical is not None
    return [
        {"week": day.isoformat(), "offers": week.offers, "strong": week.strong, "reposts": week.reposts}
        for day, week in weeks.items()
    ]


def _published(posted_on: str | None, first_seen: int) -> date:
    seen = _day(first_seen)
    try:
        return min(date.fromisoformat(posted_on), seen) if posted_on else seen
    except ValueError:
        return seen


def _day(at: int) -> date:
    return date(1970, 1, 1) + timedelta(days=at // DAY)

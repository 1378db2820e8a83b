"""Companies as signals: the strongest first, one with its offers and weeks, and what a person decides."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from thresher.apps.queries.signals.rules import parsed_rules
from thresher.apps.queries.store import companies
from thresher.apps.queries.store.aggregates import weekly_signals
from thresher.apps.queries.store.companies import CompanyView, OfferView, company_offers, find_companies
from thresher.apps.queries.store.options import option
from thresher.apps.queries.store.resolution import (
    FEEDBACK,
    Decision,
    decisions_of,
    set_feedback,
    set_notes,
    set_resolution,
)
from thresher.core.errors import UnknownName, UsageError
from thresher.store.session import Session
from thresher.store.store import Store
from thresher.store.transaction import in_transaction

PORTION = 500
FEEDBACK_MEANS = {
    "OK": "the signals are right",
    "FP": "false positive: it is no lead",
    "FN": "false negative: it deserves a higher score",
}
assert tuple(FEEDBACK_MEANS) == FEEDBACK


class Week(TypedDict):
    """What a company published in a week: new offers, strong ones among them, and reposts."""

    week: str
    offers: int
    strong: int
    reposts: int


@dataclass(frozen=True, slots=True)
class CompanyDetail:
    """A company with its offers, its weeks, the oldest first, and what people decided about it."""

    company: CompanyView
    offers: list[OfferView]
    weeks: list[Annotated[dict[str, Any], Week]]
    decisions: list[Decision]


def list_companies(
    store: Store, *, resolution: str | None = None, limit: int = 100, before: str | None = None
) -> list[CompanyView]:
    """Companies, the strongest first; those behind the company `before`. Raises UsageError for a resolution
    that nobody can give.
    """
    with store.read() as session:
        if before is not None and not companies.is_known(session, before):
            raise UnknownName(
                f"there is no company {before[:80]!r} to continue after; start again from the first page"
            )
        found = companies.list_companies(session, resolution, limit, before)
        known = _resolutions(session)
    if resolution is not None and not found and resolution not in known:
        raise UsageError(
            f"{resolution[:80]!r} is not a resolution of this project; use one of {', '.join(known)}"
        )
    return found


def every_company(store: Store) -> Iterator[CompanyView]:
    """All companies by their keys, in portions."""
    after = ""
    while True:
        with store.read() as session:
            found = companies.companies_after(session, after, PORTION)
        yield from found
        if len(found) < PORTION:
            return
        after = found[-1].company


def resolutions(store: Store) -> tuple[str, ...]:
    """What a person may decide about a company, as the project's rules say."""
    with store.read() as session:
        return _resolutions(session)


def read_purpose(store: Store) -> str:
    """What the project's rules look for."""
    with store.read() as session:
        return parsed_rules(option(session, "rules")).purpose


def _resolutions(session: Session) -> tuple[str, ...]:
    allowed = parsed_rules(option(session, "rules")).resolutions
    return (*allowed.active, *allowed.resolved)


def show_company(store: Store, name: str) -> CompanyDetail:
    """One company, by its key or its name."""
    with store.read() as session:
        found = _found(session, name)
        weeks = weekly_signals(session, {"company": found.company}, store.backend.now(session))
        offers = company_offers(session, found.company)
        return CompanyDetail(found, offers, weeks, decisions_of(session, found.company))


def _found(session: Session, name: str) -> CompanyView:
    found = find_companies(session, name)
    if not found:
        raise UnknownName(
            f"no query has found offers of {name[:80]!r}; thresher signals list shows companies"
        )
    if len(found) > 1:
        keys = " or ".join(each.company for each in found)
        raise UsageError(f"several companies are called {name[:80]!r}; name one by its key: {keys}")
    return found[0]


def decide(
    store: Store,
    name: str,
    by: str,
    *,
    resolution: str | None = None,
    feedback: str | None = None,
    notes: str | None = None,
) -> CompanyDetail:
    """Write down what a person says about a company. What is None stays as it is; an empty text removes
    feedback or notes.
    """
    if resolution is None and feedback is None and notes is None:
        raise UsageError("there is nothing to decide: give a resolution, feedback or notes")

    def work(session: Session) -> str:
        now, key = store.backend.now(session), _found(session, name).company
        allowed = parsed_rules(option(session, "rules")).resolutions
        if resolution is not None:
            set_resolution(session, key, resolution, by, now, allowed)
        if feedback is not None:
            set_feedback(session, key, feedback or None, by, now)
        if notes is not None:
            set_notes(session, key, notes or None, by, now)
        return key

    return show_company(store, in_transaction(store, work))

"""The figures of companies: computed for those that changed, the same as if all were computed from nothing,
and one that fails spoils no other."""

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.apps.queries.signals.market import (
    RULES,
    STRONG,
    WEAK,
    column,
    compute,
    gone,
    links,
    row,
    see,
    signals,
    words,
)
from tests.apps.queries.signals.test_offers import OTHER_RULES, read, rescore
from tests.harness.tasks import change, rows
from thresher.apps.queries.signals.company import CLOSED, CompanyFigures, OfferSignal, aggregate
from thresher.apps.queries.signals.rules import RESOLUTIONS
from thresher.apps.queries.store.aggregates import aggregate_company, dirty_companies, weekly_signals
from thresher.apps.queries.store.offers import outdated_offers
from thresher.apps.queries.store.resolution import set_resolution
from thresher.core.clock import DAY, SECOND

# Pure

scored = st.builds(
    OfferSignal,
    posting=st.sampled_from("abcdefgh"),
    score=st.none() | st.integers(0, 10),
    category=st.sampled_from(["forex", "export", None]),
    categories=st.lists(st.sampled_from(["forex", "export", "travel"]), unique=True).map(tuple),
    first_seen=st.integers(1, 5),
    url=st.none() | st.just("https://a.example/"),
    state=st.sampled_from(["open", "closed"]),
).map(lambda each: replace(each, strong=(each.score or 0) >= 6))


@given(st.lists(scored, unique_by=lambda each: each.posting), st.data())
def test_the_order_of_the_offers_makes_no_difference(offers, data):
    linked = [
        replace(each, canonical=offers[0].posting, score=None, strong=False)
        if at and data.draw(st.booleans())
        else each
        for at, each in enumerate(offers)
    ]
    found = aggregate(linked)
    assert aggregate(data.draw(st.permutations(linked))) == found
    canonical = [each for each in linked if each.canonical is None]
    assert found.unique_offer_count == len(canonical)
    assert found.posting_activity == found.offer_count == len(linked)
    assert found.max_score == max((each.score or 0 for each in canonical), default=0)
    assert (found.avg_strong_score is None) == (found.strong_offer_count == 0)


def test_a_company_without_offers_has_no_figures():
    assert aggregate([]) == CompanyFigures()


def test_the_figures_of_a_company():
    offers = [
        OfferSignal("a", None, 8, True, "forex", ("forex", "export"), 10, "https://a.example/1", CLOSED),
        OfferSignal("b", "a", None, False, None, (), 40, "https://a.example/2"),
        OfferSignal("c", None, 7, True, "export", ("export",), 30, "https://a.example/3"),
        OfferSignal("d", None, 2, False, "travel", ("travel",), 5, None, CLOSED),
    ]
    assert (
        aggregate(offers)
        == CompanyFigures(
            max_score=8,
            offer_count=4,
            unique_offer_count=3,
            strong_offer_count=2,
            open_offers=2,
            avg_strong_score=750,
            posting_activity=4,
            top_category="forex",
            top_offer="a",
            top_offer_url="https://a.example/2",  # the offer itself is closed; the one that reposts it can be opened
            category_max_scores={"export": 8, "forex": 8, "travel": 2},
            last_strong_at=40,
            first_seen=5,
        )
    )


def test_the_address_of_the_top_offer_is_one_that_is_open():
    dead = OfferSignal("b", "a", None, False, None, (), 40, "https://a.example/dead", CLOSED)
    live = OfferSignal("a", None, 8, True, "forex", ("forex",), 10, "https://a.example/live")
    assert aggregate([live, dead]).top_offer_url == "https://a.example/live"
    assert aggregate([replace(live, url=None), dead]).top_offer_url == "https://a.example/dead"


# In the store


def test_only_companies_whose_offers_changed_are_computed(store, clock):
    see(store, row("board/1", "a.example"), row("board/2", "b.example"))
    assert read(store, dirty_companies, limit=10) == ["a.example", "b.example"]
    assert compute(store) == {"companies_aggregated": 2, "companies_failed": 0}
    assert read(store, dirty_companies, limit=10) == []
    clock.advance(DAY)
    see(store, row("board/1", "a.example"), row("board/2", "b.example", text=STRONG))
    assert read(store, dirty_companies, limit=10) == ["b.example"]


def test_one_company_can_be_computed_alone(store):
    see(store, row("board/1", "a.example", text=STRONG), row("board/2", "b.example"))
    with store.write() as session:
        now = store.backend.now(session)
        assert aggregate_company(session, "a.example", now)
        assert not aggregate_company(session, "nobody.example", now)
    assert signals(store, "a.example").figures.strong_offer_count == 1
    assert read(store, dirty_companies, limit=10) == ["b.example"]


def test_a_company_that_fails_spoils_no_other_and_says_why(store, clock):
    see(store, row("board/1", "a.example"), row("board/2", "b.example"), row("board/3", "c.example"))
    change(store, "update query_offers set categories = 'no JSON' where posting = 'board/2'")
    clock.advance(DAY)
    assert compute(store) == {"companies_aggregated": 2, "companies_failed": 1}
    assert "JSON" in signals(store, "b.example").problem
    assert signals(store, "a.example").figures.offer_count == 1
    # It waits behind all that have not been tried.
    see(store, row("board/4", "a.example", text=words("w")))
    clock.advance(DAY)
    assert sorted(read(store, dirty_companies, limit=10)) == ["a.example", "b.example"]
    change(store, "update query_offers set categories = '[]' where posting = 'board/2'")
    assert compute(store)["companies_failed"] == 0
    assert signals(store, "b.example").problem is None


def test_a_closed_offer_still_counts_and_is_told_apart(store):
    see(store, row("board/1", text=STRONG), row("board/2", text=WEAK))
    compute(store)
    before = signals(store).figures
    gone(store, "board/1")
    compute(store)
    assert signals(store).figures == replace(before, open_offers=1)


def test_a_name_that_came_later_is_kept(store):
    see(store, row("board/1", name=""))
    see(store, row("board/2", name="Acme", text=words("w")))
    see(store, row("board/3", name="ACME GROUP", text=words("v")))
    assert signals(store).name == "Acme"


# Incremental is the same as from nothing

KEYS = [f"board/{at}" for at in range(6)]
COMPANIES = ["a.example", "b.example", "c.example"]
TEXTS = [
    None,
    STRONG,
    STRONG + " indeed",
    WEAK,
    words("boiler", 80),
    words("boiler", 78) + " forex treasury",
    "treasury " + words("other", 60),
]
TITLES = ["Analyst", "Senior Analyst", "Export manager"]
seen = st.tuples(
    st.just("see"),
    st.lists(
        st.tuples(
            st.sampled_from(KEYS), st.sampled_from(COMPANIES), st.sampled_from(TITLES), st.sampled_from(TEXTS)
        ),
        min_size=1,
        max_size=4,
    ),
)
steps = st.lists(
    seen
    | st.tuples(st.just("gone"), st.lists(st.sampled_from(KEYS), min_size=1, max_size=3))
    | st.tuples(st.just("compute"), st.none())
    | st.tuples(st.just("rules"), st.booleans())
    | st.tuples(st.just("rescore"), st.integers(1, 3))
    | st.tuples(
        st.just("resolve"),
        st.tuples(st.sampled_from(COMPANIES), st.sampled_from(["IN_PROGRESS", "ACCEPTED", "REJECTED"])),
    ),
    min_size=1,
    max_size=14,
)


class Market:
    """A store, and the texts that the records of its postings would keep."""

    def __init__(self, store, clock):
        self.store, self.clock, self.rules = store, clock, RULES
        self.texts: dict[str, tuple[str, str | None]] = {}
        self.decided: dict[str, str] = {}
        self.frozen: dict[str, CompanyFigures] = {}

    def do(self, step):
        self.clock.advance(DAY)
        kind, what = step
        if kind == "see":
            self.see(what)
        elif kind == "gone":
            gone(self.store, *what)
        elif kind == "compute":
            compute(self.store)
        elif kind == "rules":
            self.rules = OTHER_RULES if what else RULES
        elif kind == "resolve":
            self.resolve(*what)
        else:
            self.rescore(what)
        for company, figures in self.frozen.items():
            assert signals(self.store, company).figures == figures

    def resolve(self, company, resolution):
        if signals(self.store, company) is None:
            return
        with self.store.write() as session:
            set_resolution(session, company, resolution, "ana", self.store.backend.now(session))
        self.decided[company] = resolution
        self.frozen.pop(company, None)
        if resolution in RESOLUTIONS.resolved:
            self.frozen[company] = signals(self.store, company).figures

    def see(self, offers):
        page = {}
        for key, company, title, text in offers:
            page[key] = row(key, company, title=title, text=text, rules=self.rules)
            self.texts[key] = (title, text or self.texts.get(key, ("", None))[1])
        see(self.store, *page.values())

    def rescore(self, limit):
        keys = read(self.store, outdated_offers, rules=self.rules.print, limit=limit)
        rescore(self.store, self.rules, {key: self.texts[key] for key in keys})
        return keys


def figures(store):
    return {
        company: signals(store, company).figures
        for (company,) in rows(store, "select company from company_signals")
    }


def empty(store):
    for table in ("query_offers", "company_signals", "company_feedback"):
        change(store, f"delete from {table}")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(walk=steps)
def test_figures_kept_up_to_date_are_those_computed_from_nothing(store, clock, walk):
    empty(store)
    market = Market(store, clock)
    for step in walk:
        market.do(step)
    assert {company: signals(store, company).resolution for company in market.decided} == market.decided
    for company in list(market.decided):
        market.resolve(company, "HIGH_INTEREST")
    while market.rescore(50):
        pass
    compute(store)
    kept = figures(store)
    check(store, market)
    change(store, "update company_signals set dirty = 1, max_score = 99, top_offer = 'x', offer_count = 77")
    compute(store)
    assert figures(store) == kept


def check(store, market):
    """What must hold of the offers, whatever came."""
    linked, companies = links(store), column(store, "company")
    assert all(other not in linked for other in linked.values())  # no repost of a repost
    assert all(companies[key] == companies[other] for key, other in linked.items())
    prints = column(store, "fingerprint")
    canonical = [(companies[key], text) for key, text in prints.items() if text and key not in linked]
    assert len(canonical) == len(set(canonical))  # the same text never stands twice for one company
    described = column(store, "described")
    assert all(described[key] and described[other] for key, other in linked.items())
    reposts, scores, rules = column(store, "reposts"), column(store, "score"), column(store, "rules")
    assert reposts == {key: list(linked.values()).count(key) for key in companies}
    assert all((scores[key] is None) == (key in linked) for key in companies)
    assert all(rules[key] == ("" if key in linked else market.rules.print) for key in companies)


# Weeks


def test_the_weeks_of_a_company_are_numbers_without_gaps(store, clock):
    monday = date(2026, 3, 2)
    clock.advance(int(datetime(2026, 3, 4, 12, tzinfo=UTC).timestamp()) * SECOND - now(store))
    see(
        store,
        row("board/1", text=STRONG),
        row("board/2", text=STRONG),  # reposts the first
        row("board/3", text=words("a"), posted=date(2026, 2, 24)),
        row("board/4", text=words("b"), posted=date(2030, 1, 1)),  # not before we saw it
        row("board/5", text=words("c"), posted=date(2001, 1, 1)),  # before all of them
        row("board/6", "other.example", text=words("d")),
    )
    weeks = read(store, weekly_signals, company="acme.example")
    assert len(weeks) == 26
    assert weeks[-1] == {"week": monday.isoformat(), "offers": 2, "strong": 1, "reposts": 1}
    assert weeks[-2] == {"week": "2026-02-23", "offers": 1, "strong": 0, "reposts": 0}
    assert sum(week["offers"] for week in weeks) == 3
    assert [date.fromisoformat(week["week"]).weekday() for week in weeks] == [0] * 26
    assert len(read(store, weekly_signals, company="acme.example", weeks=3)) == 3
    assert sum(week["offers"] for week in read(store, weekly_signals, company="nobody")) == 0


def now(store):
    with store.read() as session:
        return store.backend.now(session)


@pytest.mark.parametrize("weeks", [0, -5, 10**9])
def test_a_senseless_number_of_weeks_is_bounded(store, weeks):
    assert 1 <= len(read(store, weekly_signals, company="acme.example", weeks=weeks)) <= 520

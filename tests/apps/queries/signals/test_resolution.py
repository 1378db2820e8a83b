"""What a person decided is theirs: no page, no computation and no other rules ever change it."""

import pytest

from tests.apps.queries.signals.market import (
    RULES,
    STRONG,
    WEAK,
    column,
    compute,
    gone,
    row,
    see,
    signals,
    words,
)
from tests.apps.queries.signals.test_offers import OTHER_RULES, read, rescore
from thresher.apps.queries.signals.rules import Resolutions
from thresher.apps.queries.store.aggregates import dirty_companies
from thresher.apps.queries.store.offers import outdated_offers
from thresher.apps.queries.store.resolution import (
    MAX_NOTES,
    decisions_of,
    set_feedback,
    set_notes,
    set_resolution,
)
from thresher.core.clock import DAY
from thresher.core.errors import UnknownName, UsageError

COMPANY = "acme.example"


def do(store, function, *args, **more):
    with store.write() as session:
        return function(session, COMPANY, *args, "ana", store.backend.now(session), **more)


def decided(store):
    found = signals(store)
    return (found.resolution, found.resolved, found.resolution_at, found.feedback, found.notes)


def test_a_decision_is_kept_with_its_history(store, clock):
    see(store, row("board/1"))
    assert decided(store) == ("PENDING", False, None, None, None)
    assert do(store, set_resolution, "IN_PROGRESS")
    clock.advance(DAY)
    assert do(store, set_resolution, "REJECTED")
    assert not do(store, set_resolution, "REJECTED")
    assert do(store, set_feedback, "FP")
    assert do(store, set_notes, "  too small \x00")
    with store.read() as session:
        history = decisions_of(session, COMPANY)
    assert [(each.field, each.old, each.new, each.by) for each in history] == [
        ("resolution", "PENDING", "IN_PROGRESS", "ana"),
        ("resolution", "IN_PROGRESS", "REJECTED", "ana"),
        ("feedback", None, "FP", "ana"),
        ("notes", None, signals(store).notes, "ana"),
    ]
    assert history[1].at - history[0].at == DAY


def test_a_decision_can_be_taken_back(store):
    see(store, row("board/1"))
    assert do(store, set_feedback, "OK")
    assert do(store, set_feedback, None)
    assert do(store, set_notes, "hm")
    assert do(store, set_notes, "  ")
    assert decided(store)[3:] == (None, None)


@pytest.mark.parametrize(
    ("function", "value"),
    [
        (set_resolution, "MAYBE"),
        (set_resolution, "pending"),
        (set_feedback, "MAYBE"),
        (set_notes, "x" * (MAX_NOTES + 1)),
    ],
)
def test_what_is_no_decision_is_refused(store, function, value):
    see(store, row("board/1"))
    before = decided(store)
    with pytest.raises(UsageError):
        do(store, function, value)
    assert decided(store) == before


def test_a_company_that_nobody_knows_is_named(store):
    with pytest.raises(UnknownName, match=r"acme\.example"):
        do(store, set_resolution, "REJECTED")


def test_a_project_may_have_other_resolutions(store):
    own = Resolutions(("PENDING", "CALLED"), ("WON",))
    see(store, row("board/1"))
    do(store, set_resolution, "WON", allowed=own)
    assert decided(store)[:2] == ("WON", True)
    with pytest.raises(UsageError, match="PENDING, CALLED, WON"):
        do(store, set_resolution, "REJECTED", allowed=own)


@pytest.mark.promise(1)
def test_nothing_that_is_computed_touches_what_a_person_decided(store, clock):
    see(store, row("board/1", text=STRONG))
    compute(store)
    do(store, set_resolution, "HIGH_INTEREST")
    do(store, set_feedback, "OK")
    do(store, set_notes, "call on Monday")
    before = decided(store)
    attacks = [
        lambda: see(store, row("board/1", text=WEAK)),
        lambda: see(store, row("board/2", text=words("a"), name="Another name")),
        lambda: see(store, row("board/1", "other.example", text=WEAK)),
        lambda: gone(store, "board/1", "board/2"),
        lambda: rescore(store, OTHER_RULES, {"board/1": ("Analyst", WEAK), "board/2": None}),
        lambda: compute(store, COMPANY, "other.example"),
    ]
    for attack in attacks:
        clock.advance(DAY)
        attack()
        compute(store)
        assert decided(store) == before


def test_a_resolved_company_keeps_its_figures_and_its_offers_are_no_longer_scored(store, clock):
    see(store, row("board/1", text=STRONG))
    compute(store)
    figures = signals(store).figures
    do(store, set_resolution, "ALREADY_CUSTOMER")
    clock.advance(DAY)
    counts = see(store, row("board/2", text=words("new") + " forex treasury"), row("board/1", text=WEAK))
    assert counts["offers_held"] == 2
    assert column(store, "score")["board/2"] is None
    assert column(store, "score")["board/1"] == figures.max_score
    assert rescore(store, OTHER_RULES, {"board/1": ("Analyst", WEAK)})["offers_rescored"] == 0
    assert compute(store, COMPANY) == {"companies_aggregated": 0, "companies_failed": 0}
    assert signals(store).figures == figures
    assert read(store, dirty_companies, limit=10) == []
    assert read(store, outdated_offers, rules=OTHER_RULES.print, limit=10) == []


def test_an_offer_of_a_resolved_company_is_known_the_next_time(store):
    see(store, row("board/1"))
    do(store, set_resolution, "ACCEPTED")
    assert see(store, row("board/2", text=words("w")))["offers_new"] == 1
    assert see(store, row("board/2", text=words("w")))["offers_known"] == 1


def test_a_company_that_is_reopened_catches_up(store):
    see(store, row("board/1", text=WEAK))
    compute(store)
    do(store, set_resolution, "REJECTED")
    see(store, row("board/2", text=STRONG))
    do(store, set_resolution, "PENDING")
    assert read(store, outdated_offers, rules=RULES.print, limit=10) == ["board/2"]
    rescore(store, RULES, {"board/2": ("Analyst", STRONG)})
    compute(store)
    assert signals(store).figures.strong_offer_count == 1

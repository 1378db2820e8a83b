"""A match as a person judges it: what speaks for it and against it, each with the words that say so, what the
posting leaves open, what a model prepared, and what became of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thresher.admin.records import one
from thresher.admin.requests import look_up
from thresher.admin.rows import Fields
from thresher.apps.hiring.postings import PostingDetail, show_posting
from thresher.apps.jobs.filtering.rejection import Severity
from thresher.apps.jobs.model import DECISION, MATCH, DecisionRecord, SpokenRule
from thresher.apps.jobs.service.decisions import explain
from thresher.apps.jobs.service.matches import MatchView, match_views
from thresher.core.errors import UnknownName
from thresher.hiring.kinds import POSTING
from thresher.hiring.records import PostingRecord
from thresher.store.store import Store

SHOWN_BY = "thresher jobs matches"
START = "start"  # the component that every opening has: it speaks for none
MAX_POINTS = 6  # of a card; the page of the match has all


@dataclass(frozen=True, slots=True)
class Point:
    """What one rule brought or cost, why, and the words of the posting that it rests on. One that `is_hard`
    counts no points: it alone rules a posting out.
    """

    points: int
    is_hard: bool
    name: str
    reason: str
    quote: str | None


@dataclass(frozen=True, slots=True)
class MatchCard:
    """A match with its points: those `good`, the most first, and those `bad`, the worst first. `unsaid` is
    what its posting does not say.
    """

    match: MatchView
    good: tuple[Point, ...]
    bad: tuple[Point, ...]
    unsaid: tuple[str, ...]

    @property
    def best(self) -> tuple[Point, ...]:
        return self.good[:MAX_POINTS]


@dataclass(frozen=True, slots=True)
class MatchDetail:
    """One match with all that is known of it. `prepared` is what a model wrote for an application, field by
    field; `sentences` explain the decision; `posting` is None where it is no longer stored.
    """

    card: MatchCard
    prepared: dict[str, tuple[str, ...]]
    model: str | None
    sentences: list[str]
    tasks: list[Fields]
    posting: PostingDetail | None
    status_at: int | None


def match_cards(store: Store, matches: Sequence[MatchView]) -> list[MatchCard]:
    """The cards of these matches, in their order."""
    keys = [each.posting for each in matches]
    decisions, postings = look_up(store, DECISION, keys), look_up(store, POSTING, keys)
    return [
        _card(
            each,
            DecisionRecord.of(decisions[each.posting]) if each.posting in decisions else None,
            PostingRecord.of(postings[each.posting]) if each.posting in postings else None,
        )
        for each in matches
    ]


def _card(match: MatchView, decision: DecisionRecord | None, posting: PostingRecord | None) -> MatchCard:
    rules = decision.components if decision else ()
    strikes = [_point(each, -each.points) for each in decision.rejections] if decision else []
    parts = [_point(each, each.points) for each in rules if each.name != START]
    good = sorted((each for each in parts if each.points > 0), key=lambda each: -each.points)
    bad = sorted((*strikes, *(each for each in parts if each.points < 0)), key=lambda each: each.points)
    return MatchCard(match, tuple(good), tuple(bad), _unsaid(posting))


def _point(rule: SpokenRule, points: int) -> Point:
    quote = " ".join((rule.quote or "").split())
    return Point(points, rule.severity == Severity.HARD, rule.name, rule.reason, quote or None)


def _unsaid(posting: PostingRecord | None) -> tuple[str, ...]:
    if posting is None:
        return ("the posting is no longer stored",)
    said = (("pay", posting.pay), ("location", posting.location), ("posted", posting.posted))
    return tuple(dict.fromkeys((*(name for name, value in said if not value), *posting.lacks)))


def show_match(store: Store, key: str) -> MatchDetail:
    """One match."""
    found = one(store, MATCH, key, SHOWN_BY)
    (view,) = match_views(store, [found])
    (card,) = match_cards(store, [view])
    told = explain(store, view.posting)
    decision = look_up(store, DECISION, [view.posting]).get(view.posting)
    model = DecisionRecord.of(decision).model if decision else None
    try:
        posting = show_posting(store, view.posting)
    except UnknownName:
        posting = None
    return MatchDetail(
        card,
        _prepared(view.resume_intake),
        (model.name or "a model without a name") if model else None,
        told.sentences if told else [],
        told.tasks if told else [],
        posting,
        view.status_at,
    )


def _prepared(said: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(said, Mapping):
        return {}
    lists = {str(name).replace("_", " "): _texts(value) for name, value in said.items()}
    return {name: texts for name, texts in lists.items() if texts}


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(each) for each in (value if isinstance(value, list) else [value]) if each)

"""Matches of candidates: list the best first, explain a pair part by part, and set a status or a note."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from shlex import quote

from thresher.admin.records import among, one
from thresher.admin.times import read_now
from thresher.apps.roles.keep import is_read, with_facts
from thresher.apps.roles.matching.matched import FITTING
from thresher.apps.roles.matching.offer import Asked, offer_of
from thresher.apps.roles.matching.parts import Fit, Part, explain_pair
from thresher.apps.roles.matching.points import HUNDRED, PARTS, Points, points_of
from thresher.apps.roles.matching.seeker import seeker_of
from thresher.apps.roles.model import CANDIDATE, Candidate
from thresher.apps.roles.store.matches import STATUSES, Match, find_match, list_matches, set_match_status
from thresher.core.clock import day_of
from thresher.core.errors import UnknownName, UsageError
from thresher.core.evidence import Place
from thresher.core.record import Found, clean
from thresher.engine.points import points_now
from thresher.hiring.kinds import POSTING
from thresher.hiring.records import PostingRecord
from thresher.store.records import find_by_ids, find_record
from thresher.store.session import Session
from thresher.store.store import Store
from thresher.store.transaction import in_transaction

CANDIDATES, POSTINGS = "thresher candidates list", "thresher postings list"


@dataclass(frozen=True, slots=True)
class FitView:
    """One match. Scores are in points of 100; `candidate` and `posting` are keys of records.

    `matched_at` is when it was scored. What a person has in hand keeps its last score where it fits no
    longer.
    """

    candidate: str
    candidate_name: str | None
    posting: str
    posting_id: int
    title: str | None
    company_name: str | None
    location: str | None
    pay: str | None
    url: str | None
    state: str | None
    role_id: int
    score: float
    grade: str
    recommended: bool
    parts: dict[str, float]
    status: str
    note: str | None
    created_at: int
    matched_at: int


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of the posting, and where they stand: in the description from `start` to `end`, or in the field
    `path`.
    """

    text: str
    path: str | None
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class PartView:
    """One part of a score, and why it is what it is."""

    name: str
    points: float
    weight: float
    reason: str
    quote: Quote | None


@dataclass(frozen=True, slots=True)
class SkillView:
    """A skill that the posting asks for; `own` is the candidate's word for it, if they have it."""

    skill: str
    own: str | None
    quote: Quote | None


@dataclass(frozen=True, slots=True)
class FitDetail:
    """A pair as it would be scored now. `kept` is the match that is written down, if there is one."""

    candidate: str
    posting: str
    score: float
    grade: str
    recommended: bool
    parts: list[PartView]
    matched: list[SkillView]
    missing: list[SkillView]
    kept: FitView | None


def list_fits(
    store: Store,
    *,
    candidate: str | None = None,
    posting: str | None = None,
    min_score: float | None = None,
    recommended: bool = False,
    status: str | None = None,
    after: str | None = None,
    limit: int = 50,
) -> list[FitView]:
    """The matches of a candidate, or of a posting, by key, the best first; those behind the one with the key
    `after`.
    """
    points = points_of(store.settings.__getitem__)
    wanted = among(status, STATUSES, "the status of a match")
    whose = (
        one(store, CANDIDATE, candidate, CANDIDATES)
        if candidate is not None
        else one(store, POSTING, posting or "", POSTINGS)
    )
    floor = max(points.recommend if recommended else 0, min_score or 0)
    own = {"candidate" if candidate is not None else "posting": whose.id}
    behind = _behind(store, whose, after) if after is not None else None
    with store.read() as session:
        found = list_matches(
            session,
            **own,
            least=round(floor * HUNDRED) if floor else None,
            status=wanted,
            after=behind,
            limit=limit,
        )
    return _views(store, found, points)


def _behind(store: Store, whose: Found, after: str) -> tuple[int, int]:
    """Where the page behind a match begins."""
    other = (
        one(store, POSTING, after, POSTINGS)
        if whose.kind == CANDIDATE
        else one(store, CANDIDATE, after, CANDIDATES)
    )
    pair = (whose.id, other.id) if whose.kind == CANDIDATE else (other.id, whose.id)
    with store.read() as session:
        match = find_match(session, *pair)
    return (match.score, other.id) if match else (0, other.id)


def explain_fit(store: Store, candidate: str, posting: str | int) -> FitDetail:
    """Why a candidate and a posting go together as they do, by what is known of both now, whether or not it
    is a match.

    A posting is named by its key, or by the id of its record.
    """
    person, offered = one(store, CANDIDATE, candidate, CANDIDATES), _read(store, _posting(store, posting))
    points, seeker, offer = points_of(store.settings.__getitem__), seeker_of(person), offer_of(offered)
    own, theirs = points_now(store, FITTING, [seeker.text, offer.text]) if points.semantic else (None, None)
    fit = explain_pair(seeker, offer, points, own, theirs)
    with store.read() as session:
        match = find_match(session, person.id, offered.id)
    kept = _views(store, [match], points)[0] if match else None
    return _detail(person, offered, fit, points, kept)


def _posting(store: Store, posting: str | int) -> Found:
    if isinstance(posting, str):
        return one(store, POSTING, posting, POSTINGS)
    with store.read() as session:
        found = find_by_ids(session, POSTING, [posting])
    if not found:
        raise UnknownName(f"there is no posting with the id {posting}; {POSTINGS} shows them")
    return found[0]


def _read(store: Store, posting: Found) -> Found:
    """Return a posting with its facts; read them now, without storing, if it has not been read yet."""
    if is_read(posting):
        return posting
    new = with_facts(posting, day_of(read_now(store)))
    return replace(posting, data={**posting.data, **new.data}, evidence=new.evidence)


def _views(store: Store, matches: Sequence[Match], points: Points) -> list[FitView]:
    with store.read() as session:
        people = {
            each.id: each
            for each in find_by_ids(session, CANDIDATE, [match.candidate_id for match in matches])
        }
        postings = {
            each.id: each for each in find_by_ids(session, POSTING, [match.posting_id for match in matches])
        }
    return [
        _view(match, people[match.candidate_id], postings[match.posting_id], points)
        for match in matches
        if match.candidate_id in people and match.posting_id in postings
    ]


def _view(match: Match, person: Found, posting: Found, points: Points) -> FitView:
    said = PostingRecord.of(posting)
    return FitView(
        person.key,
        Candidate.of(person).name or None,
        posting.key,
        posting.id,
        said.title,
        said.company_name,
        said.location,
        said.pay,
        said.url,
        said.state,
        match.role_id,
        match.score / HUNDRED,
        points.grade(match.score),
        points.is_recommended(match.score),
        {name: getattr(match, name) / HUNDRED for name in PARTS},
        match.status,
        match.note,
        match.created_at,
        match.matched_at,
    )


def _detail(person: Found, posting: Found, fit: Fit, points: Points, kept: FitView | None) -> FitDetail:
    return FitDetail(
        person.key,
        posting.key,
        fit.score / HUNDRED,
        fit.grade,
        fit.recommended,
        [_part(part, points) for part in fit.parts],
        [_skill(met.asked, met.own) for met in fit.matched],
        [_skill(asked) for asked in fit.missing],
        kept,
    )


def _part(part: Part, points: Points) -> PartView:
    return PartView(
        part.name, part.points / HUNDRED, getattr(points, part.name), part.reason, _quote(part.place)
    )


def _skill(asked: Asked, own: str | None = None) -> SkillView:
    return SkillView(asked.key, own, _quote(asked.place))


def _quote(place: Place | None) -> Quote | None:
    return Quote(place.quote, place.path, place.start, place.end) if place else None


# A person's status and note; no later matching changes them.

MAX_NOTE = 4_000
MAX_DIGITS = 19


@dataclass(frozen=True, slots=True)
class PairStatus:
    """A match whose status was set."""

    candidate: str
    posting_id: int
    was: str
    status: str
    note: str | None


def set_pair_status(
    store: Store, key: str, posting: int | str, status: str, note: str | None = None
) -> PairStatus:
    """Say what was done about a match of a candidate. A posting is named by its key, or by the id of its
    record.
    """
    if status not in STATUSES:
        raise UsageError(f"the status must be one of {', '.join(STATUSES)}; got {status[:40]!r}")
    if note is not None and len(note) > MAX_NOTE:
        raise UsageError(f"a note may have at most {MAX_NOTE:,} characters; this one has {len(note):,}")
    said = None if note is None else clean(note.strip())

    def write(session: Session) -> PairStatus:
        candidate_id, posting_id = pair_ids(session, key, posting)
        known = find_match(session, candidate_id, posting_id)
        if known is None or not set_match_status(session, candidate_id, posting_id, status, said):
            raise UnknownName(
                f"{key!r} has no match with posting {posting}; thresher candidates matches "
                f"{quote(key)} shows its matches"
            )
        return PairStatus(
            clean(key), posting_id, known.status, status, said if said is not None else known.note
        )

    return in_transaction(store, write)


def pair_ids(session: Session, key: str, posting: int | str) -> tuple[int, int]:
    """The records that are meant by the key of a candidate and the key or id of a posting."""
    candidate = find_record(session, CANDIDATE, clean(key))
    if candidate is None:
        raise UnknownName(f"there is no candidate {key!r}; thresher candidates list shows them")
    if isinstance(posting, int):
        return candidate.id, posting
    found = find_record(session, POSTING, clean(posting))
    if found is None:
        raise UnknownName(
            f"there is no posting {posting!r}; thresher candidates matches {quote(key)} shows the "
            "matching ones"
        )
    return candidate.id, found.id


def posting_named(text: str) -> int | str:
    """Return a posting by the key of its record, which is never a bare number, or by its id."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < MAX_DIGITS else text

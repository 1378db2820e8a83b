"""Matches: one row per pair, written in the settlement that found them, whichever role brought them together.

A new matching replaces earlier scores of the same pairs. A match with any status but `suggested` belongs to a
person: it is rescored, and never removed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thresher.store.bulk import among, pour
from thresher.store.session import Row, Session, one

SUGGESTED = "suggested"
STATUSES = (SUGGESTED, "viewed", "applied", "rejected", "shortlisted")
AT_ONCE = 500  # names in one statement

_COLUMNS = "candidate_id, posting_id, role_id, score, skills, experience, location, salary, semantic, status, note, created_at, matched_at"
MAX_SUGGESTED = 10_000
_SUGGESTED = (
    f"select count(*) from (select 1 from matches where status = 'suggested' limit {MAX_SUGGESTED}) some"
)
_ONE = f"select {_COLUMNS} from matches where candidate_id = :candidate and posting_id = :posting"
# Locked in key order, so that two matchings with common pairs cannot deadlock. One side is a list and the
# other a range, which the index serves in one piece; what the range includes by accident is filtered
# afterwards.
_PAIRS = """select candidate_id, posting_id, status from matches where {listed} in (:ids*) and {spanned} between :low and :high
    order by candidate_id, posting_id"""
_BY_CANDIDATES = _PAIRS.format(listed="candidate_id", spanned="posting_id")
_BY_POSTINGS = _PAIRS.format(listed="posting_id", spanned="candidate_id")
_DELETE = """delete from matches where status = 'suggested'
    and (candidate_id, posting_id) in (select n.candidate, n.posting from {rows})"""
_DELETED = (("candidate", "bigint"), ("posting", "bigint"))
_UPSERT = """insert into matches
    (candidate_id, posting_id, role_id, score, skills, experience, location, salary, semantic, created_at, matched_at)
    select n.candidate, n.posting, n.role, n.score, n.skills, n.experience, n.location, n.salary, n.semantic, n.at, n.at
    from {rows} where true order by n.candidate, n.posting
    on conflict (candidate_id, posting_id) do update set score = excluded.score, skills = excluded.skills,
        experience = excluded.experience, location = excluded.location, salary = excluded.salary, semantic = excluded.semantic,
        matched_at = excluded.matched_at"""
_WRITTEN = (
    "candidate",
    "posting",
    "score",
    "skills",
    "experience",
    "location",
    "salary",
    "semantic",
    "role",
    "at",
)
_UPSERTED = tuple((name, "bigint") for name in _WRITTEN)
_PRESENT = "select id from records where id in (:ids*) and kind = 'candidate' order by id"
_OPEN = "select record_id from marks where record_id {keys} and kind = 'posting' and name = 'state' and word = 'open'"
# Suggestions of postings that belong to none of the roles that the candidate wants any more.
_STRAY = """select m.candidate_id, m.posting_id from matches m where m.candidate_id = :candidate and m.status = 'suggested'
    and not exists (select 1 from links p join links c on c.name = 'wants' and c.target = p.target and c.record_id = m.candidate_id
        where p.record_id = m.posting_id and p.name = 'role')"""
_BEYOND = """select candidate_id, posting_id from matches where candidate_id = :candidate and status = 'suggested'
    order by score desc, posting_id limit :many offset :best"""
_OF_POSTINGS = "select candidate_id, posting_id from matches where posting_id {keys} and status = 'suggested'"
_STATUS = """update matches set status = :status, note = coalesce(:note, note)
    where candidate_id = :candidate and posting_id = :posting"""
_FORGET = "delete from matches where candidate_id = :candidate"
_MANY = 1_000_000


@dataclass(frozen=True, slots=True)
class Match:
    """One row. Ids are those of records; scores are in hundredths of a point."""

    candidate_id: int
    posting_id: int
    role_id: int
    score: int
    skills: int
    experience: int
    location: int
    salary: int
    semantic: int
    status: str
    note: str | None
    created_at: int
    matched_at: int


def count_suggested(session: Session) -> int:
    """How many matches nobody has dealt with yet, up to `MAX_SUGGESTED`."""
    return int(session.rows(_SUGGESTED)[0][0])


def find_match(session: Session, candidate_id: int, posting_id: int) -> Match | None:
    """The match of a pair."""
    row = one(session, _ONE, {"candidate": candidate_id, "posting": posting_id})
    return Match(*row) if row else None


def list_matches(
    session: Session,
    *,
    candidate: int | None = None,
    posting: int | None = None,
    least: int | None = None,
    status: str | None = None,
    after: tuple[int, int] | None = None,
    limit: int = 100,
) -> list[Match]:
    """The matches of a candidate, or of a posting, the best first. `after` is the score and the other id of
    the last one seen.
    """
    own, other = ("candidate_id", "posting_id") if candidate is not None else ("posting_id", "candidate_id")
    given: dict[str, Any] = {"own": candidate if candidate is not None else posting, "limit": limit}
    clauses = [f"{own} = :own"]
    if least is not None:
        clauses.append("score >= :least")
        given["least"] = least
    if status is not None:
        clauses.append("status = :status")
        given["status"] = status
    if after is not None:
        clauses.append(f"(score < :score or (score = :score_too and {other} > :other))")
        given |= {"score": after[0], "score_too": after[0], "other": after[1]}
    sql = f"select {_COLUMNS} from matches where {' and '.join(clauses)} order by score desc, {other} limit :limit"
    return [Match(*row) for row in session.rows(sql, given)]


def set_match_status(
    session: Session, candidate_id: int, posting_id: int, status: str, note: str | None = None
) -> bool:
    """What a person makes of a match; False where there is none. From now on it is theirs."""
    given = {"status": status, "note": note, "candidate": candidate_id, "posting": posting_id}
    return session.run(_STATUS, given) > 0


def forget_candidate(session: Session, candidate_id: int) -> int:
    """Remove everything that was found for a candidate who goes; how many matches that were."""
    return session.run(_FORGET, {"candidate": candidate_id})


def replace_matches(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:
    """Effect: these candidates were matched with these postings, and `rows` is what fits. Suggestions that no
    longer fit go. Counts the candidates whom something fits, and the matches that are new.
    """
    people = _present(session, data["candidates"])
    is_open = {row[0] for row in among(session.dialect, session, _OPEN, data["postings"])}
    rows = sorted(row for row in data["rows"] if row[0] in people and row[1] in is_open)
    kept = {(row[0], row[1]) for row in rows}
    known = _known(session, data["candidates"], data["postings"])
    _drop(session, [pair for pair, status in known.items() if status == SUGGESTED and pair not in kept])
    pour(session.dialect, session, _UPSERT, _UPSERTED, [(*row, data["role"], now) for row in rows])
    return {
        "candidates_matched": len({candidate for candidate, _ in kept}),
        "matches_created": len(kept - known.keys()),
    }


def _present(session: Session, candidates: Sequence[int]) -> set[int]:
    """Those of these candidates who are still there. They are held until the end: nothing may be written
    about one who goes, and two matchings of the same candidates take turns.
    """
    return {
        row[0]
        for some in _portions(sorted(candidates))
        for row in session.rows(_PRESENT + session.dialect.lock, {"ids": some})
    }


def _known(
    session: Session, candidates: Sequence[int], postings: Sequence[int]
) -> dict[tuple[int, int], str]:
    """The pairs of these that are matches now, with their statuses."""
    if not candidates or not postings:
        return {}
    listed, spanned, sql = (candidates, postings, _BY_CANDIDATES)
    if _density(candidates) > _density(postings):
        listed, spanned, sql = postings, candidates, _BY_POSTINGS
    people, offers, found = set(candidates), set(postings), dict[tuple[int, int], str]()
    for ids in _portions(sorted(listed)):
        rows = session.rows(
            sql + session.dialect.lock, {"ids": ids, "low": min(spanned), "high": max(spanned)}
        )
        found |= {
            (candidate, posting): status
            for candidate, posting, status in rows
            if candidate in people and posting in offers
        }
    return found


def _density(ids: Sequence[int]) -> float:
    return len(ids) / (max(ids) - min(ids) + 1)


def trim_matches(session: Session, data: Mapping[str, Any], _now: int) -> None:
    """Effect: these candidates were matched with everything. What is left from roles that they want no more
    goes, and all but the best.
    """
    for candidate in sorted(_present(session, data["candidates"])):
        _drop(session, session.rows(_STRAY, {"candidate": candidate}))
        _drop(session, session.rows(_BEYOND, {"candidate": candidate, "best": data["best"], "many": _MANY}))


def drop_suggestions(session: Session, postings: Sequence[int]) -> None:
    """Take back the suggestions of postings that are closed; what a person has given a status stays."""
    _drop(session, among(session.dialect, session, _OF_POSTINGS, postings))


def _drop(session: Session, pairs: Sequence[Row]) -> None:
    pour(session.dialect, session, _DELETE, _DELETED, sorted(pairs))


def _portions(ids: Sequence[int]) -> list[Sequence[int]]:
    return [ids[at : at + AT_ONCE] for at in range(0, len(ids), AT_ONCE)]

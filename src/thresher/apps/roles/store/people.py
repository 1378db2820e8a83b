"""Candidates as rows: how many belong to a role, and how to delete one completely."""

from collections.abc import Collection, Sequence

import orjson

from thresher.apps.roles.store.matches import forget_candidate
from thresher.store.bulk import among
from thresher.store.owners import disown
from thresher.store.records import AT_ONCE
from thresher.store.session import Dialect, Session

_STANDING = "select id, name, status from roles where id in (:ids*)"
_COUNTS = "select target, count(*) from links where name = :name and target in (:targets*) group by target"
_LINKED = "select record_id from links where name = :name and target = :target order by record_id"
_NEWEST = """select r.data from links l join records r on r.id = l.record_id
    where l.name = 'wants' and l.target = :role and r.kind = 'candidate' order by l.record_id desc limit :limit"""
_MATCHED = "select candidate_id, count(*) from matches where candidate_id in (:ids*) group by candidate_id"
# One look into an index for each word, whatever a planner thinks of lists.
_BEARER = """select n.key, (select min(m.record_id) from marks m
    where m.kind = 'candidate' and m.name = :mark and m.word = n.key and m.word is not null) from {asked}"""
_KEYS = "select id, key from records where id {keys}"
_THERE = (
    "select n.key, (select r.id from records r where r.kind = 'candidate' and r.key = n.key) from {asked}"
)
_FORGET = (
    "delete from marks where record_id = :id",
    "delete from links where record_id = :id",
    "delete from records where id = :id",
)


def standing(session: Session, role_ids: Sequence[int]) -> dict[int, tuple[str, str]]:
    """Those of these roles that are there, with their names and statuses: one that was merged meanwhile is
    not.
    """
    return {
        row[0]: (row[1], row[2])
        for some in _portions(sorted(set(role_ids)))
        for row in session.rows(_STANDING, {"ids": some})
    }


def bearers(dialect: Dialect, session: Session, mark: str, words: Collection[str]) -> dict[str, str]:
    """The keys of the candidates who have these words as a mark; of several the one who came first."""
    found = {
        word: record_id
        for word, record_id in among(dialect, session, _BEARER, words, mark=mark)
        if record_id is not None
    }
    keys: dict[int, str] = dict(among(dialect, session, _KEYS, set(found.values())))
    return {word: keys[record_id] for word, record_id in found.items()}


def there(dialect: Dialect, session: Session, keys: Collection[str]) -> set[str]:
    """Those of these keys that are a candidate's."""
    return {key for key, record_id in among(dialect, session, _THERE, keys) if record_id is not None}


def count_linked(session: Session, name: str, role_ids: Sequence[int]) -> dict[int, int]:
    """How many records belong to each of these roles, under one name."""
    found: dict[int, int] = {}
    for some in _portions(role_ids):
        rows = session.rows(_COUNTS, {"name": name, "targets": [str(each) for each in some]})
        found |= {int(target): number for target, number in rows}
    return found


def linked_ids(session: Session, name: str, role_id: int) -> list[int]:
    """The records that belong to a role, under one name, by their ids."""
    return [row[0] for row in session.rows(_LINKED, {"name": name, "target": str(role_id)})]


def newest_keywords(session: Session, role_id: int, limit: int) -> list[list[str]]:
    """The search keywords of the candidates who came last to a role."""
    rows = session.rows(_NEWEST, {"role": str(role_id), "limit": limit})
    return [orjson.loads(data).get("keywords") or [] for (data,) in rows]


def count_matches(session: Session, candidate_ids: Sequence[int]) -> dict[int, int]:
    """How many matches each of these candidates has."""
    return {
        row[0]: row[1] for some in _portions(candidate_ids) for row in session.rows(_MATCHED, {"ids": some})
    }


def erase_candidate(session: Session, record_id: int, now: int) -> int:
    """Remove a candidate with everything that hangs on it; how many matches went. Roles are unlinked before,
    so that they are recounted.
    """
    matches = forget_candidate(session, record_id)
    for statement in _FORGET:
        session.run(statement, {"id": record_id})
    disown(session, "record", [record_id], now)
    return matches


def _portions(ids: Sequence[int]) -> list[Sequence[int]]:
    return [ids[at : at + AT_ONCE] for at in range(0, len(ids), AT_ONCE)]

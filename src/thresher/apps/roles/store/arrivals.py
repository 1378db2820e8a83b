"""Store the postings that a scraper brought for a role: each once, linked to everything it was found under.

A posting is known by its number on its platform, else by its content. A known one gains new links and new
values; what was there stays. Every number or URL under which a posting was seen is a link ("id", ...).

One transaction stores at a time (`hold_arrivals`): two that bring the same posting under different numbers at
the same moment would each take it for new.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter
from typing import Any, NamedTuple, Protocol

import orjson

from thresher.core.errors import DatabaseProblem
from thresher.core.record import merged_evidence
from thresher.hiring.lifecycle import OPEN
from thresher.store.bulk import among, insert_rows, new_ids, pour
from thresher.store.session import Dialect, Session

# A posting that is seen again: what changes in its record.

# Fields that belong to the single copy of a posting.
_ITS_OWN = frozenset(("number", "platform", "content"))
# Fields of ours besides what the source says; the facts are read again when the source's data changes.
_OURS = frozenset(("state", "seen_at", "first_seen", "closed_at", "facts", "session"))


@dataclass(frozen=True, slots=True)
class Seen:
    """A posting after it was seen, and whether there is anything new about it."""

    data: dict[str, Any]
    changed: bool


def seen_first(said: Mapping[str, Any], now: int, token: str | None = None) -> dict[str, Any]:
    """The data of a posting that is new. `token` is the session that brought it."""
    data = {**said, "state": OPEN, "first_seen": now, "seen_at": now}
    return {**data, "session": token} if token else data


def seen_again(known: Mapping[str, Any], said: Mapping[str, Any], now: int, *, twin: bool = False) -> Seen:
    """The data of a posting that is known. One that was closed is open again, which is new about it."""
    offered = (
        said.items()
        if not twin
        else ((name, value) for name, value in said.items() if name not in _ITS_OWN and name not in known)
    )
    news = {name: value for name, value in offered if name not in _OURS and known.get(name) != value}
    data = {**known, **news, "state": OPEN, "seen_at": max(now, known.get("seen_at") or 0)}
    data.setdefault("first_seen", now)
    data.pop("closed_at", None)
    if news:
        data.pop("facts", None)
    return Seen(data, bool(news) or known.get("state") != OPEN)


ID, ROLE = "id", "role"
AT_ONCE = 500
ARRIVALS_LOCK = 7_236_456

_ANSWERS = (
    "select answer from scrape_posts where session_id = :session order by created_at, digest limit :limit"
)
_LATE = "select count(*) from late_posts where session_id = :session and digest <> :but"
_COUNT = "update roles set imported = imported + :number, updated_at = :now where id = :role"
_HOLD = "select pg_advisory_xact_lock(:lock, hashtext(current_schema()))"
# Compressing descriptions is a sixth of the cost of postings on PostgreSQL; lz4 is much faster.
_QUICKLY = """select set_config(name, 'lz4', true) from pg_settings where name = 'default_toast_compression' and 'lz4' = any (enumvals)"""
# One index lookup per key: given a list, PostgreSQL would filter the whole table. Most keys are new; only
# known ones are returned, and the limit keeps both databases from evaluating the subquery twice.
_OLDEST = "select key, id from (select n.key, ({}) as id from {{asked}} limit 1000000) as found where id is not null"
_BY_ID = _OLDEST.format("""select min(l.record_id) from links l join records r on r.id = l.record_id
    where l.name = 'id' and l.target = n.key and r.kind = 'posting'""")
_BY_CONTENT = _OLDEST.format("""select min(m.record_id) from marks m
    where m.kind = 'posting' and m.name = 'content' and m.word = n.key and m.word is not null""")
_BY_KEY = _OLDEST.format("select r.id from records r where r.kind = 'posting' and r.key = n.key")
_KNOWN = "select id, key, data, evidence from records where id {keys} order by id"
# Ordered so that no other index applies: a role may have more postings than one body brings.
_OF_ROLE = (
    "select record_id from links where record_id {keys} and name || '' = 'role' and target || '' = :role"
)
_UNMAKE = "delete from records where id {keys} returning id"

_RECORD = (
    ("id", "bigint"),
    ("kind", "'posting'"),
    ("key", "text"),
    ("data", "text"),
    ("first_task", "0"),
    ("last_task", "0"),
    ("created_at", ":now"),
    ("updated_at", ":now"),
)
_ID = (
    ("record_id", "bigint"),
    ("name", "'id'"),
    ("target", "text"),
    ("task_id", "0"),
    ("created_at", ":now"),
)
_ROLE = (
    ("record_id", "bigint"),
    ("name", "'role'"),
    ("target", ":role"),
    ("task_id", "0"),
    ("created_at", ":now"),
)
_MARK = (("record_id", "bigint"), ("kind", "'posting'"))
_SEEN = (*_MARK, ("name", "'seen_at'"), ("word", "null"), ("number", "bigint"))
_STATE = (*_MARK, ("name", "'state'"), ("word", ":state"), ("number", "null"))
_CONTENT = (*_MARK, ("name", "'content'"), ("word", "text"), ("number", "null"))
_REMARK = "on conflict (record_id, name) do update set word = excluded.word, number = excluded.number"
_UPDATE = """update records set data = n.data, evidence = n.evidence, last_task = 0, seen = seen + 1, updated_at = n.at
    from {rows} where records.id = n.id"""
_UPDATED = (("id", "bigint"), ("data", "text"), ("evidence", "text"), ("at", "bigint"))


class Arriving(Protocol):
    """A posting that came in: by what it is known, and what is said of it."""

    @property
    def key(self) -> str: ...
    @property
    def content(self) -> str | None: ...
    @property
    def data(self) -> Mapping[str, Any]: ...


class Ending(StrEnum):
    """What became of one: it was new; known, and new to this role; known to it and changed; known to it and
    as it was.
    """

    IMPORTED = "imported"
    LINKED = "linked"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


class Filed(NamedTuple):
    """A posting that was filed, and under which record."""

    record_id: int
    ending: Ending


class _Overtaken(Exception):
    """Somebody else filed the same record, twice in a row: done again, this transaction finds it."""

    sqlstate = "40001"  # what a database says of such a conflict


_IMPORTED, _LINKED = Ending.IMPORTED, Ending.LINKED


@dataclass(slots=True)
class _Posting:
    """A record while a portion is filed. Several arrivals may be about one."""

    id: int
    key: str
    data: Mapping[str, Any]
    marked: Mapping[str, Any] = field(default_factory=dict)  # the data that its marks were made of
    evidence: str | None = None
    is_new: bool = False
    of_role: bool = False


def answers_of(session: Session, scrape_id: int, limit: int = 1_000) -> list[str]:
    """What the bodies of a session were answered, the oldest first."""
    return [row[0] for row in session.rows(_ANSWERS, {"session": scrape_id, "limit": limit})]


def count_late(session: Session, scrape_id: int, *, but: str) -> int:
    """How many bodies of a session came too late, not counting one."""
    return int(session.rows(_LATE, {"session": scrape_id, "but": but})[0][0])


def count_role(session: Session, role_id: int, number: int, now: int) -> None:
    """Count postings that were new when they came in for a role outside of any session."""
    session.run(_COUNT, {"role": role_id, "number": number, "now": now})


def hold_arrivals(dialect: Dialect, session: Session) -> None:
    """Be the only one who files postings until this transaction ends. SQLite's one writer is alone anyway."""
    if dialect.name == "postgres":
        session.rows(_HOLD, {"lock": ARRIVALS_LOCK})
        session.rows(_QUICKLY)


def file_arrivals(
    dialect: Dialect,
    session: Session,
    role_id: int,
    arrivals: Sequence[Arriving],
    now: int,
    token: str | None = None,
) -> list[Filed]:
    """File a portion of postings for a role, in their order. No key is in it twice. The caller holds the
    arrivals. `token` is the session that brings them.
    """
    role, keys = str(role_id), [each.key for each in arrivals]
    by_id = _oldest(dialect, session, _BY_ID, keys)
    filed = _file(dialect, session, role, arrivals, now, token, by_id, {})
    if filed is None:  # another app has filed one of them, and knows nothing of numbers
        by_key = _oldest(dialect, session, _BY_KEY, [key for key in keys if key not in by_id])
        filed = _file(dialect, session, role, arrivals, now, token, by_id, by_key)
    if filed is None:
        raise DatabaseProblem(
            "another process stored one of these postings at the same moment; try again"
        ) from _Overtaken()
    return filed


def _file(
    dialect: Dialect,
    session: Session,
    role: str,
    arrivals: Sequence[Arriving],
    now: int,
    token: str | None,
    by_id: Mapping[str, int],
    by_key: Mapping[str, int],
) -> list[Filed] | None:
    """None, and nothing is written, if one that was to be new is there already."""
    filed, postings = _resolve(dialect, session, role, arrivals, now, token, {**by_key, **by_id})
    if not _write(dialect, session, list(postings.values()), now):
        return None
    named = [
        (record_id, each.key)
        for (record_id, _), each in zip(filed, arrivals, strict=True)
        if each.key not in by_id
    ]
    gained = [
        (record_id,) for record_id, ending in filed if ending is _IMPORTED or ending is _LINKED
    ]  # either happens to a record once
    insert_rows(dialect, session, "links", _ID, named, "on conflict do nothing", now=now)
    insert_rows(dialect, session, "links", _ROLE, gained, "on conflict do nothing", now=now, role=role)
    return filed


def _oldest(dialect: Dialect, session: Session, sql: str, asked: Collection[str]) -> dict[str, int]:
    """The first record of each name that has one."""
    return dict(among(dialect, session, sql, asked))


def _resolve(
    dialect: Dialect,
    session: Session,
    role: str,
    arrivals: Sequence[Arriving],
    now: int,
    token: str | None,
    by_name: Mapping[str, int],
) -> tuple[list[Filed], dict[int, _Posting]]:
    """What becomes of each arrival; and the records of all, known or new, each once and as it will be."""
    contents = {each.content for each in arrivals if each.content and each.key not in by_name}
    by_content = _oldest(dialect, session, _BY_CONTENT, contents)
    ids = [by_name.get(each.key) or by_content.get(each.content or "") for each in arrivals]
    postings = _load(dialect, session, {each for each in ids if each}, role)
    fresh = iter(new_ids(dialect, session, "records", ids.count(None)) if None in ids else ())
    filed, made = [], dict[str | None, _Posting]()
    for each, record_id in zip(arrivals, ids, strict=True):
        posting = postings[record_id] if record_id else made.get(each.content)
        if posting is not None:
            filed.append(_sight(posting, each, now))
            continue
        data = seen_first(each.data, now, token)
        posting = _Posting(next(fresh), each.key, data, is_new=True, of_role=True)
        postings[posting.id] = posting
        if each.content:
            made[each.content] = posting
        filed.append(Filed(posting.id, _IMPORTED))
    return filed, postings


def _load(dialect: Dialect, session: Session, ids: set[int], role: str) -> dict[int, _Posting]:
    found = {}
    for record_id, key, data, evidence in among(dialect, session, _KNOWN + dialect.lock, ids):
        said = orjson.loads(data)
        found[record_id] = _Posting(record_id, key, said, said, evidence)
    for (record_id,) in among(dialect, session, _OF_ROLE, ids, role=role):
        found[record_id].of_role = True
    return found


def _sight(posting: _Posting, arrival: Arriving, now: int) -> Filed:
    """What an arrival means for a record that is there."""
    seen = seen_again(posting.data, arrival.data, now, twin=arrival.key != posting.key)
    if posting.evidence is not None and seen.changed:
        news = [name for name in {*posting.data, *seen.data} if posting.data.get(name) != seen.data.get(name)]
        places = merged_evidence(orjson.loads(posting.evidence), None, news)
        posting.evidence = orjson.dumps(places).decode() if places else None
    ending = Ending.LINKED if not posting.of_role else Ending.UPDATED if seen.changed else Ending.UNCHANGED
    posting.data, posting.of_role = seen.data, True
    return Filed(posting.id, ending)


def _write(dialect: Dialect, session: Session, postings: Sequence[_Posting], now: int) -> bool:
    """Records in the order of their keys, then what they are found by. False, and nothing is written, if a
    new one is there already.
    """
    written = [(posting, orjson.dumps(posting.data).decode()) for posting in sorted(postings, key=_key)]
    made = [(posting.id, posting.key, data) for posting, data in written if posting.is_new]
    if insert_rows(
        dialect, session, "records", _RECORD, made, "on conflict (kind, key) do nothing", now=now
    ) < len(made):
        among(dialect, session, _UNMAKE, [row[0] for row in made])
        return False
    if len(made) < len(written):
        known = [(posting.id, data, posting.evidence, now) for posting, data in written if not posting.is_new]
        pour(dialect, session, _UPDATE, _UPDATED, known)
    _mark(dialect, session, postings)
    return True


_key = attrgetter("key")


def _mark(dialect: Dialect, session: Session, postings: Sequence[_Posting]) -> None:
    """The marks that are not yet as the data has them, one name after the other. When it was seen is always
    new.
    """
    insert_rows(
        dialect, session, "marks", _SEEN, [(each.id, each.data["seen_at"]) for each in postings], _REMARK
    )
    stated = [(each.id,) for each in postings if each.marked.get("state") != OPEN]
    insert_rows(dialect, session, "marks", _STATE, stated, _REMARK, state=OPEN)
    told = [(each.id, each.data.get("content"), each.marked.get("content")) for each in postings]
    insert_rows(
        dialect,
        session,
        "marks",
        _CONTENT,
        [(record_id, word) for record_id, word, was in told if word and word != was],
        _REMARK,
    )

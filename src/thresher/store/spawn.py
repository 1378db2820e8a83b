"""Spawn children: check each with the loop guard, then insert or refuse it, in the settling transaction."""

from collections.abc import Iterable, Sequence

import orjson

from thresher.core.event import EventKind
from thresher.core.lineage import Refusal, RefusalRule, refusal
from thresher.core.task import Entry, Parent, TaskInsert
from thresher.store.backend import QueueRules
from thresher.store.events import record_event
from thresher.store.session import Session

# One statement for all keys of 40,000 children took SQLite 13 seconds (it looks each name up among all
# others), and PostgreSQL takes no more than 65,535 values.
KEYS_AT_ONCE = 500
# Refusals of one transaction that are logged. All are stored.
MAX_WARNINGS = 5

_PARENTS = "select id, coalesce(tracking_id, id), depth, ancestry, group_id from tasks where id in (:ids*)"
_KNOWN = """select kind, lineage_key, finished_at is null from tasks
    where tracking_id = :tracking and kind = :kind and lineage_key in (:keys*)"""
_IS_REPORTED = "select 1 from events where kind = 'lineage_deep' and task_id = :root limit 1"
_REFUSE = """insert into refusals (at, parent_id, tracking_id, kind, url, lineage_key, rule, detail)
    values (:at, :parent, :tracking, :kind, :url, :key, :rule, :detail)"""


def due_lanes(inserts: Sequence[TaskInsert]) -> dict[int, int]:
    """The lanes of what is due at once, and the highest priority in each."""
    due: dict[int, int] = {}
    for task_insert in inserts:
        if task_insert.entry.delay_us == 0:
            priority = task_insert.entry.priority
            due[task_insert.lane_id] = max(priority, due.get(task_insert.lane_id, priority))
    return due


class KnownLineage:
    """What is known of one lineage, kept up to date while siblings are admitted."""

    def __init__(self, rows: Iterable[tuple[str, str, bool]]) -> None:
        self._live: set[tuple[str, str]] = set()
        self._ended: set[tuple[str, str]] = set()
        for kind, key, live in rows:
            (self._live if live else self._ended).add((kind, key))

    def has_live(self, kind: str, key: str) -> bool:
        return (kind, key) in self._live

    def has_ended(self, kind: str, key: str) -> bool:
        return (kind, key) in self._ended

    def admit(self, kind: str, key: str | None) -> None:
        if key is not None:
            self._live.add((kind, key))


def read_parents(session: Session, ids: Sequence[int]) -> dict[int, Parent]:
    """The parents as their children will know them."""
    rows = session.rows(_PARENTS, {"ids": ids})
    return {row[0]: Parent(row[0], row[1], row[2], tuple(orjson.loads(row[3])), row[4]) for row in rows}


def known_lineage(session: Session, tracking_id: int, entries: Iterable[Entry]) -> KnownLineage:
    """What the lineage already holds of these entries' keys."""
    wanted: dict[str, set[str]] = {}
    for entry in entries:
        if key := entry.lineage_key:
            wanted.setdefault(entry.kind, set()).add(key)
    # Kind by kind, as the index has them: a lineage may have more tasks than anybody would want to look
    # through.
    rows = (row for kind, keys in wanted.items() for row in _known(session, tracking_id, kind, sorted(keys)))
    return KnownLineage((kind, key, bool(live)) for kind, key, live in rows)


def _known(
    session: Session, tracking_id: int, kind: str, keys: Sequence[str]
) -> Iterable[tuple[str, str, bool]]:
    for at in range(0, len(keys), KEYS_AT_ONCE):
        yield from session.rows(
            _KNOWN, {"tracking": tracking_id, "kind": kind, "keys": keys[at : at + KEYS_AT_ONCE]}
        )


def admit_children(
    session: Session,
    families: Sequence[tuple[Parent, Sequence[tuple[Entry, int]]]],
    rules: QueueRules,
    now: int,
) -> list[TaskInsert]:
    """Check all children of these parents; write the refusals, and which lineages have grown deep; return
    those that may be born, in key order.
    """
    inserts: list[TaskInsert] = []
    lineages: dict[int, KnownLineage] = {}
    for parent, children in families:
        entries = [entry for entry, _ in children]
        lineage = lineages.get(parent.tracking_id)
        if lineage is None:
            wanted = [e for p, c in families if p.tracking_id == parent.tracking_id for e, _ in c]
            lineage = lineages[parent.tracking_id] = known_lineage(session, parent.tracking_id, wanted)
        for entry, lane_id in zip(entries, (lane for _, lane in children), strict=True):
            refused = refusal(parent, entry, lineage, rules.max_depth)
            if refused:
                refuse(session, parent, entry, refused, now)
            else:
                lineage.admit(entry.kind, entry.lineage_key)
                inserts.append(TaskInsert(entry, lane_id, parent))
    _report_deep(session, inserts, rules, now)
    # By key, so that two transactions that bear the same children never wait for each other in a circle.
    return sorted(inserts, key=lambda task_insert: (task_insert.entry.kind, task_insert.entry.key or ""))


def _report_deep(session: Session, inserts: Sequence[TaskInsert], rules: QueueRules, now: int) -> None:
    """Write down which lineages grow deeper than is usual, once for each: it is locked by who writes its
    children. Most have no child as deep, and cost nothing here.
    """
    deep = {
        each.parent.tracking_id: each
        for each in inserts
        if each.parent is not None and each.parent.depth >= rules.alert_depth
    }
    for root, insert in sorted(deep.items()):
        if insert.parent is None or session.rows(_IS_REPORTED, {"root": root}):
            continue
        record_event(
            session,
            EventKind.LINEAGE_DEEP,
            now,
            task_id=root,
            depth=insert.parent.depth + 1,
            limit=rules.max_depth,
            parent=insert.parent.task_id,
            kind=insert.entry.kind,
        )


def refuse(session: Session, parent: Parent, entry: Entry, refused: Refusal, now: int) -> None:
    """Write down that a spawn did not happen, and why. Warn of it, unless a live task elsewhere has the
    key: what was asked for is going to be done, and nobody has made a mistake.
    """
    session.run(
        _REFUSE,
        {
            "at": now,
            "parent": parent.task_id,
            "tracking": parent.tracking_id,
            "kind": entry.kind,
            "url": entry.url,
            "key": entry.lineage_key,
            "rule": str(refused.rule),
            "detail": refused.detail,
        },
    )
    if refused.rule is RefusalRule.DUPLICATE_KEY:
        return
    if len(session.warnings) < MAX_WARNINGS:
        target = " ".join(word for word in (entry.kind, entry.url or entry.key) if word)
        session.warnings.append(
            f"spawn_refused: task {parent.task_id} may not spawn {target}: {refused.detail} ({refused.rule})"
        )
    elif len(session.warnings) == MAX_WARNINGS:
        session.warnings.append("spawn_refused: more of them; see: thresher events --kind spawn_refused")


CANCELLED = Refusal(RefusalRule.CANCELLED, "its parent task was cancelled")
DUPLICATE = Refusal(RefusalRule.DUPLICATE_KEY, "a live task of this kind already has this key")

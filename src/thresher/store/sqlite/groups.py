"""Counting groups on SQLite. The same rules as on PostgreSQL, where they are the function `count_groups`."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import orjson

from thresher.core.event import EventKind
from thresher.core.task import TERMINAL
from thresher.store.backend import GroupChange, QueueRules
from thresher.store.events import record_event
from thresher.store.session import Session, one

COLUMNS = ("live", "open_groups", *sorted(TERMINAL), "refused")

_COUNT = (
    f"update task_groups set {', '.join(f'{name} = {name} + :{name}' for name in COLUMNS)} where id = :id"
)
_GROUP = """select parent_id, opener_id, name, key, failed, follow_up, ended_at is null, live > 0 or open_groups > 0
    from task_groups where id = :id"""
_END = """update task_groups set ended_at = :now, open_key = null, follow_up = null, then_id = coalesce(:made, then_id)
    where id = :id"""
_REOPEN = "update task_groups set ended_at = null where id = :id"
_FOLLOW = """insert into tasks (kind, stage, state, lane_id, due, run_at, rank, priority, tracking_id, parent_id, depth, ancestry, url,
        lineage_key, payload, created_at, group_id)
    values (:kind, :stage, 'pending', :lane_id, 0, :run_at, :rank, :priority, :tracking_id, :parent_id, :depth, :ancestry, :url,
        :lineage_key, :payload, :now, :group_id)
    returning id"""


def count_groups(session: Session, changes: Mapping[GroupChange, int], rules: QueueRules, now: int) -> None:
    """Add these numbers, then end and reopen groups as that says: from the newest to the oldest, because a
    group above is always older.
    """
    left: dict[int, Counter[str]] = {}
    for (group_id, what), number in changes.items():
        left.setdefault(group_id, Counter())[what] += number
    while left:
        group_id = max(left)
        for parent_id, what, number in _count(session, group_id, left.pop(group_id), rules, now):
            left.setdefault(parent_id, Counter())[what] += number


def _count(
    session: Session, group_id: int, change: Counter[str], rules: QueueRules, now: int
) -> list[tuple[int, str, int]]:
    """Count one group. Returns what that means for the group above."""
    change["live"] -= sum(change[state] for state in TERMINAL)
    session.run(_COUNT, {"id": group_id} | {name: change[name] for name in COLUMNS})
    row = one(session, _GROUP, {"id": group_id})
    if row is None:
        return []  # removed, with its history
    parent_id, opener_id, name, key, failed, follow_up, is_open, is_busy = row
    if is_open and not is_busy:
        made = _follow(session, orjson.loads(follow_up), parent_id, rules, now) if follow_up else None
        session.run(_END, {"id": group_id, "now": now, "made": made})
        record_event(
            session,
            EventKind.GROUP_ENDED,
            now,
            task_id=opener_id,
            group=group_id,
            name=name,
            key=key,
            failed=failed,
        )
        return (
            [(parent_id, "open_groups", -1), (parent_id, "live", int(made is not None))] if parent_id else []
        )
    if is_busy and not is_open:
        session.run(_REOPEN, {"id": group_id})
        return [(parent_id, "open_groups", 1)] if parent_id else []
    return []


def _follow(
    session: Session, follow_up: dict[str, Any], group_id: int | None, rules: QueueRules, now: int
) -> int:
    """Make the task that follows a group. It waits for a time that has come, so that the next claim puts it
    into its lane.
    """
    due_at = now + follow_up["delay"]
    given = {
        "run_at": due_at,
        "rank": due_at - follow_up["priority"] * rules.head_start_us,
        "now": now,
        "group_id": group_id,
    }
    return int(session.rows(_FOLLOW, follow_up | given)[0][0])

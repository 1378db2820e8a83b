"""Groups of tasks: opened in the transaction that inserts their first members, and counted in those that
change them.

A group's row is taken after the tasks and before the gates, from the newest group to the oldest. Opening one
inserts a row, and waits at most for somebody who opens, or counts, a group of the same key.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from thresher.core.group import GroupEntry, GroupStatus
from thresher.core.lineage import Refusal, RefusalRule
from thresher.core.page import Verdict
from thresher.core.task import Entry, Parent
from thresher.store.backend import Backend, GroupChange, QueueRules, Settled
from thresher.store.session import Row, Session, one
from thresher.store.spawn import admit_children, refuse

Children = Sequence[tuple[Entry, int]]

OPEN_ELSEWHERE = Refusal(
    RefusalRule.GROUP_OPEN, "a group with this name and key is still open; it must end first"
)

_OPEN = """insert into task_groups (name, key, open_key, app, opener_id, parent_id, follow_up, then_lane, opened_at, subject, since, until)
    values (:name, :key, :open_key, :app, :opener, :parent, :follow_up, :then_lane, :now, :subject, :since, :until)
    on conflict (name, open_key) where open_key is not null do nothing returning id"""
_WITH_KEY = "select id from task_groups where name = :name and open_key = :key"
_MOVE = "update tasks set group_id = :group where id = :id"
_FOLLOWED = "select then_id, id from task_groups where then_id in (:ids*)"
_ADD = """insert into group_counts (group_id, name, number) select g.id, :name, :number from task_groups g where g.id = :group
    on conflict (group_id, name) do update set number = group_counts.number + excluded.number"""
_STOP = "update task_groups set stop_reason = :reason, verdict = :verdict where id = :group"

_OWN = (
    "id",
    "name",
    "key",
    "app",
    "opener_id",
    "parent_id",
    "then_id",
    "opened_at",
    "ended_at",
    "subject",
    "since",
    "until",
    "stop_reason",
    "verdict",
)
_SUMS = ("live", "succeeded", "filtered", "skipped", "failed", "cancelled", "refused")
SELECT = f"select {', '.join(_OWN)} from task_groups g"
# With everything below them. `top` is the group that was asked for.
_BELOW = """with recursive below(top, id) as (select id, id from task_groups where id in (:ids*)
    union all select b.top, g.id from task_groups g join below b on g.parent_id = b.id)"""
_TOTALS = f"""{_BELOW} select b.top, {", ".join(f"sum(g.{name})" for name in _SUMS)}
    from below b join task_groups g on g.id = b.id group by b.top"""
_COUNTS = f"{_BELOW} select b.top, c.name, sum(c.number) from below b join group_counts c on c.group_id = b.id group by b.top, c.name"
# A group may have a million tasks, and few of them asked a model. All members belong to the lineage of its
# opener, so the paid calls of that lineage are read, and not the tasks. Where the opener is gone, a member
# knows the lineage.
_COSTS = f"""{_BELOW}, opened(top, root) as (select g.id, coalesce(
        (select coalesce(o.tracking_id, o.id) from tasks o where o.id = g.opener_id),
        (select min(m.tracking_id) from (select t.tracking_id from tasks t where t.group_id = g.id limit 1) m), g.opener_id)
        from task_groups g where g.id in (:too*))
    select b.top, sum(coalesce(s.spent, 0)) from opened p join spendings s on s.tracking_id = p.root
    join tasks t on t.id = s.task_id join below b on b.id = t.group_id and b.top = p.top group by b.top"""
# Not those that were asked to stop already.
_LIVE_MEMBERS = f"""{_BELOW} select t.id from tasks t where t.group_id in (select id from below) and t.finished_at is null
    and (t.cancelling = 0 or t.state <> 'running') and t.id > :after order by t.id limit :most"""
_FILTERS = {
    "before": "g.id < :before",
    "app": "g.app = :app",
    "name": "g.name = :name",
    "key": "g.key = :key",
    "parent_id": "g.parent_id = :parent_id",
    "runs": "g.subject is not null",
    "running": "g.ended_at is null",
}
_OF_TASK = """select coalesce((select g.id from task_groups g where g.then_id = :id),
    (select t.group_id from tasks t where t.id = :id_too))"""
_RUNNING = "select count(*) from task_groups where ended_at is null and subject is not null"


def find(session: Session, *, limit: int = 50, **filters: Any) -> list[GroupStatus]:
    """Groups that match, the newest first. `runs` and `running` are True or None; what is None does not
    filter.
    """
    where, given = matching(**filters)
    return statuses(
        session, session.rows(f"{SELECT}{where} order by g.id desc limit :limit", given | {"limit": limit})
    )


def matching(**filters: Any) -> tuple[str, dict[str, Any]]:
    """A `where` over groups g, and its values."""
    given = {name: value for name, value in filters.items() if value is not None}
    clauses = [_FILTERS[name] for name in given]
    return (f" where {' and '.join(clauses)}" if clauses else ""), given


def get(session: Session, group_id: int) -> GroupStatus | None:
    """One group, with what is in the groups below it."""
    rows = session.rows(f"{SELECT} where g.id = :id", {"id": group_id})
    return next(iter(statuses(session, rows)), None)


def group_of(session: Session, task_id: int) -> GroupStatus | None:
    """The group that a task follows, or else belongs to."""
    row = one(session, _OF_TASK, {"id": task_id, "id_too": task_id})
    return get(session, row[0]) if row and row[0] is not None else None


def members_to_cancel(session: Session, group_id: int, *, after: int, limit: int) -> list[int]:
    """Return live tasks of a group and of the groups below it, by id, that were not asked to stop yet.
    `after` is the id to go on from.
    """
    given = {"ids": [group_id], "after": after, "most": limit}
    return [int(row[0]) for row in session.rows(_LIVE_MEMBERS, given)]


def running_runs(session: Session) -> int:
    """How many runs have not ended."""
    return int(session.rows(_RUNNING)[0][0])


def statuses(session: Session, rows: Sequence[Row]) -> list[GroupStatus]:
    """These rows of groups, each with what is in the groups below it."""
    own = [dict(zip(_OWN, row, strict=True)) for row in rows]
    ids = [each["id"] for each in own]
    if not ids:
        return []
    sums = session.rows(_TOTALS, {"ids": ids})
    totals: dict[int, dict[str, Any]] = {
        row[0]: dict(zip(_SUMS, map(int, row[1:]), strict=True)) for row in sums
    }
    costs = {top: int(cost) for top, cost in session.rows(_COSTS, {"ids": ids, "too": ids})}
    counts: dict[int, dict[str, int]] = {}
    for top, name, number in session.rows(_COUNTS, {"ids": ids}):
        counts.setdefault(top, {})[name] = int(number)
    for each in own:
        each["verdict"] = Verdict(each["verdict"]) if each["verdict"] else None
    return [
        GroupStatus(
            **each,
            **totals[each["id"]],
            cost=costs.get(each["id"], 0),
            counts=dict(sorted(counts.get(each["id"], {}).items())),
        )
        for each in own
    ]


@dataclass(slots=True)
class GroupTally:
    """What one settling transaction does to groups, gathered until all of it is known and the rows are taken
    once.
    """

    changes: Counter[GroupChange]
    speaks_for: dict[int, int] = field(default_factory=dict)  # task to the group it opened
    refused: set[int] = field(default_factory=set)  # tasks that wanted to open a group that is open elsewhere

    def open(
        self,
        session: Session,
        hit: Settled,
        parent: Parent,
        then_lane: int | None,
        rules: QueueRules,
        now: int,
    ) -> Parent:
        """Open the group that a settlement asks for. Returns the parent as its children will know it."""
        entry, task_id = hit.settlement.group, hit.settlement.task_id
        if entry is None:
            return parent
        follow_up = _follow_up(session, entry, parent, then_lane, rules, now)
        group_id, is_new = _open(session, entry, parent, follow_up, then_lane, now)
        if group_id is None:
            self.refused.add(task_id)
            return parent
        if is_new:
            self.changes[group_id, "live"] += 0  # an empty group ends at once
            if parent.group_id:
                self.changes[parent.group_id, "open_groups"] += 1
            if hit.ended_as is None:  # the opener goes on, as a member
                session.run(_MOVE, {"group": group_id, "id": task_id})
                self.changes[group_id, "live"] += 1
                if parent.group_id:
                    self.changes[parent.group_id, "live"] -= 1
        self.speaks_for[task_id] = group_id
        return replace(parent, group_id=group_id)

    def refuse(self, session: Session, hit: Settled, parent: Parent, children: Children, now: int) -> None:
        """Write down that a whole group was refused."""
        then = hit.settlement.group.then if hit.settlement.group else None
        for entry in (*(entry for entry, _ in children), *((then,) if then else ())):
            refuse(session, parent, entry, OPEN_ELSEWHERE, now)
        self.spawned(parent, children, 0)

    def spawned(self, parent: Parent, children: Sequence[tuple[Entry, object]], born: int) -> None:
        """Count the children of one parent: those that were born, and those that were refused."""
        if parent.group_id is not None:
            wanted = sum(not entry.detached for entry, _ in children)
            self.changes[parent.group_id, "live"] += born
            self.changes[parent.group_id, "refused"] += wanted - born

    def save(
        self,
        backend: Backend,
        session: Session,
        hits: Sequence[Settled],
        counted: Mapping[int, Mapping[str, int]],
        rules: QueueRules,
        now: int,
    ) -> None:
        """Count the groups, and write what members say about theirs. `counted` is what the effects of each
        task have counted.
        """
        speakers = _speakers(session, hits, counted, self)
        for _, group_id in speakers:
            self.changes[group_id, "live"] += 0  # so that all rows are taken in one order
        if not self.changes:
            return
        backend.count_groups(session, self.changes, rules, now)
        counts: Counter[tuple[int, str]] = Counter()
        for hit, group_id in speakers:
            for name, number in (*hit.settlement.counts, *counted.get(hit.settlement.task_id, {}).items()):
                counts[-group_id, name] += number
            if stop := hit.settlement.stop:
                session.run(_STOP, {"group": group_id, "reason": stop.reason, "verdict": stop.verdict})
        for (group_id, name), number in sorted(counts.items()):
            session.run(_ADD, {"group": -group_id, "name": name, "number": number})


def _follow_up(
    session: Session, entry: GroupEntry, parent: Parent, lane_id: int | None, rules: QueueRules, now: int
) -> str | None:
    """The task that follows, as the row it will be. It passes the loop guard now, as a child of the task that
    opens the group.
    """
    if entry.then is None or lane_id is None:
        return None
    inserts = admit_children(session, [(parent, [(entry.then, lane_id)])], rules, now)
    return orjson.dumps(inserts[0].fields).decode() if inserts else None


def _open(
    session: Session,
    entry: GroupEntry,
    parent: Parent,
    follow_up: str | None,
    then_lane: int | None,
    now: int,
) -> tuple[int | None, bool]:
    """The id of the group, and whether it is new; None where another task holds a group of this key open."""
    values = {
        "name": entry.name,
        "key": entry.key,
        "open_key": entry.key,
        "app": entry.app,
        "opener": parent.task_id,
        "parent": parent.group_id,
        "follow_up": follow_up,
        "then_lane": then_lane,
        "now": now,
        "subject": entry.subject,
        "since": entry.since,
        "until": entry.until,
    }
    while True:
        made = session.rows(_OPEN, values)
        if made:
            return int(made[0][0]), True
        row = one(session, _WITH_KEY, {"name": entry.name, "key": entry.key})
        if row is not None:  # else it ended a moment ago
            return (int(row[0]), False) if row[0] == parent.group_id else (None, False)


def _speakers(
    session: Session, hits: Sequence[Settled], counted: Mapping[int, Mapping[str, int]], tally: GroupTally
) -> list[tuple[Settled, int]]:
    """Who has something to say about which group: the task that follows one about that, others about the one
    they open or are in.
    """
    speaking = [
        hit
        for hit in hits
        if (hit.settlement.counts or hit.settlement.stop or counted.get(hit.settlement.task_id))
        and not hit.cancelled
        and hit.settlement.task_id not in tally.refused
    ]
    if not speaking:
        return []
    followed: dict[int, int] = dict(
        session.rows(_FOLLOWED, {"ids": [hit.settlement.task_id for hit in speaking]})
    )
    groups = tally.speaks_for | followed
    found = ((hit, groups.get(hit.settlement.task_id, hit.group_id)) for hit in speaking)
    return [(hit, group_id) for hit, group_id in found if group_id is not None]

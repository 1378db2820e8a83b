"""Turns of a role: the platforms where it is still to be searched, and from when on.

A turn waits only while its role can be claimed, so everything in the waiting index can be claimed. While a
session holds the role, its other turns are *parked* (later, and never due); the end of the session restores
them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from thresher.apps.roles.turns import Pace, Verdict, after_look
from thresher.core.clock import FOREVER
from thresher.store.session import Session

ANYWHERE = ""  # the one platform of those who have none
OPEN_STATUSES = ("pending", "processing", "completed")  # whose roles have turns

_NAMES = "select name from platforms order by name"
_ADD = """insert into role_turns (role_id, platform, state, rank) values (:role, :platform, 'waiting', :rank)
    on conflict (role_id, platform) do nothing"""
_DROP = "delete from role_turns where role_id = :role"
_RANK = "update role_turns set rank = :rank where role_id = :role and rank <> :rank"
# What follows finds turns by their role, and must not find them by their state, however empty the table looks
# to the planner: `coalesce` keeps the indexes by state out of it.
_WAITING = "select platform from role_turns where role_id = :role and coalesce(state, '') = 'waiting'"
_TAKE = "update role_turns set state = 'held', looked_at = :now where role_id = :role and platform in (:platforms*)"
_PARK = "update role_turns set state = 'later', due_at = :never where role_id = :role and coalesce(state, '') = 'waiting'"
_FREE = """update role_turns set state = 'waiting', due_at = :now
    where role_id = :role and coalesce(state, '') = 'later' and (due_at <= :now or due_at = :never)"""
_HELD = """select t.platform, t.failures, t.looked_at, coalesce(p.every_us, 0)
    from role_turns t left join platforms p on p.name = t.platform
    where t.role_id = :role and coalesce(t.state, '') = 'held' order by t.platform"""
_END = """update role_turns set state = :state, due_at = :due, failures = :failures, verdict = :verdict
    where role_id = :role and platform = :platform"""
_AGAIN = """update role_turns set state = case when due_at > :now then 'later' else 'waiting' end
    where role_id = :role and state = 'done' and coalesce(looked_at, 0) < :before"""
_LEFT = "select 1 from role_turns where role_id = :role and coalesce(state, '') <> 'done' limit 1"
_WAKE = """update role_turns set state = :state, due_at = :due
    where role_id = :role and platform = :platform and coalesce(state, '') = 'later'"""
# And these two by their state alone.
_DUE = "select role_id, platform from role_turns where state = 'later' and due_at <= :now order by due_at, role_id limit :limit"
_NEXT = (
    "select due_at from role_turns where state = 'later' and due_at < :never order by due_at, role_id limit 1"
)
_STATUSES = "select id, status from roles where id in (:ids*) order by id"


@dataclass(frozen=True, slots=True)
class Held:
    """A turn that a session holds."""

    platform: str
    failures: int
    looked_at: int
    every_us: int


def open_turns(session: Session, role_id: int, rank: int) -> None:
    """Give a role its turns, all of them waiting."""
    names = [name for (name,) in session.rows(_NAMES)] or [ANYWHERE]
    session.many(_ADD, [{"role": role_id, "platform": name, "rank": rank} for name in names])


def drop_turns(session: Session, role_id: int) -> None:
    session.run(_DROP, {"role": role_id})


def rank_turns(session: Session, role_id: int, rank: int) -> None:
    session.run(_RANK, {"role": role_id, "rank": rank})


def waiting_turns(session: Session, role_id: int) -> list[str]:
    """The platforms where the role waits."""
    return [name for (name,) in session.rows(_WAITING, {"role": role_id})]


def take_turns(
    session: Session, role_id: int, platforms: Sequence[str], now: int, *, all_of_them: bool
) -> None:
    """Hand these turns to a session, and park the others."""
    session.run(_TAKE, {"role": role_id, "platforms": platforms, "now": now})
    if not all_of_them:
        session.run(_PARK, {"role": role_id, "never": FOREVER})


def held_turns(session: Session, role_id: int) -> list[Held]:
    """What the session that has the role has not answered yet."""
    return [Held(*row) for row in session.rows(_HELD, {"role": role_id})]


def end_turns(session: Session, role_id: int, verdicts: Mapping[Held, Verdict], now: int, pace: Pace) -> None:
    """Each of these looks has ended. What goes back is parked at first: its role may still be held."""
    changes = []
    for held, verdict in verdicts.items():
        ended = after_look(verdict, held.failures, held.looked_at, held.every_us, now, pace)
        due = FOREVER if not ended.done and ended.due_at <= now else ended.due_at
        changes.append(
            {
                "role": role_id,
                "platform": held.platform,
                "state": "done" if ended.done else "later",
                "due": due,
                "failures": ended.failures,
                "verdict": verdict.value,
            }
        )
    session.many(_END, changes)


def free_turns(session: Session, role_id: int, now: int) -> bool:
    """The role is held no more: what was parked waits again. Whether any turn is left."""
    session.run(_FREE, {"role": role_id, "never": FOREVER, "now": now})
    return bool(session.rows(_LEFT, {"role": role_id}))


def repeat_turns(session: Session, role_id: int, now: int, before: int = FOREVER) -> None:
    """What was done, by looks that began before a time, is to be done again, from when it is due on."""
    session.run(_AGAIN, {"role": role_id, "now": now, "before": before})


def wake_turns(session: Session, now: int, limit: int, lock: str = "") -> int:
    """Let turns wait whose time has come. `lock` holds their roles: whether one can be had must stay true."""
    due = session.rows(_DUE, {"now": now, "limit": limit})
    if not due:
        return 0
    statuses = {
        row[0]: row[1]
        for row in session.rows(_STATUSES + lock, {"ids": sorted({role_id for role_id, _ in due})})
    }
    changes = [
        {"role": role_id, "platform": platform, "state": "waiting", "due": now}
        if statuses.get(role_id) == "pending"
        else {"role": role_id, "platform": platform, "state": "later", "due": FOREVER}
        for role_id, platform in due
    ]
    session.many(_WAKE, changes)
    return len(changes)


def next_due(session: Session) -> int | None:
    """When the next turn has its time."""
    found = session.rows(_NEXT, {"never": FOREVER})
    return int(found[0][0]) if found else None

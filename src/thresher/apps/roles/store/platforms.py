"""Platforms as rows: add, change, pause and remove them, with the turns of every role."""

from thresher.apps.roles.store.rows import Platform, find_platform, list_platforms
from thresher.apps.roles.store.turns import ANYWHERE
from thresher.core.clock import FOREVER
from thresher.core.errors import UsageError
from thresher.store.session import Session

__all__ = [
    "Platform",
    "find_platform",
    "list_platforms",
    "pause_platform",
    "remove_platform",
    "resume_platform",
    "save_platform",
]

BY_HAND = "person"  # the tag of a pause that a person made
MAX_NAME = 80

_INSERT = """insert into platforms (name, every_us, per_minute, in_flight, created_at)
    values (:name, :every_us, :per_minute, :in_flight, :now) on conflict (name) do nothing"""
_UPDATE = "update platforms set every_us = :every_us, per_minute = :per_minute, in_flight = :in_flight where name = :name"
_OTHERS = "select count(*) from platforms where name <> :name"
# The first platform takes over what was to be looked for anywhere, and the last one gives it back.
_RENAME = "update role_turns set platform = :new where platform = :old"
# A role under way has its new turn parked; one that is completed comes to it in its next round.
_ADD_TURNS = """insert into role_turns (role_id, platform, state, rank, due_at)
    select id, :name, case status when 'pending' then 'waiting' when 'processing' then 'later' else 'done' end, rank,
        case status when 'processing' then :never else 0 end
    from roles where status in ('pending', 'processing', 'completed') on conflict (role_id, platform) do nothing"""
_CADENCE = "update role_turns set due_at = looked_at + :every_us where platform = :name and state = 'done' and looked_at is not null"
_DROP_TURNS = "delete from role_turns where platform = :name"
_REMOVE = "delete from platforms where name = :name"
_NOTHING_LEFT = """update roles set status = 'completed', scraped_at = coalesce(scraped_at, :now) where status = 'pending'
    and not exists (select 1 from role_turns t where t.role_id = roles.id and t.state in ('waiting', 'later'))"""
_PAUSE = "update platforms set paused_until = :until, paused_tag = :tag, paused_reason = :reason where name = :name"
_RESUME = "update platforms set paused_until = 0, paused_tag = null, paused_reason = null, failures = 0 where name = :name"


def save_platform(session: Session, platform: Platform, now: int) -> bool:
    """Add a platform, or change how often and how many look there; True if it is new. How it goes there is
    left alone.
    """
    _check(platform)
    values = {
        "name": platform.name,
        "every_us": platform.every_us,
        "per_minute": platform.per_minute,
        "in_flight": platform.in_flight,
    }
    new = session.run(_INSERT, values | {"now": now}) > 0
    if not new:
        session.run(_UPDATE, values)
    elif session.rows(_OTHERS, {"name": platform.name})[0][0]:
        session.run(_ADD_TURNS, {"name": platform.name, "never": FOREVER})
    else:
        session.run(_RENAME, {"old": ANYWHERE, "new": platform.name})
    session.run(_CADENCE, {"name": platform.name, "every_us": platform.every_us})
    return new


def remove_platform(session: Session, name: str, now: int) -> bool:
    """Look there no more; False if there is no such platform. A role that waited for nothing else is
    completed.
    """
    if not session.run(_REMOVE, {"name": name}):
        return False
    if session.rows(_OTHERS, {"name": name})[0][0]:
        session.run(_DROP_TURNS, {"name": name})
        session.run(_NOTHING_LEFT, {"now": now})
    else:
        session.run(_RENAME, {"old": name, "new": ANYWHERE})
        session.run(_CADENCE, {"name": ANYWHERE, "every_us": 0})
    return True


def pause_platform(
    session: Session, name: str, until: int = FOREVER, reason: str | None = None, tag: str = BY_HAND
) -> bool:
    """Let nobody start there until a time, or until it is resumed; False if there is no such platform."""
    return session.run(_PAUSE, {"name": name, "until": until, "tag": tag, "reason": reason}) > 0


def resume_platform(session: Session, name: str) -> bool:
    """Open it again, whoever paused it; False if there is no such platform."""
    return session.run(_RESUME, {"name": name}) > 0


def _check(platform: Platform) -> None:
    name = platform.name
    if (
        not name
        or len(name) > MAX_NAME
        or not name.isprintable()
        or any(char.isspace() or char in ",/" for char in name)
    ):
        raise UsageError(
            f"a platform's name must have 1 to {MAX_NAME} characters, without spaces, commas or "
            f"slashes; got {name[:MAX_NAME]!r}"
        )
    for what, value, low in (
        ("every", platform.every_us, 0),
        ("per-minute", platform.per_minute, 1),
        ("in-flight", platform.in_flight, 1),
    ):
        if value is not None and value < low:
            raise UsageError(f"{what} of the platform {name} must be at least {low}, got {value}")

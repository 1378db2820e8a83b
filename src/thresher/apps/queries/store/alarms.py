"""The rows of alarms: effects that raise, clear and tell them, and reads that list them."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from thresher.apps.queries.alarms import (
    MAX_MESSAGE,
    MAX_NAME,
    MAX_SUBJECT,
    Alarm,
    AlarmRules,
    due_notice,
)
from thresher.apps.queries.outputs.hours import Hours
from thresher.core.clock import HOUR
from thresher.core.limits import without_controls
from thresher.store.session import Row, Session, one

MAX_LISTED = 1_000

_COLUMNS = (
    "id, name, subject, message, raised_at, last_at, times, told_at, told_message, cleared_at, clear_told"
)
_RAISE = """insert into query_alarms (name, subject, message, raised_at, last_at)
    values (:name, :subject, :message, :now, :now)
    on conflict (name, subject) where cleared_at = 0
    do update set message = excluded.message, last_at = excluded.last_at, times = query_alarms.times + 1"""
# What nobody was told of need not be taken back.
_CLEAR = """update query_alarms set cleared_at = :now, clear_told = case when told_at = 0 then 1 else 0 end
    where name = :name and subject = :subject and cleared_at = 0"""
_CURRENT = f"""select {_COLUMNS} from query_alarms where cleared_at = 0 or clear_told = 0
    order by raised_at, id limit :limit"""
_LIST = (
    f"select {_COLUMNS} from query_alarms order by cleared_at = 0 desc, last_at desc, id desc limit :limit"
)
_OPEN = f"select {_COLUMNS} from query_alarms where cleared_at = 0 order by raised_at, id limit :limit"
_AFTER = f"""select {_COLUMNS} from query_alarms where id > :after and (cleared_at = 0 or :only_open = 0)
    order by id limit :limit"""
_ONE = f"select {_COLUMNS} from query_alarms where id = :id"
_OPEN_OF = "select name, subject from query_alarms where cleared_at = 0 and name in (:names*)"
_TOLD = "update query_alarms set told_at = :now, told_message = :message where id = :id"
_CLEAR_TOLD = "update query_alarms set clear_told = 1 where id = :id"
_DAY = "select told_day from alarm_digests where id = 1"
_SET_DAY = """insert into alarm_digests (id, told_day) values (1, :day)
    on conflict (id) do update set told_day = excluded.told_day"""


def raise_alarm(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Raise an alarm, or count it again: an effect. `data` has name, subject and message."""
    message = " ".join(without_controls(str(data["message"])).split())[:MAX_MESSAGE]
    session.run(_RAISE, {**_identity(data), "message": message, "now": now})


def clear_alarm(session: Session, data: Mapping[str, Any], now: int) -> None:
    """The cause of an alarm is gone: an effect. Harmless where there is none."""
    session.run(_CLEAR, {**_identity(data), "now": now})


def replace_alarms(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Raise these alarms and clear all others of these names: an effect, after a look that saw all."""
    wanted = {(each["name"], str(each["subject"])[:MAX_SUBJECT]) for each in data["alarms"]}
    for name, subject in session.rows(_OPEN_OF, {"names": list(data["names"])}):
        if (name, subject) not in wanted:
            clear_alarm(session, {"name": name, "subject": subject}, now)
    for each in data["alarms"]:
        raise_alarm(session, each, now)


def _identity(data: Mapping[str, Any]) -> dict[str, str]:
    return {"name": str(data["name"])[:MAX_NAME], "subject": str(data["subject"])[:MAX_SUBJECT]}


def alarms_due(session: Session, data: Mapping[str, Any], now: int) -> Any:
    """The message that is due, and what to store once it was sent (`told`); None for nothing: a read.

    `data` has the rules: repeat (hours), quiet_from, quiet_to and digest (hours of the day), timezone.
    """
    told_day = one(session, _DAY)
    current = [_alarm(row) for row in session.rows(_CURRENT, {"limit": MAX_LISTED})]
    notice = due_notice(current, now, _rules(data), told_day[0] if told_day else "")
    if notice is None:
        return None
    told = {
        "alarms": [{"id": each.id, "message": each.message} for each in notice.told],
        "cleared": [each.id for each in notice.cleared],
        "day": notice.day,
    }
    return {"title": notice.title, "body": notice.body, "told": told}


def _rules(data: Mapping[str, Any]) -> AlarmRules:
    quiet = Hours(round(data["quiet_from"] * 60), round(data["quiet_to"] * 60), str(data["timezone"]))
    return AlarmRules(round(data["repeat"] * HOUR), quiet, float(data["digest"]))


def mark_told(session: Session, data: Mapping[str, Any], now: int) -> None:
    """A message was sent: an effect. `data` is what `alarms_due` said."""
    for each in data["alarms"]:
        session.run(_TOLD, {"id": each["id"], "message": each["message"], "now": now})
    for cleared in data["cleared"]:
        session.run(_CLEAR_TOLD, {"id": cleared})
    if data.get("day"):
        session.run(_SET_DAY, {"day": data["day"]})


def list_alarms(session: Session, *, only_open: bool = False, limit: int = 100) -> list[Alarm]:
    """Alarms for a person: the open ones first, else the latest first."""
    return [
        _alarm(row) for row in session.rows(_OPEN if only_open else _LIST, {"limit": min(limit, MAX_LISTED)})
    ]


def alarms_after(session: Session, after: int, *, only_open: bool, limit: int) -> list[Alarm]:
    """Alarms in the order in which they were raised, from the one behind an id on."""
    given = {"after": after, "only_open": int(only_open), "limit": limit}
    return [_alarm(row) for row in session.rows(_AFTER, given)]


def find_alarm(session: Session, alarm_id: int) -> Alarm | None:
    """One alarm, open or not."""
    row = one(session, _ONE, {"id": alarm_id})
    return _alarm(row) if row else None


def alarms(session: Session, data: Mapping[str, Any], now: int) -> Any:  # noqa: ARG001
    """Open alarms as JSON: a read."""
    return [asdict(each) for each in list_alarms(session, only_open=True, limit=int(data.get("limit", 100)))]


def _alarm(row: Row) -> Alarm:
    found = dict(zip(_COLUMNS.split(", "), row, strict=True))
    return Alarm(**{**found, "clear_told": bool(found["clear_told"])})

"""`price_alerts`: what people want to be told of, what has fired, and what was told."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from thresher.apps.prices.alerting import Alert, AlertChange, AlertKind, DueAlert
from thresher.apps.prices.model import Origin
from thresher.store.events import record_event
from thresher.store.session import Row, Session, one

EVENT = "price_alert"

_COLUMNS = """id, item_id, kind, threshold, armed, basis, times, fired_at, told_at, told,
    case when due is null then 0 else 1 end, created_at, origin"""
_SELECT = f"select {_COLUMNS} from price_alerts where removed_at = 0"
_LIST = f"{_SELECT} and id > :after order by id limit :limit"
_OF_ITEM = f"{_SELECT} and item_id = :item order by id"
_ONE = f"{_SELECT} and id = :id"
_SAME = """select id from price_alerts where item_id = :item and kind = :kind and threshold = :threshold
    and removed_at = 0"""
_ADD = """insert into price_alerts (item_id, kind, threshold, basis, created_at)
    values (:item, :kind, :threshold, :basis, :now) returning id"""
_REMOVE = "update price_alerts set removed_at = :now, due = null where id = :id and removed_at = 0"
# Only what was judged: of two valuations at once, one finds the alert as it saw it.
_CHANGE = """update price_alerts set armed = :armed, basis = :basis where id = :id and removed_at = 0
    and times = :times and armed = :was_armed and coalesce(basis, -1) = coalesce(:was_basis, -1)"""
_FIRE = "update price_alerts set times = times + 1, fired_at = :now, due = :due where id = :id"
_DUE = """select id, times, due from price_alerts where due is not null and removed_at = 0
    order by fired_at, id limit 1"""
_TOLD = """update price_alerts set told = :told, told_at = :now, due = null
    where id = :id and times = :times and due is not null"""
_WAITING = """select count(*), min(fired_at) from price_alerts
    where due is not null and removed_at = 0 and fired_at < :before"""


def list_alerts(session: Session, *, after: int = 0, limit: int = 1_000) -> list[Alert]:
    """All alerts by id, those above `after`."""
    return [_alert(row) for row in session.rows(_LIST, {"after": after, "limit": limit})]


def alerts_of(session: Session, item: int) -> list[Alert]:
    """The alerts of an item."""
    return [_alert(row) for row in session.rows(_OF_ITEM, {"item": item})]


def find_alert(session: Session, alert: int) -> Alert | None:
    """The alert of this id, unless it was removed."""
    row = one(session, _ONE, {"id": alert})
    return None if row is None else _alert(row)


def add_alert(
    session: Session, item: int, kind: AlertKind, threshold: int, basis: int | None, now: int
) -> int:
    """Add an alert and return its id; one that asks for the same is kept as it is."""
    asked = {"item": item, "kind": kind.value, "threshold": threshold}
    row = one(session, _SAME, asked) or one(session, _ADD, {**asked, "basis": basis, "now": now})
    assert row is not None
    return int(row[0])


def remove_alert(session: Session, alert: int, now: int) -> bool:
    """Remove an alert, and what it has to say; False if it was removed."""
    return session.run(_REMOVE, {"id": alert, "now": now}) > 0


def change_alerts(
    session: Session, changes: Sequence[AlertChange], item: str, currency: str, now: int
) -> int:
    """Write what becomes of alerts, and an event for each that fires; how many did."""
    fired = 0
    for each in changes:
        if _change(session, each) and each.notice is not None:
            _fire(session, each, item, currency, now)
            fired += 1
    return fired


def _change(session: Session, change: AlertChange) -> bool:
    alert = change.alert
    values = {
        "id": alert.id,
        "armed": int(change.armed),
        "basis": change.basis,
        "times": alert.times,
        "was_armed": int(alert.armed),
        "was_basis": alert.basis,
    }
    return session.run(_CHANGE, values) > 0


def _fire(session: Session, change: AlertChange, item: str, currency: str, now: int) -> None:
    alert, notice = change.alert, change.notice
    assert notice is not None
    due = orjson.dumps({"title": notice.title, "body": notice.body}).decode()
    session.run(_FIRE, {"id": alert.id, "due": due, "now": now})
    detail: dict[str, Any] = {
        "alert": alert.id,
        "item": alert.item_id,
        "name": item,
        "what": alert.kind.value,
        "threshold": alert.threshold,
        "old": notice.old,
        "new": notice.new,
        "currency": currency,
        "told": notice.title,
    }
    record_event(session, EVENT, now, **detail)


def due_alert(session: Session, data: Mapping[str, Any], now: int) -> DueAlert | None:  # noqa: ARG001  every read is given both
    """Read: the message that has waited longest."""
    row = one(session, _DUE)
    if row is None:
        return None
    alert, times, due = row
    said = orjson.loads(due)
    return DueAlert(alert, times, said["title"], said["body"])


def mark_told(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:
    """Effect: a message was sent. One that has been replaced meanwhile waits on."""
    told = session.run(_TOLD, {"id": data["id"], "times": data["times"], "told": data["title"], "now": now})
    return {"price_alerts_told": told} if told else {}


def untold_alerts(session: Session, before: int) -> tuple[int, int]:
    """How many messages have waited since before then, and when the first of them was to be told."""
    row = one(session, _WAITING, {"before": before})
    assert row is not None
    return int(row[0]), int(row[1] or 0)


def _alert(row: Row) -> Alert:
    (
        number,
        item,
        kind,
        threshold,
        armed,
        basis,
        times,
        fired_at,
        told_at,
        told,
        is_due,
        created_at,
        origin,
    ) = row
    return Alert(
        number,
        item,
        AlertKind(kind),
        threshold,
        bool(armed),
        basis,
        times,
        fired_at,
        told_at,
        told,
        bool(is_due),
        created_at,
        Origin(origin),
    )

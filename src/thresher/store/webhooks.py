"""Webhooks as they are kept, and the events that are still to be handed to them.

A secret signs, so it is kept as it is and not as a hash. It is read in two places only: where it is made, and
where a delivery is signed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from thresher.core.gate import GateLimits
from thresher.core.webhook import GATE, SignedEndpoint, Webhook, source_of
from thresher.store.session import Row, Session, one
from thresher.store.sources import add_source_within

_COLUMNS = ("id", "name", "url", "host", "events", "made_by", "created_at", "old_until")
_SELECT = f"select {', '.join(_COLUMNS)} from webhooks"
_ADD = """insert into webhooks (name, url, host, events, secret, made_by, created_at)
    values (:name, :url, :host, :events, :secret, :made_by, :now) on conflict (name) do nothing"""
_ROTATE = (
    """update webhooks set old_secret = secret, old_until = :until, secret = :secret where name = :name"""
)
_ENDPOINT = """select w.url, w.host, w.secret, case when w.old_until > :now then w.old_secret end, g.last_success
    from webhooks w left join gates g on g.name = :gate where w.name = :name"""
_TO_FORWARD = "select id from events where forwarded_at is null order by id limit :most"
_EVENTS = """select e.id, e.at, e.kind, e.task_id, g.name, e.detail from events e left join gates g on g.id = e.gate_id
    where e.id in (:ids*) order by e.id"""
_MESSAGES = "select id, payload, claim from tasks where id in (:ids*)"
_FORWARDED = "update events set forwarded_at = :now where id in (:ids*)"


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event that nobody has been told of yet."""

    id: int
    at: int
    kind: str
    task_id: int | None
    gate: str | None
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NewWebhook:
    """A webhook to be."""

    name: str
    url: str
    host: str
    events: Sequence[str]
    made_by: str | None


def add(session: Session, new: NewWebhook, secret: str, limits: GateLimits, now: int) -> bool:
    """Keep a webhook and make its gate; False if the name is taken."""
    values = {
        "name": new.name,
        "url": new.url,
        "host": new.host,
        "events": " ".join(new.events),
        "secret": secret,
        "made_by": new.made_by,
        "now": now,
    }
    if not session.run(_ADD, values):
        return False
    add_source_within(session, source_of(new.name), limits, None, now)
    return True


def remove(session: Session, name: str) -> bool:
    """Forget a webhook with its secrets. Its gate stays while tasks pass through it, and is no source."""
    session.run("delete from sources where name = :source", {"source": source_of(name)})
    return session.run("delete from webhooks where name = :name", {"name": name}) > 0


def rotate(session: Session, name: str, secret: str, until: int) -> None:
    """Sign with a new secret, and until then with the one before, too."""
    session.run(_ROTATE, {"name": name, "secret": secret, "until": until})


def find(session: Session, name: str) -> Webhook | None:
    """The webhook of that name."""
    found = one(session, f"{_SELECT} where name = :name", {"name": name})
    return _webhook(found) if found else None


def list_all(session: Session) -> list[Webhook]:
    """Every webhook, by name."""
    return [_webhook(row) for row in session.rows(f"{_SELECT} order by name")]


def endpoint(session: Session, data: Mapping[str, Any], now: int) -> SignedEndpoint | None:
    """Where a delivery goes and what signs it; None if the webhook was removed."""
    found = one(session, _ENDPOINT, {"name": data["name"], "gate": GATE + data["name"], "now": now})
    if found is None:
        return None
    url, host, secret, old, last_success = found
    return SignedEndpoint(url, host, (secret, old) if old else (secret,), last_success)


def has_news(session: Session) -> bool:
    """Whether there is a webhook, and an event that was not forwarded."""
    return bool(session.rows("select 1 from webhooks limit 1")) and bool(
        session.rows(_TO_FORWARD, {"most": 1})
    )


def take_events(session: Session, most: int) -> list[EventRow]:
    """The oldest events that were not forwarded. They are locked until this transaction ends; those that
    another worker forwards at this moment are left to it.
    """
    ids = [row[0] for row in session.rows(_TO_FORWARD + session.dialect.skip, {"most": most})]
    rows = session.rows(_EVENTS, {"ids": ids}) if ids else []
    return [
        EventRow(event_id, at, kind, task_id, gate, orjson.loads(detail))
        for event_id, at, kind, task_id, gate, detail in rows
    ]


def mark_forwarded(session: Session, ids: Sequence[int], now: int) -> None:
    """In the transaction that enqueues the deliveries: so each event is forwarded once, and none is lost."""
    session.run(_FORWARDED, {"ids": ids, "now": now})


def messages(session: Session, ids: Sequence[int]) -> dict[int, tuple[Mapping[str, Any], int]]:
    """What these deliveries send, and how often each was begun, by their ids."""
    rows = session.rows(_MESSAGES, {"ids": ids}) if ids else []
    return {task_id: (orjson.loads(payload).get("message", {}), claim) for task_id, payload, claim in rows}


def _webhook(row: Row) -> Webhook:
    said = dict(zip(_COLUMNS, row, strict=True))
    return Webhook(**{**said, "events": tuple(said["events"].split())})

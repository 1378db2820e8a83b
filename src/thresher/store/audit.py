"""Who changed what: a row that is written in the transaction of the change, so that neither is there without
the other.

Whoever acts for somebody says so once (`acting`). The first transaction that changes a row brings theirs
along, at its end; one that only looks leaves none. A worker acts for nobody.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from thresher.core.limits import without_controls
from thresher.store.session import Session

PERSON, KEY, USER = "person", "key", "user"
DASHBOARD, API, COMMAND_LINE = "dashboard", "api", "command line"
MAX_WHO, MAX_ACTION = 100, 500

_FIELDS = ("id", "at", "who", "kind", "role", "via", "action")
_INSERT = (
    """insert into audit (at, who, kind, role, via, action) values (:at, :who, :kind, :role, :via, :action)"""
)
_SELECT = f"select {', '.join(_FIELDS)} from audit"
_FILTERS = {"who": "who = :who", "before": "id < :before"}


@dataclass(slots=True)
class Actor:
    """Somebody who changes something: a person, a key, or a user of the command line; by which way; and what
    they asked for. `is_recorded` once their row is committed.
    """

    who: str
    kind: str
    role: str | None
    via: str
    action: str
    is_recorded: bool = field(default=False, compare=False)


_actor: ContextVar[Actor | None] = ContextVar("actor", default=None)


@contextmanager
def acting(actor: Actor | None) -> Iterator[None]:
    """Act for somebody for the length of a block, on this thread or task and those that take its context
    along; None is nobody.
    """
    token = _actor.set(actor)
    try:
        yield
    finally:
        _actor.reset(token)


def actor_now() -> Actor | None:
    """Who acts here."""
    return _actor.get()


def unrecorded() -> Actor | None:
    """Who acts here and has no row yet."""
    actor = _actor.get()
    return None if actor is None or actor.is_recorded else actor


def record(session: Session, actor: Actor, at: int) -> None:
    """Write the row into the transaction of the change."""
    values = {"at": at, "kind": actor.kind, "role": actor.role, "via": actor.via}
    texts = {"who": _line(actor.who, MAX_WHO), "action": _line(actor.action, MAX_ACTION)}
    session.run(_INSERT, values | texts)


def _line(text: str, most: int) -> str:
    """One line that any database, page and terminal takes, cut."""
    line = " ".join(without_controls(text.encode("utf-8", "replace").decode()).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def find_changes(
    session: Session, *, limit: int, who: str | None = None, before: int | None = None
) -> list[dict[str, Any]]:
    """Changes, the newest first: those of somebody, and those before an id."""
    given = {name: value for name, value in (("who", who), ("before", before)) if value is not None}
    where = f" where {' and '.join(_FILTERS[name] for name in given)}" if given else ""
    rows = session.rows(f"{_SELECT}{where} order by id desc limit :limit", given | {"limit": limit})
    return [dict(zip(_FIELDS, row, strict=True)) for row in rows]

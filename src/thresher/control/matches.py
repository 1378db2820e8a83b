"""Matches: what a person has done about one. It is theirs: no later analysis changes it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thresher.apps.jobs.status import Status
from thresher.control.asked import look_up, now_of
from thresher.control.records import write_records
from thresher.core.errors import UnknownName, UsageError
from thresher.core.record import Found, Record
from thresher.store.store import Store

MATCH, VIEW = "match", "view"
MAX_NAME = 80


@dataclass(frozen=True, slots=True)
class Changed:
    """A match whose status was set."""

    key: str
    title: str
    was: str
    status: str


def set_status(store: Store, keys: Sequence[str], status: str, note: str | None = None) -> list[Changed]:
    """Set the status of matches, all or none."""
    if status not in list(Status):
        raise UsageError(f"a match is {', '.join(Status)}; got {status!r}")
    found = look_up(store, MATCH, keys)
    missing = [key for key in keys if key not in found]
    if missing:
        raise UnknownName(
            f"there is no match {', '.join(missing)}; thresher jobs matches shows them. Nothing was changed."
        )
    fields: dict[str, Any] = {"status": status, "status_at": now_of(store)}
    if note is not None:
        fields["note"] = note.strip()
    write_records(
        store, [Record(MATCH, match.key, fields, merge=True, marks=("status",)) for match in found.values()]
    )
    return [_changed(found[key], status) for key in dict.fromkeys(keys)]


def _changed(match: Found, status: str) -> Changed:
    return Changed(
        match.key,
        str(match.data.get("title") or match.key),
        str(match.data.get("status") or Status.NEW),
        status,
    )


def save_view(store: Store, name: str, filters: Mapping[str, Any]) -> None:
    """Keep a search under a name; the same name again replaces it."""
    if not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise UsageError(
            f"a view's name is one line of at most {MAX_NAME} characters, got {name[:MAX_NAME]!r}"
        )
    write_records(store, [Record(VIEW, name.strip(), {"of": MATCH, "filters": dict(filters)})])

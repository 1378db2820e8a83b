"""List events."""

import json
from collections.abc import Collection
from typing import Any

from thresher.admin.rows import EventFields
from thresher.core.clock import as_text
from thresher.core.errors import UsageError
from thresher.core.event import SPAWN_REFUSED, EventKind
from thresher.store import overview
from thresher.store.sources import gate_called
from thresher.store.store import Store

REFUSED = "The loop guard refused a spawn: too deep, in its own ancestry, or a duplicate."
MAX_LISTED = 3  # members of a list that are told
UNKNOWN = "An event of an app that is not enabled here, or of another version."


def event_kinds(store: Store) -> dict[str, str]:
    """The kinds of events that are known here, each with its sentence."""
    ours = {each.value: each.sentence for each in EventKind}
    return {**ours, **(store.app_events or {}), SPAWN_REFUSED: REFUSED}


def check_kind(known: Collection[str], kind: str | None) -> None:
    """Refuse a kind of event that nobody knows."""
    if kind is not None and kind not in known:
        raise UsageError(f"there is no event kind {kind[:80]!r}; the kinds are {', '.join(known)}")


def about_event(event: dict[str, Any]) -> str:
    """What an event says in detail, or else the sentence of its kind."""
    said = {
        name: as_text(value) if name == "until" else value
        for name, value in event["detail"].items()
        if value is not None
    }
    return in_words(said) or event["sentence"]


def in_words(value: Any) -> str:
    """Write JSON for a person: the members of an object by name, and of a long list the beginning."""
    match value:
        case dict():
            return ", ".join(f"{name.replace('_', ' ')}: {_member(each)}" for name, each in value.items())
        case list() if not any(isinstance(each, dict | list) for each in value):
            more = f" and {len(value) - MAX_LISTED:,} more" if len(value) > MAX_LISTED else ""
            return ", ".join(_member(each) for each in value[:MAX_LISTED]) + more or "none"
        case _:
            return _member(value)


def _member(value: Any) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case str():
            return value
        case list() if not any(isinstance(each, dict | list) for each in value):
            return in_words(value)
        case _:
            return json.dumps(value, ensure_ascii=False)


def list_events(
    store: Store,
    *,
    kind: str | None = None,
    source: str | None = None,
    before: int | None = None,
    limit: int = 50,
) -> list[EventFields]:
    """What happened, the newest first, each with the sentence of its kind; ids below `before`."""
    sentences = event_kinds(store)
    check_kind(sentences, kind)
    with store.read() as session:
        # Refused spawns have a table of their own, with numbers of their own: they are listed by themselves.
        found = (
            overview.refusal_events(session, before=before, limit=limit)
            if kind == SPAWN_REFUSED and source is None
            else overview.events(
                session, kind=kind, gate=gate_called(source) if source else None, before=before, limit=limit
            )
        )
    return [event | {"sentence": sentences.get(event["kind"], UNKNOWN)} for event in found]

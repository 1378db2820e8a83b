"""List events."""

from typing import Any

from thresher.core.errors import UsageError
from thresher.core.event import EventKind
from thresher.store import overview
from thresher.store.sources import gate_called
from thresher.store.store import Store

UNKNOWN = "An event of an app that is not enabled here, or of another version."


def list_events(
    store: Store,
    *,
    kind: str | None = None,
    source: str | None = None,
    before: int | None = None,
    limit: int = 50,
) -> list[dict[str, Any]]:
    """What happened, the newest first, each with the sentence of its kind; ids below `before`."""
    sentences = {**{each.value: each.sentence for each in EventKind}, **(store.app_events or {})}
    if kind is not None and kind not in sentences:
        raise UsageError(f"there is no event kind {kind!r}; the kinds are {', '.join(sentences)}")
    with store.read() as session:
        found = overview.events(
            session, kind=kind, gate=gate_called(source) if source else None, before=before, limit=limit
        )
    return [event | {"sentence": sentences.get(event["kind"], UNKNOWN)} for event in found]

"""Records as a person sees them: what all the work was for."""

from typing import Any

from thresher.core.errors import UsageError
from thresher.store.records import find_records
from thresher.store.store import Store


def list_records(
    store: Store, *, kind: str | None = None, key: str | None = None, link: str | None = None, before: int | None = None, limit: int = 50
) -> list[dict[str, Any]]:
    """Records that match, the newest first. `link` is written as name=target."""
    name, equals, target = (link or "").partition("=")
    if link and not (name and equals):
        raise UsageError(f"a link is written as name=target, such as role=python-developer; got {link!r}")
    with store.read() as session:
        return find_records(session, kind=kind, key=key, link=(name, target) if link else None, before=before, limit=limit)

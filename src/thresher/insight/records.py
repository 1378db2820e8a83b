"""Records as a person sees them: what all the work was for."""

from typing import Any

from thresher.core.errors import UsageError
from thresher.core.evidence import as_json
from thresher.core.record import Found, Link
from thresher.store.records import find_records
from thresher.store.store import Store


def list_records(
    store: Store,
    *,
    kind: str | None = None,
    key: str | None = None,
    link: str | None = None,
    before: int | None = None,
    limit: int = 50,
) -> list[dict[str, Any]]:
    """Records that match, the newest first. `link` is written as name=target."""
    name, equals, target = (link or "").partition("=")
    if link and not (name and equals):
        raise UsageError(f"a link is written as name=target, such as role=python-developer; got {link!r}")
    with store.read() as session:
        found = find_records(
            session,
            kind=kind,
            keys=None if key is None else [key],
            link=Link(name, target) if link else None,
            before=before,
            limit=limit,
        )
    return [_shown(each) for each in found]


def _shown(found: Found) -> dict[str, Any]:
    return {
        "id": found.id,
        "kind": found.kind,
        "key": found.key,
        "data": found.data,
        "evidence": as_json(found.evidence) if found.evidence else None,
        "links": [f"{link.name}={link.target}" for link in found.links],
        "first_task": found.first_task,
        "last_task": found.last_task,
        "seen": found.seen,
        "created_at": found.created_at,
        "updated_at": found.updated_at,
    }

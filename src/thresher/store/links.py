"""Taking back what a record belongs to. Only a person does: tasks add links, and never remove one."""

from collections.abc import Iterable

from thresher.core.record import Link
from thresher.store.session import Session

_UNLINK = """delete from links where name = :name and target = :target
    and record_id in (select id from records where kind = :kind and key = :key)"""


def remove_links(session: Session, kind: str, key: str, links: Iterable[Link]) -> int:
    """Remove these links of a record; how many were there."""
    return sum(
        session.run(_UNLINK, {"kind": kind, "key": key, "name": link.name, "target": link.target})
        for link in links
    )

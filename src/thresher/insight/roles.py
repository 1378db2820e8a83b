"""Roles as a person sees them: who wants them, how many postings there are, when a scraper last looked, and
what they are called.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from thresher.apps.roles.candidate import ROLE
from thresher.insight.lookup import among
from thresher.store.roles import roles as table
from thresher.store.roles.people import count_linked
from thresher.store.roles.role import Role
from thresher.store.session import Session
from thresher.store.store import Store

STATUSES = ("proposed", "pending", "processing", "completed", "rejected")


@dataclass(frozen=True, slots=True)
class RoleView:
    """One role. `postings` are those that belong to it now, `imported` those that were new when they came in
    for it.
    """

    id: int
    name: str
    status: str
    priority: str
    category: str | None
    candidates: int
    postings: int
    imported: int
    aliases: tuple[str, ...]
    method: str
    scraped_at: int | None
    waiting_since_at: int
    created_at: int


def list_roles(
    store: Store,
    *,
    status: str | None = None,
    text: str | None = None,
    limit: int = 50,
    after: int | None = None,
) -> list[RoleView]:
    """Roles, by their ids; those after the role `after`."""
    wanted = among(status, STATUSES, "the status of a role")
    with store.read() as session:
        return role_views(
            session, table.list_roles(session, status=wanted, text=text, limit=limit, after=after)
        )


def role_views(session: Session, found: Sequence[Role]) -> list[RoleView]:
    """Roles as they are shown."""
    postings = count_linked(session, ROLE, [each.id for each in found])
    return [_view(each, postings.get(each.id, 0)) for each in found]


def role_view(store: Store, role: Role) -> RoleView:
    """One role as it is shown."""
    with store.read() as session:
        return role_views(session, [role])[0]


def _view(role: Role, postings: int) -> RoleView:
    return RoleView(
        role.id,
        role.name,
        role.status,
        role.priority,
        role.category,
        role.candidates,
        postings,
        role.imported,
        role.aliases,
        role.method,
        role.scraped_at,
        role.waiting_since,
        role.created_at,
    )

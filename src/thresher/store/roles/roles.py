"""Roles: made, listed, approved, ranked, brought back. What moves names and links between two of them stands
in `merging`.
"""

from collections.abc import Mapping

from thresher.governance.demand import Demand, check_priority
from thresher.store.roles.making import admit_role, bar_role, make_role
from thresher.store.roles.merging import Moved, merge_roles, split_role
from thresher.store.roles.names import (
    add_alias,
    claim_name,
    lock_names,
    names_since,
    remove_alias,
    rename_role,
    roles_of_keys,
)
from thresher.store.roles.place import place_role, reset_roles
from thresher.store.roles.role import SELECT, Role, find_role, hold_role, whole
from thresher.store.roles.wants import link_candidates, unlink_candidate
from thresher.store.session import Session

__all__ = [
    "Moved",
    "Role",
    "add_alias",
    "add_role",
    "approve_role",
    "find_role",
    "link_candidates",
    "list_roles",
    "lock_names",
    "merge_roles",
    "names_since",
    "reject_role",
    "remove_alias",
    "rename_role",
    "reset_roles",
    "roles_of_keys",
    "set_category",
    "set_priority",
    "split_role",
    "unlink_candidate",
]

_PRIORITY = "update roles set priority = :priority where id = :id"
_CATEGORY = "update roles set category = :category where id = :id"
_NAMED = "id in (select role_id from role_names where key like :text escape '!' or lower(name) like :text escape '!')"


def add_role(
    session: Session,
    name: str,
    key: str,
    *,
    aliases: Mapping[str, str] = {},
    method: str = "manual",
    priority: str = "normal",
    category: str | None = None,
    approved: bool = True,
    now: int,
    demand: Demand,
) -> int:
    """The id of the role that answers to a name, made if there is none. `aliases`: key to name; one that is
    taken stays where it is.
    """
    found = roles_of_keys(session, [key])
    if found:
        return found[key]
    role_id = make_role(
        session,
        name,
        key,
        method=method,
        priority=priority,
        category=category,
        approved=approved,
        now=now,
        demand=demand,
    )
    for alias in sorted(aliases):  # by key, so that two who add the same names never wait in a circle
        claim_name(session, role_id, aliases[alias], alias)
    return role_id


def list_roles(
    session: Session,
    *,
    status: str | None = None,
    text: str | None = None,
    limit: int = 100,
    after: int | None = None,
) -> list[Role]:
    """Roles by id, those after `after`; of one status, or with a name that has `text` in it."""
    said = (
        None if text is None else "".join("!" + char if char in "!%_" else char for char in text.casefold())
    )
    asked = {"status": status, "text": None if said is None else f"%{said}%", "after": after}
    clauses = {"status": "status = :status", "text": _NAMED, "after": "id > :after"}
    given = {name: value for name, value in asked.items() if value is not None}
    where = " and ".join(clauses[name] for name in given)
    return whole(
        session,
        session.rows(
            f"{SELECT}{' where ' if where else ''}{where} order by id limit :limit", {**given, "limit": limit}
        ),
    )


def set_priority(session: Session, role_id: int, priority: str, now: int, demand: Demand) -> None:
    """Let a role be served earlier or later than others."""
    check_priority(priority)
    hold_role(session, role_id, now)
    session.run(_PRIORITY, {"id": role_id, "priority": priority})
    place_role(session, hold_role(session, role_id, now), demand)


def set_category(session: Session, role_id: int, category: str | None, now: int) -> None:
    """File a role under a category; None: under none. Nothing is decided by it."""
    hold_role(session, role_id, now)
    session.run(_CATEGORY, {"id": role_id, "category": category})


def approve_role(session: Session, role_id: int, now: int, demand: Demand) -> bool:
    """Let a role that was proposed, or rejected before, into the queue; False if it is there already."""
    role = hold_role(session, role_id, now)
    if role.status not in ("proposed", "rejected"):
        return False
    admit_role(session, role, now, demand)
    return True


def reject_role(session: Session, role_id: int, now: int, demand: Demand | None = None) -> bool:  # noqa: ARG001  as its sibling has it
    """Let nobody be given this role; False if it was rejected already. It keeps its names, so that it is not
    proposed again.
    """
    return bar_role(session, role_id, now)

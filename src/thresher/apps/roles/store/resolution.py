"""Resolve titles in the database: which role has a name, and what an answer about a title changes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thresher.apps.roles.demand import Demand
from thresher.apps.roles.store.roles import (
    add_role,
    claim_name,
    hold_names,
    link_candidates,
    merge_roles,
    roles_of_keys,
)
from thresher.apps.roles.store.rows import find_role
from thresher.store.records import AT_ONCE
from thresher.store.session import Session

ASKS = "asks"  # the link of a candidate to the key of a title that waits for a model's answer
REJECTED = "rejected"
_LIKE = (("proposed", "proposed"), *(("pending", other) for other in ("pending", "processing", "completed")))
_OWNERS = """select n.key, r.id, r.name, r.status, case when n.name = r.name then 1 else 0 end
    from role_names n join roles r on r.id = n.role_id where n.key in (:keys*)"""
_OWN = """select r.id, n.key, r.name from roles r join role_names n on n.role_id = r.id and n.name = r.name
    where r.id > :after and r.status <> 'rejected' order by r.id, n.key limit :limit"""
_STILL = "select record_id from links where name = :name and target = :key and record_id in (:ids*) order by record_id"
_ANSWERED = "delete from links where name = :name and target = :key and record_id in (:ids*)"


@dataclass(frozen=True, slots=True)
class Owner:
    """The role that answers to a key; `own`: the key is that of its own name, not of an alias."""

    id: int
    name: str
    status: str
    own: bool


def owners_of(session: Session, keys: Sequence[str]) -> dict[str, Owner]:
    """Who answers to each key; a key that nobody answers to is left out."""
    found: dict[str, Owner] = {}
    for some in _portions(list(dict.fromkeys(keys))):
        found |= {
            key: Owner(role_id, name, status, bool(own))
            for key, role_id, name, status, own in session.rows(_OWNERS, {"keys": some})
        }
    return found


def own_names(session: Session, after: int, limit: int = 1_000) -> list[tuple[int, str, str]]:
    """The roles after one, by id, with their own names: (role id, key, name). Rejected ones are nobody's
    neighbours.
    """
    return [(row[0], row[1], row[2]) for row in session.rows(_OWN, {"after": after, "limit": limit})]


def make_role(
    session: Session, name: str, key: str, aliases: Mapping[str, str], how: Mapping[str, Any], now: int
) -> int:
    """The role of this name, made if it is new; it answers to the aliases from now on, unless another role
    does.

    `how` is what a task can carry along: method, category, approved, and the numbers of the demand.
    """
    role_id = add_role(
        session,
        name,
        key,
        method=how["method"],
        category=how.get("category"),
        approved=bool(how["approved"]),
        now=now,
        demand=demand_of(how),
    )
    for alias, said in aliases.items():
        claim_name(session, role_id, said, alias)
    return role_id


def settle_title(session: Session, data: Mapping[str, Any], now: int) -> None:
    """A title is understood: its role is found by id, or made by its name, and answers to the title from now
    on.
    """
    # Whoever writes candidates that wait holds the names too: they commit before this, and are found waiting,
    # or look after it.
    hold_names(session.dialect, session)
    if data["key"] in roles_of_keys(session, [data["key"]]):
        return  # a person was faster, or this was done before
    role_id = data.get("role")
    if role_id is not None:
        # The role may have been merged since it was found; its name leads to whoever has it now.
        role_id = roles_of_keys(session, [data["name_key"]]).get(data["name_key"])
    if role_id is None:
        make_role(session, data["name"], data["name_key"], {data["key"]: data["title"]}, data, now)
    else:
        claim_name(session, role_id, data["title"], data["key"])


def join_titles(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Two titles got a role each at the same moment, and the two are one: the newer becomes part of the
    older.

    What anybody has looked for or judged since then stays: from there on it is a person who merges.
    """
    hold_names(session.dialect, session)
    owners = roles_of_keys(session, [data["name_key"], data["into_key"]])
    if (owners.get(data["name_key"]), owners.get(data["into_key"])) != (data["role"], data["into"]):
        return  # it was done before, or a person was faster
    made, into = find_role(session, data["role"]), find_role(session, data["into"])
    if made and into and made.claim == 0 and (made.status, into.status) in _LIKE:
        merge_roles(session, made.id, into.id, now, demand_of(data))


def link_asking(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Candidates who waited for an answer about a title want its role now, and wait no more. One who went
    away is left out.
    """
    owner = owners_of(session, [data["key"]]).get(data["key"])
    if owner is None:
        return
    waiting = [each for some in _portions(data["candidates"]) for each in _still(session, data["key"], some)]
    # also where the role was rejected: its status keeps it from the queue, and a person may change their mind
    if waiting:
        link_candidates(session, {owner.id: waiting}, now, demand_of(data))
    for some in _portions(waiting):
        session.run(_ANSWERED, {"name": ASKS, "key": data["key"], "ids": some})


def _still(session: Session, key: str, ids: Sequence[int]) -> list[int]:
    return [row[0] for row in session.rows(_STILL, {"name": ASKS, "key": key, "ids": ids})]


def demand_of(how: Mapping[str, Any]) -> Demand:
    """The numbers of the demand, as they travel in an effect."""
    return Demand(**how["demand"])


def _portions(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (items[at : at + AT_ONCE] for at in range(0, len(items), AT_ONCE))

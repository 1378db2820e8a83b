"""Candidates as a person sees them: what they can do, which roles they want and how each was found, and what
is searched for them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thresher.apps.roles.candidate import ASKS, CANDIDATE, WANTS
from thresher.core.record import Found, Link
from thresher.insight.lookup import find, one
from thresher.store.roles.people import count_matches, standing
from thresher.store.roles.roles import roles_of_keys
from thresher.store.session import Session
from thresher.store.store import Store

SHOWN_BY = "thresher candidates list"
BY_HAND = "by hand"  # the method of a role that no title of the candidate leads to
WAITING = "waiting"
MODEL = "model"
ANSWERED = "it was asked about as a task: thresher tasks list --kind normalize says what came of it"
# What a record says besides, for our own use.
OURS = frozenset({"titles", "name_key"})


@dataclass(frozen=True, slots=True)
class CandidateView:
    """One candidate in a list. `roles` are the names of the roles that it wants; `matches` is a count."""

    key: str
    id: int
    name: str
    title: str | None
    skills: tuple[str, ...]
    experience_years: float | None
    locations: tuple[str, ...]
    remote: bool | None
    roles: tuple[str, ...]
    matches: int
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class WantedRole:
    """A role that a candidate wants: by which title, how that was understood, and why. Without an id: nobody
    knows it yet.
    """

    title: str | None
    role: str | None
    role_id: int | None
    status: str | None
    similarity: float | None
    method: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class CandidateDetail:
    """One candidate with everything that is known of it."""

    candidate: CandidateView
    data: dict[str, Any]
    keywords: tuple[str, ...]
    wants: list[WantedRole]
    waiting: tuple[str, ...]


def list_candidates(
    store: Store, *, role_id: int | None = None, before: str | None = None, limit: int = 50
) -> list[CandidateView]:
    """Candidates, the newest first; those after the one of the key `before`."""
    link = None if role_id is None else Link(WANTS, str(role_id))
    found = find(store, CANDIDATE, link=link, before=before, limit=limit)
    with store.read() as session:
        return _views(session, found)


def show_candidate(store: Store, key: str) -> CandidateDetail:
    """One candidate."""
    found = one(store, CANDIDATE, key, SHOWN_BY)
    with store.read() as session:
        (view,) = _views(session, [found])
        wants = _wants(session, found)
    data = {name: value for name, value in found.data.items() if name not in OURS}
    return CandidateDetail(view, data, tuple(found.data.get("keywords") or ()), wants, found.linked(ASKS))


def _views(session: Session, found: list[Found]) -> list[CandidateView]:
    matches = count_matches(session, [each.id for each in found])
    roles = standing(session, [role for each in found for role in _wanted_ids(each)])
    return [_view(each, roles, matches.get(each.id, 0)) for each in found]


def _view(found: Found, roles: Mapping[int, tuple[str, str]], matches: int) -> CandidateView:
    data = found.data
    names = tuple(sorted(roles[each][0] for each in _wanted_ids(found) if each in roles))
    return CandidateView(
        found.key,
        found.id,
        str(data.get("name") or found.key),
        data.get("title"),
        tuple(data.get("skills") or ()),
        data.get("experience_years"),
        tuple(data.get("locations") or ()),
        data.get("remote"),
        names,
        matches,
        found.created_at,
        found.updated_at,
    )


def _wanted_ids(found: Found) -> list[int]:
    return [int(target) for target in found.linked(WANTS)]


def _wants(session: Session, found: Found) -> list[WantedRole]:
    """The roles as they are linked now, each with the title that led to it; and the titles that have led
    nowhere yet.
    """
    linked = _wanted_ids(found)
    titles = found.data.get("titles") or ()
    owners = roles_of_keys(
        session, [each["key"] for each in titles]
    )  # a role may have been merged, or named by a model, since
    there = standing(session, linked)
    wants, explained = [], set()
    for each in titles:
        role_id = next((one for one in (each["role_id"], owners.get(each["key"])) if one in linked), None)
        explained.add(role_id)
        name, status = there.get(role_id, (None, None)) if role_id is not None else (None, None)
        answered = each["method"] == WAITING and role_id is not None
        method, reason = (MODEL, ANSWERED) if answered else (each["method"], each.get("reason"))
        wants.append(WantedRole(each["title"], name, role_id, status, each["similarity"], method, reason))
    others = [each for each in linked if each not in explained and each in there]
    return [
        *wants,
        *(WantedRole(None, there[each][0], each, there[each][1], None, BY_HAND, None) for each in others),
    ]

"""Roles over HTTP: list, add, change, merge and split them, and try titles."""

import asyncio
from typing import Annotated, Any, TypedDict

from fastapi import Path, Query
from pydantic import Field

from thresher.admin.keys import READ, WRITE
from thresher.apps.roles.service import roles as control
from thresher.apps.roles.service.resolve import Resolution, resolve
from thresher.apps.roles.service.roles import RoleView, list_roles, role_view
from thresher.apps.roles.store.rows import Role
from thresher.core.errors import UsageError
from thresher.store.store import Store
from thresher.web.answer import JSON, Answer, answer, written
from thresher.web.route import MAX_ID, CurrentRuntime, Limit, Route
from thresher.web.schemas import MAX_AT_ONCE, RequestBody, Text, like

RoleId = Annotated[int, Path(ge=1, le=MAX_ID, description="Id of the role.")]
Alias = Annotated[str, Path(description="The alias.")]


class RoleAsked(RequestBody):
    """A role, its aliases and its priority."""

    model_config = like(name="Python Developer", aliases=["Python Engineer"], priority="high")

    name: Text
    aliases: list[Text] = Field(default=[], max_length=MAX_AT_ONCE)
    priority: Text | None = None


class RolesAsked(RequestBody):
    """One role, or many."""

    model_config = like(name="Python Developer", aliases=["Python Engineer"], priority="high")

    name: Text | None = None
    aliases: list[Text] = Field(default=[], max_length=MAX_AT_ONCE)
    priority: Text | None = None
    roles: list[RoleAsked] | None = Field(None, min_length=1, max_length=MAX_AT_ONCE)


class RoleChanged(RequestBody):
    """The fields of a role to change. A category of null removes it."""

    model_config = like(name="Python Developer", priority="urgent", category="software")

    name: Text | None = None
    priority: Text | None = None
    category: Text | None = None


class Titles(RequestBody):
    """Titles to resolve."""

    model_config = like(titles=["Sr. Python Dev (m/f/d)", "Java Developer"])

    titles: list[Text] = Field(min_length=1, max_length=MAX_AT_ONCE)


class Into(RequestBody):
    """The role to merge into: its id, its name or an alias."""

    model_config = like(into="Python Developer")

    into: int | Text


class SplitAsked(RequestBody):
    """The name of the new role, and the names and candidates that move to it."""

    model_config = like(name="Analytics Engineer", aliases=["dbt Developer"], candidates=["anna@example.com"])

    name: Text
    aliases: list[Text] = Field(default=[], max_length=MAX_AT_ONCE)
    candidates: list[Text] = Field(default=[], max_length=MAX_AT_ONCE)


class AliasAsked(RequestBody):
    """An alias for a role."""

    model_config = like(alias="Python Ninja")

    alias: Text


class AddedRoles(TypedDict):
    """What became of each role, in order."""

    roles: list[control.AddedRole]


class Resolutions(TypedDict):
    """What each title means, in order."""

    titles: list[Resolution]


async def roles(
    runtime: CurrentRuntime,
    status: Annotated[
        str | None, Query(description="Status: proposed, pending, processing, completed or rejected.")
    ] = None,
    name: Annotated[str | None, Query(description="Only roles with this text in a name.")] = None,
    limit: Limit = 50,
    after: Annotated[
        int | None, Query(ge=0, le=MAX_ID, description="Only ids above this one (next page).")
    ] = None,
) -> Answer[list[RoleView]]:
    """List roles by id: how many candidates want each, how many postings it has, when it was last
    searched.
    """
    return await answer(
        runtime.store, list_roles, runtime.store, status=status, text=name, limit=limit, after=after
    )


async def role(runtime: CurrentRuntime, role_id: RoleId) -> Answer[RoleView]:
    """Show one role."""
    return await answer(runtime.store, _shown, runtime.store, role_id)


def _shown(store: Store, role_id: int) -> RoleView:
    return role_view(store, control.find(store, str(role_id)))


async def add_roles(runtime: CurrentRuntime, body: RolesAsked) -> Answer[AddedRoles]:
    """Add roles, all or none. A known role gains the new aliases: 201 if one is new, else 200."""
    found = await runtime.store.run(control.add_roles, runtime.store, _wishes(body))
    status = 201 if any(each.answer is control.Answer.NEW for each in found) else 200
    return Answer(written({"roles": found}), status, media_type=JSON)


def _wishes(body: RolesAsked) -> list[control.RoleWish]:
    if body.roles is None:
        return [control.wish(body.name or "", body.aliases, body.priority)]
    if body.name or body.aliases or body.priority:
        raise UsageError("send either one role or a list of roles, not both")
    return [control.wish(each.name, each.aliases, each.priority) for each in body.roles]


async def change_role(runtime: CurrentRuntime, role_id: RoleId, body: RoleChanged) -> Answer[RoleView]:
    """Change the name, priority or category of a role. The old name stays as an alias."""
    wanted = control.Change(body.name, body.priority, body.category, tuple(body.model_fields_set))
    return await answer(runtime.store, _viewed, runtime.store, control.change, str(role_id), wanted)


def _viewed(store: Store, change: object, *args: object) -> RoleView:
    found: Role = change(store, *args)  # type: ignore[operator]
    return role_view(store, found)


async def resolve_titles(runtime: CurrentRuntime, body: Titles) -> Answer[Resolutions]:
    """Show which roles these titles mean, how similar they are, and by which rule. Nothing is changed."""
    models = runtime.registry.tier("cheap") is not None
    found = await asyncio.to_thread(
        resolve, runtime.store, body.titles, create=False, models=models
    )  # it computes, for a while
    return Answer(written({"titles": found}), media_type=JSON)


async def merge(runtime: CurrentRuntime, role_id: RoleId, body: Into) -> Answer[control.Merged]:
    """Merge a role into another: all its candidates, postings, names and matches move."""
    return await answer(
        runtime.store, control.merge, runtime.store, runtime.registry, str(role_id), str(body.into)
    )


async def split(runtime: CurrentRuntime, role_id: RoleId, body: SplitAsked) -> Answer[control.Split]:
    """Split a new role off from this one, with some of its names and candidates. The postings belong to both
    from then on.
    """
    found = await runtime.store.run(
        control.split, runtime.store, runtime.registry, str(role_id), body.name, body.aliases, body.candidates
    )
    return Answer(written(found), 201, media_type=JSON)


async def approve(runtime: CurrentRuntime, role_id: RoleId) -> Answer[RoleView]:
    """Approve a proposed role for scrapers."""
    return await answer(runtime.store, _judged, runtime.store, control.approve, role_id)


async def reject(runtime: CurrentRuntime, role_id: RoleId) -> Answer[RoleView]:
    """Reject a role: scrapers never get it. Its names stay known, so that it is not proposed again."""
    return await answer(runtime.store, _judged, runtime.store, control.reject, role_id)


def _judged(store: Store, judge: object, role_id: int) -> RoleView:
    found: list[Role] = judge(store, [str(role_id)])  # type: ignore[operator]
    return role_view(store, found[0])


async def add_alias(runtime: CurrentRuntime, role_id: RoleId, body: AliasAsked) -> Answer[RoleView]:
    """Add an alias to a role."""
    return await answer(runtime.store, _viewed, runtime.store, control.add_alias, str(role_id), body.alias)


async def remove_alias(runtime: CurrentRuntime, role_id: RoleId, alias: Alias) -> Answer[RoleView]:
    """Remove an alias from a role. Candidates who came by it stay."""
    return await answer(runtime.store, _viewed, runtime.store, control.remove_alias, str(role_id), alias)


_AT = "2026-03-02T10:15:00.000Z"
_ROLE: dict[str, Any] = {
    "id": 123,
    "name": "Python Developer",
    "status": "completed",
    "priority": "high",
    "category": "software",
    "candidates": 45,
    "postings": 210,
    "imported": 180,
    "aliases": ["Python Engineer"],
    "method": "manual",
    "scraped_at": _AT,
    "waiting_since_at": _AT,
    "created_at": _AT,
}
_ADDED = {
    "id": 123,
    "name": "Python Developer",
    "answer": "new",
    "status": "pending",
    "priority": "high",
    "aliases": ["Python Engineer"],
    "taken": [],
}
_RESOLUTION = {
    "title": "Sr. Python Dev (m/f/d)",
    "key": "python developer",
    "core": "python developer",
    "role_id": 123,
    "role": "Python Developer",
    "similarity": 1.0,
    "method": "exact",
    "reason": "it is the name of the role",
    "created": False,
}
_MERGED = {
    "id": 123,
    "name": "Python Developer",
    "gone": "Python Programmer",
    "candidates": 3,
    "postings": 40,
    "names": 2,
    "matches": 12,
    "matchings": 1,
}
_SPLIT = {
    "id": 124,
    "name": "Analytics Engineer",
    "out_of": "Data Engineer",
    "aliases": ["dbt Developer"],
    "candidates": 1,
    "matchings": 1,
}

ROUTES = (
    Route("GET", "/api/roles", roles, READ, page_by="id", example=[_ROLE], name="list_roles"),
    Route(
        "POST",
        "/api/roles",
        add_roles,
        WRITE,
        status=(200, 201),
        example={"roles": [_ADDED]},
        name="add_roles",
    ),
    Route(
        "POST",
        "/api/roles/resolve",
        resolve_titles,
        READ,
        example={"titles": [_RESOLUTION]},
        name="resolve_titles",
    ),
    Route("GET", "/api/roles/{role_id}", role, READ, example=_ROLE, name="get_role"),
    Route("PATCH", "/api/roles/{role_id}", change_role, WRITE, example=_ROLE, name="change_role"),
    Route("POST", "/api/roles/{role_id}/merge", merge, WRITE, example=_MERGED, name="merge_role"),
    Route(
        "POST", "/api/roles/{role_id}/split", split, WRITE, status=(201,), example=_SPLIT, name="split_role"
    ),
    Route("POST", "/api/roles/{role_id}/approve", approve, WRITE, example=_ROLE, name="approve_role"),
    Route("POST", "/api/roles/{role_id}/reject", reject, WRITE, example=_ROLE, name="reject_role"),
    Route("POST", "/api/roles/{role_id}/aliases", add_alias, WRITE, example=_ROLE, name="add_role_alias"),
    Route(
        "DELETE",
        "/api/roles/{role_id}/aliases/{alias:path}",
        remove_alias,
        WRITE,
        example=_ROLE,
        name="remove_role_alias",
    ),
)

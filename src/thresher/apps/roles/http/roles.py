"""Roles over HTTP: list, add, change, merge and split them, and try titles."""

import asyncio
from typing import Annotated

from fastapi import Path, Query
from pydantic import Field
from starlette.responses import Response

from thresher.admin.keys import READ, WRITE
from thresher.apps.roles.service import roles as control
from thresher.apps.roles.service.resolve import resolve
from thresher.apps.roles.service.roles import RoleView, list_roles, role_view
from thresher.apps.roles.store.rows import Role
from thresher.core.errors import UsageError
from thresher.store.store import Store
from thresher.web.answer import JSON, answer, written
from thresher.web.route import MAX_ID, CurrentRuntime, Limit, Route
from thresher.web.schemas import MAX_AT_ONCE, RequestBody, Text, like

RoleId = Annotated[int, Path(ge=1, le=MAX_ID)]


class RoleAsked(RequestBody):
    """A role, its aliases and its priority."""

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
) -> Response:
    """List roles by id: how many candidates want each, how many postings it has, when it was last
    searched.
    """
    return await answer(
        runtime.store, list_roles, runtime.store, status=status, text=name, limit=limit, after=after
    )


async def role(runtime: CurrentRuntime, role_id: RoleId) -> Response:
    """Show one role."""
    return await answer(runtime.store, _shown, runtime.store, role_id)


def _shown(store: Store, role_id: int) -> RoleView:
    return role_view(store, control.find(store, str(role_id)))


async def add_roles(runtime: CurrentRuntime, body: RolesAsked) -> Response:
    """Add roles, all or none. A known role gains the new aliases: 201 if one is new, else 200."""
    found = await runtime.store.run(control.add_roles, runtime.store, _wishes(body))
    status = 201 if any(each.answer is control.Answer.NEW for each in found) else 200
    return Response(written({"roles": found}), status, media_type=JSON)


def _wishes(body: RolesAsked) -> list[control.RoleWish]:
    if body.roles is None:
        return [control.wish(body.name or "", body.aliases, body.priority)]
    if body.name or body.aliases or body.priority:
        raise UsageError("send either one role or a list of roles, not both")
    return [control.wish(each.name, each.aliases, each.priority) for each in body.roles]


async def change_role(runtime: CurrentRuntime, role_id: RoleId, body: RoleChanged) -> Response:
    """Change the name, priority or category of a role. The old name stays as an alias."""
    wanted = control.Change(body.name, body.priority, body.category, tuple(body.model_fields_set))
    return await answer(runtime.store, _viewed, runtime.store, control.change, str(role_id), wanted)


def _viewed(store: Store, change: object, *args: object) -> RoleView:
    found: Role = change(store, *args)  # type: ignore[operator]
    return role_view(store, found)


async def resolve_titles(runtime: CurrentRuntime, body: Titles) -> Response:
    """Show which roles these titles mean, how similar they are, and by which rule. Nothing is changed."""
    models = runtime.registry.tier("cheap") is not None
    found = await asyncio.to_thread(
        resolve, runtime.store, body.titles, create=False, models=models
    )  # it computes, for a while
    return Response(written({"titles": found}), media_type=JSON)


async def merge(runtime: CurrentRuntime, role_id: RoleId, body: Into) -> Response:
    """Merge a role into another: all its candidates, postings, names and matches move."""
    return await answer(
        runtime.store, control.merge, runtime.store, runtime.registry, str(role_id), str(body.into)
    )


async def split(runtime: CurrentRuntime, role_id: RoleId, body: SplitAsked) -> Response:
    """Split a new role off from this one, with some of its names and candidates. The postings belong to both
    from then on.
    """
    found = await runtime.store.run(
        control.split, runtime.store, runtime.registry, str(role_id), body.name, body.aliases, body.candidates
    )
    return Response(written(found), 201, media_type=JSON)


async def approve(runtime: CurrentRuntime, role_id: RoleId) -> Response:
    """Approve a proposed role for scrapers."""
    return await answer(runtime.store, _judged, runtime.store, control.approve, role_id)


async def reject(runtime: CurrentRuntime, role_id: RoleId) -> Response:
    """Reject a role: scrapers never get it. Its names stay known, so that it is not proposed again."""
    return await answer(runtime.store, _judged, runtime.store, control.reject, role_id)


def _judged(store: Store, judge: object, role_id: int) -> RoleView:
    found: list[Role] = judge(store, [str(role_id)])  # type: ignore[operator]
    return role_view(store, found[0])


async def add_alias(runtime: CurrentRuntime, role_id: RoleId, body: AliasAsked) -> Response:
    """Add an alias to a role."""
    return await answer(runtime.store, _viewed, runtime.store, control.add_alias, str(role_id), body.alias)


async def remove_alias(runtime: CurrentRuntime, role_id: RoleId, alias: str) -> Response:
    """Remove an alias from a role. Candidates who came by it stay."""
    return await answer(runtime.store, _viewed, runtime.store, control.remove_alias, str(role_id), alias)


ROUTES = (
    Route("GET", "/api/roles", roles, READ, page_by="id"),
    Route("POST", "/api/roles", add_roles, WRITE, status=(200, 201)),
    Route("POST", "/api/roles/resolve", resolve_titles, READ),
    Route("GET", "/api/roles/{role_id}", role, READ),
    Route("PATCH", "/api/roles/{role_id}", change_role, WRITE),
    Route("POST", "/api/roles/{role_id}/merge", merge, WRITE),
    Route("POST", "/api/roles/{role_id}/split", split, WRITE, status=(201,)),
    Route("POST", "/api/roles/{role_id}/approve", approve, WRITE),
    Route("POST", "/api/roles/{role_id}/reject", reject, WRITE),
    Route("POST", "/api/roles/{role_id}/aliases", add_alias, WRITE),
    Route("DELETE", "/api/roles/{role_id}/aliases/{alias:path}", remove_alias, WRITE),
)

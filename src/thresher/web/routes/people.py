"""People over HTTP: who may log in, what they may do, and who changed what."""

from dataclasses import asdict
from typing import Annotated, Any, NotRequired, TypedDict

from fastapi import Path, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from thresher.admin import admins as control
from thresher.admin.admins import AdminView, admin_view, generated, list_admins
from thresher.admin.audit import list_changes
from thresher.admin.keys import ADMIN, READ
from thresher.admin.rows import ChangeFields
from thresher.core.errors import UsageError
from thresher.store.store import Store
from thresher.web import auth
from thresher.web.answer import JSON, Answer, answer, written
from thresher.web.auth import holder, put_cookie
from thresher.web.problem import Problem
from thresher.web.route import MAX_ID, BeforeId, CurrentRuntime, Limit, Route
from thresher.web.routes.examples import AT
from thresher.web.routes.login import LOGIN, NO_STORE, LoginGiven, Password
from thresher.web.schemas import RequestBody, Text, like

PersonId = Annotated[int, Path(ge=1, le=MAX_ID, description="Id of the person.")]
_ROLES = ", ".join(control.ROLES)


class PersonAsked(RequestBody):
    """A new person: the name to log in with, what they may do, and a password, or none to have one made."""

    model_config = like(name="ada", role="viewer")

    name: Text
    role: Text = Field("viewer", description=f"One of {_ROLES}.")
    password: Password | None = None


class PersonRoleAsked(RequestBody):
    """What somebody may do from their next request on."""

    model_config = like(role="operator")

    role: Text = Field(description=f"One of {_ROLES}.")


class PasswordAsked(RequestBody):
    """A new password; without one, one is generated."""

    model_config = like(password="correct horse battery")  # noqa: S106  an example

    password: Password | None = None


class OwnPasswordAsked(RequestBody):
    """The password that somebody has, and the one that they want."""

    model_config = like(old="correct horse battery", new="another horse battery")

    old: Password
    new: Password


class PersonWithPassword(TypedDict):
    """A person, and the password that was generated, this once."""

    id: int
    name: str
    role: str
    created_at: int
    changed_at: int
    login_at: int | None
    password: NotRequired[str]


async def people(runtime: CurrentRuntime) -> Answer[list[AdminView]]:
    """List the people who may log in, the oldest first, with their roles and last logins."""
    return await answer(runtime.store, list_admins, runtime.store)


async def add_person(
    runtime: CurrentRuntime, request: Request, body: PersonAsked
) -> Answer[PersonWithPassword]:
    """Let somebody log in. A password that was generated is in the response, and cannot be read again."""
    password = generated() if body.password is None else body.password
    control.check_admin(body.name, password)
    kept = await auth.hashed_slowly(runtime.store, request, password)

    def made() -> bytes:
        view = admin_view(control.create_with(runtime.store, body.name, kept, body.role))
        return written(_with_password(view, password if body.password is None else None))

    return Answer(await runtime.store.run(made), 201, NO_STORE, JSON)


async def change_role(
    runtime: CurrentRuntime, person_id: PersonId, body: PersonRoleAsked
) -> Answer[AdminView]:
    """Change what somebody may do. It counts from their next request on; the last administrator stays one."""
    return await answer(runtime.store, _role_changed, runtime.store, person_id, body.role)


def _role_changed(store: Store, person_id: int, role: str) -> AdminView:
    return admin_view(control.change_role(store, control.person_name(store, person_id), role))


async def set_password(
    runtime: CurrentRuntime, request: Request, person_id: PersonId, body: PasswordAsked
) -> Answer[PersonWithPassword]:
    """Give somebody another password, and end their logins. One that was generated is in the response."""
    password = generated() if body.password is None else body.password
    name = await runtime.store.run(control.person_name, runtime.store, person_id)
    control.check_password(password, name)
    kept = await auth.hashed_slowly(runtime.store, request, password)

    def changed() -> bytes:
        view = admin_view(control.put_password(runtime.store, name, kept))
        return written(_with_password(view, password if body.password is None else None))

    return Answer(await runtime.store.run(changed), 200, NO_STORE, JSON)


async def remove_person(runtime: CurrentRuntime, person_id: PersonId) -> Answer[AdminView]:
    """Remove somebody, and end their logins. Keys that they made stay; the last administrator stays, too."""
    return await answer(runtime.store, _removed, runtime.store, person_id)


def _removed(store: Store, person_id: int) -> AdminView:
    return admin_view(control.remove_admin(store, control.person_name(store, person_id)))


async def own_password(
    runtime: CurrentRuntime, request: Request, body: OwnPasswordAsked
) -> Answer[LoginGiven] | Response:
    """Change one's own password. All other logins end, and this one goes on with a new cookie and `csrf`."""
    who = holder(request)
    if who is None or not who.is_person:
        raise UsageError("this request used a key, and a key has no password")
    found = await auth.change_own_password(runtime.store, request, who.name, body.old, body.new)
    if isinstance(found, Problem):
        return found.response()
    said = {"name": found.name, "csrf": found.csrf, "expires_at": found.expires_at}
    response: Answer[LoginGiven] = Answer(written(said), 200, NO_STORE, JSON)
    put_cookie(response, request.scope, found)
    return response


async def changes(
    runtime: CurrentRuntime,
    who: Annotated[
        str | None, Query(description="Only changes by this person, key or user of the command line.")
    ] = None,
    limit: Limit = 50,
    before: BeforeId = None,
) -> Answer[list[ChangeFields]]:
    """List who changed what, newest first: what was asked for, when, and by which way."""
    return await answer(runtime.store, list_changes, runtime.store, who=who, limit=limit, before=before)


def _with_password(view: AdminView, password: str | None) -> dict[str, Any]:
    return {**asdict(view), **({"password": password} if password else {})}


_PERSON: dict[str, Any] = {
    "id": 2,
    "name": "ada",
    "role": "operator",
    "created_at": AT,
    "changed_at": AT,
    "login_at": AT,
}
_WITH_PASSWORD = {**_PERSON, "password": "swift-otter-…"}
_CHANGE = {
    "id": 12,
    "at": AT,
    "who": "ada",
    "kind": "person",
    "role": "operator",
    "via": "dashboard",
    "action": "POST /sources/shop/pause",
}

ROUTES = (
    Route("GET", "/api/people", people, ADMIN, example=[_PERSON], name="list_people"),
    Route(
        "POST",
        "/api/people",
        add_person,
        ADMIN,
        status=(201,),
        shows=("name", "role"),
        example=_WITH_PASSWORD,
        name="add_person",
    ),
    Route(
        "PUT",
        "/api/people/{person_id}/role",
        change_role,
        ADMIN,
        shows=("role",),
        example=_PERSON,
        name="change_person_role",
    ),
    Route(
        "PUT",
        "/api/people/{person_id}/password",
        set_password,
        ADMIN,
        example=_WITH_PASSWORD,
        name="set_person_password",
    ),
    Route("DELETE", "/api/people/{person_id}", remove_person, ADMIN, example=_PERSON, name="remove_person"),
    Route(
        "POST",
        "/api/me/password",
        own_password,
        READ,
        status=(200, 401, 429),
        example=LOGIN,
        name="change_own_password",
    ),
    Route("GET", "/api/audit", changes, ADMIN, page_by="id", example=[_CHANGE], name="list_changes"),
)

"""Logging in over HTTP: the first administrator, logging in and out, and who one is."""

from typing import Annotated, Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from thresher.admin import admins, logins
from thresher.admin.keys import READ
from thresher.core.errors import UsageError
from thresher.runtime import Runtime
from thresher.web import auth
from thresher.web.answer import JSON, written
from thresher.web.auth import cookie_in, drop_cookie, holder, put_cookie
from thresher.web.problem import Problem
from thresher.web.route import CurrentRuntime, Route
from thresher.web.schemas import RequestBody, Text

NO_STORE = {"Cache-Control": "no-store"}
Password = Annotated[str, Field(max_length=admins.MAX_LENGTH)]


class LoginAsked(RequestBody):
    """The name and the password of a person."""

    name: Text
    password: Password


class SetupAsked(LoginAsked):
    """The first administrator, with the token that the server showed at start."""

    token: Text


async def setup(runtime: CurrentRuntime, request: Request, body: SetupAsked) -> Response:
    """Create the first administrator, with the token that the server shows at start. The token is valid once,
    for an hour.
    """
    made = await auth.set_up(runtime.store, request, body.token, body.name, body.password)
    return (
        made.response()
        if isinstance(made, Problem)
        else Response(written({"name": made}), 201, NO_STORE, JSON)
    )


async def login(runtime: CurrentRuntime, request: Request, body: LoginAsked) -> Response:
    """Log in. The browser keeps the cookie; send `csrf` as the header X-CSRF-Token with
    every change.
    """
    found = await auth.log_in(runtime.store, request, body.name, body.password)
    if isinstance(found, Problem):
        return found.response()
    said = {"name": found.name, "csrf": found.csrf, "expires_at": found.expires_at}
    response = Response(written(said), 200, NO_STORE, JSON)
    put_cookie(response, request.scope, found)
    return response


async def logout(runtime: CurrentRuntime, request: Request) -> Response:
    """End this login. A key has no login."""
    token = _token(request)
    await runtime.store.run(logins.log_out, runtime.store, token)
    response = Response(status_code=204)
    drop_cookie(response, request.scope)
    return response


async def me(runtime: CurrentRuntime, request: Request) -> Response:
    """Show who is logged in, with which role, until when, and their `csrf` token. With a key: its owner."""
    return Response(await runtime.store.run(lambda: written(_me(runtime, request))), 200, NO_STORE, JSON)


def _me(runtime: Runtime, request: Request) -> dict[str, Any]:
    found = holder(request)
    assert found is not None
    said: dict[str, Any] = {"name": found.name, "scopes": found.scopes, "role": found.role}
    if found.is_person:
        token = _token(request)
        ends = None if found.is_proxied else logins.login_ends(runtime.store, token)
        said |= {"csrf": logins.csrf_of(token), "expires_at": ends}
    return said


def _token(request: Request) -> str:
    found, token = holder(request), cookie_in(request.scope)
    if found is None or not found.is_person or not token:
        raise UsageError(
            "this request used a key, and a key has no login to end; to revoke a key: DELETE /api/keys/ID"
        )
    return token


ROUTES = (
    Route("POST", "/api/setup", setup, None, {"security": []}, (201,)),
    Route(
        "POST", "/api/login", login, None, {"security": []}, unaudited="a login changes nothing but itself"
    ),
    Route("POST", "/api/logout", logout, READ, status=(204,), unaudited="it ends the caller's own login"),
    Route("GET", "/api/me", me, READ),
)

"""Logging in over HTTP: the first administrator, logging in and out, and who one is."""

from typing import Annotated, Any, NotRequired, TypedDict

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from thresher.admin import admins, logins
from thresher.admin.keys import READ
from thresher.core.errors import UsageError
from thresher.runtime import Runtime
from thresher.web import auth
from thresher.web.answer import JSON, Answer, written
from thresher.web.auth import cookie_in, drop_cookie, holder, put_cookie
from thresher.web.problem import Problem
from thresher.web.route import CurrentRuntime, Route
from thresher.web.schemas import RequestBody, Text, like

NO_STORE = {"Cache-Control": "no-store"}
Password = Annotated[str, Field(max_length=admins.MAX_LENGTH)]


class LoginAsked(RequestBody):
    """The name and the password of a person."""

    model_config = like(name="ada", password="correct horse battery")  # noqa: S106  an example

    name: Text
    password: Password


class SetupAsked(LoginAsked):
    """The first administrator, with the token that the server showed at start."""

    model_config = like(name="ada", password="correct horse battery", token="3f9c…")  # noqa: S106  an example

    token: Text


class SetUp(TypedDict):
    """The first administrator."""

    name: str


class LoginGiven(TypedDict):
    """A login that has begun. `csrf` goes into the header X-CSRF-Token of every change."""

    name: str
    csrf: str
    expires_at: int | None


class Me(TypedDict):
    """Who asks: a person with the `csrf` of the login, or the owner of a key. `expires_at` is null where a
    proxy signs people in.
    """

    name: str
    scopes: list[str]
    role: str | None
    csrf: NotRequired[str]
    expires_at: NotRequired[int | None]


async def setup(runtime: CurrentRuntime, request: Request, body: SetupAsked) -> Answer[SetUp] | Response:
    """Create the first administrator, with the token that the server shows at start. The token is valid once,
    for an hour.
    """
    made = await auth.set_up(runtime.store, request, body.token, body.name, body.password)
    return (
        made.response() if isinstance(made, Problem) else Answer(written({"name": made}), 201, NO_STORE, JSON)
    )


async def login(runtime: CurrentRuntime, request: Request, body: LoginAsked) -> Answer[LoginGiven] | Response:
    """Log in. The browser keeps the cookie; send `csrf` as the header X-CSRF-Token with
    every change.
    """
    found = await auth.log_in(runtime.store, request, body.name, body.password)
    if isinstance(found, Problem):
        return found.response()
    said = {"name": found.name, "csrf": found.csrf, "expires_at": found.expires_at}
    response: Answer[LoginGiven] = Answer(written(said), 200, NO_STORE, JSON)
    put_cookie(response, request.scope, found)
    return response


async def logout(runtime: CurrentRuntime, request: Request) -> Answer[None]:
    """End this login. A key has no login."""
    token = _token(request)
    await runtime.store.run(logins.log_out, runtime.store, token)
    response: Answer[None] = Answer(status_code=204)
    drop_cookie(response, request.scope)
    return response


async def me(runtime: CurrentRuntime, request: Request) -> Answer[Me]:
    """Show who is logged in, with which role, until when, and their `csrf` token. With a key: its owner."""
    return Answer(await runtime.store.run(lambda: written(_me(runtime, request))), 200, NO_STORE, JSON)


def _me(runtime: Runtime, request: Request) -> Me:
    found = holder(request)
    assert found is not None
    said: Me = {"name": found.name, "scopes": list(found.scopes), "role": found.role}
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


LOGIN = {"name": "ada", "csrf": "f3b1…", "expires_at": "2026-03-02T22:15:00.000Z"}
_ME = {**LOGIN, "scopes": ["read", "write"], "role": "operator"}
_STRANGER: dict[str, Any] = {"security": []}

ROUTES = (
    Route(
        "POST",
        "/api/setup",
        setup,
        None,
        _STRANGER,
        (201, 401, 403, 429),
        example={"name": "ada"},
        name="set_up",
    ),
    Route(
        "POST",
        "/api/login",
        login,
        None,
        _STRANGER,
        (200, 401, 403, 429),
        example=LOGIN,
        unaudited="a login changes nothing but itself",
        name="log_in",
    ),
    Route(
        "POST",
        "/api/logout",
        logout,
        READ,
        status=(204,),
        unaudited="it ends the caller's own login",
        name="log_out",
    ),
    Route("GET", "/api/me", me, READ, example=_ME, name="get_me"),
)

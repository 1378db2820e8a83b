"""Administrators over HTTP: the first one, logging in and out, and who one is."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from thresher.build import Workshop
from thresher.control import admins, logins, password
from thresher.control.keys import Denied, Scope
from thresher.core.errors import UsageError
from thresher.web.answer import JSON, written
from thresher.web.asked import Asked, Text
from thresher.web.cookie import cookie_in, drop_cookie, put_cookie
from thresher.web.door import holder
from thresher.web.problem import Problem
from thresher.web.route import Owner, Route, Shop

NO_STORE = {"Cache-Control": "no-store"}
_NO_SETUP = (
    "this token makes no administrator: it is wrong, used or too old. As long as there is none thresher serve shows a new one when it "
    "starts; without one: thresher admin create NAME"
)
Password = Annotated[str, Field(max_length=password.MOST)]
T = TypeVar("T")


class LoginAsked(Asked):
    """Who somebody says they are, and their proof."""

    name: Text
    password: Password


class SetupAsked(LoginAsked):
    """The first administrator, with the token that the server showed when it started."""

    token: Text


async def setup(shop: Shop, request: Request, body: SetupAsked) -> Response:
    """Make the first administrator, with the token that the server shows when it starts: good for an hour, and once."""
    admins.check_admin(body.name, body.password)
    store, made = shop.store, None
    if await store.run(admins.setup_is_open, store, body.token):
        kept = await _slowly(request, lambda: password.hashed(body.password, store.settings.count(admins.COST)))
        made = await store.run(admins.first_admin, store, body.token, body.name, kept)
    if made is None:
        return Problem(401, "SetupRefused", _NO_SETUP).response()
    return Response(written({"name": made.name}), 201, NO_STORE, JSON)


async def login(shop: Shop, request: Request, body: LoginAsked) -> Response:
    """Log in as an administrator. The cookie is for the browser, `csrf` for the header X-CSRF-Token of every change."""
    store = shop.store
    tried = await store.run(logins.count_try, store, body.name, request.client.host if request.client else "")
    if isinstance(tried, Denied):
        return _denied(tried).response()
    fits = await _slowly(request, lambda: password.fits(body.password, tried.kept))
    found = await store.run(logins.log_in, store, tried, fits=fits)
    if isinstance(found, Denied):
        return _denied(found).response()
    said = {"name": found.name, "csrf": found.csrf, "expires_at": found.expires_at}
    response = Response(written(said), 200, NO_STORE, JSON)
    put_cookie(response, request.scope, found)
    return response


async def logout(shop: Shop, request: Request) -> Response:
    """End this login. A key has none."""
    token = _token(request)
    await shop.store.run(logins.log_out, shop.store, token)
    response = Response(status_code=204)
    drop_cookie(response, request.scope)
    return response


async def me(shop: Shop, request: Request) -> Response:
    """Who is logged in, until when, and the `csrf` of this login. For a key: whose it is."""
    return Response(await shop.store.run(lambda: written(_me(shop, request))), 200, NO_STORE, JSON)


def _me(shop: Workshop, request: Request) -> dict[str, Any]:
    found = holder(request)
    assert found is not None
    said: dict[str, Any] = {"name": found.name, "scopes": found.scopes}
    if found.admin:
        token = _token(request)
        said |= {"csrf": logins.csrf_of(token), "expires_at": logins.login_ends(shop.store, token)}
    return said


def _token(request: Request) -> str:
    found, token = holder(request), cookie_in(request.scope["headers"])
    if found is None or not found.admin or not token:
        raise UsageError("this was asked with a key, which is not logged in; to take a key back: DELETE /api/keys/ID")
    return token


def _denied(why: Denied) -> Problem:
    if why.retry_after is not None:
        return Problem(429, "TooManyRequests", f"{why.says} {why.retry_after} s", {"Retry-After": str(why.retry_after)})
    return Problem(401, "LoginRefused", why.says)


async def _slowly(request: Request, work: Callable[[], T]) -> T:
    """Hash on one of a few threads of their own: neither the event loop nor the database shall wait for it."""
    return await asyncio.get_running_loop().run_in_executor(request.app.state.hashers, work)


ROUTES = (
    Route("POST", "/api/setup", setup, Owner.THRESHER, None, {"security": []}, (201,)),
    Route("POST", "/api/login", login, Owner.THRESHER, None, {"security": []}),
    Route("POST", "/api/logout", logout, Owner.THRESHER, Scope.ADMIN, status=(204,)),
    Route("GET", "/api/me", me, Owner.THRESHER, Scope.ADMIN),
)

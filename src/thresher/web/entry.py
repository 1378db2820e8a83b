"""Logging in by name and password: the same steps for the API and for the pages."""

from collections.abc import Callable
from typing import TypeVar

from starlette.requests import Request

from thresher.admin import admins, logins
from thresher.admin.keys import Denied
from thresher.admin.logins import Login
from thresher.core.errors import UsageError
from thresher.store.store import Store
from thresher.web.answer import run_in_pool
from thresher.web.problem import Problem

NO_SETUP = (
    "this token makes no administrator: it is wrong, used or too old. As long as there is none thresher serve shows a new one when it "
    "starts; without one: thresher admin create NAME"
)
HASHERS = 2  # passwords that are checked at the same time, each with 32 MiB and a core
T = TypeVar("T")


async def set_up(store: Store, request: Request, token: str, name: str, secret: str) -> str | Problem:
    """Make the first administrator, with the token that the server showed when it started; the name."""
    admins.check_admin(name, secret)
    made = None
    if await store.run(admins.setup_is_open, store, token):
        kept = await _slowly(
            request, lambda: admins.hashed(secret, store.settings.count(admins.COST_SETTING))
        )
        made = await store.run(admins.first_admin, store, token, name, kept)
    return Problem(401, "SetupRefused", NO_SETUP) if made is None else made.name


async def log_in(store: Store, request: Request, name: str, secret: str) -> Login | Problem:
    """Let somebody in whose password fits. Every try is counted, for the address and for the name as tried
    from it, before it is judged.
    """
    if len(secret) > admins.MAX_LENGTH:
        raise UsageError(f"a password has at most {admins.MAX_LENGTH:,} characters")
    tried = await store.run(logins.count_try, store, name, request.client.host if request.client else "")
    if isinstance(tried, Denied):
        return _denied(tried)
    fits = await _slowly(request, lambda: admins.fits(secret, tried.kept))
    found = await store.run(logins.log_in, store, tried, fits=fits)
    return _denied(found) if isinstance(found, Denied) else found


def _denied(why: Denied) -> Problem:
    if why.retry_after is not None:
        return Problem(
            429, "TooManyRequests", f"{why.says} {why.retry_after} s", {"Retry-After": str(why.retry_after)}
        )
    return Problem(401, "LoginRefused", why.says)


async def _slowly(request: Request, work: Callable[[], T]) -> T:
    """Hash on one of a few threads of their own: neither the event loop nor the database shall wait for
    it.
    """
    return await run_in_pool(request, "password", HASHERS, work)

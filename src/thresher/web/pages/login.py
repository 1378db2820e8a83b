"""The way in and out: the first administrator, logging in, logging out."""

from starlette.responses import Response

from thresher.admin import logins
from thresher.admin.admins import has_admins
from thresher.admin.keys import READ
from thresher.core.errors import UsageError
from thresher.web import auth
from thresher.web.auth import drop_cookie, is_secure, put_cookie, values
from thresher.web.pages.login_required import LOGIN, LOGOUT, SETUP, local
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.problem import Problem, of_error

_NOT_KEPT = Problem(
    400,
    "NotKept",
    (
        "your browser does not keep a login from another machine without https, so you would have "
        "to log in again and again; put a TLS proxy in front of the server, or open the page on the "
        "machine itself, for example through a tunnel to 127.0.0.1"
    ),
)


def setup(page_request: PageRequest) -> Response:
    """Show the form for the first administrator; if there is one, redirect to the login."""
    return page_request.go(LOGIN) if has_admins(page_request.runtime.store) else _setup(page_request)


def _setup(page_request: PageRequest, problem: Problem | None = None) -> Response:
    status, headers = (problem.status, problem.headers) if problem else (200, {})
    return page_request.show(
        "setup.html", status, headers, problem=problem, name=page_request.form.one("name")
    )


async def set_up(page_request: PageRequest) -> Response:
    """Create the first administrator, then redirect to the login, which proves that the password is the
    intended one.
    """
    form = page_request.form
    token, name, password = form.one("token").strip(), form.one("name").strip(), form.one("password")
    try:
        if password != form.one("again"):
            raise UsageError("the two passwords are not the same")
        made = await auth.set_up(page_request.runtime.store, page_request.request, token, name, password)
    except UsageError as error:
        return _setup(page_request, of_error(error))
    return _setup(page_request, made) if isinstance(made, Problem) else page_request.go(LOGIN)


def login(page_request: PageRequest) -> Response:
    """Show the login form, or redirect to `next` if already logged in."""
    after = local(page_request.request.query_params.get("next", ""))
    if page_request.who is not None:
        return page_request.go(after)
    return (
        page_request.go(SETUP) if not has_admins(page_request.runtime.store) else _login(page_request, after)
    )


def _login(page_request: PageRequest, after: str, problem: Problem | None = None) -> Response:
    status, headers = (problem.status, problem.headers) if problem else (200, {})
    return page_request.show(
        "login.html", status, headers, problem=problem, after=after, name=page_request.form.one("name")
    )


async def log_in(page_request: PageRequest) -> Response:
    """Log in, counted like any other attempt, and redirect."""
    after = local(page_request.form.one("next"))
    if not _is_kept(page_request):
        return _login(page_request, after, _NOT_KEPT)
    found = await auth.log_in(
        page_request.runtime.store,
        page_request.request,
        page_request.form.one("name"),
        page_request.form.one("password"),
    )
    if isinstance(found, Problem):
        return _login(page_request, after, found)
    response = page_request.go(after)
    put_cookie(response, page_request.request.scope, found)
    return response


def _is_kept(page_request: PageRequest) -> bool:
    """Tell whether the browser will keep the login. The browser's own account of how it came here counts,
    because a proxy may have changed the rest.
    """
    origins = values(page_request.request.scope["headers"], b"origin")
    return not (is_secure(page_request.request.scope) and origins and origins[0].startswith("http://"))


def log_out(page_request: PageRequest) -> Response:
    """End this login, wherever its token has got to."""
    logins.log_out(page_request.runtime.store, page_request.token)
    response = page_request.go(LOGIN)
    drop_cookie(response, page_request.request.scope)
    return response


PAGES = (
    DashboardPage("GET", SETUP, setup, is_open=True),
    DashboardPage("POST", SETUP, set_up, is_open=True),
    DashboardPage("GET", LOGIN, login, asks=frozenset({"next"}), is_open=True),
    DashboardPage("POST", LOGIN, log_in, is_open=True, unaudited="a login changes nothing but itself"),
    DashboardPage("POST", LOGOUT, log_out, scope=READ, unaudited="it ends the caller's own login"),
)

"""The way in and out: the first administrator, logging in, logging out."""

from starlette.responses import Response

from thresher.admin import logins
from thresher.admin.admins import has_admins
from thresher.core.errors import UsageError
from thresher.web import auth
from thresher.web.auth import drop_cookie, is_secure, put_cookie, values
from thresher.web.pages.login_required import LOGIN, LOGOUT, SETUP, local
from thresher.web.pages.page import DashboardPage, Visit
from thresher.web.problem import Problem, of_error

_NOT_KEPT = Problem(
    400,
    "NotKept",
    (
        "your browser keeps no login that comes from another machine without https, so you would be asked again and again; put something "
        "before the server that speaks TLS, or open the page on the machine itself, such as through a tunnel to 127.0.0.1"
    ),
)


def setup(visit: Visit) -> Response:
    """The form for the first administrator; where there is one, the way to log in."""
    return visit.go(LOGIN) if has_admins(visit.runtime.store) else _setup(visit)


def _setup(visit: Visit, problem: Problem | None = None) -> Response:
    status, headers = (problem.status, problem.headers) if problem else (200, {})
    return visit.show("setup.html", status, headers, problem=problem, name=visit.form.one("name"))


async def set_up(visit: Visit) -> Response:
    """Make the first administrator. Then the browser is asked to log in, which shows that the password is the
    one meant.
    """
    form = visit.form
    token, name, password = form.one("token").strip(), form.one("name").strip(), form.one("password")
    try:
        if password != form.one("again"):
            raise UsageError("the two passwords are not the same")
        made = await auth.set_up(visit.runtime.store, visit.request, token, name, password)
    except UsageError as error:
        return _setup(visit, of_error(error))
    return _setup(visit, made) if isinstance(made, Problem) else visit.go(LOGIN)


def login(visit: Visit) -> Response:
    """The form to log in; for whoever is logged in, the way on. `next` is where that is."""
    after = local(visit.request.query_params.get("next", ""))
    if visit.who is not None:
        return visit.go(after)
    return visit.go(SETUP) if not has_admins(visit.runtime.store) else _login(visit, after)


def _login(visit: Visit, after: str, problem: Problem | None = None) -> Response:
    status, headers = (problem.status, problem.headers) if problem else (200, {})
    return visit.show(
        "login.html", status, headers, problem=problem, after=after, name=visit.form.one("name")
    )


async def log_in(visit: Visit) -> Response:
    """Log in, counted like every other try, and go on."""
    after = local(visit.form.one("next"))
    if not _is_kept(visit):
        return _login(visit, after, _NOT_KEPT)
    found = await auth.log_in(
        visit.runtime.store, visit.request, visit.form.one("name"), visit.form.one("password")
    )
    if isinstance(found, Problem):
        return _login(visit, after, found)
    response = visit.go(after)
    put_cookie(response, visit.request.scope, found)
    return response


def _is_kept(visit: Visit) -> bool:
    """Whether the browser will hold the login. Its own word for how it came here counts: what is in between
    may have changed the rest.
    """
    origins = values(visit.request.scope["headers"], b"origin")
    return not (is_secure(visit.request.scope) and origins and origins[0].startswith("http://"))


def log_out(visit: Visit) -> Response:
    """End this login, wherever its token has got to."""
    logins.log_out(visit.runtime.store, visit.token)
    response = visit.go(LOGIN)
    drop_cookie(response, visit.request.scope)
    return response


PAGES = (
    DashboardPage("GET", SETUP, setup, is_open=True),
    DashboardPage("POST", SETUP, set_up, is_open=True),
    DashboardPage("GET", LOGIN, login, asks=frozenset({"next"}), is_open=True),
    DashboardPage("POST", LOGIN, log_in, is_open=True),
    DashboardPage("POST", LOGOUT, log_out),
)

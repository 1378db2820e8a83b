"""The pages beside the API, in one server: what lies under /api is for programs, everything else for people.

Errors look like where they happen: problem details there, a page here. The two share the logins, the limits
of a body and the log.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from inspect import iscoroutinefunction
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import State
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as Path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from thresher.admin.admins import role_for
from thresher.admin.audit import Actor, acting, with_values
from thresher.admin.keys import READ
from thresher.admin.status import worker_notice
from thresher.core.errors import ThresherError
from thresher.runtime import Runtime
from thresher.web.auth import HARMLESS, actor_in, carries, foreign, holder
from thresher.web.body import BodyReader
from thresher.web.conditional import as_get
from thresher.web.pages import PAGES
from thresher.web.pages.form import Form, read_form
from thresher.web.pages.login_required import Entrance
from thresher.web.pages.page import HTML, DashboardPage, PageRequest, app_pages
from thresher.web.pages.shell import HEADERS, NavigationEntry, rendered, use_templates
from thresher.web.problem import TITLES, Problem, of_error, of_http, of_surprise
from thresher.web.proxied import sign_in
from thresher.web.request_context import note_route
from thresher.web.route import check_parameters, role_missing
from thresher.web.routes.monitoring import PATHS, PROBES
from thresher.web.traffic import Traffic

API = "/api"
# What the API answers is for whoever asked, now: no proxy and no browser keeps it, nor guesses that it is a
# page.
API_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_FORGED = Problem(
    403,
    "CsrfRefused",
    (
        "this form does not belong to your login: it was opened before you logged in, or by another "
        "page. Nothing was changed; go back, reload the page and try again"
    ),
)


class Site:
    """Serves everything outside /api, and passes the rest to the API; so also what monitoring asks for."""

    def __init__(self, app: ASGIApp, runtime: Runtime, state: State) -> None:
        self._api, self._pages, self._store = app, make_pages(runtime, state), runtime.store
        self._traffic: Traffic = state.traffic

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._api(scope, receive, send)
            return
        if scope["path"] not in PROBES:
            scope, send = await sign_in(self._store, scope, send)
        if scope["path"] == API or scope["path"].startswith(f"{API}/") or scope["path"] in PATHS:
            send = _with_headers(self._traffic.measured(send), API_HEADERS)
            await self._api(*_to_get(scope, receive, send))
        else:
            await self._pages(scope, receive, _with_headers(send, HEADERS))


def _to_get(scope: Scope, receive: Receive, send: Send) -> tuple[Scope, Receive, Send]:
    if scope["method"] != "HEAD":
        return scope, receive, send
    scope, send = as_get(scope, send)
    return scope, receive, send


def _with_headers(send: Send, headers: Mapping[str, str]) -> Send:
    """Add the security headers to every response, whatever produces it."""

    async def headed(message: Message) -> None:
        if message["type"] == "http.response.start":
            has = {name for name, _ in message["headers"]}
            more = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
            message = {
                **message,
                "headers": [*message["headers"], *(each for each in more if each[0] not in has)],
            }
        await send(message)

    return headed


def make_pages(runtime: Runtime, state: State, pages: Sequence[DashboardPage] = PAGES) -> Starlette:
    """Build the dashboard of a project."""
    apps = runtime.registry.apps
    use_templates({app.name: app.templates for app in apps if app.templates})
    brought = tuple(app_pages(apps, pages))
    there = (*pages, *brought)
    # What a person looks at daily comes first, then the machine.
    ordered = (*(page for page in pages if page.path == "/"), *brought, *pages)
    places = tuple(
        dict.fromkeys(
            NavigationEntry(page.title, page.path, page.section, page.needs or READ)
            for page in ordered
            if page.title
        )
    )
    opens = frozenset((page.method, page.path) for page in there if page.is_open)
    made = Starlette(
        routes=[Path(page.path, _answering(page, runtime, places), methods=[page.method]) for page in there],
        middleware=[
            Middleware(Entrance, store=runtime.store, opens=opens, tell=outside),
            Middleware(BodyReader, settings=lambda: runtime.store.settings, tell=outside),
        ],
        exception_handlers=_handlers(runtime, places),
    )
    made.router.redirect_slashes = False
    made.state = state
    return made


def _answering(
    page: DashboardPage, runtime: Runtime, places: tuple[NavigationEntry, ...]
) -> Callable[[Request], Awaitable[Response]]:
    endpoint: Any = page.endpoint

    async def answer(request: Request) -> Response:
        note_route(request.scope, page.path)
        problem = _role_missing(request, page)
        if problem is not None:
            return tell(
                PageRequest(request, runtime, places, banner=await _banner(request, runtime)), problem
            )
        check_parameters(request, page.asks)
        form = Form() if request.method in HARMLESS else await read_form(request, page.long_fields)
        page_request = PageRequest(
            request, runtime, places, page.section or None, form, await _banner(request, runtime)
        )
        if not page.is_open and (problem := _forged(page_request)) is not None:
            return tell(page_request, problem)
        with acting(_actor(page_request, page)):
            return await (
                endpoint(page_request)
                if iscoroutinefunction(endpoint)
                else runtime.store.run(endpoint, page_request)
            )

    return answer


def _role_missing(request: Request, page: DashboardPage) -> Problem | None:
    """Say why the reader may not use a page. It is checked here so that no page can forget it."""
    who = holder(request)
    if page.needs is None or who is None or who.opens(page.needs):
        return None
    return role_missing(who, role_for(page.needs) or page.needs)


def _actor(page_request: PageRequest, page: DashboardPage) -> Actor | None:
    """Return whoever changes something through a page, with what they ask for."""
    who = page_request.who
    if who is None or page.is_open or page.unaudited:
        return None
    actor = actor_in(page_request.request.scope, who)
    if actor is not None:
        given = page_request.form.fields
        asked = ((name, value) for name in page.shows for value in given.get(name, ()) if value)
        actor.action = with_values(actor.action, asked)
    return actor


async def _banner(request: Request, runtime: Runtime) -> str | None:
    """Return what every page has to say to whoever is logged in. A database that is away has its own page."""
    try:
        return await runtime.store.run(worker_notice, runtime.store) if holder(request) else None
    except ThresherError:
        return None


def _forged(page_request: PageRequest) -> Problem | None:
    """Say why a change may come from a foreign page. It is checked here so that no page can forget it.

    Without a login there is no token: login_required has checked the origin of such a form.
    """
    if page_request.request.method in HARMLESS:
        return None
    return (None if carries(page_request.form.all("csrf"), page_request.token) else _FORGED) or foreign(
        page_request.request.scope
    )


def _handlers(runtime: Runtime, places: tuple[NavigationEntry, ...]) -> dict[Any, Any]:
    def telling(of: Callable[[Request, Any], Problem]) -> Callable[[Request, Exception], Awaitable[Response]]:
        async def on(request: Request, error: Exception) -> Response:
            banner = await _banner(request, runtime)
            return tell(PageRequest(request, runtime, places, banner=banner), of(request, error))

        return on

    return {
        ThresherError: telling(lambda _, error: of_error(error)),
        HTTPException: telling(
            lambda request, error: of_http(request, error, "the links at the top lead to all pages")
        ),
        Exception: telling(of_surprise),
    }


def tell(page_request: PageRequest, problem: Problem) -> Response:
    """Show a problem as a page."""
    return page_request.show(
        "problem.html",
        problem.status,
        problem.headers,
        problem=problem,
        title=TITLES.get(problem.status, "Problem"),
    )


def outside(problem: Problem) -> Response:
    """Show a problem as a page to someone who is not logged in."""
    nobody: dict[str, Any] = {
        "who": None,
        "may": lambda _: False,
        "csrf": "",
        "own_csrf": "",
        "sections": (),
        "path": "",
        "is_answer": False,
        "banner": None,
    }
    page = rendered("problem.html", problem=problem, title=TITLES.get(problem.status, "Problem"), **nobody)
    return Response(page, problem.status, dict(problem.headers), HTML)

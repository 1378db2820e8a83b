"""One route: its owner, its scope, and what is refused before anything is read."""

import json
import re
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Query
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import compile_path

from thresher.admin.admins import role_for
from thresher.admin.audit import Actor, acting, actor_now, with_values
from thresher.admin.keys import SCOPES, Admitted
from thresher.core.app import App
from thresher.core.errors import ConfigError, UsageError
from thresher.runtime import Runtime
from thresher.web.auth import holder
from thresher.web.body import BODY_LIMIT, BODY_PATIENCE, BodyLimit, Limits
from thresher.web.conditional import conditional
from thresher.web.idempotency import HEADER, MAX_KEY, key_in, once
from thresher.web.paging import CURSOR, LIMIT, PARAMETER, PLACES, CursorPaging
from thresher.web.problem import PROBLEM, Problem
from thresher.web.request_context import note_route

OURS = "thresher"  # who owns a route that no app brings
OWNER, SCOPE, AUDIT, PAGE_BY = "x-owner", "x-scope", "x-audit", "x-page-by"
API = "/api"
MAX_TEXT = 4_000  # characters of one parameter
MAX_ROWS = 1_000
MAX_ID = 2**53 - 1  # exact in JSON, and in the databases

_PARAMETER = re.compile(r"{[^}]*}")

_KEY = {
    "name": HEADER,
    "in": "header",
    "description": "Sent again under the same key, the request is answered as before and not done again.",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY, "pattern": "^[!-~]+$"},
}

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


@dataclass(frozen=True, slots=True)
class Route:
    """One route of the API: a method, a path under /api, a FastAPI endpoint, and the key scope that it
    requires.

    It is described by its endpoint: the docstring, whose first sentence is the summary, the parameters and
    the body, and the type that it returns (`Answer[T]`), with one `example` of such an answer. `name` is what
    programs call it, such as list_cups. `extra` is added to the OpenAPI description; `status` are its status
    codes, the usual one first.
    `body_limit` (bytes) and `body_patience` (seconds) limit its request body: numbers, or names of settings.
    `probe` marks a route without parameters that changes nothing; the dashboard suggests it for trying out a
    new key. A change is written into the audit log with its method and path, and with the values of those
    fields of a JSON body and parameters that `shows` names; `unaudited` says why one is not. A list
    that takes `limit` and either `before` or `after` names in `page_by` the member of its rows that these
    stand for (with dots for members of members); then it takes `cursor`, too. A route of
    Thresher itself without a scope is open to everyone, and authentication must know of it.
    """

    method: str
    path: str
    endpoint: Callable[..., Any]
    scope: str | None
    extra: Mapping[str, Any] = field(default_factory=dict)
    status: tuple[int, ...] = (200,)
    body_limit: str | int = BODY_LIMIT
    body_patience: str | float = BODY_PATIENCE
    probe: bool = False
    shows: tuple[str, ...] = ()
    unaudited: str | None = None
    page_by: str | None = None
    name: str | None = None
    example: Any = None

    @property
    def shape(self) -> tuple[str, str]:
        """Return what two routes may not share: the method, and the path with its parameters unnamed."""
        return self.method, _PARAMETER.sub("{}", self.path)

    def add_to(self, app: FastAPI, owner: str) -> None:
        """Add the route to an API. `owner` is the app that defines it, or Thresher itself."""
        said: dict[str, Any] = {OWNER: owner, SCOPE: self.scope}
        if self.shows or self.unaudited:
            said[AUDIT] = {"not": self.unaudited} if self.unaudited else {"shows": self.shows}
        extra = dict(self.extra)
        if self.method == "POST" and self.scope is not None:
            extra["parameters"] = [*extra.get("parameters", ()), _KEY]
        if self.page_by:
            said[PAGE_BY] = self.page_by
            extra["parameters"] = [*extra.get("parameters", ()), dict(PARAMETER)]
        app.add_api_route(
            self.path,
            self.endpoint,
            methods=[self.method],
            status_code=self.status[0],
            responses={"default": {"description": "A problem", "content": {PROBLEM: {}}}},
            openapi_extra={**extra, **said},
            response_model=None,
        )


def body_limits(routes: Iterable[Route]) -> Limits:
    """Return the routes with their own body limits."""
    usual = BodyLimit()
    found = ((route, BodyLimit(route.body_limit, route.body_patience)) for route in routes)
    return [(route.method, compile_path(route.path)[0], limit) for route, limit in found if limit != usual]


def app_routes(apps: Iterable[App], ours: Iterable[Route]) -> Iterator[tuple[str, Route]]:
    """Collect the routes of the apps, each with the name of its app. Refuse those that could not be served as
    intended.
    """
    taken = {route.shape: "Thresher itself" for route in ours}
    for app in apps:
        scopes = (*SCOPES, *app.scopes)
        for route in app.routes:
            _check(app, route, scopes)
            other = taken.get(route.shape)
            if other:
                raise ConfigError(
                    f"the route {route.method} {route.path} is defined by the app {app.name!r} and "
                    f"by {other}; change its path, or do not enable both"
                )
            taken[route.shape] = f"the app {app.name!r}"
            yield app.name, route


def _check(app: App, route: object, scopes: tuple[str, ...]) -> None:
    if not isinstance(route, Route):
        raise ConfigError(
            f"routes of the app {app.name!r} contains a {type(route).__name__}; it must contain "
            "thresher.Route"
        )
    if not route.path.startswith(f"{API}/"):
        raise ConfigError(f"the route {route.path} of the app {app.name!r} must start with {API}/")
    if route.scope not in scopes:
        raise ConfigError(
            f"the route {route.path} of the app {app.name!r} has the scope {route.scope!r}; it must "
            f"be one of {', '.join(scopes)}, or one that the app lists in scopes"
        )


class Guarded(APIRoute):
    """Checks the scope and the parameter names of a request before a byte of its body is read."""

    def get_route_handler(self) -> Handler:
        inner = super().get_route_handler()
        said = self.openapi_extra or {}
        if OWNER not in said or SCOPE not in said:
            raise TypeError(
                f"{self.path} has no owner or no scope; routes are added from the list in web/routes"
            )
        fields = {each.alias: each for each in self.dependant.query_params}
        paging: CursorPaging | None = None
        if PAGE_BY in said:
            (place,) = fields.keys() & PLACES
            paging = CursorPaging(place, said[PAGE_BY], fields[LIMIT].default)
        names = frozenset(fields) | ({CURSOR} if paging else frozenset[str]())

        async def guarded(request: Request) -> Response:
            note_route(request.scope, self.path)
            problem = without_scope(request, said[SCOPE])
            if problem is not None:
                return problem.response()
            check_parameters(request, names)
            who = holder(request)
            key = key_in(request, who)
            with acting(await _told(request, said.get(AUDIT, {}))):
                if request.method == "GET":
                    asked = paging.begin(request) if paging else request
                    response = await inner(asked)
                    return conditional(request, paging.end(asked, response) if paging else response)
                if who is None or key is None:
                    return await inner(request)
                return await once(request.app.state.runtime.store, request, who, key, inner)

        return guarded


async def _told(request: Request, how: Mapping[str, Any]) -> Actor | None:
    """Return whoever acts in a request, with what they ask for; None where the audit log has no row."""
    actor = actor_now()
    if actor is None or "not" in how:
        return None
    shows = how.get("shows", ())
    if shows:
        asked = dict(request.query_params) | await _json(request)
        actor.action = with_values(actor.action, ((name, asked[name]) for name in shows if name in asked))
    return actor


async def _json(request: Request) -> dict[str, Any]:
    """Return the fields of a JSON body; none if it is anything else, which the route will refuse."""
    try:
        found = json.loads(await request.body())
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def without_scope(request: Request, scope: str | None) -> Problem | None:
    """Say why the key of a request may not use a route; None if it may."""
    key = holder(request)
    if scope is None or (key is not None and key.opens(scope)):
        return None
    if key is not None and key.is_person and (role := role_for(scope)):
        return role_missing(key, role)
    name, opens = (f"the {key.who}", ", ".join(key.scopes)) if key else ("nobody", "nothing")
    says = f"this needs a key with the scope {scope}; {name} has {opens}"
    return Problem(403, "ScopeMissing", says)


def role_missing(who: Admitted, role: str) -> Problem:
    """Refuse somebody what only a higher role may do."""
    says = (
        f"this needs the role {role}, and {who.name} has the role {who.role}; an administrator can change it"
    )
    return Problem(403, "RoleMissing", f"{says}: thresher admin role NAME {role}")


def check_parameters(request: Request, names: frozenset[str]) -> None:
    """Refuse unknown and repeated parameters: a misspelt filter would return everything."""
    given = [name for name, _ in request.query_params.multi_items()]
    for name in given:
        if name not in names:
            known = ", ".join(sorted(names)) or "none"
            raise UsageError(f"there is no parameter {name[:80]!r} here; the parameters are: {known}")
        if given.count(name) > 1:
            raise UsageError(f"the parameter {name} was sent {given.count(name)} times; send it once")
    for value in (*request.query_params.values(), *map(str, request.path_params.values())):
        if len(value) > MAX_TEXT or "\0" in value:
            raise UsageError(
                f"a parameter may have at most {MAX_TEXT:,} characters, without NUL; got {value[:40]!r}"
            )


async def current_runtime(request: Request) -> Runtime:
    """Return the project that is served."""
    runtime: Runtime = request.app.state.runtime
    return runtime


CurrentRuntime = Annotated[Runtime, Depends(current_runtime)]
Limit = Annotated[int, Query(ge=1, le=MAX_ROWS, description="Maximum number of rows.")]
BeforeId = Annotated[int | None, Query(ge=1, le=MAX_ID, description="Only ids below this one (next page).")]
AfterName = Annotated[str | None, Query(description="Only names that come after this one (next page).")]
AfterId = Annotated[int, Query(ge=0, le=MAX_ID, description="Only ids above this one (next page).")]
AfterKey = Annotated[
    str | None, Query(description="Start after this key, the last one of the previous page.")
]
BeforeKey = Annotated[
    str | None, Query(description="Start after this key, the last one of the previous page.")
]

"""One route: who owns it, which scope opens it, and what is refused before anything is read."""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Query
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from thresher.admin.keys import Scope
from thresher.build import Runtime
from thresher.core.errors import UsageError
from thresher.web.door import holder
from thresher.web.problem import PROBLEM, Problem

OWNER, SCOPE = "x-owner", "x-scope"
MAX_TEXT = 4_000  # characters of one parameter
MAX_ROWS = 1_000
MAX_ID = 2**53 - 1  # exact in JSON, and in the databases

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class Owner(StrEnum):
    """Who answers for a route: the queue that all apps share, or one app."""

    THRESHER = "thresher"
    JOBS = "jobs"
    ROLES = "roles"


@dataclass(frozen=True, slots=True)
class Route:
    """One row of the list of routes. Without a scope it is open to everybody, and the door has to know of
    it.
    """

    method: str
    path: str
    endpoint: Callable[..., Any]
    owner: Owner
    scope: Scope | None
    extra: Mapping[str, Any] = field(default_factory=dict)
    status: tuple[int, ...] = (200,)

    def add_to(self, app: FastAPI) -> None:
        said = {OWNER: self.owner.value, SCOPE: self.scope.value if self.scope else None}
        also: dict[int | str, dict[str, Any]] = {
            each: {"description": HTTPStatus(each).phrase} for each in self.status[1:]
        }
        app.add_api_route(
            self.path,
            self.endpoint,
            methods=[self.method],
            status_code=self.status[0],
            tags=[self.owner.value],
            responses={**also, "default": {"description": "A problem", "content": {PROBLEM: {}}}},
            openapi_extra={**self.extra, **said},
            response_model=None,
        )


class Guarded(APIRoute):
    """Asks for the scope, and for parameters that the route knows, before a byte of the body is read."""

    def get_route_handler(self) -> Handler:
        inner = super().get_route_handler()
        said = self.openapi_extra or {}
        if OWNER not in said or SCOPE not in said:
            raise TypeError(
                f"{self.path} has no owner or no scope; routes are added from the list in web/routes"
            )
        names = frozenset(each.alias for each in self.dependant.query_params)

        async def guarded(request: Request) -> Response:
            problem = without_scope(request, said[SCOPE])
            if problem is not None:
                return problem.response()
            check_parameters(request, names)
            return await inner(request)

        return guarded


def without_scope(request: Request, scope: str | None) -> Problem | None:
    """Why the key of a request does not open a route; None if it does."""
    key = holder(request)
    if scope is None or (key is not None and key.opens(scope)):
        return None
    name, opens = (f"the {key.who}", ", ".join(key.scopes)) if key else ("nobody", "nothing")
    says = f"this needs a key with the scope {scope}; {name} opens {opens}"
    return Problem(403, "ScopeMissing", says)


def check_parameters(request: Request, names: frozenset[str]) -> None:
    """A misspelt filter would answer with everything; so would one that is given twice."""
    given = [name for name, _ in request.query_params.multi_items()]
    for name in given:
        if name not in names:
            known = ", ".join(sorted(names)) or "none"
            raise UsageError(f"there is no parameter {name[:80]!r} here; the parameters are: {known}")
        if given.count(name) > 1:
            raise UsageError(f"the parameter {name} is given {given.count(name)} times; once is enough")
    for value in (*request.query_params.values(), *map(str, request.path_params.values())):
        if len(value) > MAX_TEXT or "\0" in value:
            raise UsageError(
                f"a parameter is a text of at most {MAX_TEXT:,} characters, without NUL; got {value[:40]!r}"
            )


async def shop_of(request: Request) -> Runtime:
    """The project that is served."""
    runtime: Runtime = request.app.state.runtime
    return runtime


Shop = Annotated[Runtime, Depends(shop_of)]
Limit = Annotated[int, Query(ge=1, le=MAX_ROWS, description="At most so many.")]
BeforeId = Annotated[
    int | None, Query(ge=1, le=MAX_ID, description="Only ids below this one: the next page.")
]
BeforeKey = Annotated[
    str | None, Query(description="Only those after the one of this key, the last of the page before.")
]

"""One page: its row in the list of pages, and one visit to it.

A page is a plain function of a visit. It runs on a database thread, where it may read, change and render
without anybody waiting for it; only one that has to wait for something else is a coroutine.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from thresher.admin.keys import Admitted
from thresher.admin.logins import csrf_of
from thresher.build import Runtime
from thresher.web.cookie import cookie_in
from thresher.web.door import holder
from thresher.web.pages.form import Form
from thresher.web.pages.shell import Place, rendered
from thresher.web.route import Owner

HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Visit:
    """Somebody asks for a page. `places` are those of the navigation; `form` is what was filled in, on a
    POST.
    """

    request: Request
    runtime: Runtime
    places: tuple[Place, ...]
    form: Form = field(default_factory=Form)

    @property
    def who(self) -> Admitted | None:
        """The administrator; None at the pages that are open."""
        return holder(self.request)

    @property
    def token(self) -> str:
        """What the browser holds; empty for whoever is not logged in."""
        return (cookie_in(self.request.scope) or "") if self.who else ""

    def show(
        self, template: str, status: int = 200, headers: Mapping[str, str] = {}, **values: Any
    ) -> Response:
        """A page inside the shell."""
        shell = {
            "who": self.who,
            "csrf": csrf_of(self.token) if self.token else "",
            "places": self.places,
            "path": self.request.url.path,
        }
        return Response(rendered(template, **shell, **values), status, dict(headers), HTML)

    def go(self, path: str) -> Response:
        """Somewhere else in the dashboard. A GET, whatever this was: what was posted is not posted again by a
        reload.
        """
        return RedirectResponse(path, 303)


Endpoint = Callable[[Visit], Response] | Callable[[Visit], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Page:
    """One row of the list of pages. With a `title` it stands in the navigation; only `is_open` lets strangers
    see it.

    One that an app owns is there where that app is; `asks` are the parameters that it knows.
    """

    method: str
    path: str
    endpoint: Endpoint
    owner: Owner = Owner.THRESHER
    title: str | None = None
    asks: frozenset[str] = frozenset()
    is_open: bool = False

    def is_there(self, runtime: Runtime) -> bool:
        return self.owner is Owner.THRESHER or any(app.name == self.owner for app in runtime.registry.apps)

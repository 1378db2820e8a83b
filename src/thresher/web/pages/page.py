"""One page: its row in the list of pages, and one visit to it.

A page is a plain function of a visit. It runs on a database thread, where it may read, change and render
without anybody waiting for it; only one that has to wait for something else is a coroutine.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from thresher.admin.keys import Admitted
from thresher.admin.logins import csrf_of
from thresher.core.app import App
from thresher.core.errors import ConfigError
from thresher.runtime import Runtime
from thresher.web.auth import cookie_in, holder
from thresher.web.pages.form import Form
from thresher.web.pages.shell import NavigationEntry, rendered

HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Somebody asks for a page. `places` are those of the navigation; `form` is what was filled in, on a
    POST.
    """

    request: Request
    runtime: Runtime
    places: tuple[NavigationEntry, ...]
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


Endpoint = Callable[[PageRequest], Response] | Callable[[PageRequest], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class DashboardPage:
    """One page of the dashboard: a method, a path, and a function of a `Visit` that returns a response.

    With a `title` it stands in the navigation. `asks` are the parameters that it knows. Only `is_open` lets
    strangers see it; pages of apps are never open. An app's templates are shown by their name with that of
    the app before it: `visit.show("prices/list.html", ...)`.
    """

    method: str
    path: str
    endpoint: Endpoint
    title: str | None = None
    asks: frozenset[str] = frozenset()
    is_open: bool = False


def app_pages(apps: Iterable[App], ours: Iterable[DashboardPage]) -> Iterator[DashboardPage]:
    """The pages of the apps. What could not be shown as it is meant is refused."""
    taken = {(page.method, page.path): "Thresher itself" for page in ours}
    for app in apps:
        for page in app.pages:
            if not isinstance(page, DashboardPage):
                raise ConfigError(
                    f"pages of the app {app.name!r} has a {type(page).__name__}; it wants thresher.DashboardPage"
                )
            if page.is_open or not page.path.startswith("/") or page.path.startswith(("/api/", "//")):
                raise ConfigError(
                    f"the page {page.path} of the app {app.name!r} wants a path such as /{app.name}, not below /api, "
                    "and is shown to nobody who is not logged in"
                )
            if other := taken.get((page.method, page.path)):
                raise ConfigError(
                    f"the page {page.method} {page.path} is brought by the app {app.name!r} and by {other}; "
                    "give it another path, or do not enable both"
                )
            taken[page.method, page.path] = f"the app {app.name!r}"
            yield page

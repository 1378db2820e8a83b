"""One page: its row in the list of pages, and one request for it.

A page is a plain function of a `PageRequest`. It runs on a database thread, where it may read, change and
render without anybody waiting for it; only one that has to wait for something else is a coroutine.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from thresher.admin.keys import READ, SCOPES, WRITE, Admitted
from thresher.admin.logins import csrf_of
from thresher.core.app import App
from thresher.core.errors import ConfigError
from thresher.runtime import Runtime
from thresher.web.auth import HARMLESS, cookie_in, holder
from thresher.web.pages.form import Form
from thresher.web.pages.shell import NavigationEntry, rendered, sections_of

HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class PageRequest:
    """One request for a page of the dashboard. `show` answers with a template, `go` with a redirect;
    `runtime.store` is the store, and `form` is the submitted form, on a POST. `places` are the entries of the
    navigation, `section` is the part of it that the page belongs to, and `banner` is what every page says at
    its top.
    """

    request: Request
    runtime: Runtime
    places: tuple[NavigationEntry, ...]
    section: str | None = None
    form: Form = field(default_factory=Form)
    banner: str | None = None

    @property
    def who(self) -> Admitted | None:
        """Return who is logged in; None on open pages."""
        return holder(self.request)

    def may(self, scope: str) -> bool:
        """Tell whether the reader may do what needs a scope."""
        return self.who is not None and self.who.opens(scope)

    @property
    def token(self) -> str:
        """Return the browser's token; empty if not logged in."""
        return (cookie_in(self.request.scope) or "") if self.who else ""

    def show(
        self, template: str, status: int = 200, headers: Mapping[str, str] = {}, **values: Any
    ) -> Response:
        """Render a page inside the shell. `csrf` is for what needs the scope write, and empty for others: a
        form of our own without it is not shown. `own_csrf` is for what everybody may do.
        """
        own_csrf = csrf_of(self.token) if self.token else ""
        shell = {
            "who": self.who,
            "may": self.may,
            "csrf": own_csrf if self.may(WRITE) else "",
            "own_csrf": own_csrf,
            "sections": sections_of(
                [place for place in self.places if self.may(place.scope)], self.request.url.path, self.section
            ),
            "path": self.request.url.path,
            "is_answer": self.request.method not in HARMLESS,
            "banner": self.banner if self.who else None,
        }
        return Response(rendered(template, **shell, **values), status, dict(headers), HTML)

    def go(self, path: str) -> Response:
        """Redirect within the dashboard, always with GET, so that a reload does not post again."""
        return RedirectResponse(path, 303)


Endpoint = Callable[[PageRequest], Response] | Callable[[PageRequest], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class DashboardPage:
    """One page of the dashboard: a method, a path, and a function of a `PageRequest` that returns a response.

    With a `title` it appears in the navigation, under its `section`: by default that of its app. `asks` are
    the parameters it accepts, and `long_fields` the fields of its form that hold a whole text, as long as a
    form may be. Only `is_open` makes it public; pages of apps never are. Show an app's template by its name,
    prefixed with the app: `page_request.show("prices/list.html", ...)`.

    What its reader must be allowed to do is `scope`: if nothing is said, a page that changes something needs
    write, and any other read. A change is written into the audit log with its path, and with the values of
    those fields that `shows` names; `unaudited` says why one is not.
    """

    method: str
    path: str
    endpoint: Endpoint
    title: str | None = None
    section: str = ""
    asks: frozenset[str] = frozenset()
    long_fields: frozenset[str] = frozenset()
    is_open: bool = False
    scope: str | None = None
    shows: tuple[str, ...] = ()
    unaudited: str | None = None

    @property
    def needs(self) -> str | None:
        """The scope that its reader must have; None for everybody."""
        if self.is_open:
            return None
        return self.scope or (READ if self.method in HARMLESS else WRITE)


def app_pages(apps: Iterable[App], ours: Iterable[DashboardPage]) -> Iterator[DashboardPage]:
    """Collect the pages of the apps. Refuse those that could not be shown as intended."""
    taken = {(page.method, page.path): "Thresher itself" for page in ours}
    for app in apps:
        for page in app.pages:
            if not isinstance(page, DashboardPage):
                raise ConfigError(
                    f"pages of the app {app.name!r} contains a {type(page).__name__}; it must "
                    "contain thresher.DashboardPage"
                )
            if page.is_open or not page.path.startswith("/") or page.path.startswith(("/api/", "//")):
                raise ConfigError(
                    f"the page {page.path} of the app {app.name!r} needs a path such as /{app.name}, "
                    "not below /api, and must require a login"
                )
            if page.scope not in (None, *SCOPES):
                raise ConfigError(
                    f"the page {page.path} of the app {app.name!r} has the scope {page.scope!r}; it must be one of "
                    f"{', '.join(SCOPES)}, or none"
                )
            if other := taken.get((page.method, page.path)):
                raise ConfigError(
                    f"the page {page.method} {page.path} is defined by the app {app.name!r} and by "
                    f"{other}; change its path, or do not enable both"
                )
            taken[page.method, page.path] = f"the app {app.name!r}"
            yield page if page.section else replace(page, section=app.name.replace("_", " ").capitalize())

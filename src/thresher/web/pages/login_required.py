"""The login check of the pages: who is not logged in sees the login page and nothing else.

Like the authentication of the API it runs before the pages, so that a page which forgets to ask is closed.
API keys do not pass: a page is for a person, and should need more than a header that a script has.
"""

import re
from collections.abc import Callable, Collection
from urllib.parse import quote

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from thresher.admin.admins import has_admins
from thresher.admin.keys import Admitted
from thresher.admin.logins import admit_login
from thresher.core.errors import ThresherError
from thresher.store.store import Store
from thresher.web.auth import HARMLESS, KEY, cookie_in, foreign, log_answer, noted, signed_in
from thresher.web.problem import Problem, of_error

LOGIN, LOGOUT, SETUP = "/login", "/logout", "/setup"
MAX_PATH = 2_000
# Letters that an address is made of. No backslash and nothing that cannot be seen: browsers take those for a
# slash, or for nothing.
_LOCAL = re.compile(r"/(?:[A-Za-z0-9._~!$&'()*+,;=:@%?-][A-Za-z0-9._~!$&'()*+,;=:@%?/-]*)?", re.ASCII)


class Entrance:
    """Lets in logged-in users, and sends everyone else to the login. `opens` are the methods and paths that
    need no login.
    """

    def __init__(
        self,
        app: ASGIApp,
        store: Store,
        opens: Collection[tuple[str, str]],
        tell: Callable[[Problem], Response],
    ) -> None:
        self._app, self._store, self._opens, self._tell = app, store, opens, tell

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = "GET" if scope["method"] in HARMLESS else scope["method"]
        is_open = (asked, scope["path"]) in self._opens
        try:
            who, problem = await self._reader(scope)
            found = self._refused(scope, is_open)
            if found is None and who is None and not is_open:
                found = await self._way_in(scope) if problem is None else self._tell(problem)
        except ThresherError as error:
            found = self._tell(of_error(error))
        if found is not None:
            log_answer(scope, found.status_code)
            await found(scope, receive, send)
        else:
            name = who.who if who else "somebody who is not logged in"
            await self._app({**scope, KEY: who}, receive, noted(scope, name, send))

    async def _reader(self, scope: Scope) -> tuple[Admitted | None, Problem | None]:
        """Return who reads: whom a trusted proxy has signed in, or whose login the cookie is; or why the
        proxy's person is not let in.
        """
        named = signed_in(scope)
        if named is None:
            return await self._store.run(_who, self._store, cookie_in(scope)), None
        return (None, named) if isinstance(named, Problem) else (named, None)

    def _refused(self, scope: Scope, is_open: bool) -> Response | None:
        """Refuse a form of a foreign page that would log someone in. Elsewhere the form's own token proves
        where it comes from.
        """
        problem = foreign(scope) if is_open and scope["method"] not in HARMLESS else None
        return None if problem is None else self._tell(problem)

    async def _way_in(self, scope: Scope) -> Response:
        if scope["method"] not in HARMLESS:
            says = "your login has expired, and nothing was changed; log in and try again"
            return self._tell(Problem(401, "LoginEnded", says))
        if not await self._store.run(has_admins, self._store):
            return RedirectResponse(SETUP, 303)
        after = local(_address(scope))
        return RedirectResponse(LOGIN if after == "/" else f"{LOGIN}?next={quote(after, safe='/')}", 303)


def _who(store: Store, token: str | None) -> Admitted | None:
    found = admit_login(store, token) if token else None
    return found if isinstance(found, Admitted) else None


def _address(scope: Scope) -> str:
    """Return the path and its parameters as requested."""
    query = scope["query_string"].decode("latin-1")
    return str(scope["raw_path"].decode("latin-1")) + (f"?{query}" if query else "")


def local(text: str) -> str:
    """Return where to go after a login: a path on this server, or the start page. Never an address of another
    server.
    """
    path = text.partition("?")[0]
    fits = len(text) <= MAX_PATH and _LOCAL.fullmatch(text) and path not in (LOGIN, LOGOUT, SETUP)
    return text if fits else "/"

"""Keys as a person keeps them: see them, make one, switch one off and on, take one back.

A new key is shown on the answer to the form that made it, and nowhere else: it stands in no address, no
cookie and no cache, and what a reload sends again is refused, because the name is in use by then.
"""

import re

from starlette.responses import Response

from thresher.admin import keys as control
from thresher.admin.keys import ADMIN, KeyView, Made, default_scopes, key_view, known_scopes, list_keys
from thresher.admin.times import seconds
from thresher.core.errors import NotAllowed, ThresherError, UnknownName, UsageError
from thresher.web.auth import values
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.problem import of_error
from thresher.web.route import app_routes
from thresher.web.routes import ROUTES

PATH = "/keys"
MAX_LISTED = 1_000
_HOST = re.compile(r"(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?", re.ASCII)
_SPACES = re.compile(r"[\s,;]+")


def keys(page_request: PageRequest) -> Response:
    """Show the list of keys, and the form to create one."""
    return _listed(page_request)


def create(page_request: PageRequest) -> Response:
    """Create a key, and show it this once. If the input is wrong, show the form again as it was filled in."""
    try:
        made = _made(page_request)
    except (NotAllowed, UsageError) as error:
        return _listed(page_request, error)
    return page_request.show(
        "key_made.html",
        201,
        made=made,
        key=key_view(made.key, made.key.created_at),
        line=_line(page_request, made),
    )


def _made(page_request: PageRequest) -> Made:
    form = page_request.form
    lasts, rate, sources = form.one("lasts").strip(), form.one("rate").strip(), form.one("sources").strip()
    if rate and not (rate.isascii() and rate.isdecimal() and len(rate) <= len(str(control.MAX_RATE))):
        raise UsageError(
            f"requests per minute must be a whole number from 1 to {control.MAX_RATE:,}, got {rate[:40]!r}"
        )
    return control.create_key(
        page_request.runtime.store,
        form.one("name").strip(),
        form.all("scope"),
        apps=page_request.runtime.registry.apps,
        sources=[each for each in _SPACES.split(sources) if each],
        lasts=seconds(lasts) if lasts else None,
        rate=int(rate) if rate else None,
        made_by=_by(page_request),
    )


def _listed(page_request: PageRequest, error: ThresherError | None = None) -> Response:
    store, every = page_request.runtime.store, page_request.request.query_params.get("all") == "1"
    problem = of_error(error) if error else None
    filled = {name: page_request.form.one(name) for name in ("name", "sources", "lasts", "rate")}
    return page_request.show(
        "keys.html",
        problem.status if problem else 200,
        keys=list_keys(store, every=every),
        every=every,
        scopes=known_scopes(page_request.runtime.registry.apps),
        problem=problem,
        filled=filled,
        chosen=page_request.form.all("scope")
        or (() if problem else default_scopes(page_request.runtime.registry.apps)),
        usual=store.settings.count("web.rate"),
        most=MAX_LISTED,
    )


def _line(page_request: PageRequest, made: Made) -> str | None:
    """Return a command to check that the key works."""
    routes = [*ROUTES, *(route for _, route in app_routes(page_request.runtime.registry.apps, ROUTES))]
    probes = {route.scope: route.path for route in reversed(routes) if route.probe}
    path = next((probes[scope] for scope in (ADMIN, *probes) if scope in made.key.scopes), None)
    return (
        None
        if path is None
        else f'curl -H "Authorization: Bearer {made.token}" {_origin(page_request)}{path}'
    )


def _origin(page_request: PageRequest) -> str:
    """Return the address this server was reached at. Never repeat anything that is not an address: someone
    will paste it into a shell.
    """
    scope = page_request.request.scope
    hosts = values(scope["headers"], b"host")
    is_secure = scope["scheme"] == "https" or values(scope["headers"], b"x-forwarded-proto") == ["https"]
    host = hosts[0] if len(hosts) == 1 and _HOST.fullmatch(hosts[0]) else "127.0.0.1:8000"
    return f"{'https' if is_secure else 'http'}://{host}"


def ask_revoke(page_request: PageRequest) -> Response:
    """Ask for confirmation, because it cannot be undone."""
    return page_request.show("key_revoke.html", key=_live(page_request))


def _live(page_request: PageRequest) -> KeyView:
    key_id = _id(page_request)
    found = [each for each in list_keys(page_request.runtime.store) if each.id == key_id]
    if not found:
        raise UnknownName(
            f"no key with the id {key_id} is in use: it never existed, was revoked, or has expired"
        )
    return found[0]


def _id(page_request: PageRequest) -> int:
    said = page_request.request.path_params["key_id"]
    if not (said.isascii() and said.isdecimal() and len(said) <= control.MAX_DIGITS):
        raise UnknownName(f"{said[:40]!r} is not the id of a key; see the list of keys")
    return int(said)


def revoke(page_request: PageRequest) -> Response:
    """Revoke a key, and show it among the revoked ones."""
    key_id = _id(page_request)
    control.revoke_key_id(page_request.runtime.store, key_id, _by(page_request))
    return page_request.go(f"{PATH}?all=1#key-{key_id}")


def disable(page_request: PageRequest) -> Response:
    """Switch a key off until it is enabled again."""
    return _switch(page_request, active=False)


def enable(page_request: PageRequest) -> Response:
    """Switch a key on again that was disabled."""
    return _switch(page_request, active=True)


def _switch(page_request: PageRequest, *, active: bool) -> Response:
    key_id = _id(page_request)
    control.switch_key_id(page_request.runtime.store, key_id, active=active, by=_by(page_request))
    return page_request.go(f"{PATH}#key-{key_id}")


def _by(page_request: PageRequest) -> str | None:
    return page_request.who.who if page_request.who else None


PAGES = (
    DashboardPage("GET", PATH, keys, "Keys", "Admin", frozenset({"all"}), scope=ADMIN),
    DashboardPage("POST", PATH, create, scope=ADMIN, shows=("name", "scope", "sources", "lasts", "rate")),
    DashboardPage("GET", f"{PATH}/{{key_id}}/revoke", ask_revoke, scope=ADMIN),
    DashboardPage("POST", f"{PATH}/{{key_id}}/revoke", revoke, scope=ADMIN),
    DashboardPage("POST", f"{PATH}/{{key_id}}/disable", disable, scope=ADMIN),
    DashboardPage("POST", f"{PATH}/{{key_id}}/enable", enable, scope=ADMIN),
)

"""Webhooks as a person keeps them: add one, test it, pause it, see what was delivered and deliver it again.

A new secret is shown on the answer to the form that made it, and nowhere else.
"""

from functools import partial

from starlette.responses import Response

from thresher.admin import webhooks as control
from thresher.admin.events import event_kinds
from thresher.admin.keys import WRITE
from thresher.admin.times import seconds
from thresher.admin.webhooks import Pinged, SignedWebhook
from thresher.core.errors import NotAllowed, ThresherError, UnknownName, UsageError
from thresher.core.event import SPAWN_REFUSED
from thresher.core.webhook import EVERY
from thresher.fetch.guard import Guard
from thresher.runtime import make_fetcher
from thresher.web.auth import is_admin
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.pages.query import address, number_asked
from thresher.web.problem import of_error

PATH = "/webhooks"
ROWS = 50
MAX_ID_DIGITS = 15


def webhooks(page_request: PageRequest) -> Response:
    """Show the list of webhooks, and the form to add one."""
    return _listed(page_request)


def create(page_request: PageRequest) -> Response:
    """Add a webhook, and show its secret this once. If the input is wrong, show the form again."""
    form = page_request.form
    try:
        made = control.add_webhook(
            page_request.runtime.store,
            Guard(page_request.runtime.outward.allow),
            form.one("name").strip(),
            form.one("url"),
            form.all("event") or [EVERY],
            made_by=page_request.who.who if page_request.who else None,
        )
    except (NotAllowed, UsageError) as error:
        return _listed(page_request, error)
    return _signed(page_request, made, 201)


def _signed(page_request: PageRequest, made: SignedWebhook, status: int = 200) -> Response:
    return page_request.show(
        "webhook_made.html", status, made=made, hook=made.webhook, at=_path(made.webhook.name)
    )


def _listed(page_request: PageRequest, error: ThresherError | None = None) -> Response:
    store, form = page_request.runtime.store, page_request.form
    problem = of_error(error) if error else None
    kinds = {kind: says for kind, says in event_kinds(store).items() if kind != SPAWN_REFUSED}
    return page_request.show(
        "webhooks.html",
        problem.status if problem else 200,
        hooks=control.list_webhooks(store),
        kinds=kinds,
        chosen=form.all("event"),
        filled={name: form.one(name) for name in ("name", "url")},
        problem=problem,
    )


def webhook(page_request: PageRequest) -> Response:
    """Show one webhook: how it stands, and its deliveries."""
    return _shown(page_request)


def _shown(
    page_request: PageRequest, error: ThresherError | None = None, pinged: Pinged | None = None
) -> Response:
    store, name = page_request.runtime.store, _name(page_request)
    found = control.show_webhook(store, name)
    before = number_asked(page_request, "before")
    rows = control.list_deliveries(store, name, limit=ROWS, before=before)
    problem = of_error(error) if error else None
    older = address(_path(name), before=rows[-1].task) if len(rows) == ROWS else None
    return page_request.show(
        "webhook.html",
        problem.status if problem else 200,
        hook=found,
        at=_path(name),
        deliveries=rows,
        older=older,
        pinged=pinged,
        problem=problem,
        lasts=page_request.form.one("lasts"),
    )


async def test(page_request: PageRequest) -> Response:
    """Send a ping now, and show what the endpoint answered."""
    runtime = page_request.runtime
    fetcher = make_fetcher(runtime.outward, lambda: runtime.store.settings)
    try:
        found = await control.ping(runtime.store, fetcher, _name(page_request))
    finally:
        await fetcher.close()
    return await runtime.store.run(partial(_shown, pinged=found), page_request)


def pause(page_request: PageRequest) -> Response:
    """Hold deliveries back, for a time or until somebody resumes."""
    store, name = page_request.runtime.store, _name(page_request)
    said = page_request.form.one("lasts").strip()
    try:
        control.pause_webhook(
            store,
            name,
            "paused in the dashboard",
            lasts=seconds(said) if said else None,
            by_admin=is_admin(page_request.request),
        )
    except (NotAllowed, UsageError) as error:
        return _shown(page_request, error)
    return page_request.go(_path(name))


def resume(page_request: PageRequest) -> Response:
    """Deliver again."""
    name = _name(page_request)
    try:
        control.resume_webhook(page_request.runtime.store, name, by_admin=is_admin(page_request.request))
    except NotAllowed as error:
        return _shown(page_request, error)
    return page_request.go(_path(name))


def rotate(page_request: PageRequest) -> Response:
    """Make a new secret, and show it this once."""
    return _signed(page_request, control.rotate_secret(page_request.runtime.store, _name(page_request)))


def replay(page_request: PageRequest) -> Response:
    """Deliver a message again, and go to its task."""
    said = page_request.request.path_params["task"]
    if not (said.isascii() and said.isdecimal() and len(said) <= MAX_ID_DIGITS):
        raise UnknownName(f"{said[:40]!r} is not the id of a delivery")
    runtime = page_request.runtime
    task = control.replay(runtime.store, runtime.registry, _name(page_request), int(said))
    return page_request.go(f"/tasks/{task}")


def ask_remove(page_request: PageRequest) -> Response:
    """Ask for confirmation, because it cannot be undone."""
    name = _name(page_request)
    found = control.show_webhook(page_request.runtime.store, name)
    return page_request.show("webhook_remove.html", hook=found, at=_path(name))


def remove(page_request: PageRequest) -> Response:
    """Forget a webhook, and cancel what waits for it."""
    control.remove_webhook(
        page_request.runtime.store, _name(page_request), by_admin=is_admin(page_request.request)
    )
    return page_request.go(PATH)


def _name(page_request: PageRequest) -> str:
    return str(page_request.request.path_params["name"])


def _path(name: str) -> str:
    """The page of a webhook; its name is safe in an address as it is."""
    return f"{PATH}/{name}"


PAGES = (
    DashboardPage("GET", PATH, webhooks, "Webhooks", "Admin", scope=WRITE),
    DashboardPage("POST", PATH, create, section="Admin", shows=("name", "url", "event")),
    DashboardPage(
        "GET", f"{PATH}/{{name}}", webhook, section="Admin", asks=frozenset({"before"}), scope=WRITE
    ),
    DashboardPage("POST", f"{PATH}/{{name}}/test", test, section="Admin"),
    DashboardPage("POST", f"{PATH}/{{name}}/pause", pause, section="Admin", shows=("lasts",)),
    DashboardPage("POST", f"{PATH}/{{name}}/resume", resume, section="Admin"),
    DashboardPage("POST", f"{PATH}/{{name}}/rotate", rotate, section="Admin"),
    DashboardPage("GET", f"{PATH}/{{name}}/remove", ask_remove, section="Admin", scope=WRITE),
    DashboardPage("POST", f"{PATH}/{{name}}/remove", remove, section="Admin"),
    DashboardPage("POST", f"{PATH}/{{name}}/deliveries/{{task}}/replay", replay, section="Admin"),
)

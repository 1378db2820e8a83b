"""The pages about sources: how each stands and why, what it brought lately, and all that may be done about
it. The same functions as `thresher sources`.
"""

from collections.abc import Callable
from functools import partial
from urllib.parse import quote

from starlette.responses import Response

from thresher.admin import sources as control
from thresher.admin.events import list_events
from thresher.admin.gates import gate_activity, list_gates, show_gate
from thresher.admin.keys import ADMIN
from thresher.core.errors import ThresherError, UnknownName, UsageError
from thresher.store.overview import MAX_COUNTED
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.pages.query import address, text_asked
from thresher.web.problem import of_error

PATH = "/sources"
MAX_LISTED = 100
MAX_EVENTS = 20
LIMITS = ("rate", "burst", "in_flight", "trip_after", "cooldown")
FIELDS = (*LIMITS, "lasts", "until", "zone", "pause_reason", "disable_reason")


def sources(page_request: PageRequest) -> Response:
    """Show all sources, or with `all` every gate: how each stands, why, and what it brought in a day."""
    store, every = page_request.runtime.store, page_request.request.query_params.get("all") == "1"
    after = text_asked(page_request, "after")
    gates = list_gates(store, every=every, after=after, limit=MAX_LISTED, bounded=True)
    more = {"all": "1" if every else None, "after": gates[-1].name} if len(gates) == MAX_LISTED else None
    return page_request.show(
        "sources.html",
        gates=gates,
        activity=gate_activity(store, [gate.name for gate in gates]),
        every=every,
        after=after,
        next=address(PATH, more) if more else None,
        at_most_counted=MAX_COUNTED,
        looks=_looks,
    )


def _looks(gate: str, state: str) -> str:
    """The rows behind a number of the last day."""
    return address("/tasks", {"source": gate, "state": state, "newer": "1d"})


def source(page_request: PageRequest) -> Response:
    """Show one source or gate: its state, its limits, what it brought, and what happened to it."""
    return _shown(page_request)


def _shown(
    page_request: PageRequest, error: ThresherError | None = None, probe: control.Probe | None = None
) -> Response:
    runtime, name = page_request.runtime, page_request.request.path_params["name"]
    try:
        gate = show_gate(runtime.store, name, bounded=True)
    except UnknownName:
        raise UnknownName(f"there is no source or gate {name[:200]!r}; the list has them all") from None
    problem = of_error(error) if error else None
    return page_request.show(
        "source.html",
        problem.status if problem else 200,
        gate=gate,
        name=gate.source or gate.name,
        at=_path(gate.source or gate.name),
        activity=gate_activity(runtime.store, [gate.name]).get(gate.name),
        at_most_counted=MAX_COUNTED,
        looks=_looks,
        events=list_events(runtime.store, source=gate.name, limit=MAX_EVENTS),
        has_probe=control.has_probe(runtime.registry, gate.name),
        problem=problem,
        probe=probe,
        filled={field: page_request.form.one(field) for field in FIELDS},
    )


async def test(page_request: PageRequest) -> Response:
    """Run the probe that an app declares for this source, and show what it found."""
    runtime = page_request.runtime
    found = await control.test_here(runtime.store, runtime.registry, page_request.request.path_params["name"])
    return await runtime.store.run(partial(_shown, probe=found), page_request)


def pause(page_request: PageRequest) -> Response:
    """Pause a source for a time or until a time, and with a reason. Its tasks wait, and lose nothing."""
    form = page_request.form
    return _change(
        page_request,
        lambda name: control.pause_as_asked(
            page_request.runtime.store,
            name,
            form.one("lasts").strip() or None,
            _until(form.one("until"), form.one("zone")),
            _reason(form.one("pause_reason")),
            by_admin=_is_admin(page_request),
        ),
    )


def resume(page_request: PageRequest) -> Response:
    """End a pause, or the cooldown of a breaker. The pause of an administrator needs one."""
    return _change(
        page_request, partial(control.resume, page_request.runtime.store, by_admin=_is_admin(page_request))
    )


def disable(page_request: PageRequest) -> Response:
    """Close a source until somebody enables it; what an administrator has disabled, an administrator."""
    return _change(
        page_request,
        lambda name: control.disable(
            page_request.runtime.store,
            name,
            _reason(page_request.form.one("disable_reason")),
            by_admin=_is_admin(page_request),
        ),
    )


def enable(page_request: PageRequest) -> Response:
    """Open a source, whatever closed it, and forget its failures."""
    return _change(
        page_request, partial(control.enable, page_request.runtime.store, by_admin=_is_admin(page_request))
    )


def limit(page_request: PageRequest) -> Response:
    """Change the limits that were filled in; the others stay."""
    wanted = {field: page_request.form.one(field).strip() or None for field in LIMITS}
    if not any(wanted.values()):
        return _shown(page_request, UsageError("fill in the limit to change; none takes a limit away"))
    return _change(page_request, lambda name: control.limit(page_request.runtime.store, name, wanted))


def _change(page_request: PageRequest, act: Callable[[str], None]) -> Response:
    """Do it and come back. Where it cannot be done, show the page as it was filled in, with the reason."""
    name = page_request.request.path_params["name"]
    try:
        act(name)
    except UnknownName:
        raise
    except ThresherError as problem:
        return _shown(page_request, problem)
    return page_request.go(_path(name))


def _path(name: str) -> str:
    return f"{PATH}/{quote(name, safe=':')}"


def _until(text: str, zone: str) -> str | None:
    """The end of a pause as two fields have it: a time on the wall, and where that wall is."""
    return f"{text.strip()} {zone.strip()}".strip() if text.strip() else None


def _reason(text: str) -> str:
    if not text.strip():
        raise UsageError("give a reason; it is shown wherever a task waits for this source")
    return text.strip()


def _is_admin(page_request: PageRequest) -> bool:
    return page_request.may(ADMIN)


# A name may hold a slash; the changes have names of their own at its end.
_ONE = f"{PATH}/{{name:path}}"
PAGES = (
    DashboardPage("GET", PATH, sources, "Sources", "Overview", frozenset({"all", "after"})),
    DashboardPage("POST", f"{_ONE}/test", test, section="Overview"),
    DashboardPage("POST", f"{_ONE}/pause", pause, section="Overview"),
    DashboardPage("POST", f"{_ONE}/resume", resume, section="Overview"),
    DashboardPage("POST", f"{_ONE}/disable", disable, section="Overview"),
    DashboardPage("POST", f"{_ONE}/enable", enable, section="Overview"),
    DashboardPage("POST", f"{_ONE}/limits", limit, section="Overview"),
    DashboardPage("GET", _ONE, source, section="Overview"),
)

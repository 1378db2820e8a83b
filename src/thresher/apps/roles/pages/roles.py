"""Roles: what candidates want, the most wanted first, and the review of those that were proposed."""

from collections.abc import Callable, Mapping
from urllib.parse import urlencode

from starlette.responses import Response

from thresher.apps.roles.service import roles
from thresher.apps.roles.service.roles import (
    STATUSES,
    Change,
    list_demanded,
    list_roles,
    planned_merge,
    role_postings,
    role_view,
)
from thresher.core.errors import ThresherError, UsageError
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.problem import of_error

PATH = "/roles"
ROWS = 50
POSTINGS = 25


def role_list(page_request: PageRequest) -> Response:
    """Show roles of one status in the order in which scrapers are given them, or those with a name: those
    that wait, else all.
    """
    return _roles(page_request)


def _roles(page_request: PageRequest, error: ThresherError | None = None) -> Response:
    store, query = page_request.runtime.store, page_request.request.query_params
    text, status, after = (query.get(name, "").strip() or None for name in ("text", "status", "after"))
    counts = roles.count_by_status(store)
    problem, chosen = of_error(error) if error else None, status or _first(text, counts)
    if text or chosen == "all":
        wanted = None if chosen == "all" else chosen
        last = _number(after) if after else None
        found = list_roles(store, status=wanted, text=text, limit=ROWS + 1, after=last)
    else:
        found = list_demanded(store, chosen, limit=ROWS + 1, after=_number(after) if after else None)
    shown = found[:ROWS]
    more = {"status": chosen, "text": text, "after": shown[-1].id} if len(found) > ROWS else None
    return page_request.show(
        "roles/roles.html",
        problem.status if problem else 200,
        roles=shown,
        chosen=chosen,
        text=text or "",
        ways=[(each, f"{PATH}?{urlencode({'status': each})}", counts.get(each, 0)) for each in STATUSES],
        every=sum(counts.values()),
        next=f"{PATH}?{urlencode({name: value for name, value in more.items() if value})}" if more else None,
        problem=problem,
        filled={name: page_request.form.one(name) for name in ("name", "aliases", "priority")},
    )


def _first(text: str | None, counts: Mapping[str, int]) -> str:
    """What is shown to whoever asks for nothing: roles that wait, and if none does, all."""
    return "pending" if not text and (counts.get("pending") or not counts) else "all"


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 17):
        raise UsageError(f"a role is named by its number here, got {text[:40]!r}")
    return int(text)


def add(page_request: PageRequest) -> Response:
    """Add a role. If something is wrong, show the form again as it was filled in."""
    form, store = page_request.form, page_request.runtime.store
    try:
        wish = roles.wish(
            form.one("name"), form.one("aliases").splitlines(), form.one("priority").strip() or None
        )
        (found,) = roles.add_roles(store, [wish])
    except UsageError as error:
        return _roles(page_request, error)
    return page_request.go(f"{PATH}/{found.id}")


def role(page_request: PageRequest) -> Response:
    """Show one role: who wants it, its names, its newest postings, and the ways to change it."""
    return _role(page_request)


def _role(page_request: PageRequest, error: ThresherError | None = None, planned: str = "") -> Response:
    store, problem = page_request.runtime.store, of_error(error) if error else None
    found = roles.find(store, str(_number(page_request.request.path_params["role"])))
    form = page_request.form
    return page_request.show(
        "roles/role.html",
        problem.status if problem else 200,
        role=role_view(store, found),
        postings=role_postings(store, found.id, POSTINGS),
        most=POSTINGS,
        problem=problem,
        planned=planned,
        filled={name: form.one(name) for name in ("do", "into", "name", "aliases", "candidates", "priority")},
    )


def change(page_request: PageRequest) -> Response:
    """Approve, reject, rename, prioritise, merge or split a role. What moves names and candidates says first
    what it would do.
    """
    number, do = str(_number(page_request.request.path_params["role"])), page_request.form.one("do")
    is_sure = page_request.form.one("sure") == "yes"
    known = {
        "approve": _approve,
        "reject": _reject,
        "priority": _prioritise,
        "rename": _rename,
        "merge": _merge,
        "split": _split,
    }
    try:
        if do not in known:
            raise UsageError(f"{do[:40]!r} is no change of a role")
        if not is_sure and do in PLANS:
            return _role(page_request, planned=PLANS[do](page_request, number))
        return page_request.go(f"{PATH}/{known[do](page_request, number)}")
    except ThresherError as error:
        return _role(page_request, error)


def _approve(page_request: PageRequest, number: str) -> int:
    return roles.approve(page_request.runtime.store, [number])[0].id


def _reject(page_request: PageRequest, number: str) -> int:
    return roles.reject(page_request.runtime.store, [number])[0].id


def _prioritise(page_request: PageRequest, number: str) -> int:
    wanted = Change(priority=page_request.form.one("priority"))
    return roles.change(page_request.runtime.store, number, wanted).id


def _rename(page_request: PageRequest, number: str) -> int:
    return roles.change(page_request.runtime.store, number, Change(name=page_request.form.one("name"))).id


def _merge(page_request: PageRequest, number: str) -> int:
    runtime = page_request.runtime
    return roles.merge(runtime.store, runtime.registry, number, page_request.form.one("into")).id


def _split(page_request: PageRequest, number: str) -> int:
    runtime, form = page_request.runtime, page_request.form
    aliases, people = _lines(form.one("aliases")), _lines(form.one("candidates"))
    return roles.split(runtime.store, runtime.registry, number, form.one("name"), aliases, people).id


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _plan_merge(page_request: PageRequest, number: str) -> str:
    gone, kept = planned_merge(page_request.runtime.store, number, page_request.form.one("into"))
    return (
        f"{gone.name} becomes a part of {kept.name}: {gone.candidates:,} candidates, {gone.postings:,} postings "
        f"and {len(gone.aliases) + 1:,} names move there, and {gone.name} is a role no more. Merged roles are "
        "not taken apart again but by a split"
    )


def _plan_rename(page_request: PageRequest, number: str) -> str:
    found = roles.find(page_request.runtime.store, number)
    name = roles.checked_name(page_request.form.one("name"))
    return f"{found.name} is called {name} from then on; {found.name} stays one of its names"


def _plan_split(page_request: PageRequest, number: str) -> str:
    form, found = page_request.form, roles.find(page_request.runtime.store, number)
    name, aliases = roles.checked_name(form.one("name")), _lines(form.one("aliases"))
    people = _lines(form.one("candidates"))
    return (
        f"{name} becomes a role of its own, out of {found.name}: {len(aliases):,} names and {len(people):,} "
        f"candidates move there; postings belong to both"
    )


PLANS: dict[str, Callable[[PageRequest, str], str]] = {
    "merge": _plan_merge,
    "rename": _plan_rename,
    "split": _plan_split,
}
PAGES = (
    DashboardPage("GET", PATH, role_list, "Roles", asks=frozenset(("status", "text", "after"))),
    DashboardPage("POST", PATH, add),
    DashboardPage("GET", f"{PATH}/{{role}}", role),
    DashboardPage("POST", f"{PATH}/{{role}}", change),
)

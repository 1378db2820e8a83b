"""People as an administrator keeps them, and one's own password.

A password that was generated is shown on the answer to the form that made it, and nowhere else.
"""

from starlette.responses import Response

from thresher.admin import admins as control
from thresher.admin.admins import ROLES, AdminView, admin_view, generated, list_admins
from thresher.admin.keys import ADMIN, READ
from thresher.core.errors import NotAllowed, ThresherError, UnknownName, UsageError
from thresher.web import auth
from thresher.web.auth import put_cookie
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.problem import Problem, of_error

PATH, OWN = "/people", "/account"
MAX_DIGITS = 15


def people(page_request: PageRequest) -> Response:
    """Show who may log in and what they may do, and the form to add somebody."""
    return _listed(page_request)


def _listed(page_request: PageRequest, error: ThresherError | None = None) -> Response:
    problem = of_error(error) if error else None
    form = page_request.form
    return page_request.show(
        "people.html",
        problem.status if problem else 200,
        people=list_admins(page_request.runtime.store),
        choices=ROLES,
        problem=problem,
        filled=form.one("name") if problem else "",
        chosen=(form.one("role") if problem else "") or next(iter(ROLES)),
    )


async def add(page_request: PageRequest) -> Response:
    """Let somebody log in. If the input is wrong, show the form again as it was filled in."""
    store, form = page_request.runtime.store, page_request.form
    name, role, given = form.one("name").strip(), form.one("role"), form.one("password")
    password = given or generated()
    try:
        control.check_role(role)
        control.check_admin(name, password)
        kept = await auth.hashed_slowly(store, page_request.request, password)
        made = admin_view(await store.run(control.create_with, store, name, kept, role))
    except (NotAllowed, UsageError) as error:
        return await store.run(_listed, page_request, error)
    return page_request.go(f"{PATH}#person-{made.id}") if given else _made(page_request, made, password)


def _made(page_request: PageRequest, person: AdminView, password: str) -> Response:
    return page_request.show("person_made.html", 201, person=person, password=password)


def person(page_request: PageRequest) -> Response:
    """Show one person: change the role, set a password, remove them."""
    return _shown(page_request)


def _shown(page_request: PageRequest, error: ThresherError | None = None) -> Response:
    found = _person(page_request)
    problem = of_error(error) if error else None
    return page_request.show(
        "person.html", problem.status if problem else 200, person=found, choices=ROLES, problem=problem
    )


def change_role(page_request: PageRequest) -> Response:
    """Change what somebody may do, from their next request on."""
    found = _person(page_request)
    try:
        control.change_role(page_request.runtime.store, found.name, page_request.form.one("role"))
    except (NotAllowed, UsageError) as error:
        return _shown(page_request, error)
    return page_request.go(f"{PATH}#person-{found.id}")


async def set_password(page_request: PageRequest) -> Response:
    """Give somebody another password, and end their logins."""
    store, given = page_request.runtime.store, page_request.form.one("password")
    found = await store.run(_person, page_request)
    password = given or generated()
    try:
        control.check_password(password, found.name)
        kept = await auth.hashed_slowly(store, page_request.request, password)
        await store.run(control.put_password, store, found.name, kept)
    except (NotAllowed, UsageError) as error:
        return await store.run(_shown, page_request, error)
    return page_request.go(f"{PATH}#person-{found.id}") if given else _made(page_request, found, password)


def remove(page_request: PageRequest) -> Response:
    """Remove somebody, who is logged out everywhere."""
    try:
        control.remove_admin(page_request.runtime.store, _person(page_request).name)
    except NotAllowed as error:
        return _shown(page_request, error)
    return page_request.go(PATH)


def _person(page_request: PageRequest) -> AdminView:
    said = page_request.request.path_params["person_id"]
    found = list_admins(page_request.runtime.store)
    person_id = int(said) if said.isascii() and said.isdecimal() and len(said) <= MAX_DIGITS else 0
    here = next((each for each in found if each.id == person_id), None)
    if here is None:
        raise UnknownName(f"there is nobody with the id {said[:40]!r}; see the list of people")
    return here


def account(page_request: PageRequest) -> Response:
    """Show one's own role, and the form for another password."""
    return _account(page_request, done=page_request.request.query_params.get("changed") == "1")


def _account(page_request: PageRequest, problem: Problem | None = None, *, done: bool = False) -> Response:
    status, headers = (problem.status, problem.headers) if problem else (200, {})
    who = page_request.who
    role = ROLES[who.role] if who and who.role else None
    return page_request.show("account.html", status, headers, problem=problem, role=role, done=done)


async def own_password(page_request: PageRequest) -> Response:
    """Change one's own password. All other logins end."""
    store, form, who = page_request.runtime.store, page_request.form, page_request.who
    assert who is not None
    try:
        if form.one("new") != form.one("again"):
            raise UsageError("the two new passwords are not the same; nothing was changed")
        found = await auth.change_own_password(
            store, page_request.request, who.name, form.one("old"), form.one("new")
        )
    except UsageError as error:
        found = of_error(error)
    if isinstance(found, Problem):
        return _account(page_request, found)
    response = page_request.go(f"{OWN}?changed=1")
    put_cookie(response, page_request.request.scope, found)
    return response


PAGES = (
    DashboardPage("GET", PATH, people, "People", "Admin", scope=ADMIN),
    DashboardPage("POST", PATH, add, scope=ADMIN, shows=("name", "role")),
    DashboardPage("GET", f"{PATH}/{{person_id}}", person, scope=ADMIN),
    DashboardPage("POST", f"{PATH}/{{person_id}}/role", change_role, scope=ADMIN, shows=("role",)),
    DashboardPage("POST", f"{PATH}/{{person_id}}/password", set_password, scope=ADMIN),
    DashboardPage("POST", f"{PATH}/{{person_id}}/remove", remove, scope=ADMIN),
    DashboardPage("GET", OWN, account, asks=frozenset({"changed"})),
    DashboardPage("POST", f"{OWN}/password", own_password, scope=READ),
)

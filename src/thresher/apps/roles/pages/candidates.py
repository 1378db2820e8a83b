"""Candidates: who looks for work, what they want, and which postings suit them, with the reason for each."""

from urllib.parse import quote, urlencode

from starlette.responses import Response

from thresher.apps.roles.service.candidates import (
    Admission,
    add_candidates,
    list_candidates,
    remove_candidates,
    show_candidate,
)
from thresher.apps.roles.service.intake import read_candidate, read_sheet
from thresher.apps.roles.service.matches import explain_fit, list_fits, posting_named, set_pair_status
from thresher.apps.roles.service.roles import find
from thresher.apps.roles.store.matches import STATUSES
from thresher.core.errors import ThresherError, UsageError
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.problem import of_error

PATH, MATCHES = "/candidates", "/candidates/matches"
ROWS = 50
FIRST = 10  # matches on the page of a candidate
FIELDS = (
    "name",
    "email",
    "title",
    "roles",
    "skills",
    "experience_years",
    "locations",
    "salary_min",
    "currency",
    "remote",
)
FILE = "the file"


def candidates(page_request: PageRequest) -> Response:
    """Show candidates, the newest first, all or those who want a role, and the forms to add some."""
    return _candidates(page_request)


def _candidates(page_request: PageRequest, error: ThresherError | None = None) -> Response:
    store, query, form = page_request.runtime.store, page_request.request.query_params, page_request.form
    problem = of_error(error) if error else None
    role = find(store, query["role"]) if query.get("role") else None
    found = list_candidates(
        store, role_id=role.id if role else None, before=query.get("before"), limit=ROWS + 1
    )
    shown = found[:ROWS]
    more = {"role": role.id if role else "", "before": shown[-1].key} if len(found) > ROWS else None
    return page_request.show(
        "roles/candidates.html",
        problem.status if problem else 200,
        candidates=shown,
        role=role,
        next=f"{PATH}?{urlencode({name: value for name, value in more.items() if value})}" if more else None,
        problem=problem,
        filled={name: form.one(name) for name in (*FIELDS, "file")},
        added=query.get("added", "")[:9] if query.get("added", "").isdecimal() else None,
    )


def add(page_request: PageRequest) -> Response:
    """Add one candidate, or those of a file. If something is wrong, show the form again as filled in."""
    try:
        found = _add(page_request)
    except UsageError as error:
        return _candidates(page_request, error)
    if len(found) == 1:
        return page_request.go(_path(found[0].key))
    return page_request.go(f"{PATH}?added={len(found)}")


def _add(page_request: PageRequest) -> list[Admission]:
    runtime, form = page_request.runtime, page_request.form
    if form.all("file"):
        given = read_sheet(form.one("file"), FILE).whole(FILE).candidates if form.one("file").strip() else ()
        if not given:
            raise UsageError("paste the lines of a file: a header, and a candidate a line")
    else:
        said = {name: form.one(name).strip() for name in FIELDS if form.one(name).strip()}
        given = (read_candidate(said),)
    return add_candidates(runtime.store, runtime.registry, given)


def candidate(page_request: PageRequest) -> Response:
    """Show one candidate: what they want and how that was understood, and their best matches."""
    store, key = page_request.runtime.store, page_request.request.path_params["key"]
    detail = show_candidate(store, key)
    fits = list_fits(store, candidate=detail.candidate.key, limit=FIRST + 1)
    return page_request.show(
        "roles/candidate.html",
        detail=detail,
        fits=fits[:FIRST],
        more=f"{MATCHES}?{urlencode({'candidate': detail.candidate.key})}" if len(fits) > FIRST else None,
        is_leaving=page_request.form.one("do") == "remove",
    )


def remove(page_request: PageRequest) -> Response:
    """Remove a candidate with links and matches. It is asked for twice, because it cannot be undone."""
    key = page_request.request.path_params["key"]
    if page_request.form.one("do") != "remove":
        raise UsageError("a candidate is changed by adding it again; only `remove` is done here")
    if page_request.form.one("sure") != "yes":
        return candidate(page_request)
    remove_candidates(page_request.runtime.store, [key])
    return page_request.go(PATH)


def matches(page_request: PageRequest) -> Response:
    """Show the matches of a candidate, or of a posting, the best first; of both, the reasons for the pair."""
    store, query = page_request.runtime.store, page_request.request.query_params
    candidate_key, posting_key = query.get("candidate") or None, query.get("posting") or None
    if candidate_key and posting_key:
        return page_request.show(
            "roles/fit.html",
            fit=explain_fit(store, candidate_key, posting_named(posting_key)),
            person=show_candidate(store, candidate_key).candidate,
            statuses=STATUSES,
        )
    if not (candidate_key or posting_key):
        raise UsageError("name a candidate or a posting; the pages of candidates and roles lead here")
    asked = {"candidate": candidate_key, "posting": posting_key, "status": query.get("status")}
    found = list_fits(
        store,
        candidate=candidate_key,
        posting=posting_key,
        status=query.get("status") or None,
        after=query.get("after"),
        limit=ROWS + 1,
    )
    shown = found[:ROWS]
    kept = {name: value for name, value in asked.items() if value}
    last = (shown[-1].posting if candidate_key else shown[-1].candidate) if len(found) > ROWS else None
    rest = {name: value for name, value in kept.items() if name != "status"}
    return page_request.show(
        "roles/matches.html",
        fits=shown,
        candidate=candidate_key,
        posting=posting_key,
        name=show_candidate(store, candidate_key).candidate.name if candidate_key else posting_key,
        chosen=asked["status"] or "all",
        links={
            "all": f"{MATCHES}?{urlencode(rest)}",
            **{each: f"{MATCHES}?{urlencode({**rest, 'status': each})}" for each in STATUSES},
        },
        next=f"{MATCHES}?{urlencode({**kept, 'after': last})}" if last else None,
    )


def change_match(page_request: PageRequest) -> Response:
    """Say what was done about a match. No later matching changes it."""
    form = page_request.form
    key, posting = form.one("candidate"), form.one("posting")
    note = form.one("note").replace("\r\n", "\n") if form.all("note") else None
    set_pair_status(page_request.runtime.store, key, posting_named(posting), form.one("status"), note)
    return page_request.go(f"{MATCHES}?{urlencode({'candidate': key, 'posting': posting})}")


def _path(key: str) -> str:
    return f"{PATH}/{quote(key)}"


PAGES = (
    DashboardPage("GET", PATH, candidates, "Candidates", asks=frozenset(("role", "before", "added"))),
    DashboardPage("POST", PATH, add, long_fields=frozenset(("file",))),
    DashboardPage("GET", MATCHES, matches, asks=frozenset(("candidate", "posting", "status", "after"))),
    DashboardPage("POST", MATCHES, change_match),
    DashboardPage("GET", f"{PATH}/{{key:path}}", candidate),
    DashboardPage("POST", f"{PATH}/{{key:path}}", remove),
)

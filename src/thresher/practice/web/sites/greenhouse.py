"""Boards as Greenhouse serves them: an API that gives the whole board at once, and hosted pages with
JSON-LD.
"""

from html import escape
from typing import Any

from thresher.practice.web.answer import Json, WebRequest, WebResponse, data, page, redirect
from thresher.practice.web.company import Company, owner
from thresher.practice.web.posting import HYBRID, PracticePosting, postings
from thresher.practice.web.prose import document, html, ld, schema
from thresher.practice.web.window import named, window

NOT_FOUND = {"status": 404, "error": "Job not found"}
BOARD = "https://job-boards.greenhouse.io"


def api(ask: WebRequest) -> WebResponse:
    """`/v1/boards/TOKEN`, and below it `jobs`, `jobs/ID`, `offices`, `departments`."""
    match ask.parts:
        case ("v1", "boards", token, *rest):
            who = owner(ask.seed, "greenhouse", token)
            return _board(ask, who, rest) if who else data({"status": 404, "error": "Not found"}, 404)
        case _:
            return data({"status": 404, "error": "Not found"}, 404)


def _board(ask: WebRequest, who: Company, rest: list[str]) -> WebResponse:
    rows = postings(ask.seed, who, ask.now)
    match rest:
        case []:
            return data({"name": who.name, "content": escape(f"<p>{who.name} makes {who.trade}.</p>")})
        case ["jobs"]:
            shown = window(ask, rows)
            whole = ask.query.get("content") == "true"
            return data(
                {"jobs": [_row(each, whole=whole) for each in shown.rows], "meta": {"total": shown.total}}
            )
        case ["jobs", number]:
            row = named(rows, number)
            return data(_row(row, whole=True)) if row else data(NOT_FOUND, 404)
        case ["offices"]:
            return data({"offices": _offices(rows)})
        case ["departments"]:
            return data({"departments": _departments(list(rows))})
        case _:
            return data(NOT_FOUND, 404)


def _row(posting: PracticePosting, *, whole: bool) -> dict[str, Any]:
    # Boards that write only "Hybrid" here leave the city to the offices.
    vague = posting.mode == HYBRID and posting.place % 3 == 0
    said: dict[str, Any] = {
        "absolute_url": f"{BOARD}/{posting.company.token}/jobs/{posting.id}",
        "internal_job_id": posting.id - 1_000_000,
        "location": {"name": "Hybrid" if vague else posting.where},
        "metadata": None,
        "id": posting.id,
        "updated_at": posting.updated.isoformat(),
        "requisition_id": "TBD" if posting.place % 11 == 5 else posting.requisition,
        "title": posting.title,
        "company_name": posting.company.name,
        "first_published": posting.opened.isoformat(),
    }
    if whole:
        said["content"] = escape(html(posting))
        said["departments"] = [_department(posting.department)]
        said["offices"] = [_office(posting)]
    return said


def _office(posting: PracticePosting) -> dict[str, Any]:
    name, region, country, *_ = posting.city
    return {
        "id": 9_000 + sum(map(ord, name)),
        "name": name,
        "location": f"{name}, {region}, {country}",
        "child_ids": [],
        "parent_id": None,
    }


def _offices(rows: tuple[PracticePosting, ...]) -> Json:
    """Every city with its departments, and in each the postings."""
    cities = {each.city[0]: each for each in rows}
    return [
        {**_office(one), "departments": _departments([each for each in rows if each.city[0] == city])}
        for city, one in cities.items()
    ]


def _departments(rows: list[PracticePosting]) -> Json:
    names = sorted({each.department for each in rows})
    return [
        {**_department(name), "jobs": [_row(each, whole=False) for each in rows if each.department == name]}
        for name in names
    ]


def _department(name: str) -> dict[str, Any]:
    return {"id": 7_000 + sum(map(ord, name)), "name": name, "child_ids": [], "parent_id": None}


def boards(ask: WebRequest) -> WebResponse:
    """The pages people see: the board, a posting, and the script that embeds a board elsewhere."""
    match ask.parts:
        case ("embed", "job_board", *_):
            return _embedded(ask)
        case (token, *rest):
            who = owner(ask.seed, "greenhouse", token)
            if who is None:
                return page(document("Page not found", "<h1>Sorry, but we can't find that page.</h1>"), 404)
            return _pages(ask, who, rest)
        case _:
            return redirect("https://www.greenhouse.io/")


def _pages(ask: WebRequest, who: Company, rest: list[str]) -> WebResponse:
    rows = postings(ask.seed, who, ask.now)
    match rest:
        case []:
            return page(_listing(ask, who, rows))
        case ["jobs", number] if row := named(rows, number):
            return page(_detail(row), modified=row.updated)
        case _:
            # A closed posting sends people back to the board.
            return redirect(f"/{who.token}?error=true")


def _listing(ask: WebRequest, who: Company, rows: tuple[PracticePosting, ...]) -> str:
    size = 50
    number = max(1, ask.number("page", 1))
    shown = window(ask, rows, (number - 1) * size, size)
    items = "\n".join(
        f'<tr class="job-post"><td class="cell"><a href="{BOARD}/{who.token}/jobs/{each.id}"><p class="body '
        f'body--medium">{escape(each.title)}'
        f'</p><p class="body body__secondary body--metadata">{escape(each.where)}</p></a></td></tr>'
        for each in shown.rows
    )
    more = (
        f'<a class="pagination__next" rel="next" href="/{who.token}?page={number + 1}">Next page</a>'
        if number * size < shown.total
        else ""
    )
    heading = f"{shown.total} jobs" if shown.total else "There are no current openings."
    body = f'<main><h1>{escape(who.name)}</h1><h2 class="section-header">{heading}</h2><table class="job-posts">{items}</table>{more}</main>'
    return document(f"Jobs at {who.name}", body)


def _detail(posting: PracticePosting) -> str:
    url = f"{BOARD}/{posting.company.token}/jobs/{posting.id}"
    body = (
        f'<main><a href="/{posting.company.token}">Back to jobs</a><div class="job__title"><h1 '
        f'class="section-header">{escape(posting.title)}</h1>'
        f'<div class="job__location">{escape(posting.where)}</div></div><div class="job__description body">{html(posting)}</div>'
        f'<form id="application-form"><button>Submit application</button></form></main>'
    )
    head = f'<link rel="canonical" href="{url}">\n{ld(schema(posting, url))}'
    return document(f"Job Application for {posting.title} at {posting.company.name}", body, head=head)


def _embedded(ask: WebRequest) -> WebResponse:
    token = ask.query.get("for", "")
    who = owner(ask.seed, "greenhouse", token)
    if who is None:
        return page("", 404)
    if ask.path.endswith("/js"):
        return WebResponse(
            200,
            f'window.Grnhse={{"boardToken":"{token}"}};'.encode(),
            {"content-type": "application/javascript"},
        )
    return page(_listing(ask, who, postings(ask.seed, who, ask.now)))

"""Boards as Rippling serves them: a bare array with one row for each place of work, and everything else one
request at a time.
"""

from dataclasses import replace
from html import escape
from typing import Any

from thresher.practice.web.answer import WebRequest, WebResponse, data, page
from thresher.practice.web.company import owner
from thresher.practice.web.posting import PracticePosting, number_in, postings
from thresher.practice.web.prose import document, html, intro, ld, schema
from thresher.practice.web.sites.shell import shell
from thresher.practice.web.window import found, window

SITE = "https://ats.rippling.com"
KINDS = {
    "Full-time": "SALARIED_FT",
    "Part-time": "SALARIED_PT",
    "Contract": "CONTRACTOR",
    "Internship": "INTERN",
}


def api(ask: WebRequest) -> WebResponse:
    """`/platform/api/ats/v1/board/TOKEN/jobs` and one posting below it."""
    match ask.parts:
        case ("platform", "api", "ats", "v1", "board", token, "jobs", *rest) if who := owner(
            ask.seed, "rippling", token
        ):
            rows = postings(ask.seed, who, ask.now)
            if not rest:
                return _list(ask, rows)
            row = found(rows, number_in(rest[0]))
            return data(_detail(row)) if row else data({"detail": "Not found."}, 404)
        case _:
            return data({"detail": "Not found."}, 404)


def _list(ask: WebRequest, rows: tuple[PracticePosting, ...]) -> WebResponse:
    by_place = tuple(replace(each, city=city) for each in rows for city in (each.city, *each.also))
    return data([_row(each) for each in window(ask, by_place).rows])


def _url(posting: PracticePosting) -> str:
    return f"{SITE}/{posting.company.token}/jobs/{posting.uuid}"


def _place(posting: PracticePosting) -> str:
    return f"{posting.city[0]}, {posting.city[1]}, {posting.city[2]}"


def _department(posting: PracticePosting) -> dict[str, str]:
    return {"id": posting.department, "label": posting.department}


def _row(posting: PracticePosting) -> dict[str, Any]:
    return {
        "uuid": posting.uuid,
        "name": posting.title,
        "department": _department(posting),
        "url": _url(posting),
        "workLocation": {"id": _place(posting), "label": _place(posting)},
    }


def _detail(posting: PracticePosting) -> dict[str, Any]:
    places = [_place(replace(posting, city=city)) for city in (posting.city, *posting.also)]
    return {
        "uuid": posting.uuid,
        "name": posting.title,
        "companyName": posting.company.name,
        "url": _url(posting),
        "workLocations": places,
        "description": {"company": f"<p>{escape(intro(posting))}</p>", "role": html(posting)},
        "department": {"name": posting.department},
        "employmentType": {"id": KINDS[posting.employment], "label": posting.employment},
        "createdOn": posting.opened.isoformat(),
    }


def hosted(ask: WebRequest) -> WebResponse:
    """The board is built by a script; a posting's page carries its JSON-LD."""
    match ask.parts:
        case ("api", "board", token) if who := owner(ask.seed, "rippling", token):
            return data(
                {"items": [_row(each) for each in window(ask, postings(ask.seed, who, ask.now)).rows]}
            )
        case (token, "jobs", key) if who := owner(ask.seed, "rippling", token):
            row = found(postings(ask.seed, who, ask.now), number_in(key))
            if row:
                return page(
                    document(
                        f"{row.title} - {who.name}",
                        '<div id="__next"></div>',
                        head=ld(schema(row, _url(row))),
                    )
                )
        case (token,) | (token, "jobs") if who := owner(ask.seed, "rippling", token):
            prefix = f"/{who.token}/jobs/"
            return page(
                shell(
                    f"{who.name} - Careers",
                    f"/api/board/{who.token}",
                    rows="items",
                    title="name",
                    key="uuid",
                    prefix=prefix,
                )
            )
    return page(document("Not found", "<h1>404</h1><p>This page could not be found.</p>"), 404)

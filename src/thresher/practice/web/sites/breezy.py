"""Boards as Breezy serves them: a bare array under `/json`, without descriptions unless they are asked
for.
"""

from html import escape
from typing import Any

from thresher.practice.web.answer import WebRequest, WebResponse, data, page, redirect
from thresher.practice.web.company import Company, owner
from thresher.practice.web.posting import REMOTE, PracticePosting, number_in, postings
from thresher.practice.web.prose import document, html, ld, pay_text, schema, workplace
from thresher.practice.web.window import found, window

KINDS = {"Full-time": "fullTime", "Part-time": "partTime", "Contract": "contract", "Internship": "internship"}


def site(ask: WebRequest) -> WebResponse:
    """`/json`, the board at `/`, a posting at `/p/CODE-SLUG`. A name nobody has leads to the vendor."""
    who = owner(ask.seed, "breezy", ask.host.partition(".")[0])
    if who is None:
        return redirect("https://breezy.hr/not-found")
    rows = postings(ask.seed, who, ask.now)
    match ask.parts:
        case ("json",):
            verbose = ask.query.get("verbose") == "true"
            return data([_row(each, verbose=verbose) for each in window(ask, rows).rows])
        case ("p", name):
            row = found(rows, number_in(name.partition("-")[0]))
            if row is None:
                return redirect("/")
            body = f'<div class="banner"><h1>{escape(row.title)}</h1><ul class="meta"><li>{escape(row.where)}</li></ul></div>'
            return page(
                document(f"{row.title} at {who.name}", f"{body}{html(row)}", head=ld(schema(row, _url(row))))
            )
        case ():
            return page(_listing(ask, who, rows))
        case _:
            return page(document("Not found", "<h1>Page not found</h1>"), 404)


def _friendly(posting: PracticePosting) -> str:
    return f"{posting.shortcode.lower()}-{posting.slug}"


def _url(posting: PracticePosting) -> str:
    return f"https://{posting.company.token}.breezy.hr/p/{_friendly(posting)}"


def _row(posting: PracticePosting, *, verbose: bool) -> dict[str, Any]:
    said: dict[str, Any] = {
        "id": posting.shortcode.lower(),
        "friendly_id": _friendly(posting),
        "name": posting.title,
        "url": _url(posting),
        "published_date": posting.opened.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "type": {"id": KINDS[posting.employment], "name": posting.employment},
        "department": posting.department,
        "salary": pay_text(posting),
        "location": _location(posting, posting.city),
        "locations": [_location(posting, each) for each in (posting.city, *posting.also)],
        "company": {"name": posting.company.name, "logo_url": None, "friendly_id": posting.company.token},
    }
    if verbose:
        said["description"] = html(posting)
    return said


def _location(posting: PracticePosting, city: tuple[str, str, str, str, str, int]) -> dict[str, Any]:
    return {
        "country": {"name": city[2], "id": city[3]},
        "state": {"name": city[1], "id": city[1]},
        "city": city[0],
        "is_remote": posting.mode == REMOTE,
        "name": f"{city[0]}, {city[1]}",
    }


def _listing(ask: WebRequest, who: Company, rows: tuple[PracticePosting, ...]) -> str:
    shown = window(ask, rows)
    items = "".join(
        f'<li class="position transition"><a href="/p/{_friendly(each)}"><h2>{escape(each.title)}</h2><ul class="meta">'
        f'<li class="location"><span>{escape(each.where)}</span></li><li class="type">{each.employment}, {workplace(each)}</li></ul></a>'
        "</li>"
        for each in shown.rows
    )
    body = (
        f'<ul class="positions">{items}</ul>'
        if shown.total
        else "<p>There are no open positions at the moment.</p>"
    )
    return document(f"Jobs at {who.name}", f"<h1>{escape(who.name)}</h1>{body}")

"""Offers as Recruitee serves them, on its own hosts and under companies' own domains alike."""

from html import escape
from typing import Any

from thresher.practice.web.answer import WebRequest, WebResponse, data, page
from thresher.practice.web.company import Company, company, owner, token_of
from thresher.practice.web.posting import REMOTE, PracticePosting, postings
from thresher.practice.web.prose import bullets, document, html, intro, ld, schema, sections
from thresher.practice.web.window import marked, window

KINDS = {
    "Full-time": "fulltime_permanent",
    "Part-time": "parttime_permanent",
    "Contract": "freelance",
    "Internship": "internship",
}


def site(ask: WebRequest) -> WebResponse:
    """`/api/offers/`, the board at `/`, a posting at `/o/SLUG`."""
    hosted = ask.host.endswith(".recruitee.com")
    who = (
        owner(ask.seed, "recruitee", ask.host.partition(".")[0])
        if hosted
        else company(ask.seed, token_of(ask.host))
    )
    if who is None:
        return page(document("Not found", "<h1>This careers site does not exist</h1>"), 404)
    rows = postings(ask.seed, who, ask.now)
    match ask.parts:
        case ("api", "offers"):
            return data({"offers": [_row(each, ask.host) for each in window(ask, rows).rows]})
        case ("api", "offers", slug) | ("o", slug):
            row = marked(rows, slug)
            if row is None:
                return page(document("Not found", "<h1>This offer is closed</h1>"), 404)
            return (
                data({"offer": _row(row, ask.host)})
                if ask.parts[0] == "api"
                else page(_detail(row, ask.host))
            )
        case ():
            return page(_listing(ask, who, rows))
        case _:
            return page(document("Not found", "<h1>Page not found</h1>"), 404)


def _slug(posting: PracticePosting) -> str:
    return f"{posting.slug}-{posting.mark}"


def _row(posting: PracticePosting, host: str) -> dict[str, Any]:
    duties, wants, _ = sections(posting)
    url = f"https://{host}/o/{_slug(posting)}"
    city, _, country, code, *_ = posting.city
    pay = posting.pay
    return {
        "id": posting.id,
        "slug": _slug(posting),
        "title": posting.title,
        "careers_url": url,
        "careers_apply_url": f"{url}/c/new",
        "company_name": posting.company.name,
        "city": city,
        "country": country,
        "country_code": code,
        "location": f"{city}, {country}",
        "remote": posting.mode == REMOTE,
        "department": posting.department,
        "employment_type_code": KINDS[posting.employment],
        "description": f"<p>{escape(intro(posting))}</p>{bullets(duties[1])}",
        "requirements": bullets(wants[1]),
        "salary": {"min": pay.least, "max": pay.most, "currency": pay.currency, "period": "year"}
        if pay
        else None,
        "created_at": f"{posting.opened:%Y-%m-%d %H:%M:%S} UTC",
        "published_at": f"{posting.opened:%Y-%m-%d %H:%M:%S} UTC",
        "status": "published",
    }


def _listing(ask: WebRequest, who: Company, rows: tuple[PracticePosting, ...]) -> str:
    items = "".join(
        f'<li data-testid="offer-list-item"><a href="/o/{_slug(each)}">{escape(each.title)}</a> <span>{escape(each.where)}</span></li>'
        for each in window(ask, rows).rows
    )
    head = '<link rel="stylesheet" href="https://d10zminp1cyta8.recruiteecdn.com/assets/site.css"><script>window.recruitee = {};</script>'
    return document(f"Careers at {who.name}", f"<h1>{escape(who.name)}</h1><ul>{items}</ul>", head=head)


def _detail(posting: PracticePosting, host: str) -> str:
    url = f"https://{host}/o/{_slug(posting)}"
    return document(
        f"{posting.title} - {posting.company.name}",
        f"<h1>{escape(posting.title)}</h1>{html(posting)}",
        head=ld(schema(posting, url)),
    )

"""Postings as SmartRecruiters serves them: pages of a hundred, and an empty list for every name nobody
has.
"""

from html import escape
from typing import Any

from thresher.practice.web.answer import WebRequest, WebResponse, data, page
from thresher.practice.web.company import Company, owner
from thresher.practice.web.posting import REMOTE, PracticePosting, postings
from thresher.practice.web.prose import bullets, document, html, intro, ld, schema, sections
from thresher.practice.web.window import named, window

API = "https://api.smartrecruiters.com/v1/companies"
SITE = "https://jobs.smartrecruiters.com"
MAX_ROWS = 100
KINDS = {"Full-time": "permanent", "Part-time": "part_time", "Contract": "contract", "Internship": "intern"}


def api(ask: WebRequest) -> WebResponse:
    """`/v1/companies/NAME/postings` and one posting below it. Any name is answered with 200."""
    match ask.parts:
        case ("v1", "companies", name, "postings", *rest):
            who = owner(ask.seed, "smartrecruiters", name)
            rows = postings(ask.seed, who, ask.now) if who else ()
            return _one(rows, rest[0]) if rest else _list(ask, rows)
        case _:
            return data({"message": "Not found", "errors": []}, 404)


def _list(ask: WebRequest, rows: tuple[PracticePosting, ...]) -> WebResponse:
    limit, offset = min(max(1, ask.number("limit", 10)), MAX_ROWS), max(0, ask.number("offset", 0))
    shown = window(ask, rows, offset, limit)
    return data(
        {
            "offset": offset,
            "limit": limit,
            "totalFound": shown.total,
            "content": [_row(each) for each in shown.rows],
        }
    )


def _one(rows: tuple[PracticePosting, ...], number: str) -> WebResponse:
    row = named(rows, number)
    if row is None:
        return data({"message": "Posting not found", "errors": []}, 404)
    url = f"{SITE}/{row.company.token}/{row.id}"
    texts = {"companyDescription": ("Company Description", f"<p>{escape(intro(row))}</p>")}
    names = ("jobDescription", "qualifications", "additionalInformation")
    texts |= {name: (title, bullets(rows)) for name, (title, rows) in zip(names, sections(row), strict=True)}
    said = {name: {"title": title, "text": text} for name, (title, text) in texts.items()}
    return data(
        {
            **_row(row),
            "jobAd": {"sections": said},
            "applyUrl": f"{url}?oga=true",
            "postingUrl": url,
            "active": True,
        }
    )


def _row(posting: PracticePosting) -> dict[str, Any]:
    city, region, _, code, *_ = posting.city
    who = posting.company
    return {
        "id": str(posting.id),
        "name": posting.title,
        "uuid": posting.uuid,
        "refNumber": posting.requisition,
        "company": {"identifier": who.token, "name": who.name},
        "releasedDate": posting.opened.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "location": {
            "city": city,
            "region": region,
            "country": code.lower(),
            "remote": posting.mode == REMOTE,
            "fullLocation": f"{city}, {region}, {posting.city[2]}",
        },
        "industry": {"id": "other", "label": who.trade.capitalize()},
        "department": {"id": str(len(posting.department)), "label": posting.department},
        "function": {"id": posting.department.lower(), "label": posting.department},
        "typeOfEmployment": {"id": KINDS[posting.employment], "label": posting.employment},
        "experienceLevel": {
            "id": "mid_senior_level" if "Senior" in posting.title else "associate",
            "label": "Associate",
        },
        "ref": f"{API}/{who.token}/postings/{posting.id}",
    }


def hosted(ask: WebRequest) -> WebResponse:
    """The pages people see."""
    match ask.parts:
        case (name, *rest) if who := owner(ask.seed, "smartrecruiters", name):
            rows = postings(ask.seed, who, ask.now)
            row = named(rows, rest[0]) if rest else None
            if row:
                url = f"{SITE}/{who.token}/{row.id}"
                return page(
                    document(
                        f"{who.name} {row.title}",
                        f"<h1>{escape(row.title)}</h1>{html(row)}",
                        head=ld(schema(row, url)),
                    )
                )
            return (
                page(_listing(ask, who, rows))
                if not rest
                else page(document("Not found", "<h1>This posting has expired</h1>"), 404)
            )
        case _:
            return page(document("Not found", "<h1>Oops, page not found</h1>"), 404)


def _listing(ask: WebRequest, who: Company, rows: tuple[PracticePosting, ...]) -> str:
    shown = window(ask, rows, 0, 20)
    items = "".join(
        f'<li class="opening-job"><a class="link--block details" href="{SITE}/{who.token}/{each.id}-{each.slug}">'
        f"<h4>{escape(each.title)}</h4>"
        f"<p>{each.employment}</p></a></li>"
        for each in shown.rows
    )
    return document(
        f"{who.name} careers", f"<h1>{escape(who.name)}</h1><p>{shown.total} openings</p><ul>{items}</ul>"
    )

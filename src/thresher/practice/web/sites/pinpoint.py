"""Boards as Pinpoint serves them: everything in one JSON answer, without the dates."""

from html import escape
from typing import Any

from thresher.practice.web.answer import WebRequest, WebResponse, data, page
from thresher.practice.web.company import Company, owner
from thresher.practice.web.posting import PracticePosting, number_in, postings
from thresher.practice.web.prose import (
    bullets,
    document,
    html,
    intro,
    ld,
    pay_text,
    schema,
    sections,
    workplace,
)
from thresher.practice.web.window import found, window

KINDS = {
    "Full-time": "full_time",
    "Part-time": "part_time",
    "Contract": "contract_temp",
    "Internship": "internship",
}


def site(ask: WebRequest) -> WebResponse:
    """`/postings.json`, the board at `/`, a posting at `/en/postings/UUID`."""
    who = owner(ask.seed, "pinpoint", ask.host.partition(".")[0])
    if who is None:
        return page(document("Pinpoint", "<h1>We could not find this careers site</h1>"), 404)
    rows = postings(ask.seed, who, ask.now)
    match ask.parts:
        case ("postings.json",):
            return data({"data": [_row(each) for each in window(ask, rows).rows]})
        case ("en", "postings", key):
            row = found(rows, number_in(key))
            if row is None:
                return page(document(f"{who.name} Careers", "<h1>This vacancy has now closed</h1>"), 404)
            return page(
                document(
                    f"{row.title} - {who.name}",
                    f"<h1>{escape(row.title)}</h1>{html(row)}",
                    head=ld(schema(row, _url(row))),
                )
            )
        case () | ("en",) | ("postings",):
            return page(_listing(ask, who, rows))
        case _:
            return page(document("Pinpoint", "<h1>Page not found</h1>"), 404)


def _url(posting: PracticePosting) -> str:
    return f"https://{posting.company.token}.pinpointhq.com/en/postings/{posting.uuid}"


def _row(posting: PracticePosting) -> dict[str, Any]:
    city, region, *_ = posting.city
    (do, duties), (look, wants), (offer, offers) = sections(posting)
    pay = posting.pay
    return {
        "id": str(posting.id),
        "title": posting.title,
        "url": _url(posting),
        "path": f"/en/postings/{posting.uuid}",
        "description": f"<p>{escape(intro(posting))}</p>",
        "key_responsibilities_header": do,
        "key_responsibilities": bullets(duties),
        "skills_knowledge_expertise_header": look,
        "skills_knowledge_expertise": bullets(wants),
        "benefits_header": offer,
        "benefits": bullets(offers),
        "employment_type": KINDS[posting.employment],
        "employment_type_text": posting.employment,
        "workplace_type": posting.mode,
        "workplace_type_text": workplace(posting),
        "reporting_to": "",
        "deadline_at": None,
        "location": {
            "id": str(sum(map(ord, city))),
            "city": city,
            "name": city,
            "postal_code": "",
            "province": region,
        },
        "compensation": pay_text(posting) or None,
        "compensation_minimum": pay.least if pay else None,
        "compensation_maximum": pay.most if pay else None,
        "compensation_currency": pay.currency if pay else None,
        "compensation_frequency": "year" if pay else None,
        "compensation_visible": bool(pay),
        "job": {
            "id": str(10_000 + posting.place),
            "requisition_id": posting.requisition,
            "department": {"id": str(len(posting.department)), "name": posting.department},
            "division": None,
        },
    }


def _listing(ask: WebRequest, who: Company, rows: tuple[PracticePosting, ...]) -> str:
    shown = window(ask, rows)
    items = "".join(
        f'<li><a class="careers-job" href="/en/postings/{each.uuid}"><h3>{escape(each.title)}</h3><p>{escape(each.where)}</p></a></li>'
        for each in shown.rows
    )
    body = (
        f'<ul class="careers-jobs">{items}</ul>' if shown.total else "<p>We have no vacancies right now.</p>"
    )
    return document(f"{who.name} Careers", f"<h1>{escape(who.name)}</h1>{body}")

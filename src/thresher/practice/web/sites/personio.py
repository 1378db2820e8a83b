"""Positions as Personio serves them: XML without addresses, where `name` means two things."""

from html import escape
from typing import Any

from thresher.practice.web.answer import WebRequest, WebResponse, data, page, xml
from thresher.practice.web.company import owner
from thresher.practice.web.posting import PracticePosting, postings
from thresher.practice.web.prose import bullets, document, html, intro, ld, schema, sections
from thresher.practice.web.window import named, window

KINDS = {"Full-time": "permanent", "Part-time": "permanent", "Contract": "freelance", "Internship": "intern"}


def site(ask: WebRequest) -> WebResponse:
    """`/xml`, `/search.json`, and a page for each position at `/job/ID`."""
    who = owner(ask.seed, "personio", ask.host.partition(".")[0])
    if who is None:
        return page(document("Personio", "<h1>Diese Seite existiert nicht</h1>"), 404)
    rows = postings(ask.seed, who, ask.now)
    match ask.parts:
        case ("xml",):
            body = "\n".join(_position(each) for each in window(ask, rows).rows)
            return xml(f"<workzag-jobs>\n{body}\n</workzag-jobs>\n")
        case ("search.json",):
            return data([_searched(each) for each in window(ask, rows).rows])
        case ("job", number) if row := named(rows, number):
            url = f"https://{ask.host}/job/{row.id}"
            return page(
                document(
                    f"{row.title} | {who.name}",
                    f"<h1>{escape(row.title)}</h1>{html(row)}",
                    head=ld(schema(row, url)),
                )
            )
        case ():
            items = "".join(
                f'<li><a class="job-box-link" href="/job/{each.id}">{escape(each.title)}</a></li>'
                for each in window(ask, rows).rows
            )
            return page(document(f"Jobs at {who.name}", f"<h1>{escape(who.name)}</h1><ul>{items}</ul>"))
        case _:
            return page(document("Personio", "<h1>Page not found</h1>"), 404)


def _searched(posting: PracticePosting) -> dict[str, Any]:
    return {
        "id": posting.id,
        "name": posting.title,
        "office": posting.city[0],
        "department": posting.department,
        "description": html(posting),
        "subcompany": posting.company.name,
        "employment_type": KINDS[posting.employment],
        "schedule": _schedule(posting),
        "keywords": "",
    }


def _schedule(posting: PracticePosting) -> str:
    return "part-time" if posting.employment == "Part-time" else "full-time"


def _position(posting: PracticePosting) -> str:
    parts = [
        ("About us", f"<p>{escape(intro(posting))}</p>"),
        *((title, bullets(rows)) for title, rows in sections(posting)),
    ]
    told = "".join(
        f"<jobDescription><name>{title}</name><value><![CDATA[{text}]]></value></jobDescription>"
        for title, text in parts
    )
    offices = "".join(f"<office>{escape(each[0])}</office>" for each in posting.also)
    return (
        f"<position><id>{posting.id}</id><subcompany>{escape(posting.company.name)}</subcompany><office>{escape(posting.city[0])}</office>"
        f"<additionalOffices>{offices}</additionalOffices><department>{posting.department}</department>"
        f"<recruitingCategory>{posting.department}</recruitingCategory><name>{escape(posting.title)}</name>"
        f"<jobDescriptions>{told}</jobDescriptions><employmentType>{KINDS[posting.employment]}</employmentType>"
        f"<seniority>{'lead' if 'Lead' in posting.title else 'experienced'}</seniority>"
        f"<schedule>{_schedule(posting)}</schedule>"
        f"<yearsOfExperience>2-5</yearsOfExperience><keywords></keywords><occupation>{posting.department.lower()}</occupation>"
        f"<createdAt>{posting.opened.isoformat()}</createdAt></position>"
    )

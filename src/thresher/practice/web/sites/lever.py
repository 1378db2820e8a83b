"""Postings as Lever serves them: a bare JSON array for who asks for JSON, a page for everybody else."""

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

NOT_FOUND = {"ok": False, "error": "Document not found"}
SITE = "https://jobs.lever.co"


def api(ask: WebRequest) -> WebResponse:
    """`/v0/postings/TOKEN` and `/v0/postings/TOKEN/ID`. Tokens are case-sensitive."""
    match ask.parts:
        case ("v0", "postings", token, *rest) if token == token.lower() and (
            who := owner(ask.seed, "lever", token)
        ):
            return _answer(ask, who, rest)
        case _:
            return data(NOT_FOUND, 404)


def _answer(ask: WebRequest, who: Company, rest: list[str]) -> WebResponse:
    rows = postings(ask.seed, who, ask.now)
    if rest:
        one = found(rows, number_in(rest[0]))
        return data(_row(one)) if one else data(NOT_FOUND, 404)
    shown = window(ask, rows, ask.number("skip", 0), ask.number("limit", 0) or None)
    if "application/json" not in ask.headers.get("accept", "") and ask.query.get("mode") != "json":
        return page(_widget(who, shown.rows))
    return data([_row(each) for each in shown.rows])


def _row(posting: PracticePosting) -> dict[str, Any]:
    url = f"{SITE}/{posting.company.token}/{posting.uuid}"
    duties, wants, offers = sections(posting)
    said: dict[str, Any] = {
        "id": posting.uuid,
        "text": posting.title,
        "hostedUrl": url,
        "applyUrl": f"{url}/apply",
        "createdAt": int(posting.opened.timestamp() * 1_000),
        "country": posting.city[3],
        "workplaceType": posting.mode,
        "categories": {
            "commitment": posting.employment,
            "department": posting.department,
            "team": posting.department,
            "location": posting.city[0],
            "allLocations": [each[0] for each in (posting.city, *posting.also)],
        },
        "description": f"<div>{escape(intro(posting))}</div>",
        "descriptionPlain": intro(posting),
        "lists": [{"text": title, "content": bullets(rows)[4:-5]} for title, rows in (duties, wants)],
        "additional": f"<div>{offers[0]}</div>{bullets(offers[1])}",
        "additionalPlain": "\n".join(offers[1]),
    }
    if posting.pay:
        said["salaryRange"] = {
            "min": posting.pay.least,
            "max": posting.pay.most,
            "currency": posting.pay.currency,
            "interval": "per-year-salary",
        }
    return said


def hosted(ask: WebRequest) -> WebResponse:
    """The board and the posting pages."""
    match ask.parts:
        case (token,) if who := owner(ask.seed, "lever", token):
            return page(_widget(who, window(ask, postings(ask.seed, who, ask.now)).rows))
        case (token, key) if who := owner(ask.seed, "lever", token):
            one = found(postings(ask.seed, who, ask.now), number_in(key))
            if one:
                return page(_detail(one), modified=one.updated)
    return page(document("Not found – 404 error", "<h1>Sorry, we couldn't find anything here</h1>"), 404)


def _widget(who: Company, rows: tuple[PracticePosting, ...]) -> str:
    items = "\n".join(
        f'<div class="posting"><a class="posting-title" href="{SITE}/{who.token}/{each.uuid}"><h5>{escape(each.title)}</h5>'
        f'<div class="posting-categories"><span class="sort-by-location">{escape(each.city[0])}</span>'
        f'<span class="sort-by-commitment">{each.employment}</span><span class="workplaceTypes">{workplace(each)}</span></div></a></div>'
        for each in rows
    )
    return document(
        who.name,
        f'<div class="main-header"><h1>{escape(who.name)}</h1></div><div class="postings-wrapper">{items}</div>',
    )


def _detail(posting: PracticePosting) -> str:
    url = f"{SITE}/{posting.company.token}/{posting.uuid}"
    body = f'<div class="posting-headline"><h2>{escape(posting.title)}</h2><div>{escape(posting.where)}</div></div>'
    body += f'<div class="section-wrapper">{html(posting)}</div><p>{escape(pay_text(posting))}</p><a href="{url}/apply">Apply for this job</a>'
    return document(f"{posting.company.name} - {posting.title}", body, head=ld(schema(posting, url)))

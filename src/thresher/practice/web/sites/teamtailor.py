"""Postings as Teamtailor serves them: an RSS feed with a name space of its own, and a JSON feed that pages by
address.
"""

from email.utils import format_datetime
from html import escape
from typing import Any

from thresher.practice.web.answer import Json, WebRequest, WebResponse, data, page, xml
from thresher.practice.web.company import Company, company, owner, token_of
from thresher.practice.web.posting import HYBRID, REMOTE, PracticePosting, postings
from thresher.practice.web.prose import document, html, ld, schema
from thresher.practice.web.window import named, window

PAGE = 20
REMOTE_WORDS = {REMOTE: "fully", HYBRID: "hybrid"}


def site(ask: WebRequest) -> WebResponse:
    """`/jobs.rss`, `/jobs.json`, the board at `/jobs` and postings at `/jobs/ID-SLUG`."""
    hosted = ask.host.endswith(".teamtailor.com")
    who = (
        owner(ask.seed, "teamtailor", ask.host.partition(".")[0])
        if hosted
        else company(ask.seed, token_of(ask.host))
    )
    if who is None:
        return page(document("Not found", "<h1>We couldn't find that career site</h1>"), 404)
    rows = postings(ask.seed, who, ask.now)
    match ask.parts:
        case ("jobs.rss",):
            size = min(max(1, ask.number("per_page", 100)), 200)
            return _rss(ask, who, window(ask, rows, ask.number("offset", 0), size).rows)
        case ("jobs.json",):
            return _feed(ask, who, rows)
        case ("jobs", name) if row := named(rows, name):
            return page(
                document(
                    f"{row.title} - {who.name}",
                    f"<h1>{escape(row.title)}</h1>{html(row)}",
                    head=ld(schema(row, _url(ask, row))),
                )
            )
        case () | ("jobs",):
            return page(_listing(ask, who, rows))
        case _:
            return page(document("Not found", "<h1>Page not found</h1>"), 404)


def _url(ask: WebRequest, posting: PracticePosting) -> str:
    return f"https://{ask.host}/jobs/{posting.id}-{posting.slug}"


def _rss(ask: WebRequest, who: Company, rows: tuple[PracticePosting, ...]) -> WebResponse:
    items = "\n".join(
        f"<item><title>{escape(each.title)}</title><description>{escape(html(each))}</description><pubDate>{format_datetime(each.opened)}</pubDate>"
        f'<link>{_url(ask, each)}</link><guid isPermaLink="false">{each.uuid}</guid>'
        f"<remoteStatus>{REMOTE_WORDS.get(each.mode, 'none')}</remoteStatus>"
        f"<tt:locations>{''.join(_location(city) for city in (each.city, *each.also))}</tt:locations>"
        f"<tt:department>{each.department}</tt:department><tt:role>{each.department}</tt:role></item>"
        for each in rows
    )
    return xml(
        f'<rss version="2.0" xmlns:tt="https://teamtailor.com/locations"><channel><title>{escape(who.name)}</title>'
        f"<link>https://{ask.host}/</link><description>Open positions at {escape(who.name)}</description>\n{items}\n</channel></rss>\n",
        "application/rss+xml",
    )


def _location(city: tuple[str, str, str, str, str, int]) -> str:
    name = escape(city[0])
    return f"<tt:location><tt:name>{name}</tt:name><tt:zip></tt:zip><tt:city>{name}</tt:city><tt:country>{city[2]}</tt:country></tt:location>"


def _feed(ask: WebRequest, who: Company, rows: tuple[PracticePosting, ...]) -> WebResponse:
    number = max(1, ask.number("page", 1))
    shown = window(ask, rows, (number - 1) * PAGE, PAGE)
    said: dict[str, Json] = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": who.name,
        "home_page_url": f"https://{ask.host}/",
        "feed_url": f"https://{ask.host}/jobs.json",
        "items": [_item(ask, each) for each in shown.rows],
    }
    if number * PAGE < shown.total:
        said["next_url"] = f"https://{ask.host}/jobs.json?page={number + 1}"
    return data(said)


def _item(ask: WebRequest, posting: PracticePosting) -> dict[str, Any]:
    url = _url(ask, posting)
    known = schema(posting, url)
    return {
        "id": posting.uuid,
        "url": url,
        "title": posting.title,
        "content_html": html(posting),
        "date_published": posting.opened.isoformat(),
        "_jobposting": {**known, "jobLocation": [known["jobLocation"]]},
    }


def _listing(ask: WebRequest, who: Company, rows: tuple[PracticePosting, ...]) -> str:
    items = "".join(
        f'<li class="w-full"><a href="{_url(ask, each)}"><span class="company-link-style">{escape(each.title)}</span></a>'
        f"<span>{each.department} · {escape(each.city[0])}</span></li>"
        for each in window(ask, rows).rows
    )
    head = '<link rel="stylesheet" href="https://assets-aws.teamtailor-cdn.com/assets/application.css">'
    return document(
        f"Jobs at {who.name}",
        f'<h1>{escape(who.name)}</h1><ul id="jobs_list_container">{items}</ul>',
        head=head,
    )

"""A site that gathers openings of many companies and publishes them as feeds: RSS, Atom and JSON Feed."""

from email.utils import format_datetime
from html import escape

from thresher.practice.web.answer import WebRequest, WebResponse, data, page, xml
from thresher.practice.web.company import directory
from thresher.practice.web.posting import PracticePosting, postings
from thresher.practice.web.prose import document, html, intro
from thresher.practice.web.window import named, window

ITEMS = 50
COMPANIES = 40


def site(ask: WebRequest) -> WebResponse:
    """`/rss.xml`, `/atom.xml`, `/feed.json`: the newest fifty; a page for each at `/opening/ID`."""
    rows = _rows(ask)
    newest = window(ask, rows, 0, ITEMS).rows
    match ask.parts:
        case ("rss.xml",) | ("feed",):
            return _rss(ask, newest)
        case ("atom.xml",):
            return _atom(ask, newest)
        case ("feed.json",):
            items = [
                {
                    "id": str(each.id),
                    "url": _url(ask, each),
                    "title": _title(each),
                    "content_html": html(each),
                    "date_published": each.opened.isoformat(),
                    "date_modified": each.updated.isoformat(),
                }
                for each in newest
            ]
            return data(
                {"version": "https://jsonfeed.org/version/1.1", "title": "Practice openings", "items": items}
            )
        case ("opening", number) if row := named(rows, number):
            return page(document(_title(row), f"<h1>{escape(_title(row))}</h1>{html(row)}"))
        case ():
            kinds = ("rss", "atom")
            head = "".join(
                f'<link rel="alternate" type="application/{kind}+xml" href="/{kind}.xml">' for kind in kinds
            )
            return page(
                document(
                    "Practice openings",
                    "<h1>Practice openings</h1><p>Read our <a href='/rss.xml'>feed</a>.</p>",
                    head=head,
                )
            )
        case _:
            return page(document("Not found", "<h1>Not found</h1>"), 404)


def _rows(ask: WebRequest) -> tuple[PracticePosting, ...]:
    small = [who for who in directory(ask.seed) if who.places < 100][:COMPANIES]
    return tuple(
        sorted(
            (each for who in small for each in postings(ask.seed, who, ask.now)),
            key=lambda each: (each.opened, each.id),
            reverse=True,
        )
    )


def _url(ask: WebRequest, posting: PracticePosting) -> str:
    return f"https://{ask.host}/opening/{posting.id}"


def _title(posting: PracticePosting) -> str:
    return f"{posting.company.name}: {posting.title}"


def _rss(ask: WebRequest, rows: tuple[PracticePosting, ...]) -> WebResponse:
    items = "\n".join(
        f'<item><title>{escape(_title(each))}</title><link>{_url(ask, each)}</link><guid isPermaLink="true">{_url(ask, each)}</guid>'
        f"<pubDate>{format_datetime(each.opened)}</pubDate><category>{each.department}</category>"
        f"<company>{escape(each.company.name)}</company>"
        f"<description><![CDATA[{html(each)}]]></description></item>"
        for each in rows
    )
    head = f"<title>Practice openings</title><link>https://{ask.host}/</link><description>Newest openings</description><ttl>60</ttl>"
    return xml(f'<rss version="2.0"><channel>{head}\n{items}\n</channel></rss>\n', "application/rss+xml")


def _atom(ask: WebRequest, rows: tuple[PracticePosting, ...]) -> WebResponse:
    entries = "\n".join(
        f'<entry><title>{escape(_title(each))}</title><link href="{_url(ask, each)}"/><id>urn:uuid:{each.uuid}</id>'
        f"<published>{each.opened.isoformat()}</published><updated>{each.updated.isoformat()}</updated><summary>{escape(intro(each))}</summary></entry>"
        for each in rows
    )
    updated = max((each.updated for each in rows), default=ask.now).isoformat()
    head = f'<title>Practice openings</title><id>https://{ask.host}/</id><updated>{updated}</updated><link rel="self" href="https://{ask.host}/atom.xml"/>'
    return xml(
        f'<feed xmlns="http://www.w3.org/2005/Atom">{head}\n{entries}\n</feed>\n', "application/atom+xml"
    )

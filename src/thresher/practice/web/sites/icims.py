"""Career portals as iCIMS serves them: pages only, whole only inside their frame, and a last page that comes
again for ever.
"""

from html import escape

from thresher.practice.web.answer import WebRequest, WebResponse, page, redirect
from thresher.practice.web.company import Company, owner
from thresher.practice.web.posting import PracticePosting, postings
from thresher.practice.web.prose import document, html, intro, ld, schema
from thresher.practice.web.window import ListWindow, named, window

PAGE = 20
PREFIX = "careers-"
SORRY = "Sorry, no jobs were found that match your search criteria. Please try again with different criteria."


def site(ask: WebRequest) -> WebResponse:
    """`/jobs/search?ss=1&in_iframe=1&pr=N`, and postings at `/jobs/ID/SLUG/job`. Other prefixes of the host
    are other portals.
    """
    label = ask.host.partition(".")[0]
    who = owner(ask.seed, "icims", label.removeprefix(PREFIX)) if label.startswith(PREFIX) else None
    if who is None:
        return page(document("iCIMS", "<h1>This career portal is not available</h1>"), 404)
    rows = postings(ask.seed, who, ask.now)
    match ask.parts:
        case ("jobs", "search"):
            return page(_framed(ask, who, _listing(ask, rows)))
        case ("jobs", number, *_) if row := named(rows, number):
            head = ld(schema(row, _url(ask, row)))
            return page(
                _framed(
                    ask,
                    who,
                    f'<div class="iCIMS_JobContent"><h1>{escape(row.title)}</h1>{html(row)}</div>',
                    row.title,
                    head,
                )
            )
        case ("jobs", number, *_) if number.isdecimal():
            gone = "<p>The job you are trying to view is no longer available.</p>"
            return page(document(f"{who.name} Careers", f'<div class="iCIMS_ErrorMessage">{gone}</div>'), 410)
        case () | ("jobs",) | ("jobs", "intro"):
            return redirect("/jobs/search?ss=1")
        case _:
            return page(document("iCIMS", "<h1>Page not found</h1>"), 404)


def _url(ask: WebRequest, posting: PracticePosting) -> str:
    return f"https://{ask.host}/jobs/{posting.id}/{posting.slug}/job"


def _framed(ask: WebRequest, who: Company, body: str, title: str = "Job Search", head: str = "") -> str:
    """Asked for without the frame's mark, there is a frame and nothing in it."""
    if ask.query.get("in_iframe") != "1":
        query = "&".join(
            f"{escape(name)}={escape(value)}" for name, value in (*ask.query.items(), ("in_iframe", "1"))
        )
        body = f'<div class="iCIMS_Frame"><iframe id="icims_content_iframe" src="{escape(ask.path)}?{query}"></iframe></div>'
    top = f'<div class="iCIMS_Header">{escape(who.name)}</div>'
    return document(
        f"{title} | {who.name} Careers", f'<div class="iCIMS_MainWrapper">{top}{body}</div>', head=head
    )


def _listing(ask: WebRequest, rows: tuple[PracticePosting, ...]) -> str:
    pages = max(1, -(-window(ask, rows).total // PAGE))
    # Past the end the last page comes again.
    number = min(max(0, ask.number("pr", 0)), pages - 1)
    shown = window(ask, rows, number * PAGE, PAGE)
    if not shown.total:
        return f'<div class="iCIMS_JobsTable"><p class="iCIMS_ErrorMessage">{SORRY}</p></div>{_recommended(ask, shown)}'
    items = "\n".join(_card(ask, each) for each in shown.rows)
    links = "".join(
        f'<a class="glyph" href="/jobs/search?ss=1&amp;in_iframe=1&amp;pr={each}">{each + 1}</a> '
        for each in range(pages)
    )
    return (
        f'<ul class="container-fluid iCIMS_JobsTable">{items}</ul>'
        f'<div class="iCIMS_Paging text-center"><span>Page {number + 1} of {pages}</span> {links}</div>'
    )


def _recommended(ask: WebRequest, shown: ListWindow[PracticePosting]) -> str:
    links = "".join(
        f'<li><a href="{_url(ask, each)}">{escape(each.title)}</a></li>' for each in shown.recommended
    )
    return f"<h2>You may be interested in</h2><ul>{links}</ul>" if links else ""


def _card(ask: WebRequest, posting: PracticePosting) -> str:
    city, region, _, code, *_ = posting.city
    day = f"{posting.opened.month}/{posting.opened.day}/{posting.opened:%Y %I:%M %p}"
    return (
        '<li class="row iCIMS_JobCardItem"><div class="col-xs-6 header left"><span class="sr-only field-label">Job Locations</span>'
        f"<span>{code}-{escape(region)}-{escape(city)}</span></div>"
        f'<div class="col-xs-6 header right"><span class="sr-only field-label">Posted Date</span><span title="{day}">'
        f"{_ago(ask, posting)}</span></div>"
        f'<div class="col-xs-12 title"><a class="iCIMS_Anchor" href="{_url(ask, posting)}?in_iframe=1"><h3>{escape(posting.title)}'
        f'</h3></a></div><div class="col-xs-12 description">{escape(intro(posting)[:160])}…</div></li>'
    )


def _ago(ask: WebRequest, posting: PracticePosting) -> str:
    days = (ask.now - posting.opened).days
    return f"{days} days ago" if days > 1 else "1 day ago" if days else "Today"

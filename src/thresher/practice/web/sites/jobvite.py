"""Boards as Jobvite serves them: pages of fifty, and an XML feed under a name that only the board's page
tells.
"""

from html import escape

from thresher.practice.web.answer import WebRequest, WebResponse, page, plain, redirect, xml
from thresher.practice.web.company import Company, owner
from thresher.practice.web.posting import PracticePosting, number_in, postings
from thresher.practice.web.prose import document, html, ld, schema
from thresher.practice.web.window import found, window

SITE = "https://jobs.jobvite.com"
PAGE = 50


def site(ask: WebRequest) -> WebResponse:
    """`/TOKEN/search?p=N` (also `/TOKEN` and `/TOKEN/jobs`), and postings at `/TOKEN/job/CODE`."""
    if ask.parts == ("robots.txt",):
        return plain("User-agent: *\nDisallow: /internal/\n")
    parts = ask.parts[1:] if ask.parts[:1] == ("careers",) else ask.parts
    who = owner(ask.seed, "jobvite", parts[0]) if parts else None
    if who is None:
        return redirect("https://search.jobvite.com/?invalid=1")
    rows = postings(ask.seed, who, ask.now)
    match parts[1:]:
        case () | ("jobs",) | ("search",):
            return page(_listing(ask, who, rows))
        case ("job", code, *_):
            row = found(rows, number_in(code.removeprefix("o")))
            if row is None:
                return page(_framed(who, "<p>The job listing no longer exists.</p>"), 404)
            body = f'<h2 class="jv-header">{escape(row.title)}</h2><p class="jv-job-detail-meta">{escape(row.where)}</p>'
            return page(
                _framed(
                    who,
                    f'{body}<div class="jv-job-detail-description">{html(row)}</div>',
                    ld(schema(row, _url(row))),
                )
            )
        case _:
            return page(_framed(who, "<p>Page not found</p>"), 404)


def feed(ask: WebRequest) -> WebResponse:
    """`/CompanyJobs/Xml.aspx?c=NUMBER`, where the number is the one on the board's page."""
    token = _token(ask.query.get("c", ""))
    who = owner(ask.seed, "jobvite", token) if token else None
    if ask.path != "/CompanyJobs/Xml.aspx" or who is None:
        return page(document("Jobvite", "<p>Invalid request</p>"), 404)
    jobs = "\n".join(_job(each) for each in window(ask, postings(ask.seed, who, ask.now)).rows)
    return xml(f"<result>\n{jobs}\n</result>\n", "text/xml")


def company_number(who: Company) -> str:
    """Under this name the feed knows the company. It holds the token, and does not look it."""
    return "q" + who.token.encode().hex()


def _token(number: str) -> str:
    try:
        return bytes.fromhex(number.removeprefix("q")).decode() if number.startswith("q") else ""
    except ValueError:
        return ""


def _url(posting: PracticePosting) -> str:
    return f"{SITE}/{posting.company.token}/job/o{posting.shortcode}"


def _framed(who: Company, body: str, head: str = "") -> str:
    script = f"<script>window.jvCareerSite = {{companyEId: '{company_number(who)}', careerSiteName: '{who.token}'}};</script>"
    return document(
        f"{who.name} Careers",
        f'<div class="jv-page-body"><h1>{escape(who.name)}</h1>{body}</div>',
        head=f"{head}\n{script}",
    )


def _listing(ask: WebRequest, who: Company, rows: tuple[PracticePosting, ...]) -> str:
    number = max(0, ask.number("p", 0))
    shown = window(ask, rows, number * PAGE, PAGE)
    if not shown.total:
        near = "".join(
            f'<li><a href="{_url(each)}">{escape(each.title)}</a></li>' for each in shown.recommended
        )
        return _framed(
            who, f"<p>There are currently no open positions.</p><h3>Recently filled</h3><ul>{near}</ul>"
        )
    items = "\n".join(
        f'<tr><td class="jv-job-list-name"><a href="/{who.token}/job/o{each.shortcode}">{escape(each.title)}</a></td>'
        f'<td class="jv-job-list-location">{escape(each.city[0])}, {escape(each.city[1])}, {escape(each.city[2])}</td></tr>'
        for each in shown.rows
    )
    first = number * PAGE
    count = (
        f'<div class="jv-pagination-text">{first + 1}-{first + len(shown.rows)} of {shown.total}</div>'
        if shown.rows
        else ""
    )
    more = (
        f'<a class="jv-pagination-next" href="/{who.token}/search?p={number + 1}">Next</a>'
        if first + PAGE < shown.total
        else ""
    )
    return _framed(
        who,
        f'<table class="jv-job-list"><tbody>{items}</tbody></table><div class="jv-pagination">{count}{more}</div>',
    )


def _job(posting: PracticePosting) -> str:
    day = f"{posting.opened.month}/{posting.opened.day}/{posting.opened.year}"
    where = ", ".join(posting.city[:3])
    return (
        f"<job><id>o{posting.shortcode}</id><title>{escape(posting.title)}</title><requisitionid>{posting.requisition}</requisitionid>"
        f"<category>{posting.department}</category><jobtype>{posting.employment}</jobtype><location>{escape(where)}"
        f"</location><date>{day}</date><detail-url>{_url(posting)}</detail-url><apply-url>{_url(posting)}/apply</apply-url>"
        f"<description><![CDATA[{html(posting)}]]></description></job>"
    )

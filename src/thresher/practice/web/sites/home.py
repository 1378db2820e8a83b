"""A company's own web site: home, about, careers. Any host name has one.

Where its postings are depends on the company: on a platform it links to (plainly, behind a button, or
embedded by a script), on its own careers pages, or in a page that only a browser sees.
"""

from html import escape
from typing import Any

from thresher.practice.web.answer import WebRequest, WebResponse, data, made, page, plain, redirect, xml
from thresher.practice.web.clock import DAY_ZERO
from thresher.practice.web.company import (
    OWN,
    SCRIPTED,
    SITE_LABELS,
    Company,
    Traits,
    company,
    office_text,
    token_of,
    traits,
)
from thresher.practice.web.posting import PracticePosting, listed, postings
from thresher.practice.web.prose import document, html, ld, schema
from thresher.practice.web.sites import recruitee, teamtailor
from thresher.practice.web.window import ListWindow, named, window

# What a company tells of itself on its own pages, in three layouts: a list of facts, prose, or data for
# machines beside the prose.


def about(who: Company, known: Traits) -> str:
    """The body of the page about the company."""
    parts = [
        f"<p>{escape(who.name)} was founded in {who.founded} in {who.city[0]}, {who.city[2]}. We make {who.trade} and nothing else.</p>",
        f"<p>Today {who.staff} people work here. We are owned by those who work in the company.</p>",
        f"<h2>Our mission</h2>\n<p>{known.mission}</p>",
        f"<h2>How we work</h2>\n<p>{known.culture}</p>\n<p>{known.remote_words}.</p>",
        _glance(who, known) if who.layout == 0 else "",
        f"<h2>Where we are</h2>\n<p>{offices(known)}</p>",
        f"<p>{' '.join(known.traps)}</p>",
    ]
    return "\n".join(part for part in parts if part)


def _glance(who: Company, known: Traits) -> str:
    rows = {
        "Headquarters": known.headquarters,
        "Industry": known.industry,
        "Founded": str(who.founded),
        "Employees": f"{known.size:,}",
    }
    return (
        "<h2>At a glance</h2>\n<dl>"
        + "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows.items())
        + "</dl>"
    )


def offices(known: Traits) -> str:
    """Where it is, in a sentence."""
    places = tuple(office_text(each) for each in known.offices)
    also = f" We also have offices in {listed(places)}." if places else " We have no other offices."
    return f"Our headquarters are in {known.headquarters}.{also}"


def working_here(known: Traits) -> str:
    """What a careers page says besides its openings."""
    values = "".join(f"<li>{each}</li>" for each in known.values)
    stack = f"<h2>What we build with</h2>\n<p>We work with {listed(known.tech)}.</p>\n" if known.tech else ""
    focus = f"<p>{known.ai_words}.</p>\n" if known.ai_words else ""
    return f'<h2>Our values</h2>\n<ul class="values">{values}</ul>\n{stack}{focus}'


def organization(who: Company, known: Traits) -> str:
    """What machines are told on the home page."""
    found: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "Organization",
        "name": who.name,
        "url": f"https://{who.site}/",
        "foundingDate": str(who.founded),
        "address": {"@type": "PostalAddress", "addressLocality": who.city[0]},
    }
    if who.layout == 2:
        found["address"] |= {"addressCountry": who.city[3]}
        found |= {
            "numberOfEmployees": {"@type": "QuantitativeValue", "value": known.size},
            "industry": known.industry,
        }
    return ld(found)


PAGE = 10
SHELL = '<div id="root"></div><noscript>You need to enable JavaScript to run this app.</noscript><script src="/static/openings.js"></script>'
CAREERS = ("careers", "jobs", "career", "join-us")
# Served under `careers.` of a company's own domain by these platforms, with the same paths as on theirs.
UNDER_OWN_DOMAIN = {"recruitee": recruitee.site, "teamtailor": teamtailor.site}
SCRIPT = """
fetch('/api/openings').then(answer => answer.json()).then(found => {
  const list = document.createElement('ul');
  list.className = 'openings';
  for (const each of found.openings) {
    const row = document.createElement('li');
    const link = document.createElement('a');
    link.href = each.path;
    link.textContent = each.title;
    row.append(link, ' – ' + each.location);
    list.append(row);
  }
  const head = document.createElement('h2');
  head.textContent = found.openings.length + ' open positions';
  document.getElementById('root').replaceChildren(head, list);
});
"""


def site(ask: WebRequest) -> WebResponse:
    """The site of the company that this host name belongs to."""
    who = company(ask.seed, token_of(ask.host))
    board = UNDER_OWN_DOMAIN.get(who.platform)
    if board and who.custom_domain and ask.host.startswith("careers."):
        return board(ask)
    match ask.parts:
        case () if ask.host.startswith(SITE_LABELS[1:]):
            return redirect("/careers")
        case ():
            return page(_home(who, traits(ask.seed, who)), modified=DAY_ZERO)
        case ("about",) | ("about-us",) | ("company",):
            return page(
                _framed(who, f"About {who.name}", about(who, traits(ask.seed, who))), modified=DAY_ZERO
            )
        case ("robots.txt",):
            return plain(f"User-agent: *\nDisallow: /internal/\nSitemap: https://{ask.host}/sitemap.xml\n")
        case ("sitemap.xml",):
            return _sitemap(ask, who)
        case (first, *rest) if first in CAREERS:
            return _careers(ask, who, rest)
        case ("api", "openings") if who.platform == SCRIPTED:
            return _openings(ask, who)
        case ("static", "openings.js"):
            return made(SCRIPT.encode(), "text/javascript; charset=utf-8")
        case ("contact",) | ("imprint",):
            return page(
                _framed(who, "Contact", f"<p>{who.name}, {who.city[0]}. hello@{who.token}.example</p>")
            )
        case _:
            return page(_framed(who, "Page not found", "<p>There is nothing under this address.</p>"), 404)


def board_url(who: Company) -> str:
    """Where people find the company's postings."""
    token = who.token
    if who.custom_domain and who.platform in UNDER_OWN_DOMAIN:
        return f"https://careers.{token}.example/"
    return {
        "greenhouse": f"https://job-boards.greenhouse.io/{token}",
        "lever": f"https://jobs.lever.co/{token}",
        "ashby": f"https://jobs.ashbyhq.com/{token}",
        "smartrecruiters": f"https://careers.smartrecruiters.com/{token}",
        "workday": f"https://{token}.wd{who.workday_number}.myworkdayjobs.com/en-US/{who.workday_site}",
        "recruitee": f"https://{token}.recruitee.com/",
        "workable": f"https://apply.workable.com/{token}/",
        "personio": f"https://{token}.jobs.personio.de/",
        "teamtailor": f"https://{token}.teamtailor.com/jobs",
        "bamboohr": f"https://{token}.bamboohr.com/careers",
        "icims": f"https://careers-{token}.icims.com/jobs/search",
        "jobvite": f"https://jobs.jobvite.com/{token}/jobs",
        "breezy": f"https://{token}.breezy.hr/",
        "rippling": f"https://ats.rippling.com/{token}/jobs",
        "pinpoint": f"https://{token}.pinpointhq.com/",
    }.get(who.platform, f"https://{who.site}/careers")


def _framed(who: Company, title: str, body: str, head: str = "") -> str:
    top = (
        f'<header class="top"><a class="logo" href="/">{escape(who.name)}</a><nav><a href="/">Home</a> <a href="/about">About</a> '
        f'<a href="/{CAREERS[who.layout]}">Careers</a> <a href="/contact">Contact</a></nav></header>'
    )
    foot = f"<footer><p>© {who.name}, {who.city[0]}</p></footer>"
    return document(
        f"{title} | {who.name}",
        f"{top}\n<main>\n<h1>{escape(title)}</h1>\n{body}\n</main>\n{foot}",
        head=head,
    )


def _home(who: Company, known: Traits) -> str:
    body = (
        f'<p class="lead">We make {who.trade}.</p>\n<p>Since {who.founded} our {who.staff} people in {who.city[0]} and elsewhere have '
        "worked on one "
        f'thing at a time.</p>\n<p><a class="button" href="/{CAREERS[who.layout]}">We are hiring</a></p>'
    )
    head = f'<meta name="description" content="{escape(who.name)} makes {who.trade}.">\n{organization(who, known)}'
    return _framed(who, f"{who.trade.capitalize()}, done properly", body, head)


def _careers(ask: WebRequest, who: Company, rest: list[str]) -> WebResponse:
    rows = postings(ask.seed, who, ask.now)
    if who.platform not in (OWN, SCRIPTED):
        return (
            page(_outward(who, rows, working_here(traits(ask.seed, who))))
            if not rest
            else page(_framed(who, "Page not found", ""), 404)
        )
    if rest == ["feed.xml"]:
        return _feed(ask, who, rows)
    if rest:
        row = named(rows, rest[0])
        if row is None:
            return page(
                _framed(who, "This position is no longer open", "<p>See our other openings.</p>"), 404
            )
        return page(_detail(ask, row), modified=row.updated)
    if who.platform == SCRIPTED:
        return page(document(f"Careers | {who.name}", SHELL))
    place = max(1, ask.number("page", 1))
    return page(
        _listing(who, window(ask, rows, (place - 1) * PAGE, PAGE), place, working_here(traits(ask.seed, who)))
    )


def _outward(who: Company, rows: tuple[PracticePosting, ...], beside: str) -> str:
    """A careers page that sends people to the platform; three ways to do so."""
    url = board_url(who)
    if who.platform == "greenhouse" and who.layout == 2:
        body = f'<div id="grnhse_app"></div><script src="https://boards.greenhouse.io/embed/job_board/js?for={who.token}"></script>'
    elif who.platform == "bamboohr" and who.layout == 2:
        body = f'<div id="BambooHR"></div><script src="https://{who.token}.bamboohr.com/js/embed.js"></script><a href="{url}">All openings</a>'
    elif who.layout == 1:
        links = "".join(
            f'<li><a href="{url}">{escape(each.title)}</a>, {escape(each.city[0])}</li>' for each in rows[:5]
        )
        body = f'<p>Some of the roles we are filling:</p><ul class="roles">{links}</ul><p><a href="{url}">View all openings</a></p>'
    else:
        body = f'<p>We look for people who like to finish things.</p><p><a class="button" href="{url}">See open positions</a></p>'
    return _framed(who, "Careers", f"{body}\n{beside}")


def _listing(who: Company, shown: ListWindow[PracticePosting], number: int, told: str) -> str:
    pages = -(-shown.total // PAGE)
    items = "\n".join(_card(each) for each in shown.rows)
    if not shown.total:
        recommended = "\n".join(_card(each) for each in shown.recommended)
        beside = f"<h2>You may also like</h2><ul>{recommended}</ul>" if recommended else ""
        nothing = "<p>No open positions match your search.</p>"
        return _framed(
            who, "Careers", f'<p class="count">0 results</p>{nothing}{beside}\n{told}', _feed_link(who)
        )
    numbers = " ".join(
        f'<a href="?page={each}">{each}</a>' if each != number else f"<span>{each}</span>"
        for each in range(1, pages + 1)
    )
    next_link = f'<a rel="next" href="?page={number + 1}">Next</a>' if number < pages else ""
    back_link = f'<a rel="prev" href="?page={number - 1}">Previous</a>' if number > 1 else ""
    pager = f'<nav class="pagination">{back_link} {numbers} {next_link}</nav>' if pages > 1 else ""
    body = (
        f'<p class="count">{shown.total} open positions</p><ul class="openings">{items}</ul>{pager}\n{told}'
    )
    return _framed(who, "Careers", body, _feed_link(who))


def _feed_link(who: Company) -> str:
    """Two of three say that they have a feed; the others have it and do not say so."""
    return (
        ""
        if who.layout == 1
        else '<link rel="alternate" type="application/rss+xml" title="Openings" href="/careers/feed.xml">'
    )


def _card(posting: PracticePosting) -> str:
    return (
        f'<li class="opening"><h3><a href="/careers/{posting.id}-{posting.slug}">{escape(posting.title)}</a></h3>'
        f'<span class="place">{escape(posting.where)}</span> '
        f'<time datetime="{posting.opened:%Y-%m-%d}">{posting.opened:%d %B %Y}</time></li>'
    )


def _detail(ask: WebRequest, posting: PracticePosting) -> str:
    url = f"https://{ask.host}/careers/{posting.id}-{posting.slug}"
    body = f'<p class="place">{escape(posting.where)} · {posting.employment}</p>{html(posting)}<p><a href="/apply/{posting.id}">Apply</a></p>'
    return _framed(posting.company, posting.title, body, ld(schema(posting, url)))


def _feed(ask: WebRequest, who: Company, rows: tuple[PracticePosting, ...]) -> WebResponse:
    items = "\n".join(
        f"<item><title>{escape(each.title)}</title><link>https://{ask.host}/careers/{each.id}-{each.slug}</link>"
        f'<guid isPermaLink="false">{each.id}</guid><pubDate>{each.opened:%a, %d %b %Y %H:%M:%S} GMT</pubDate>'
        f"<category>{each.department}</category><description>{escape(html(each))}</description></item>"
        for each in window(ask, rows).rows
    )
    head = f"<title>Jobs at {escape(who.name)}</title><link>https://{ask.host}/careers</link><description>Open positions</description>"
    return xml(f'<rss version="2.0"><channel>{head}\n{items}\n</channel></rss>\n', "application/rss+xml")


def _openings(ask: WebRequest, who: Company) -> WebResponse:
    rows = window(ask, postings(ask.seed, who, ask.now)).rows
    return data(
        {
            "openings": [
                {"title": each.title, "location": each.where, "path": f"/careers/{each.id}-{each.slug}"}
                for each in rows
            ]
        }
    )


def _sitemap(ask: WebRequest, who: Company) -> WebResponse:
    paths = ["/", "/about", f"/{CAREERS[who.layout]}", "/contact"]
    if who.platform == OWN:
        paths += [f"/careers/{each.id}-{each.slug}" for each in postings(ask.seed, who, ask.now)]
    urls = "\n".join(f"<url><loc>https://{ask.host}{path}</loc></url>" for path in paths)
    return xml(f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{urls}\n</urlset>\n')


# Where no site is: the page that a registrar or a host shows for a name nobody has set up.


def unregistered(ask: WebRequest) -> WebResponse:
    """A 404 in words that say it is the site that is missing, not the page."""
    body = f"<h1>There is no site here</h1><p>{escape(ask.host)} is not set up on this server. If it is yours, point it somewhere.</p>"
    return page(document("No such site", body), 404)

"""Where no site is: the page that a registrar or a host shows for a name nobody has set up."""

from html import escape

from thresher.practice.web.answer import Answer, Ask, page
from thresher.practice.web.prose import document


def site(ask: Ask) -> Answer:
    """A 404 in words that say it is the site that is missing, not the page."""
    body = f"<h1>There is no site here</h1><p>{escape(ask.host)} is not set up on this server. If it is yours, point it somewhere.</p>"
    return page(document("No such site", body), 404)

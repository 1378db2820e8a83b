"""Any RSS, Atom or JSON feed as a client. A feed shows what is new; what it no longer shows may still be
open.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from thresher.apps.queries.clients.client import Client, bounded, key_of, wanted
from thresher.apps.queries.clients.search import Offer, Reach, Search, SearchPage
from thresher.core.credentials import origin_of
from thresher.core.errors import ConfigError, InvalidPayload, InvalidUrl
from thresher.core.keys import canonical_url
from thresher.core.page import Page
from thresher.reading.apis.paging import ListPlace, place_of
from thresher.reading.html.document import Document
from thresher.reading.lists.rows import feed_row, posting_of
from thresher.reading.platforms.calls import Call
from thresher.reading.structured.feeds import Feed, FeedEntry, read_feed
from thresher.reading.verdict.wall import wall

ACCEPT = "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5"
PARAMETERS = {
    "url": "Address of the feed.",
    "company": "Company of every entry that names none.",
}
REFUSED = 400  # statuses from here on


@dataclass(frozen=True, slots=True)
class FeedClient(Client):
    """Entries are offers because the query says so; nothing is left out for not sounding like one."""

    def call(self, search: Search, cursor: str | None, env: Mapping[str, str]) -> Call:
        del env
        url = web_address(self, self.checked(search).get("url"))
        place = place_of(cursor, "")
        if place.at and origin_of(str(place.at)) != origin_of(url):
            raise InvalidPayload("the cursor of a feed leads to another host; start the query again")
        return Call(str(place.at) or url, headers={"accept": ACCEPT})

    def read_page(self, search: Search, cursor: str | None, page: Page) -> SearchPage:
        if page.status >= REFUSED:
            return SearchPage(trouble=f"the answer has the status {page.status}")
        document = Document.of(page)
        feed = read_feed(document.html, url=page.final_url, today=search.today)
        if feed is None:
            stands = wall(page.status, page.headers, document.html)
            return SearchPage(trouble=f"the answer is not a feed{f': {stands}' if stands else ''}")
        company = search.parameters.get("company") or None
        read = [_offer(entry, search, company, page.final_url) for entry in feed.entries]
        offers = tuple(each for each in read if isinstance(each, Offer))
        bad = tuple(f"entry {at + 1}: {each}" for at, each in enumerate(read) if isinstance(each, str))
        made = SearchPage(offers, len(read), bad, trouble=feed.trouble)
        return made if feed.trouble else _continued(made, feed, place_of(cursor, ""), page)


def feed_client() -> FeedClient:
    # Feeds list what is newest first. Whoever looks checks the dates, so one that does not proves nothing.
    reach = Reach(newest_first=True)
    return FeedClient("feed", "RSS, Atom or JSON feed", reach=reach, parameters=PARAMETERS)


def web_address(client: Client, given: str | None) -> str:
    """The address that a query gives. Raises ConfigError."""
    url = wanted(given, client.name, "url", PARAMETERS["url"])
    try:
        canonical_url(url)
    except InvalidUrl as problem:
        raise ConfigError(f"the parameter url of {client.name}: {problem}") from None
    if (
        not origin_of(url).startswith(("https://", "http://"))
        or "@" in url.partition("://")[2].partition("/")[0]
    ):
        raise ConfigError(f"the parameter url of {client.name} must start with https:// and name no user")
    return url


def _offer(entry: FeedEntry, search: Search, company: str | None, url: str) -> Offer | str:
    posting = posting_of(feed_row(entry), today=search.today, url=url, where="feed")
    if posting is None:
        return "it has no title"
    if not posting.url and not entry.id:
        return "it has neither an id nor a link"
    posting = replace(posting, company=posting.company or company, key=entry.id or posting.url)
    updated = entry.updated.day if entry.updated and entry.updated.precision == "day" else None
    return bounded(Offer(posting, updated if updated and updated <= search.today else None))


def _continued(made: SearchPage, feed: Feed, place: ListPlace, page: Page) -> SearchPage:
    keys = [key_of(each) for each in made.offers]
    if place.pages and place.repeats(keys):
        return replace(made, offers=(), trouble=f"page {place.pages + 1} repeats the rows of an earlier one")
    if feed.next is None:
        return made
    if origin_of(feed.next) != origin_of(page.url):
        return replace(made, trouble="the link to the next page leads to another host")
    if feed.next in (page.url, page.final_url):
        return replace(made, trouble="the link to the next page leads to the page itself")
    return replace(made, next=str(place.after(keys, feed.next)))

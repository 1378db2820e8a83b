"""Complete a posting: what its list says, with the rest from its own page or from the board's API."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from thresher.core.context import Context
from thresher.core.errors import InvalidUrl
from thresher.core.page import Page
from thresher.hiring.names import Likeness, label_of, liken, name_words
from thresher.hiring.records import BoardRecord
from thresher.hiring.row import fields
from thresher.reading.inspect.body import Format, read_body
from thresher.reading.inspect.inspection import inspect
from thresher.reading.platforms.boards import recognise
from thresher.reading.platforms.calls import Call, detail_call
from thresher.reading.postings.posting import Posting
from thresher.reading.structured.facts import structured
from thresher.reading.structured.schema_org import employer_sites
from thresher.reading.values.addresses import read_address

# The site of the employer that a posting links to.

MAX_ADDRESSES = 20  # addresses that are looked at
MIN_INITIALS = 3
_ALIKE = (Likeness.SAME, Likeness.KIN, Likeness.BRANCH)


def website_of(name: str | None, urls: Iterable[str]) -> str | None:
    """The home page of the company of this name, if one of these addresses is on its site."""
    return next((site for url in list(urls)[:MAX_ADDRESSES] if (site := _site(name or "", url))), None)


def _site(name: str, url: str) -> str | None:
    try:
        address = read_address(url)
    except InvalidUrl:
        return None
    if address.canonical is None or address.username or recognise(address.href):
        return None
    label = label_of(address.hostname)
    return (
        f"{address.origin}/" if liken(name, label).likeness in _ALIKE or _are_initials(label, name) else None
    )


def _are_initials(label: str, name: str) -> bool:
    initials = "".join(word[0] for word in name_words(name))
    return len(initials) >= MIN_INITIALS and label == initials


AGE = 3_600.0  # seconds: a stage that is performed again takes the page it already had
# What the list says comes from the board itself, so its page only adds to it. The description is the page's.
_PAGE_KNOWS_BETTER = ("description",)


def call_for(data: Mapping[str, Any], board: BoardRecord | None) -> Call | None:
    """How to ask for the rest of a posting: the board's own way, else its page."""
    known = Posting(str(data.get("title") or ""), url=data.get("url"), key=data.get("number"))
    way = detail_call(board.address, known) if board else None
    return way or (Call(data["url"]) if data.get("url") else None)


async def fetch_detail(ctx: Context, call: Call, max_age: float = AGE) -> Page:
    """What the board answers. A page that only a script builds is built."""
    render = None if call.method == "GET" else False
    return await ctx.fetch(
        call.url, method=call.method, headers=call.headers, body=call.body, render=render, max_age=max_age
    )


def read_detail(page: Page, title: str, today: date) -> Posting | None:
    """The one posting that a page is about; None where it shows several, and none of them has this title."""
    found = inspect(page, today).postings
    if len(found) == 1:
        return found[0]
    return next((each for each in found if each.title.casefold() == title.casefold()), None)


def employer_site(page: Page, name: str | None) -> str | None:
    """The site of the company that hires, by the page's own word for it."""
    body = read_body(page)
    if body.format is not Format.HTML:
        return None
    declared = structured(body.document).of("JobPosting")
    return website_of(name, (url for each in declared for url in employer_sites(each.properties)))


def completed(data: Mapping[str, Any], detail: Posting) -> dict[str, Any]:
    """What the page adds to the list."""
    said = fields(detail)
    if detail.company and not data.get("company_name"):
        said["company_name"] = detail.company
    said.pop("number", None)
    return {name: value for name, value in said.items() if not data.get(name) or name in _PAGE_KNOWS_BETTER}

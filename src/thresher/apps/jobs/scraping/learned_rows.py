"""Read a company's own list without a platform: by a learned extractor, or by a model whose answers teach
one.
"""

from collections.abc import Iterator

from thresher.apps.jobs.scraping.page_result import PageResult
from thresher.core.answer import By, Extract
from thresher.core.context import Context
from thresher.core.errors import BudgetExhausted, NotYet, UsageError
from thresher.core.page import Look, Page, Verdict
from thresher.core.schema import Field, Kind, Schema
from thresher.reading.html.document import Document
from thresher.reading.postings.posting import Listing, Posting

OPENINGS = Schema(
    "openings",
    (
        Field("title", says="The title of the opening, as the page writes it.", required=True),
        Field("url", Kind.URL, says="The address of the page of this opening."),
        Field("location", says="Where the work is done, as the page writes it."),
    ),
    many=True,
    key=("title", "url"),
)
MAX_ROWS = 2_000


async def read_openings(ctx: Context, page: Page, sight: PageResult) -> PageResult:
    """The rows of a page that shows none to our own rules; the same sight where nobody can read them."""
    if not sight.is_page or sight.look.verdict is not Verdict.UNKNOWN:
        return sight
    try:
        found = await ctx.extract(page, OPENINGS)
    except (UsageError, NotYet, BudgetExhausted):
        if await ctx.can_ask():
            raise
        return sight  # no model here, and nothing was learned yet: the page stays unread, and says so
    postings = tuple(_postings(found, page))
    if not postings:
        return sight
    listing = Listing(postings, "the page", rows=len(postings), next=sight.listing.next)
    by_rules = found.by is By.LEARNED and not found.doubts
    doubt = sight.doubt if by_rules else "its rows were not read by rules"
    reason = f"{len(postings)} {'posting' if len(postings) == 1 else 'postings'}, read by {'what was learned' if by_rules else 'a model'}"
    return PageResult(listing, Look(Verdict.FOUND, reason), doubt=doubt, is_page=True, is_list=True)


def _postings(found: Extract, page: Page) -> Iterator[Posting]:
    """Only rows whose title really stands in the page, with what else stands there. What merely looks alike
    is no opening.
    """
    if (
        found.by is By.NOBODY
        or (found.by is By.DATA and found.doubts)
        or not isinstance(found.value, dict)
        or "items" not in found.value
    ):
        return
    for at, thing in enumerate(OPENINGS.things(found.value)[:MAX_ROWS]):
        sure = {
            name: str(value)
            for name, value in thing.items()
            if value and found.evidence.verified(f"{at}.{name}")
        }
        if "title" in sure:
            yield Posting(
                sure["title"], location=sure.get("location"), url=_address(sure.get("url"), page), where="row"
            )


def _address(href: str | None, page: Page) -> str | None:
    """The address of an opening's own page: the list itself is none."""
    url = Document.from_html("", page.final_url).absolute(href) if href else None
    return url if url and url.partition("#")[0] != page.final_url.partition("#")[0] else None

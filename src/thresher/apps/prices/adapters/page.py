"""The product pages of an item, by the addresses that a person has given: each is fetched and read by
itself.
"""

from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from thresher.apps.prices.adapters.adapter import ListingPage, NotAsked, SourceQuery
from thresher.apps.prices.adapters.amounts import currency_code
from thresher.apps.prices.adapters.product_page import (
    UNREAD,
    listing_id,
    product_listing,
    read_product_page,
)
from thresher.apps.prices.model import Item, SourceSpec
from thresher.core.context import Context
from thresher.core.errors import BudgetExhausted, ConfigError, Gone, InvalidPayload, UsageError
from thresher.core.page import Page, Verdict
from thresher.core.schema import Field, Kind, Schema

OPTIONS = ("hosts", "render", "extract", "currency")
RENDER = {"auto": None, "yes": True, "no": False}
MAX_URLS = 100
BUDGET = 0.02  # dollars that reading one page with a model may cost
PRODUCT = Schema(
    "price_page",
    (
        Field("name", says="The name of the product that this page sells.", required=True),
        Field(
            "price", Kind.MONEY, says="What it costs now, as written, with its currency; not a struck price."
        ),
        Field("availability", says="Whether it can be bought now, as written."),
        Field("brand"),
        Field("gtin", says="Its bar code number."),
    ),
)


@dataclass(frozen=True, slots=True)
class PageAdapter:
    """Product pages by their addresses. Its options: `hosts` are those whose pages belong to this source, all
    by default; `render` is auto, yes or no; `currency` is what `$` or a bare
    amount means; with `extract: true` a page that declares nothing is read with what was learned of its site,
    else with a model.
    """

    spec: SourceSpec

    def query(self, item: Item) -> SourceQuery | NotAsked:
        hosts = self._hosts()
        urls = tuple(dict.fromkeys(url for url in item.spec.urls if not hosts or _host(url) in hosts))
        if not urls:
            where = f" on {', '.join(hosts)}" if hosts and item.spec.urls else ""
            return NotAsked(f"no address of a product page{where} is known of it")
        return SourceQuery(self.spec.name, urls=urls[:MAX_URLS])

    async def fetch(self, ctx: Context, query: SourceQuery, cursor: str | None) -> Page:
        url = query.urls[_place(query, cursor)]
        try:
            return await ctx.fetch(url, render=RENDER[str(self.spec.options.get("render", "auto"))])
        except Gone as problem:  # one page that is gone says nothing about the others
            return Page(url, url, problem.status or 404, {}, b"", ctx.now())

    async def read(self, ctx: Context, query: SourceQuery, cursor: str | None, page: Page) -> ListingPage:
        at = _place(query, cursor)
        asked = query.urls[at]
        found = await ctx.compute(read_product_page, asked, self._currency, page)
        if self.spec.options.get("extract") is True:
            found = await _learned(ctx, self._currency, asked, page, found)
        following = str(at + 1) if at + 1 < len(query.urls) else None
        return replace(found, next=following, total=len(query.urls))

    @property
    def _currency(self) -> str | None:
        return currency_code(self.spec.options.get("currency"))

    def _hosts(self) -> tuple[str, ...]:
        said = self.spec.options.get("hosts", ())
        return tuple(str(each).lower().removeprefix("www.") for each in said)


def page_adapter(spec: SourceSpec) -> PageAdapter:
    """The adapter of a source. Raises ConfigError for an option that is wrong."""
    for name in spec.options:
        if name not in OPTIONS:
            raise ConfigError(
                f"source {spec.name}: there is no option {name!r}; the options are {', '.join(OPTIONS)}"
            )
    hosts, render, extract, currency = (spec.options.get(name) for name in OPTIONS)
    if hosts is not None and not (
        isinstance(hosts, list | tuple) and all(isinstance(each, str) for each in hosts)
    ):
        raise ConfigError(
            f"source {spec.name}: hosts must be a list such as [shop.example], got {hosts!r:.60}"
        )
    if render is not None and render not in RENDER:
        raise ConfigError(
            f"source {spec.name}: render must be one of {', '.join(RENDER)}, got {render!r:.60}"
        )
    if extract is not None and not isinstance(extract, bool):
        raise ConfigError(f"source {spec.name}: extract must be true or false, got {extract!r:.60}")
    if currency is not None and currency_code(str(currency)) is None:
        raise ConfigError(f"source {spec.name}: currency must be a code such as USD, got {currency!r:.60}")
    return PageAdapter(spec)


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _place(query: SourceQuery, cursor: str | None) -> int:
    text = cursor or "0"
    if not (text.isascii() and text.isdigit() and len(text) < 6 and int(text) < len(query.urls)):
        raise InvalidPayload("the cursor of a collection cannot be read; start it again")
    return int(text)


async def _learned(
    ctx: Context, currency: str | None, asked: str, page: Page, found: ListingPage
) -> ListingPage:
    """Teach what the page declares, and read one that declares nothing with what was learned."""
    if found.verdict is Verdict.FOUND:
        if found.listings[0].place.startswith("json-ld"):
            await ctx.learn([page], PRODUCT)
        return found
    if found.verdict is not Verdict.UNKNOWN or not found.reason.startswith(UNREAD):
        return found
    try:
        extract = await ctx.extract(page, PRODUCT, budget=BUDGET)
    except (UsageError, BudgetExhausted) as problem:
        if isinstance(problem, BudgetExhausted) and not problem.own:
            raise
        return replace(
            found, reason=f"{found.reason}; nothing was learned of its site, and no model is there to read it"
        )
    quotes = {
        name: place.quote
        for name, place in extract.evidence.places.items()
        if place is not None and place.quote
    }
    listing = product_listing(extract.value, quotes, currency, asked, page) if "price" in quotes else None
    if listing is None:
        return replace(found, reason=f"{found.reason}, not even by what was learned of its site")
    listing = replace(
        listing,
        place=f"{extract.by}",
        doubts=(*listing.doubts, *extract.doubts),
        external_id=listing_id(asked),
    )
    return replace(found, listings=(listing,), verdict=Verdict.FOUND, reason=f"{asked}: {listing.title}")

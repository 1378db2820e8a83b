"""A shop to walk through: lists of products that go on in several ways, and a page for each product that
declares its data.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from thresher.apps.extractions.app import app
from thresher.apps.extractions.model import (
    Configuration,
    Entity,
    Level,
    Limits,
    Origin,
    PageType,
    Pagination,
    PagingKind,
)
from thresher.apps.extractions.recipe_file import RecipeSpec
from thresher.apps.extractions.service import extractions
from thresher.apps.extractions.service.extractions import ExtractionView
from thresher.apps.extractions.store.datasets import DataItem, list_items
from thresher.apps.extractions.store.recipes import give_configuration, save_recipe
from thresher.core.schema import Field, Kind, Schema
from thresher.testing.web import Page, Reply, Requested
from thresher.testing.world import World

HOST = "https://shop.example"
LIST = f"{HOST}/things"
PER_PAGE = 10
NUMBERED = Pagination(PagingKind.PAGE_NUM, "?page={page_num}", page_size=PER_PAGE)
NEXT_LINK = Pagination(PagingKind.NEXT_LINK)
PRODUCT = Entity(
    "product",
    Schema(
        "product",
        (
            Field("name", required=True),
            Field("sku"),
            Field("price", Kind.MONEY),
            Field("description"),
        ),
    ),
)


@dataclass
class Shop:
    """A site whose answers can be changed while it is read."""

    number: int = 25
    per_page: int = PER_PAGE
    pager: Callable[["Shop", int], str] = field(default=lambda shop, at: shop.numbers(at))
    prices: dict[int, str] = field(default_factory=dict)
    down: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)

    def pages(self) -> dict[str, Page]:
        found: dict[str, Page] = {f"{HOST}/thing/{number}": self._answer for number in range(self.number)}
        found |= {LIST: self._answer}
        return found | {f"{LIST}?page={at}": self._answer for at in range(1, 60)}

    def _answer(self, request: Requested) -> Page:
        self.asked.append(request.url)
        if request.url in self.down:
            return Reply("down", 503)
        head, _, number = request.url.rpartition("/thing/")
        return self.detail(int(number)) if head else self.listing(request.url)

    def listing(self, url: str) -> str:
        at = int(url.partition("page=")[2] or 1)
        shown = range((at - 1) * self.per_page, min(at * self.per_page, self.number))
        rows = "".join(f'<li><a href="/thing/{each}">Thing number {each}</a></li>' for each in shown)
        return f"<h1>Things</h1><ul>{rows}</ul>{self.pager(self, at)}"

    @property
    def last(self) -> int:
        return -(-self.number // self.per_page)

    def numbers(self, at: int) -> str:
        links = (f'<a href="?page={each}">{each}</a>' for each in range(1, self.last + 1) if each != at)
        return f'<nav class="pagination">{" ".join(links)}</nav>'

    def next_link(self, at: int) -> str:
        return f'<a rel="next" href="?page={at + 1}">Next</a>' if at < self.last else ""

    def detail(self, number: int) -> str:
        price = self.prices.get(number, f"{number + 1}.50")
        data = (
            '{"@context": "https://schema.org", "@type": "Product", '
            f'"name": "Thing number {number}", "description": "The best of all things of its number, {number}.", '
            f'"sku": "T-{number}", "offers": {{"price": "{price}", "priceCurrency": "EUR"}}}}'
        )
        return (
            f'<script type="application/ld+json">{data}</script><h1>Thing number {number}</h1>'
            f"<p>The best of all things of its number, {number}.</p><p>T-{number}</p><p>{price} EUR</p>"
        )


def configuration(pagination: Pagination | None = NUMBERED, **detail: object) -> Configuration:
    listing = Level(PageType.DETAIL_LINKS, link_pattern=r"/thing/\d+$", pagination=pagination)
    return Configuration((listing, Level(PageType.DETAIL, **detail)))  # type: ignore[arg-type]


def world(shop: Shop, database: str | None = None, **settings: float) -> World:
    """A world with the shop in it, where nobody has to wait for politeness."""
    usual = {"host.interval": 0.0, "host.in_flight": 4}
    return World(app, pages=shop.pages(), settings={**usual, **settings}, database=database)


def add_recipe(
    made: World,
    how: Configuration | None = None,
    *,
    name: str = "shop",
    url: str = LIST,
    limits: Limits | None = None,
) -> None:
    """A recipe whose configuration a person gives."""
    with made.store.write() as session:
        now = made.store.backend.now(session)
        spec = RecipeSpec(url, PRODUCT, None, limits or Limits())
        recipe = save_recipe(session, name, spec, Origin.PERSON, "a person", now)
        give_configuration(session, recipe.id, how or configuration(), "a person", now)


def extract(made: World, name: str = "shop") -> ExtractionView:
    """Start an extraction and let it run to its end."""
    started = extractions.start(made.store, made.registry, name)
    made.run_until_idle()
    return extractions.show_extraction(made.store, started.extraction)


def items(made: World, view: ExtractionView) -> list[DataItem]:
    """What the newest data set of an extraction has."""
    if not view.datasets:
        return []
    with made.store.read() as session:
        return list_items(session, view.datasets[0], limit=100_000)


def skus(found: Iterable[DataItem]) -> list[str]:
    return sorted(each.values["sku"] for each in found)

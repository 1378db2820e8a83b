"""A page of search results, by the template of its address: the query goes into the query string alone,
encoded. Rows are found by what the page shows, or by selectors that the source names.

Advertisements are left out. That there are no results is believed only where the page says so itself.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, urlsplit

from thresher.apps.prices.adapters.adapter import ListingPage, NotAsked, SourceQuery
from thresher.apps.prices.adapters.definition import ANY, USUAL, attribute_names, attributes_of, query_words
from thresher.apps.prices.adapters.result_rows import Selectors, read_results
from thresher.apps.prices.model import Item, PriceType, SourceSpec
from thresher.core.context import Context
from thresher.core.credentials import origin_of
from thresher.core.errors import ConfigError, InvalidPayload
from thresher.core.keys import MAX_URL
from thresher.core.page import Page
from thresher.reading.apis.definition import HOLE
from thresher.reading.apis.paging import ListPlace, place_of
from thresher.reading.html.parser import is_selector

OPTIONS = ("url", "words", "type", "currency", "selectors", "render")
SELECTORS = ("rows", "title", "price", "link", "shipping", "condition", "date", "next", "advert")
RENDER = {"auto": None, "yes": True, "no": False}
QUERY = "query"
MAX_QUERY = 300  # characters
MAX_SELECTOR = 300
_CURRENCY = re.compile(r"[A-Z]{3}", re.ASCII)


@dataclass(frozen=True, slots=True)
class SearchAdapter:
    """A search page. Its options: `url` is the template, such as https://shop.example/search?q={query};
    `words` what the query is made of, such as "{brand} {model}"; `type` what the prices are, ask or sold;
    `currency` what a bare amount is in; `selectors` where rows and their fields stand; `render` is auto, yes
    or no.
    """

    spec: SourceSpec

    @property
    def template(self) -> str:
        return str(self.spec.options["url"])

    def query(self, item: Item) -> SourceQuery | NotAsked:
        said = self.spec.options.get("words")
        words = query_words(item, USUAL.get(item.spec.kind, USUAL[ANY]) if said is None else (str(said),))
        if not words:
            return NotAsked(f"{self.spec.name} has nothing to look for it by: too little is known of it")
        text = " ".join(words)
        if len(text) > MAX_QUERY:
            return NotAsked(f"its query would be longer than {MAX_QUERY} characters; say less of the item")
        url = filled_address(self.template, text, attributes_of(item))
        if url is None:
            return NotAsked(
                f"its query makes an address of more than {MAX_URL:,} characters; say less of the item"
            )
        return SourceQuery(self.spec.name, text, urls=(url,))

    async def fetch(self, ctx: Context, query: SourceQuery, cursor: str | None) -> Page:
        place = place_of(cursor, "")
        url = str(place.at) if place.at else query.urls[0]
        if origin_of(url) != origin_of(query.urls[0]):
            raise InvalidPayload("the cursor of a collection leads to another host; start it again")
        return await ctx.fetch(url, render=RENDER[str(self.spec.options.get("render", "auto"))])

    async def read(self, ctx: Context, query: SourceQuery, cursor: str | None, page: Page) -> ListingPage:
        place = place_of(cursor, "")
        options = self.spec.options
        currency = options.get("currency")
        kind = PriceType(str(options.get("type", PriceType.ASK)))
        results = await ctx.compute(read_results, selectors_of(options), kind, currency, query.urls[0], page)
        found, keys = results.page, list(results.keys)
        if found.next is None or not found.verdict.is_proof:
            return found
        if place.pages and place.repeats(keys):
            note = f"page {place.pages + 1} repeats the rows of an earlier one; the list ends there"
            return replace(found, listings=(), next=None, capped=True, notes=(*found.notes, note))
        following = ListPlace("", place.pages, place.rows, place.first, place.last, place.mark)
        return replace(found, next=str(following.after(keys, found.next)))


def search_adapter(spec: SourceSpec) -> SearchAdapter:
    """The adapter of a source. Raises ConfigError for an option that is missing or wrong."""
    options, name = spec.options, f"source {spec.name}"
    for each in options:
        if each not in OPTIONS:
            raise ConfigError(f"{name}: there is no option {each!r}; the options are {', '.join(OPTIONS)}")
    if problem := template_problem(options.get("url")):
        raise ConfigError(f"{name}: url {problem}")
    words = options.get("words")
    if words is not None:
        known = attribute_names()
        unknown = set(HOLE.findall(str(words))) - known
        if not isinstance(words, str) or unknown or not HOLE.search(words):
            raise ConfigError(
                f"{name}: words must be made of attributes in braces, such as '{{brand}} {{model}}'; there are "
                f"{', '.join(sorted(known))}"
            )
    if options.get("type", "ask") not in tuple(PriceType):
        raise ConfigError(f"{name}: type must be one of {', '.join(PriceType)}, got {options['type']!r:.60}")
    if options.get("currency") is not None and not _CURRENCY.fullmatch(str(options["currency"])):
        raise ConfigError(f"{name}: currency must be a code such as USD, got {options['currency']!r:.60}")
    if options.get("render") is not None and options["render"] not in RENDER:
        raise ConfigError(f"{name}: render must be one of {', '.join(RENDER)}, got {options['render']!r:.60}")
    _check_selectors(name, options.get("selectors"))
    return SearchAdapter(spec)


def _check_selectors(name: str, said: Any) -> None:
    if said is None:
        return
    if not isinstance(said, dict) or not said:
        raise ConfigError(f"{name}: selectors must map {', '.join(SELECTORS)} to selectors, got {said!r:.60}")
    for each, text in said.items():
        if each not in SELECTORS:
            raise ConfigError(f"{name}: there is no selector {each!r:.40}; there are {', '.join(SELECTORS)}")
        css = str(text).partition("@")[0]
        if (
            not isinstance(text, str)
            or len(text) > MAX_SELECTOR
            or not text.isprintable()
            or not is_selector(css)
        ):
            raise ConfigError(
                f"{name}: selectors.{each} is no CSS selector: {text!r:.80}; write one as in .card > a"
            )
    if "rows" not in said and any(each not in ("next", "advert") for each in said):
        raise ConfigError(f"{name}: selectors.rows is missing: the rows that the other selectors look into")


def selectors_of(options: Mapping[str, Any]) -> Selectors:
    """The selectors of a source, which `search_adapter` has checked."""
    said = options.get("selectors") or {}
    return Selectors(**{name: str(said[name]) for name in SELECTORS if name in said})


def template_problem(said: Any) -> str | None:
    """What is wrong with the template of an address; None if nothing is."""
    if not isinstance(said, str) or not said.startswith(("https://", "http://")) or not said.isprintable():
        return f"must be an address with {{query}} in it, such as https://shop.example/search?q={{query}}; got {said!r:.80}"
    head, mark, tail = said.partition("?")
    if HOLE.search(head) or "#" in said or not mark:
        return (
            "may have {query} in its query string alone: nothing that is looked for may change host or path"
        )
    if "@" in urlsplit(head).netloc or not origin_of(head):
        return f"{head!r:.80} is no address"
    holes = set(HOLE.findall(tail))
    if QUERY not in holes:
        return "has no {query}: every item would be looked for with the same words"
    unknown = holes - {QUERY} - attribute_names()
    return f"has {{{min(unknown)}}}, which nothing fills" if unknown else None


def filled_address(template: str, text: str, attributes: Mapping[str, str]) -> str | None:
    """The template with everything that is looked for encoded, in the query string. None where it is too
    long.
    """
    head, _, tail = template.partition("?")
    said = {**attributes, QUERY: text}
    url = f"{head}?{HOLE.sub(lambda hole: quote(said.get(hole[1], ''), safe=''), tail)}"
    return url if len(url) <= MAX_URL else None

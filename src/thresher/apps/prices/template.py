"""What `thresher init` writes for somebody who values things: an item, and a shop's search to look for it."""

from collections.abc import Mapping

from thresher import ProjectDraft, ProjectQuestion, Template, UsageError
from thresher.core.template import written

SECTION = """\
# What is to be valued, and where listings come from. `thresher prices kinds` lists the kinds of items and their attributes.
prices:
  sources:
{source}
  items:
    {name}:
      kind: product
      attributes: {{brand: {brand}, model: {model}, condition: used}}
      alerts: {{change: 5%}}
"""
SOURCE = """\
    shop:
      adapter: search       # a page of search results, and the pages after it; others: marketplace (eBay), page, csv
      options: {{url: {url}, words: "{{brand}} {{model}}", currency: USD}}
      reputation: 0.6       # from 0 to 1: how much its prices count
      rate_per_minute: {rate}"""
BY_HAND = """\
    notes: {adapter: manual}   # you enter prices by hand, until you name a shop: docs/reference/price-sources.md"""


def _check_url(url: str) -> None:
    if not url.startswith(("http://", "https://")) or "{query}" not in url.partition("?")[2]:
        raise UsageError(
            "write the address with {query} where the words stand: https://shop.example/search?q={query}"
        )


def write(said: Mapping[str, str], practice: bool) -> ProjectDraft:
    """The item and its source in the project file."""
    brand, model, url = said["brand"], said["model"], said["search"]
    name = f"{brand} {model}".strip()
    source = SOURCE.format(url=written(url), rate=600 if practice else 20) if url else BY_HAND
    section = SECTION.format(source=source, name=written(name), brand=written(brand), model=written(model))
    by_hand = [] if url else [(f'prices enter "{name}" 100 --currency USD', "enter a price that you know")]
    return ProjectDraft(
        section=section,
        steps=[
            *by_hand,
            ("run", "look for it, and value it"),
            ("prices list", "see what it is worth"),
            ("prices explain 1", "see every price that counts, and why the others do not"),
            ("up", "go on for ever, and see it in the browser"),
        ],
    )


TEMPLATE = Template(
    "Value things",
    (
        ProjectQuestion("brand", "Brand of a thing that you would like to value", "Ondasonic", "Fieldmaster"),
        ProjectQuestion("model", "Its model", "M90", "K7"),
        ProjectQuestion(
            "search",
            "Address of a shop's search, with {query} for the words (none: enter prices by hand)",
            "",
            "https://shop.marketplace.example/search?q={query}",
            _check_url,
        ),
    ),
    write,
)

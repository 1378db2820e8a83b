"""Evidence: true values of labelled pages must be found where they stand, and values of other pages of the
site must not.

The page is given as it is stored, as text and as Markdown. A foreign value is one of the same field on
another page of the same site, whose words do not stand together in this one. Prices are asked for in another
notation too.
"""

import html
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluate.manifest import Entry, entries, plain, share
from evaluate.score import Score
from thresher.core.evidence import Place
from thresher.core.schema import Field, Kind
from thresher.evidence.find import places
from thresher.evidence.text_index import TextIndex
from thresher.reading.html.document import Document
from thresher.reading.text.markdown import full_markdown
from thresher.reading.text.plain import full_text
from thresher.reading.values.money import Price, read_price

_ABOUT = frozenset(
    {"url", "trap", "recently_viewed", "rating"}
)  # of the page or of its markup, not words on it
_MONEY = frozenset({"price", "price_excl_tax", "tax"})
WORD = r"\w+"
FOREIGN = 6  # other pages whose values are tried on each


@dataclass(frozen=True, slots=True)
class _Labelled:
    file: str
    site: str
    labels: dict[str, list[str]]
    sheets: tuple[tuple[str, TextIndex], ...]
    shown: str


def scores(corpus: Path) -> list[Score]:
    pages = [_labelled(entry) for entry in entries(corpus, "recipes/swde/", "recipes/books-toscrape/")]
    pages = [page for page in pages if page.labels]
    true = list(_true(pages))
    foreign = list(_foreign(pages))
    priced = list(_priced(pages))
    missed = [f"{what}: {value!r}" for what, value, place in true if place is None]
    invented = [
        f"{what}: {value!r} at {place.quote!r}" for what, value, place in foreign if place is not None
    ]
    unread = [f"{what}: {value!r}" for what, value, place in priced if place is None]
    shown = sum(len(values) for page in pages for values in page.labels.values())
    return [
        Score("evidence", "labels that the page shows", share(len(true) // 2, shown), shown),
        Score(
            "evidence",
            "true values verified",
            share(len(true) - len(missed), len(true)),
            len(true),
            aim=0.98,
            misses=tuple(missed),
        ),
        Score(
            "evidence",
            "foreign values verified",
            len(invented),
            len(foreign),
            aim=0,
            lower=True,
            misses=tuple(invented),
        ),
        Score(
            "evidence",
            "prices reworded",
            share(len(priced) - len(unread), len(priced)),
            len(priced),
            aim=0.98,
            misses=tuple(unread),
        ),
    ]


def _labelled(entry: Entry) -> _Labelled:
    document = Document.of(entry.page(entry.truth.get("url", "")))
    text, markdown = full_text(document), full_markdown(document)
    labels = {
        name: found for name, value in entry.truth.items() if name not in _ABOUT and (found := _values(value))
    }
    sheets = (("text", TextIndex(text)), ("markdown", TextIndex(markdown)))
    return _Labelled(entry.file, str(Path(entry.file).parent), labels, sheets, plain(text))


def _values(value: Any) -> list[str]:
    listed = value if isinstance(value, list) else [value]
    return [
        text for each in listed if isinstance(each, str) and (text := " ".join(html.unescape(each).split()))
    ]


def _field(name: str) -> Field:
    return Field("value", Kind.MONEY if name in _MONEY else Kind.TEXT)


def _look(field: Field, value: str, sheet: TextIndex) -> Place | None:
    return next(iter(places(field, value, sheet)), None)


def _true(pages: Sequence[_Labelled]) -> Iterator[tuple[str, str, Place | None]]:
    """Labels whose characters are nowhere in what the page shows cannot be found by anybody: a title
    shortened with dots, an attribute."""
    for page in pages:
        for name, values in page.labels.items():
            for value in values:
                if _squeezed(value) in _squeezed(page.shown):
                    for kind, sheet in page.sheets:
                        yield f"{page.file} {kind} {name}", value, _look(_field(name), value, sheet)


def _squeezed(text: str) -> str:
    return "".join(plain(text).split())


def _words(text: str) -> str:
    return f" {' '.join(re.findall(WORD, plain(text)))} "


def _foreign(pages: Sequence[_Labelled]) -> Iterator[tuple[str, str, Place | None]]:
    sites: dict[str, list[_Labelled]] = defaultdict(list)
    for page in pages:
        sites[page.site].append(page)
    for page in pages:
        here = sites[page.site].index(page)
        words = _words(page.shown)
        others = [sites[page.site][(here + step) % len(sites[page.site])] for step in range(1, FOREIGN + 1)]
        for other in {each.file: each for each in others if each is not page}.values():
            for name, values in other.labels.items():
                for value in values:
                    if _words(value) not in words:
                        for kind, sheet in page.sheets:
                            yield f"{page.file} {kind} {name}", value, _look(_field(name), value, sheet)


def _priced(pages: Sequence[_Labelled]) -> Iterator[tuple[str, str, Place | None]]:
    for page in pages:
        for name in _MONEY & page.labels.keys():
            for value in page.labels[name]:
                price = read_price(value)
                if isinstance(price, Price) and price.currency and plain(value) in page.shown:
                    for wording in (
                        f"{price.amount:f} {price.currency}",
                        f"{price.currency} {price.amount:.2f}",
                        f"{price.amount:,.2f}",
                    ):
                        for kind, sheet in page.sheets:
                            yield f"{page.file} {kind} {name}", wording, _look(_field(name), wording, sheet)

"""Pages about one thing: the product with its price, the title of a detail page, a company's link to its
openings."""

import csv
from pathlib import Path
from urllib.parse import urljoin

from evaluate.manifest import entries, plain, share
from evaluate.score import Score
from thresher.reading.html.document import Document
from thresher.reading.inspect.company import careers_url
from thresher.reading.inspect.inspection import Inspection
from thresher.reading.values.money import Price, read_price

NAMES = ("title", "name", "model")


def scores(corpus: Path) -> list[Score]:
    return [_prices(corpus), _availability(corpus), _rows(corpus), *_details(corpus), _careers(corpus)]


def _minor(text: str, currency: str | None = None) -> int | None:
    found = read_price(text, currency_hint=currency)
    return found.amount_minor if isinstance(found, Price) else None


def _prices(corpus: Path) -> Score:
    cases = [
        entry for entry in entries(corpus, "recipes/", "prices/") if isinstance(entry.truth.get("price"), str)
    ]
    misses = []
    for entry in cases:
        found = entry.inspected()
        wanted = _minor(entry.truth["price"], entry.truth.get("currency"))
        name = entry.truth.get("title") or entry.truth.get("name")
        got = found.products[0] if len(found.products) == 1 else None
        if (
            got is None
            or got.price is None
            or got.price.amount_minor != wanted
            or plain(got.name) != plain(name)
        ):
            misses.append(f"{entry.file}: {name} {entry.truth['price']}, read {found.products[:2]}")
    return Score(
        "pages",
        "product and price",
        share(len(cases) - len(misses), len(cases)),
        len(cases),
        0.95,
        misses=tuple(misses),
    )


def _availability(corpus: Path) -> Score:
    cases = [
        entry for entry in entries(corpus, "recipes/") if isinstance(entry.truth.get("availability"), str)
    ]
    seen = [(entry, entry.inspected()) for entry in cases]
    misses = tuple(
        e.file
        for e, found in seen
        if plain(e.truth["availability"]) != plain(found.products[0].availability if found.products else "")
    )
    return Score(
        "pages", "availability", share(len(cases) - len(misses), len(cases)), len(cases), 0.95, misses=misses
    )


def _rows(corpus: Path) -> Score:
    cases = [entry for entry in entries(corpus, "prices/") if "distinct_listing_ids" in entry.truth]
    misses = []
    for entry in cases:
        found = entry.inspected()
        wanted = entry.truth["distinct_listing_ids"]
        first = plain(entry.truth.get("first_real_title", ""))
        if not 0.9 * wanted <= len(found.products) <= 1.1 * wanted or not first.startswith(
            plain(found.products[0].name)
        ):
            misses.append(f"{entry.file}: {wanted} rows, read {len(found.products)}: {found.products[:1]}")
    return Score(
        "pages",
        "rows with prices",
        share(len(cases) - len(misses), len(cases)),
        len(cases),
        1.0,
        misses=tuple(misses),
    )


def _details(corpus: Path) -> list[Score]:
    """The labelled detail pages: what they are called, and what they cost, by general reading alone."""
    cases = [
        (entry, entry.inspected(entry.truth.get("url", ""))) for entry in entries(corpus, "recipes/swde/")
    ]
    named = [
        (entry, found, [truth for name in NAMES for truth in entry.truth.get(name) or []])
        for entry, found in cases
    ]
    wrong = tuple(
        f"{e.file}: {truths}, read {_name(found)!r}"
        for e, found, truths in named
        if truths and not _agrees(truths, _name(found))
    )
    priced = [(entry, found) for entry, found in cases if entry.truth.get("price")]
    off = tuple(
        f"{e.file}: {e.truth['price']}, read {[p.price and p.price.text for p in f.products][:3]}"
        for e, f in priced
        if not _costs(e.truth["price"], f)
    )
    total = sum(bool(truths) for _, _, truths in named)
    return [
        Score("pages", "name of a detail page", share(total - len(wrong), total), total, misses=wrong),
        Score(
            "pages",
            "price of a detail page",
            share(len(priced) - len(off), len(priced)),
            len(priced),
            misses=off,
        ),
    ]


def _name(found: Inspection) -> str:
    if len(found.postings) == 1:
        return found.postings[0].title
    return found.products[0].name if len(found.products) == 1 else found.title


def _agrees(truths: list[str], got: str) -> bool:
    return any(
        plain(truth) in plain(got) or (len(got) > 3 and plain(got) in plain(truth)) for truth in truths
    )


def _costs(truths: list[str], found: Inspection) -> bool:
    wanted = {_minor(truth) for truth in truths}
    return (
        len(found.products) == 1
        and found.products[0].price is not None
        and found.products[0].price.amount_minor in wanted
    )


def _careers(corpus: Path) -> Score:
    sites = corpus / "companies/webstruct/sites.csv"
    hrefs = (
        {row["site"]: row["careers_href"] for row in csv.DictReader(sites.open(encoding="utf-8", newline=""))}
        if sites.exists()
        else {}
    )
    cases, misses = 0, []
    for entry in entries(corpus, "companies/homepages/", "companies/webstruct/"):
        if not entry.file.endswith(".html"):
            continue
        base = entry.truth.get("base") or f"https://{entry.path.stem.partition('_')[2]}/"
        wanted = entry.truth.get("careers_href") or hrefs.get(entry.path.parent.name) or None
        got = careers_url(Document.of(entry.page(base)))
        cases += 1
        if plain(got).rstrip("/") != plain(urljoin(base, wanted) if wanted else "").rstrip("/"):
            misses.append(f"{entry.file}: {wanted}, read {got}")
    return Score(
        "pages",
        "link to a company's openings",
        share(cases - len(misses), cases),
        cases,
        0.9,
        misses=tuple(misses),
    )

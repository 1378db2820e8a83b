"""Convert schema.org's JobPosting and Product, declared in JSON-LD or microdata, to our own types.

Everything may be a text, an object, or a list of either, whatever the vocabulary says; nothing is inferred,
and a missing value is missing, not false.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from thresher.reading.postings.posting import Posting
from thresher.reading.text.plain import described
from thresher.reading.values.dates import posted_on
from thresher.reading.values.money import Price, read_price
from thresher.reading.values.salaries import salary_from_schema


@dataclass(frozen=True, slots=True)
class Product:
    """`where` says where in the page it stands. Out of stock is not free: a missing price is None."""

    name: str
    price: Price | None = None
    availability: str | None = None
    url: str | None = None
    where: str = ""


_PLACE = ("addressLocality", "addressRegion", "addressCountry")
_REMOTE = "TELECOMMUTE"
MAX_SITES = 20


def schema_posting(data: Mapping[str, Any], *, today: date, url: str | None, where: str) -> Posting | None:
    """A JobPosting as a posting; None where it has no title."""
    title = " ".join((described(text_of(data.get("title")) or text_of(data.get("name"))) or "").split())
    if not title:
        return None
    types = [text for each in _many(data.get("employmentType")) if (text := text_of(each))]
    return Posting(
        title=title,
        company=text_of(data.get("hiringOrganization")),
        location=_places(data),
        url=text_of(data.get("url")) or url,
        posted_date=posted_on(text_of(data.get("datePosted")), today),
        employment_type=", ".join(types) or None,
        salary=salary_from_schema(data.get("baseSalary")) or salary_from_schema(data.get("estimatedSalary")),
        description=described(text_of(data.get("description"))),
        key=_identifier(data.get("identifier")),
        where=where,
        remote="remote" if text_of(data.get("jobLocationType")) == _REMOTE else None,
    )


def employer_sites(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The addresses that a JobPosting gives for who hires: sites, but also pages on networks and boards."""
    who = [each for each in _many(data.get("hiringOrganization")) if isinstance(each, Mapping)]
    said = [
        text_of(each)
        for one in who
        for name in ("url", "sameAs")
        for each in _many(one.get(name))[:MAX_SITES]
    ]
    return tuple(_distinct(said)[:MAX_SITES])


def schema_product(data: Mapping[str, Any], *, where: str) -> Product | None:
    """A Product with the price of its offer; None where it has no name."""
    name = " ".join((described(text_of(data.get("name"))) or "").split())
    if not name:
        return None
    offers = [offer for offer in _many(data.get("offers")) if isinstance(offer, Mapping)]
    offers += [
        inner for offer in offers for inner in _many(offer.get("offers")) if isinstance(inner, Mapping)
    ]
    price = offers_price((*offers, data))
    stock = next(
        (state for offer in (*offers, data) if (state := availability(text_of(offer.get("availability"))))),
        None,
    )
    return Product(name, price, stock, text_of(data.get("url")), where)


def offers_price(offers: Iterable[Mapping[str, Any]]) -> Price | None:
    """The price of the first offer that names one; the low end of an aggregate only where no offer does."""
    listed = list(offers)
    for names in (("price",), ("lowPrice", "minPrice")):
        for offer in listed:
            inner = [each for each in _many(offer.get("priceSpecification")) if isinstance(each, Mapping)]
            for each in (offer, *inner):
                currency = text_of(each.get("priceCurrency")) or text_of(offer.get("priceCurrency"))
                for amount in filter(None, (text_of(each.get(name)) for name in names)):
                    if price := price_in(amount, currency):
                        return price
    return None


def price_in(amount: str, currency: str | None) -> Price | None:
    """An amount with its currency beside it. The code is left out where the amount names one itself."""
    plain = amount.replace(".", "").replace(",", "").isdigit()
    found = read_price(f"{amount} {currency}" if plain and currency else amount, currency_hint=currency)
    return found if isinstance(found, Price) else None


def availability(text: str | None) -> str | None:
    """`https://schema.org/InStock` as words: in stock."""
    if not text:
        return None
    name = text.rstrip("/").rpartition("/")[2]
    spaced = (
        "".join(f" {char.lower()}" if char.isupper() else char for char in name) if name.isalpha() else name
    )
    return " ".join(spaced.split()) or None


def text_of(value: Any) -> str | None:
    """What a value says in one text: of an object its name, of a list its first."""
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, Mapping):
        return next(
            (text for key in ("name", "@value", "value", "url", "@id") if (text := text_of(value.get(key)))),
            None,
        )
    if isinstance(value, list | tuple):
        return next((text for each in value if (text := text_of(each))), None)
    return None


def _many(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [] if value is None else [value]


def _places(data: Mapping[str, Any]) -> str | None:
    found = [_place(each) for each in _many(data.get("jobLocation"))]
    if not any(found) and text_of(data.get("jobLocationType")) == _REMOTE:
        found = ["Remote", *(text_of(each) for each in _many(data.get("applicantLocationRequirements")))]
    return "; ".join(_distinct(found)) or None


def _place(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return text_of(value)
    address = value.get("address", value)
    if isinstance(address, list):
        address = address[0] if address else value
    if not isinstance(address, Mapping):
        return text_of(address)
    parts = _distinct(text_of(address.get(key)) for key in _PLACE)
    return ", ".join(parts) or text_of(value.get("name")) or text_of(address.get("streetAddress"))


def _distinct(texts: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text))


def _identifier(value: Any) -> str | None:
    if isinstance(value, Mapping):
        return text_of(value.get("value"))
    return text_of(value)

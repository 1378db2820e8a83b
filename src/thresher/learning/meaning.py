"""Meanings: which property of structured data, and which words before a value, stand for a field of a schema.

A schema is written by a person, who calls a field `title` or `price`; schema.org calls it `headline` or
`offers.price`. The map is explicit: a field that is not in it, under its name or a synonym, is not guessed.
"""

import re
from collections.abc import Mapping

from thresher.core.schema import Field

_NO_LETTER = re.compile(r"[\W_]+")

# By field name: paths of properties, the best first. `[]` spreads a list, and a single value counts as a list
# of one.
PROPERTIES: Mapping[str, tuple[str, ...]] = {
    "title": ("title", "headline", "name"),
    "name": ("name", "title", "headline"),
    "description": ("description", "abstract"),
    "price": ("offers[].price", "offers[].lowPrice", "offers[].priceSpecification[].price", "price"),
    "currency": ("offers[].priceCurrency", "offers[].priceSpecification[].priceCurrency", "priceCurrency"),
    "availability": ("offers[].availability", "availability"),
    "company": ("hiringOrganization.name", "hiringOrganization", "publisher.name"),
    "location": (
        "jobLocation[].address.addressLocality",
        "location.address.addressLocality",
        "address.addressLocality",
    ),
    "date_posted": ("datePosted", "datePublished", "uploadDate"),
    "date": ("datePublished", "datePosted", "dateCreated", "startDate"),
    "date_modified": ("dateModified",),
    "valid_through": ("validThrough", "endDate"),
    "author": ("author[].name", "author", "creator[].name"),
    "publisher": ("publisher.name", "publisher"),
    "brand": ("brand.name", "brand", "manufacturer.name", "manufacturer"),
    "sku": ("sku", "productID", "mpn"),
    "isbn": ("isbn",),
    "gtin": ("gtin13", "gtin", "gtin12", "gtin14", "gtin8"),
    "rating": ("aggregateRating.ratingValue",),
    "reviews": ("aggregateRating.reviewCount", "aggregateRating.ratingCount"),
    "image": ("image[].url", "image"),
    "url": ("url", "mainEntityOfPage", "@id"),
    "website": ("url", "sameAs[]"),
    "phone": ("telephone", "contactPoint[].telephone"),
    "email": ("email",),
    "address": ("address.streetAddress", "address"),
    "city": ("address.addressLocality",),
    "postcode": ("address.postalCode",),
    "country": ("address.addressCountry.name", "address.addressCountry"),
    "employment_type": ("employmentType",),
    "salary": ("baseSalary.value.value", "baseSalary.value.minValue", "baseSalary"),
    "category": ("category", "articleSection", "industry"),
    "language": ("inLanguage",),
    "cuisine": ("servesCuisine",),
    "duration": ("totalTime", "duration"),
}
# Other names that people give to these fields.
SYNONYMS: Mapping[str, str] = {
    "position": "title",
    "headline": "title",
    "product": "name",
    "product_name": "name",
    "model": "name",
    "summary": "description",
    "cost": "price",
    "amount": "price",
    "employer": "company",
    "organization": "company",
    "organisation": "company",
    "place": "location",
    "posted": "date_posted",
    "posted_date": "date_posted",
    "published": "date",
    "published_at": "date",
    "publication_date": "date",
    "deadline": "valid_through",
    "authors": "author",
    "writer": "author",
    "manufacturer": "brand",
    "product_id": "sku",
    "isbn_13": "isbn",
    "ean": "gtin",
    "stars": "rating",
    "score": "rating",
    "review_count": "reviews",
    "picture": "image",
    "link": "url",
    "telephone": "phone",
    "street": "address",
    "zip": "postcode",
    "postal_code": "postcode",
    "type_of_employment": "employment_type",
    "pay": "salary",
    "stock": "availability",
    "section": "category",
    "genre": "category",
}
CARDS: Mapping[str, tuple[str, ...]] = {
    "title": ("og:title", "twitter:title"),
    "name": ("og:title", "twitter:title"),
    "price": ("product:price:amount", "og:price:amount"),
    "currency": ("product:price:currency", "og:price:currency"),
    "availability": ("product:availability", "og:availability"),
    "date": ("article:published_time",),
    "date_posted": ("article:published_time",),
    "author": ("article:author", "book:author"),
    "isbn": ("book:isbn",),
    "image": ("og:image",),
    "url": ("og:url",),
    "category": ("article:section", "product:category"),
}


def meaning(field: Field) -> str:
    """The field that a name stands for; itself where it is no synonym."""
    return SYNONYMS.get(field.name, field.name)


def labels(field: Field) -> frozenset[str]:
    """The names under which a page may tell a field, in the plural too, as `as_label` writes them."""
    known = {
        field.name,
        meaning(field),
        *(name for name, other in SYNONYMS.items() if other == meaning(field)),
    }
    plain = {as_label(name) for name in known}
    return frozenset(plain | {f"{name}s" for name in plain})


def as_label(text: str) -> str:
    """A text as a label is compared: its letters and figures."""
    return _NO_LETTER.sub("", text).casefold()


def properties(field: Field) -> tuple[str, ...]:
    return PROPERTIES.get(meaning(field), ())


def cards(field: Field) -> tuple[str, ...]:
    return CARDS.get(meaning(field), ())

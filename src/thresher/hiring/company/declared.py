"""What a page declares for machines about the company that it belongs to: schema.org's Organization, and its
meta tags.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from thresher.reading.html.document import Document
from thresher.reading.structured.facts import Facts
from thresher.reading.structured.schema_org import text_of
from thresher.reading.structured.thing import Thing

MAX_LENGTH = 2_000
MAX_PLACES = 30
# The organisation itself; a site, a store or an office are second best.
_TYPES = (
    "Organization",
    "Corporation",
    "NGO",
    "LocalBusiness",
    "ProfessionalService",
    "EducationalOrganization",
    "GovernmentOrganization",
    "MedicalOrganization",
    "NewsMediaOrganization",
    "OnlineBusiness",
    "OnlineStore",
    "Airline",
    "Consortium",
)
_SIMPLE = ("name", "legalName", "description", "slogan", "foundingDate", "industry")
_META = ("og:site_name", "description", "og:description")
_SPACE = re.compile(r"\s+")


def declared(document: Document) -> Iterator[tuple[str, str]]:
    """Names and values, each on one line."""
    facts = Facts(document)
    own = _own(facts.structured.of(*_TYPES))
    if own is not None:
        for name in _SIMPLE:
            yield from _line(name, own.text(name))
        yield from _line("numberOfEmployees", _count(own.properties.get("numberOfEmployees")))
        yield from _places(own)
    for name in _META:
        yield from _line(name, facts.meta.get(name))


def _own(things: list[Thing]) -> Thing | None:
    """The one that says most of itself: a publisher or a reviewer is an organisation too, and has little more
    than a name.
    """
    return max(things[:50], key=lambda thing: (len(thing.properties), -things.index(thing)), default=None)


def _count(value: Any) -> str | None:
    """A number, or both ends of a range."""
    if isinstance(value, Mapping):
        low, high = text_of(value.get("minValue")), text_of(value.get("maxValue"))
        return f"{low}-{high}" if low and high else text_of(value.get("value")) or low or high
    return text_of(value)


def _places(thing: Thing) -> Iterator[tuple[str, str]]:
    """Its address, then those of its offices."""
    yield from _line("address", _address(thing.properties.get("address")))
    located = [
        _located(each)
        for name in ("location", "department", "subOrganization")
        for each in _many(thing.properties.get(name))
    ]
    for place in located[:MAX_PLACES]:
        yield from _line("location", _address(place))


def _located(value: Any) -> Any:
    return value.get("address", value) if isinstance(value, Mapping) else value


def _address(value: Any) -> str | None:
    value = value[0] if isinstance(value, list) and value else value
    if not isinstance(value, Mapping):
        return text_of(value)
    parts = [text_of(value.get(name)) for name in ("addressLocality", "addressRegion", "addressCountry")]
    return ", ".join(part for part in dict.fromkeys(parts) if part) or None


def _many(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [] if value is None else [value]


def _line(name: str, value: str | None) -> Iterator[tuple[str, str]]:
    if value and (line := _SPACE.sub(" ", value[:MAX_LENGTH].replace("\x00", " ")).strip()):
        yield name, line

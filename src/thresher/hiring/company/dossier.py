"""A dossier: the pages of one company as one text, so that every fact has a position; and what they declare.

Page by page, line by line, as a reader sees them, and below each page its structured data. A line that an
earlier page had too (a menu, a footer) is not repeated. The same pages always give the same text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from thresher.hiring.finding import Finding
from thresher.reading.html.document import Document
from thresher.reading.structured.facts import Facts
from thresher.reading.structured.schema_org import text_of
from thresher.reading.structured.thing import Thing

# Structured data about the organisation: schema.org's Organization, and meta tags.

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


MAX_LINES = 3_000  # of one page
MAX_TEXT = 120_000  # characters of one page
MAX_LINE = 5_000
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


@dataclass(frozen=True, slots=True)
class DossierPage:
    """One page that was read. `role` says what it was read for: home, about, careers, culture or mission."""

    role: str
    document: Document


@dataclass(frozen=True, slots=True)
class DossierLine:
    """One block of a page. `level` is that of a heading, 0 of everything else; `linked` the share of it that
    is links.
    """

    text: str
    start: int
    tag: str
    role: str
    page: int
    linked: float = 0.0
    level: int = 0

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Dossier:
    """`declared` has what the pages say to machines, by name, in order; everything stands in `text`."""

    text: str
    lines: tuple[DossierLine, ...] = ()
    declared: Mapping[str, tuple[Finding[str], ...]] = field(default_factory=dict)

    def said(self, *names: str) -> Finding[str] | None:
        """The first of these that is declared."""
        return next((each for name in names for each in self.declared.get(name, ())), None)


def dossier(leaves: Sequence[DossierPage]) -> Dossier:
    """The dossier of these pages."""
    return _Writing().whole(leaves)


class _Writing:
    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._at = 0
        self._seen: set[str] = set()
        self._lines: list[DossierLine] = []
        self._declared: dict[str, tuple[Finding[str], ...]] = {}

    def whole(self, leaves: Sequence[DossierPage]) -> Dossier:
        for page, leaf in enumerate(leaves):
            self._write(f"{'' if page == 0 else chr(10)}== {leaf.document.url}\n")
            self._page(page, leaf)
            self._facts(leaf.document)
        return Dossier("".join(self._pieces), tuple(self._lines), self._declared)

    def _page(self, page: int, leaf: DossierPage) -> None:
        until = self._at + MAX_TEXT
        for line in self._fresh(page, leaf):
            if self._at + len(line.text) > until or len(self._lines) >= (page + 1) * MAX_LINES:
                break
            self._lines.append(line)
            self._write(f"{line.text}\n")

    def _fresh(self, page: int, leaf: DossierPage) -> Iterator[DossierLine]:
        for block in leaf.document.flow.blocks:
            text = block.text[:MAX_LINE].replace("\x00", " ")
            level = int(block.tag[1]) if block.tag in HEADINGS else 0
            if not level and page and text in self._seen:
                continue
            self._seen.add(text)
            yield DossierLine(text, self._at, block.tag, leaf.role, page, block.linked, level)

    def _facts(self, document: Document) -> None:
        for name, value in declared(document):
            self._write(f"{name}: ")
            found = Finding(value, self._at, self._at + len(value))
            self._write(f"{value}\n")
            self._declared[name] = (*self._declared.get(name, ()), found)

    def _write(self, text: str) -> None:
        self._pieces.append(text)
        self._at += len(text)

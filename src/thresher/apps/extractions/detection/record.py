"""What a page tells of one thing: data about it, and pairs of a label and a value.

Whether a page is about one thing does not depend on its language. It says each label once, and its siblings
say the same labels with other values. A page of many things says each label many times.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from thresher.core.schema import Field, Schema
from thresher.learning.meaning import PROPERTIES, meaning, properties
from thresher.reading.html.blocks import Block
from thresher.reading.html.document import Document
from thresher.reading.platforms.paths import values
from thresher.reading.structured.facts import structured
from thresher.reading.structured.thing import Thing

MAX_BLOCKS = 20_000
MAX_PAIRS = 60
MAX_LABEL = 40
MAX_LABEL_WORDS = 5
MAX_VALUE = 400
MAX_KEPT = 60  # characters of a value: enough to tell two apart
MIN_TOLD = 2  # fields that a thing must tell to be one of those that are wanted
MAX_THINGS = 200
# Names that every page has, whatever it is about.
COMMON = frozenset({"title", "name", "headline", "description", "url", "image", "link", "language"})
# Types that describe the page or its site, or a part of the thing that the page is about.
_BESIDE = frozenset(
    {
        "WebSite",
        "WebPage",
        "BreadcrumbList",
        "ListItem",
        "SearchAction",
        "ImageObject",
        "SiteNavigationElement",
        "WPHeader",
        "WPFooter",
        "Organization",
        "Corporation",
        "LocalBusiness",
        "CollegeOrUniversity",
        "EducationalOrganization",
        "ReadAction",
        "EntryPoint",
        "Person",
        "PostalAddress",
        "Offer",
        "AggregateOffer",
        "AggregateRating",
        "Review",
        "Rating",
        "Brand",
        "Place",
        "ContactPoint",
        "VideoObject",
        "UserComments",
        "Comment",
        "ItemList",
        "CollectionPage",
        "SearchResultsPage",
        "OfferCatalog",
        "SoftwareApplication",
        "MobileApplication",
        "FAQPage",
        "Question",
        "Answer",
    }
)
_LISTS = frozenset({"ItemList", "CollectionPage", "SearchResultsPage", "OfferCatalog"})
_SENTENCE = re.compile(r"[.!?]\s|[.!?]$")


@dataclass(frozen=True, slots=True)
class Told:
    """`subject` is the type of the only thing of its kind that tells what is wanted, `subjects` how many such
    things the page declares. `fields` are the wanted fields that the page tells once, `pairs` its labels with
    the beginnings of their values. `declares_list`: it says itself that it is a list.
    """

    NOT_STORED: ClassVar = (None, (), False)

    subject: str | None = None
    subjects: int = 0
    fields: tuple[str, ...] = ()
    pairs: tuple[tuple[str, ...], ...] = ()
    repeated: int = 0
    declares_list: bool = False


def read_told(document: Document, schema: Schema) -> Told:
    """What a page tells of the things that are wanted."""
    things = structured(document).things[:MAX_THINGS]
    wanted = [thing for thing in things if _is_wanted(thing, schema)]
    found = list(_pairs(document))
    counted = Counter(label for label, _ in found)
    once = [(label, value) for label, value in found if counted[label] == 1][:MAX_PAIRS]
    subjects = _number(wanted)
    declared = {each.name for each in schema.fields if subjects == 1 and _tells(wanted[0], each)}
    labelled = {each.name for each in schema.fields for label, _ in once if _names(label, each)}
    return Told(
        subject=wanted[0].type if subjects == 1 else None,
        subjects=subjects,
        fields=tuple(sorted(declared | labelled)),
        pairs=tuple((label, value[:MAX_KEPT]) for label, value in once),
        repeated=sum(number > 1 for number in counted.values()),
        declares_list=any(not _LISTS.isdisjoint(thing.types) for thing in things),
    )


def _is_wanted(thing: Thing, schema: Schema) -> bool:
    if thing.syntax == "opengraph" or thing.type in _BESIDE:
        return False
    known = [each for each in schema.fields if meaning(each) in PROPERTIES]
    told = sum(_tells(thing, each) for each in known)
    return told >= min(MIN_TOLD, len(known)) > 0


def _tells(thing: Thing, wanted: Field) -> bool:
    return any(values(path, thing.properties) for path in properties(wanted))


def _number(things: list[Thing]) -> int:
    """The same thing may be told twice, in two syntaxes: the way counts in which there are fewest."""
    by_syntax = Counter(thing.syntax for thing in things)
    return min(by_syntax.values(), default=0)


def _names(label: str, wanted: Field) -> bool:
    """Whether a label is the name of a field, or its synonym."""
    return _plain(label) in {_plain(name) for name in (wanted.name, meaning(wanted))}


def _plain(text: str) -> str:
    return re.sub(r"[\W_]", "", text).casefold()


def _pairs(document: Document) -> Iterator[tuple[str, str]]:
    blocks = document.flow.blocks[:MAX_BLOCKS]
    cells = Counter(id(block.section.parent) for block in blocks if block.tag in ("td", "th"))
    for at, block in enumerate(blocks):
        following = blocks[at + 1] if at + 1 < len(blocks) else None
        if (pair := _in_line(block, following) or _in_cells(block, following, cells)) is not None:
            yield pair


def _in_line(block: Block, following: Block | None) -> tuple[str, str] | None:
    """`Label: value`, or `Label:` with the value in the next block."""
    label, colon, rest = block.text.partition(":")
    if not colon or not _is_label(label) or "//" in rest[:2]:
        return None
    value = rest.strip() or (following.text.strip() if following is not None else "")
    return (label.strip(), value) if 0 < len(value) <= MAX_VALUE else None


def _in_cells(block: Block, following: Block | None, cells: Counter[int]) -> tuple[str, str] | None:
    """A term and its definition, or a row of two cells."""
    if following is None or not _is_label(block.text):
        return None
    is_term = block.tag == "dt" and following.tag == "dd"
    row = block.section.parent
    is_row = (
        block.tag in ("td", "th")
        and following.tag == "td"
        and row is following.section.parent
        and cells[id(row)] == 2
        and following.linked < 1
    )
    value = following.text.strip()
    return (block.text.strip(), value) if (is_term or is_row) and 0 < len(value) <= MAX_VALUE else None


def _is_label(text: str) -> bool:
    text = text.strip()
    return (
        0 < len(text) <= MAX_LABEL
        and len(text.split()) <= MAX_LABEL_WORDS
        and any(char.isalpha() for char in text)
        and _SENTENCE.search(text) is None
    )

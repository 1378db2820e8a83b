"""Labels without a model: what pages say to machines, and what they say in pairs of a label and a value.

A site that declares its things in JSON-LD or microdata labels its own pages. A site that does not often
writes a label before each value; where that label is the name of a field, it is taken at its word.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from thresher.core.schema import Field, Kind, Schema
from thresher.learning.extractor import Example
from thresher.learning.locator import How, Label
from thresher.learning.meaning import cards, meaning, properties
from thresher.learning.outline import Outline
from thresher.learning.wording import number, one_line, squeezed, value_of
from thresher.reading.html.document import Document
from thresher.reading.platforms.paths import values
from thresher.reading.structured.thing import Thing, texts

MAX_DOCUMENTS = 30
MAX_LENGTH = 300
# Things that a page has beside the one it is about.
_FURNITURE = frozenset(
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
    }
)


def from_structure(schema: Schema, documents: Sequence[Document]) -> list[Example]:
    """The pages of one site whose values they tell themselves, as examples. A page that tells nothing is left
    out.

    A thing counts if it is the only one of its type; a label, if it names the field and stands on most of the
    pages.
    """
    outlines = [Outline(each) for each in documents[:MAX_DOCUMENTS]]
    subject = _subject(outlines)
    labels = [dict(_declared(schema, outline, subject)) for outline in outlines]
    for field in schema.fields:
        if not field.judged and not field.many and not any(field.name in each for each in labels):
            for at, value in _labelled(field, outlines).items():
                labels[at][field.name] = value
    return [
        Example(outline.document, found) for outline, found in zip(outlines, labels, strict=True) if found
    ]


def _subject(outlines: Sequence[Outline]) -> str | None:
    """The type of the thing that the pages are about: one that stands once on each of most pages."""
    counted = Counter(
        kind
        for outline in outlines
        for kind, number in _types(outline).items()
        if number == 1 and kind not in _FURNITURE
    )
    best = counted.most_common(1)
    return best[0][0] if best and 2 * best[0][1] > len(outlines) else None


def _types(outline: Outline) -> Mapping[str, int]:
    """How often each type stands on a page, in the way that says most: the same thing may be told twice, in
    two syntaxes.
    """
    found: dict[str, Counter[str]] = {}
    for thing in outline.facts.structured.things:
        if thing.syntax != "opengraph":
            found.setdefault(thing.syntax, Counter())[thing.type] += 1
    return {
        kind: min(each[kind] for each in found.values() if kind in each)
        for each in found.values()
        for kind in each
    }


def _declared(schema: Schema, outline: Outline, subject: str | None) -> Iterator[tuple[str, Any]]:
    things = [thing for thing in outline.facts.structured.things if thing.type == subject]
    first = [thing for thing in things if thing.syntax == things[0].syntax]
    thing = first[0] if len(first) == 1 else None
    for field in schema.fields:
        if field.judged:
            continue
        said = list(_of_thing(field, thing, outline)) if thing is not None else []
        said = (
            said
            or [
                text
                for name in cards(field)
                if (text := outline.facts.meta.get(name)) and _is_shown(field, text, outline)
            ][:1]
        )
        found = [value for text in said if (value := value_of(field, text, outline.document)) is not None]
        if found:
            yield field.name, found if field.many else found[0]


def _of_thing(field: Field, thing: Thing, outline: Outline) -> Iterator[str]:
    for path in properties(field):
        said = list(
            dict.fromkeys(
                text
                for value in values(path, thing.properties)
                for text in texts(value)
                if 0 < len(text) <= MAX_LENGTH
            )
        )
        if said and (field.many or len(said) == 1):
            yield from (_as_shown(field, text, outline) for text in said)
            return


def _is_shown(field: Field, text: str, outline: Outline) -> bool:
    """Whether the page itself says what its card says: cards like to add the name of the site."""
    return field.kind is not Kind.TEXT or squeezed(text) in outline.keys


def _as_shown(field: Field, text: str, outline: Outline) -> str:
    """A price as the page writes it, where it writes exactly one that is as much: machines are told `51.77`,
    people `£51.77`.
    """
    wanted = number(text) if field.kind is Kind.MONEY else None
    if wanted is None:
        return one_line(text)
    shown = {leaf.text for leaf in outline.leaves if len(leaf.text) <= 40 and number(leaf.text) == wanted}
    return shown.pop() if len(shown) == 1 else one_line(text)


def _labelled(field: Field, outlines: Sequence[Outline]) -> dict[int, Any]:
    """The value behind the label that names the field, where the same label does so on more than half of the
    pages.
    """
    names = {squeezed(name.replace("_", " ")) for name in (field.name, meaning(field))}
    for key in [end for name in names for end in (f"{name}:", name)]:
        for how in (How.CELL, How.LEAF, How.REST):
            found = {
                at: said
                for at, outline in enumerate(outlines)
                if (said := _behind(field, Label(key, how), outline)) is not None
            }
            if 2 * len(found) > len(outlines) and len({str(each) for each in found.values()}) > 1:
                return found
    return {}


def _behind(field: Field, label: Label, outline: Outline) -> Any:
    hits = label.find(outline)
    said = {hit.text.partition(":")[2].strip() if label.how is How.REST else hit.text for hit in hits}
    text = said.pop() if len(said) == 1 else ""
    return (
        value_of(field, text, outline.document)
        if 0 < len(text) <= MAX_LENGTH and not text.endswith(":")
        else None
    )

"""Feeds: RSS from 0.9 to 2.0, RDF, Atom and JSON Feed, as one list of entries.

Addresses are made absolute, dates are read where they can be and kept as written anyway, and what a feed
carries beyond the usual (company, location, price) stays with its entry under its own name.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from thresher.reading.html.document import Document
from thresher.reading.structured.loose_json import BrokenJson, read_json
from thresher.reading.structured.xml import XmlData, XmlElement, read_xml_tree
from thresher.reading.values.dates import Day, read_date

MAX_ENTRIES = 20_000
_KINDS = {"rss": "rss", "rdf": "rdf", "feed": "atom"}  # by the name of the root
_ATOM_PREFIXES = ("", "atom", "atom10", "a10")
_KNOWN = {
    "title",
    "link",
    "guid",
    "id",
    "pubdate",
    "published",
    "date",
    "updated",
    "modified",
    "issued",
    "created",
    "description",
    "summary",
    "content",
    "encoded",
    "author",
    "creator",
    "category",
    "subject",
    "enclosure",
}
_KNOWN_JSON = {
    "title",
    "url",
    "external_url",
    "id",
    "date_published",
    "date_modified",
    "summary",
    "content_html",
    "content_text",
    "author",
    "authors",
    "tags",
    "attachments",
    "image",
    "banner_image",
    "language",
}


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """One entry. `published` is None where the date is missing or cannot be read; `published_text` is what it
    said.

    `summary` and `content` may hold HTML, as written. `extra` is what else it has, by name; what is nested
    there are mappings and lists.
    """

    title: str
    url: str | None
    id: str = ""
    published: Day | None = None
    published_text: str = ""
    updated: Day | None = None
    summary: str = ""
    content: str = ""
    author: str = ""
    categories: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Feed:
    """`kind` is rss, rdf, atom or json; `about` what the feed says of itself. `next` is the following page of
    a paged feed.

    `trouble` says where the reading broke off.
    """

    kind: str
    title: str
    url: str | None
    entries: tuple[FeedEntry, ...]
    next: str | None = None
    trouble: str | None = None
    about: str = ""


def read_feed(text: str, *, url: str = "", today: date) -> Feed | None:
    """Parse a text as a feed; None if it is not a feed. Never raises."""
    head = text[:500].lstrip("\ufeff \t\r\n")
    if head.startswith("{"):
        try:
            return feed_in(read_json(text).value, url=url, today=today)
        except BrokenJson:
            return None
    tree = read_xml_tree(text) if head.startswith("<") else None
    return _of_root(tree.root, Document.from_html("", url), today, tree.trouble) if tree else None


def feed_in(data: Any, *, url: str = "", today: date) -> Feed | None:
    """Return the feed in a parsed body, XML or JSON; None if it is not a feed."""
    place = Document.from_html("", url)
    if isinstance(data, XmlData):
        return _of_root(data.element, place, today, None)
    return _json_feed(data, place, today) if isinstance(data, Mapping) else None


def _of_root(root: XmlElement, place: Document, today: date, trouble: str | None) -> Feed | None:
    kind = _KINDS.get(root.name)
    if kind is None:
        return None
    return _atom(root, place, today, trouble) if kind == "atom" else _rss(root, kind, place, today, trouble)


def _rss(root: XmlElement, kind: str, place: Document, today: date, trouble: str | None) -> Feed:
    channel = root.child("channel") or root
    items = [*channel.named("item"), *(root.named("item") if channel is not root else ())]
    following = next(
        (
            each.attributes.get("href")
            for each in channel.named("link")
            if each.attributes.get("rel") == "next"
        ),
        None,
    )
    entries = tuple(_item(each, place, today) for each in _whole(items))
    own = channel.named("link", prefix=channel.prefix)
    link = next((each.text.strip() for each in own if each.text.strip()), "")
    about = channel.said("description", "subtitle")
    return Feed(
        kind,
        channel.said("title"),
        place.absolute(link),
        entries,
        place.absolute(following or ""),
        trouble,
        about,
    )


def _item(item: XmlElement, place: Document, today: date) -> FeedEntry:
    said = item.said("pubdate", "published", "date", "issued", "created", "modified")
    content = next((each.whole_text for each in item.named("encoded")), "") or item.said("content")
    return FeedEntry(
        title=_plain_title(item),
        url=place.absolute(_rss_link(item)),
        id=item.said("guid", "id"),
        published=read_date(said, today=today) if said else None,
        published_text=said,
        updated=_day(item.said("updated", "modified"), today),
        summary=item.said("description", "summary"),
        content=content,
        author=item.said("creator", "author"),
        categories=tuple(
            each.text.strip() for each in item.named("category", "subject") if each.text.strip()
        ),
        extra=_extra(item),
    )


def _plain_title(item: XmlElement) -> str:
    """The entry's own title, not that of a picture in it. The prefix tells them apart, whatever it is."""
    own = next((each.whole_text for each in item.named("title", prefix=item.prefix)), "")
    return " ".join((own or item.said("title")).split())


def _rss_link(item: XmlElement) -> str:
    for each in item.named("link"):
        if each.text.strip():
            return each.text.strip()
        if each.attributes.get("href") and each.attributes.get("rel", "alternate") == "alternate":
            return each.attributes["href"]
    guid = item.child("guid")
    if guid is not None and guid.attributes.get("isPermaLink", "true").lower() != "false":
        return guid.text.strip() if guid.text.strip().startswith("http") else ""
    return next((value for name, value in item.attributes.items() if name.endswith(":about")), "")


def _atom(root: XmlElement, place: Document, today: date, trouble: str | None) -> Feed:
    place = _based(root, place)
    entries = tuple(_atom_entry(each, _based(each, place), today) for each in _whole(root.named("entry")))
    home, following = _atom_link(root, place, "alternate"), _atom_link(root, place, "next")
    return Feed(
        "atom", root.said("title"), home, entries, following, trouble, root.said("subtitle", "tagline")
    )


def _whole(elements: Iterable[XmlElement]) -> list[XmlElement]:
    """Half an entry, at the end of a feed that broke off, would be a wrong one."""
    return [each for each in elements if each.whole][:MAX_ENTRIES]


def _based(element: XmlElement, place: Document) -> Document:
    base = place.absolute(element.attributes.get("xml:base", ""))
    return Document.from_html("", base) if base else place


def _atom_entry(entry: XmlElement, place: Document, today: date) -> FeedEntry:
    said = entry.said("published", "issued", "created", "updated", "modified", "date")
    author = entry.child("author")
    return FeedEntry(
        title=_plain_title(entry),
        url=_atom_link(entry, place, "alternate"),
        id=entry.said("id"),
        published=_day(said, today),
        published_text=said,
        updated=_day(entry.said("updated", "modified"), today),
        summary=entry.said("summary"),
        content=entry.said("content"),
        author=author.said("name") or author.whole_text if author else entry.said("creator"),
        categories=tuple(
            each.attributes.get("label") or each.attributes.get("term", "")
            for each in entry.named("category")
        ),
        extra=_extra(entry),
    )


def _atom_link(element: XmlElement, place: Document, rel: str) -> str | None:
    found = [
        each
        for each in element.named("link")
        if each.prefix in (element.prefix, *_ATOM_PREFIXES) and each.attributes.get("rel", "alternate") == rel
    ]
    html = [each for each in found if "html" in each.attributes.get("type", "html")]
    return next(
        (url for each in (*html, *found) if (url := place.absolute(each.attributes.get("href", "")))), None
    )


def _extra(item: XmlElement) -> dict[str, Any]:
    data = item.data
    named = ((name.lower(), value) for name, value in data.items()) if isinstance(data, XmlData) else ()
    return {
        name: value
        for name, value in named
        if value and name.rpartition(":")[2] not in _KNOWN and not name.startswith(("@", "#"))
    }


def _day(said: str, today: date) -> Day | None:
    return read_date(said, today=today) if said else None


def _json_feed(value: Mapping[str, Any], place: Document, today: date) -> Feed | None:
    if "jsonfeed.org" not in _text(value, "version") or not isinstance(value.get("items"), list):
        return None
    entries = tuple(
        _json_entry(each, place, today) for each in value["items"][:MAX_ENTRIES] if isinstance(each, dict)
    )
    home, following = place.absolute(_text(value, "home_page_url")), place.absolute(_text(value, "next_url"))
    return Feed("json", _text(value, "title"), home, entries, following, about=_text(value, "description"))


def _json_entry(item: Mapping[str, Any], place: Document, today: date) -> FeedEntry:
    said = _text(item, "date_published", "date_modified")
    authors = item.get("authors") or [item.get("author")]
    tags = item.get("tags")
    return FeedEntry(
        title=_text(item, "title"),
        url=place.absolute(_text(item, "url", "external_url")),
        id=_text(item, "id"),
        published=_day(said, today),
        published_text=said,
        updated=_day(_text(item, "date_modified"), today),
        summary=_text(item, "summary"),
        content=_text(item, "content_html", "content_text"),
        author=_first_name(authors),
        categories=tuple(str(tag) for tag in tags[:100]) if isinstance(tags, list) else (),
        extra={name: each for name, each in item.items() if name not in _KNOWN_JSON},
    )


def _first_name(authors: Any) -> str:
    people: Iterable[Any] = authors if isinstance(authors, list) else []
    return next((_text(each, "name") for each in people if isinstance(each, dict)), "")


def _text(value: Mapping[str, Any], *names: str) -> str:
    found = (value.get(name) for name in names)
    return next(
        (str(each).strip() for each in found if isinstance(each, str | int | float) and str(each).strip()), ""
    )

"""Rows of openings in data that nobody described to us: an unknown API's answer, a feed, or what a page
embeds for its script.

The list is found by what its rows hold (a title, a link, a company, a place, a date), under whatever names. A
list of articles also has titles and links, so a row must speak of employment somewhere, or it is no posting.
An entry of a feed may leave that to the feed: one that calls itself a list of openings, and whose entries'
addresses do.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache, lru_cache
from typing import Any

import ada_url

from thresher.reading.postings.posting import Listing, Posting, merged
from thresher.reading.structured.feeds import Feed, FeedEntry, feed_in
from thresher.reading.structured.xml import XmlData, XmlList
from thresher.reading.text.plain import described
from thresher.reading.text.vocabulary import vocabulary, words
from thresher.reading.values.dates import posted_on
from thresher.reading.values.salaries import salary_of

DEEPEST = 12
MAX_VALUES = 200_000
MAX_ROWS = 5_000
MAX_NESTED = 500  # rows of a list that are searched for lists of their own
MAX_TITLE = 200
ENOUGH_ROWS = 5
LONG_NAME = 40  # of rank: behind every name that stands in the vocabulary
ENOUGH_EVIDENCE = 2
_FIELDS = (
    "title",
    "url",
    "company",
    "location",
    "posted",
    "employment_type",
    "salary",
    "low",
    "high",
    "currency",
    "period",
    "description",
    "id",
)
_SHALLOW = ("id", "url")  # an id deep inside is that of something else
_EVIDENCE = ("company", "location", "posted", "employment_type", "salary", "low", "description")
_ADVERTS = frozenset({"sponsored", "issponsored", "isad", "isadvert", "ispromoted", "promoted"})
_NOT_A_LETTER = re.compile(r"[^a-z]")
_WORD = re.compile(r"[\w-]+")
_ENTRIES = {
    "rss": "$.channel.item",
    "rdf": "$.item",
    "atom": "$.entry",
    "json": "$.items",
}  # where a feed keeps them
_AFFIXES = re.compile(
    r"^(?:job|position|vacancy|offer|posting|item|provide|display|formatted)|(?:text|label|str|string|display|html)$"
)
_INDEX = re.compile(r"\[\d+\]")
_FIRST_LINE = re.compile(r"<p>|<br ?/?>|\n")


@dataclass(frozen=True, slots=True)
class _Array:
    path: str
    name: str
    items: list[Any]
    beside: Mapping[str, Any]  # the object it stands in
    called: str = ""  # what a feed says of itself, or the name of the root that the rows stand under


@dataclass(frozen=True, slots=True)
class _Found:
    array: _Array
    postings: list[Posting]

    @property
    def weight(self) -> int:
        return sum(
            4 + sum(value is not None for value in (each.company, each.location, each.posted_date, each.url))
            for each in self.postings
        )


def read_rows(data: Any, *, today: date, source: str, url: str = "") -> Listing | None:
    """The postings of the list in `data` that looks most like one; None where no list does."""
    feed = feed_in(data, url=url if url.startswith(("http://", "https://")) else "", today=today)
    if feed is not None:
        return _feed_listing(feed, today, source, url)
    found: dict[str, _Found] = {}
    for array in _arrays(data):
        if postings := _postings(array, today, url):
            # Rows are often split over lists of one kind: those of each department, of each company.
            inside = any(array.path.startswith(f"{each.array.path}[") for each in found.values())
            shape = array.path if inside else _INDEX.sub("[]", array.path)
            known = found.get(shape)
            found[shape] = (
                _Found(known.array, [*known.postings, *postings]) if known else _Found(array, postings)
            )
    if not found:
        return _empty(data, source)
    shape, best = max(found.items(), key=lambda each: each[1].weight)
    total = _total(best.array.beside) if best.array.path == shape else None
    return Listing(merged(best.postings), f"{source} ({shape})", rows=len(best.postings), total=total)


def posting_of(row: Mapping[str, Any], *, today: date, url: str = "", where: str = "") -> Posting | None:
    """One row under whatever names, of which somebody has said that it is an opening; None without a
    title.
    """
    return posting_from(_said(row), today=today, url=url, where=where)


def posting_from(fields: Mapping[str, Any], *, today: date, url: str = "", where: str = "") -> Posting | None:
    """The same of a row whose fields go by our names already."""
    return _posting(fields, today, url, where, keyed=True)


def field_named(name: str) -> str | None:
    """The field that a column of this name holds; None where the name is not known."""
    fields = _ranks().get(_NOT_A_LETTER.sub("", name.lower()), ())
    return min(fields, key=lambda each: each[1])[0] if fields else None


def _feed_listing(feed: Feed, today: date, source: str, url: str) -> Listing | None:
    """The entries of a feed as postings. A feed without entries is no proof: many show only what is new."""
    path = _ENTRIES[feed.kind]
    array = _Array(
        path, "", [feed_row(entry) for entry in feed.entries[:MAX_ROWS]], {}, f"{feed.title} {feed.about}"
    )
    postings = _postings(array, today, url)
    if feed.entries and not postings:
        return None
    return Listing(merged(postings), f"{source} ({path})", rows=len(postings), next=feed.next, proof=False)


def feed_row(entry: FeedEntry) -> dict[str, Any]:
    """An entry of a feed as a row: the usual names, and what else it says under names of its own."""
    said = {"title": entry.title, "link": entry.url, "guid": entry.id, "pubdate": entry.published_text}
    return {**entry.extra, **said, "description": entry.content or entry.summary}


def _arrays(data: Any) -> Iterator[_Array]:
    """Every list of objects, without those that stand beside what was asked for."""
    left = MAX_VALUES
    root = data.element.spelled if isinstance(data, XmlData) else ""
    stack: list[tuple[Any, str, str, Mapping[str, Any], int]] = [(data, "$", "", {}, 0)]
    while stack and left > 0:
        value, path, name, beside, depth = stack.pop()
        left -= 1
        if depth > DEEPEST or _is_aside(name):
            continue
        if isinstance(value, list):
            if any(isinstance(each, Mapping) for each in value):
                yield _Array(path, name, value[:MAX_ROWS], beside, root if beside is data else "")
            nested = [
                (at, each) for at, each in enumerate(value[:MAX_NESTED]) if isinstance(each, Mapping | list)
            ]
            # A row of a list goes without its name: it was judged among its fellows, and must not be again as
            # a single one.
            stack += [
                (each, f"{path}[{at}]", name if isinstance(each, list) else "", beside, depth + 1)
                for at, each in reversed(nested)
            ]
        elif isinstance(value, Mapping):
            if name in vocabulary("fields")["one"] or (isinstance(value, XmlData) and _is_one_of(path, root)):
                # XML has no lists: a single row looks like a mapping
                yield _Array(path, name, [value], beside, root if beside is data else "")
            named = [(str(key), each) for key, each in value.items() if isinstance(each, Mapping | list)]
            stack += [(each, f"{path}.{key}", key, value, depth + 1) for key, each in reversed(named)]


def _is_one_of(path: str, root: str) -> bool:
    """Whether an element stands in one that is named after it in the plural: `vacancies.vacancy`."""
    around, _, name = path.lower().rpartition(".")
    plural = root.lower() if around == "$" else _INDEX.sub("", around).rpartition(".")[2]
    return len(plural) > len(name) > 2 and plural.startswith(name.removesuffix("y"))


def _is_aside(name: str) -> bool:
    plain = _NOT_A_LETTER.sub("", name.lower())
    return any(word in plain for word in vocabulary("fields")["aside"])


def _postings(array: _Array, today: date, url: str) -> list[Posting]:
    """The rows as postings, if at least half of them speak of employment: then the others are openings,
    too.
    """
    rows = [
        (number, row, _said(row))
        for number, row in enumerate(array.items)
        if isinstance(row, Mapping) and not _is_advert(row)
    ]
    rows = [(number, row, said) for number, row, said in rows if said.get("url") or said.get("id")]
    sure = sum(_is_row(said) and _speaks_of_employment(row, said, array, url) for _, row, said in rows)
    if not rows or sure * 2 < len(rows) or (len(rows) * 2 < len(array.items) and len(rows) < ENOUGH_ROWS):
        return []
    keys = {_text(said.get("id")) for _, _, said in rows}
    return [
        posting
        for number, _, said in rows
        if (
            posting := _posting(
                said, today, url, f"{array.path}[{number}]", keyed=len(keys) > 1 or len(rows) == 1
            )
        )
    ]


def _is_advert(row: Mapping[str, Any]) -> bool:
    """A row that says of itself that it was paid for."""
    return any(
        value is True and _NOT_A_LETTER.sub("", str(key).lower()) in _ADVERTS for key, value in row.items()
    )


def _is_row(said: Mapping[str, Any]) -> bool:
    return sum(bool(said.get(each)) for each in _EVIDENCE) >= ENOUGH_EVIDENCE and _title(said) is not None


def _posting(said: Mapping[str, Any], today: date, url: str, where: str, *, keyed: bool) -> Posting | None:
    title = _title(said)
    if not title:
        return None
    link = _text(said.get("url"))
    return Posting(
        title=title,
        company=_text(said.get("company")) or None,
        location=_text(said.get("location")) or None,
        url=_absolute(link, url),
        posted_date=posted_on(_text(said.get("posted")), today),
        employment_type=_text(said.get("employment_type")) or None,
        salary=salary_of(
            _text(said.get("salary")) or None,
            said.get("low"),
            said.get("high"),
            said.get("currency"),
            said.get("period"),
        ),
        description=described(_text(said.get("description"))),
        key=(_text(said.get("id")) or None) if keyed else None,
        where=where,
    )


def _title(said: Mapping[str, Any]) -> str | None:
    """The title; where a row has only a text, the first line of it."""
    text = _text(said.get("title"))
    if not text:
        text = _FIRST_LINE.split(_text(said.get("description")), maxsplit=1)[0]
    title = " ".join((described(text) or "").split())
    return title[:MAX_TITLE] if len(title) >= 2 else None


def _speaks_of_employment(row: Mapping[str, Any], said: Mapping[str, Any], array: _Array, url: str) -> bool:
    if any(said.get(each) for each in ("employment_type", "low")) or (
        said.get("company") and said.get("location")
    ):
        return True
    if any(
        piece in str(key).lower()
        for key in (*row, array.name, *((array.called,) if " " not in array.called else ()))
        for piece in vocabulary("fields")["employment"]
    ):
        return True
    if words("employment").names(
        " ".join((url, *(_text(said.get(each))[:3_000] for each in ("title", "description", "url"))))
    ):
        return True
    return _names_openings(array.called) and _is_among_openings(_text(said.get("url")))


def _names_openings(text: str) -> bool:
    return not _opening_words().isdisjoint(_WORD.findall(text[:1_000].lower()))


def _is_among_openings(link: str) -> bool:
    """Whether the address is that of one of them: `/opening/7`. An article on `/openings` or `/grand-opening`
    is not.
    """
    return not _opening_words().isdisjoint(link.lower().partition("?")[0].split("/")[3:-1])


@cache
def _opening_words() -> frozenset[str]:
    """What lists of openings are called in their addresses, without words that shops and forums use as well
    ("ofertas", "o").
    """
    known = vocabulary("employment")
    return frozenset(word for word in known["address"] if any(piece in word for piece in known["pieces"]))


def _said(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row's fields by our names: the best name wins, and of equal names the one that is less deep."""
    ranks = _ranks()
    best: dict[str, tuple[int, int]] = {}
    said: dict[str, Any] = {}
    for depth, key, value in _inside(row):
        for field, rank in ranks.get(key) or _ranks_of(key):
            order = (depth, rank) if field in _SHALLOW else (rank, depth)
            if order < best.get(field, (99, 99)) and _usable(field, value):
                best[field], said[field] = order, value
    return said


def _inside(row: Mapping[str, Any]) -> Iterator[tuple[int, str, Any]]:
    level: list[Mapping[str, Any]] = [row]
    for depth in range(4):
        deeper: list[Mapping[str, Any]] = []
        for each in level[:50]:
            for key, value in each.items():
                if isinstance(each, XmlData) and key[:1] == "@" and key[1:] not in each.element.attributes:
                    continue  # an attribute with a prefix is about the document, not about what it says
                for name, content in _named(str(key), value, depth):
                    yield depth, _NOT_A_LETTER.sub("", name.lower()), content
                if isinstance(value, Mapping) and not _is_aside(str(key)):
                    deeper.append(value)
        level = deeper


def _named(key: str, value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """What stands under a name. Attributes count only where they are the row's own: deeper they are about the
    value that they stand beside. Elements that say their name in an attribute, as in `<str name="title">`,
    stand under that.
    """
    if key.startswith("#"):
        return
    if not key.startswith("@"):
        yield key, _content(value)
    elif depth == 0:
        yield key[1:], value
    for each in value if isinstance(value, XmlList) else (value,):
        if isinstance(each, XmlData) and isinstance(each.get("@name"), str) and not each.element.children:
            yield each["@name"], each.said


def _content(value: Any) -> Any:
    """The text of an XML element that also has attributes; of a link that has nothing else, its address."""
    if isinstance(value, list) and value and isinstance(value[0], Mapping) and "@href" in value[0]:
        value = next(
            (
                each
                for each in value
                if isinstance(each, Mapping) and each.get("@rel", "alternate") == "alternate"
            ),
            value[0],
        )
    if isinstance(value, XmlData) and value.element.is_markup:
        return value.said
    if isinstance(value, Mapping):
        return value.get("#text") or value.get("@href") or value
    return value


def _usable(field: str, value: Any) -> bool:
    if value in (None, "", [], {}) or isinstance(value, bool):
        return False
    if field in ("title", "url"):
        return isinstance(value, str)
    text = _text(value)
    # A place in figures is the number of a place.
    return any(char.isalpha() for char in text) if field in ("location", "company") else bool(text)


@cache
def _ranks() -> dict[str, tuple[tuple[str, int], ...]]:
    ranks: dict[str, tuple[tuple[str, int], ...]] = {}
    for field in _FIELDS:
        for rank, name in enumerate(vocabulary("fields")[field]):
            ranks[name] = (*ranks.get(name, ()), (field, rank))
    return ranks


@lru_cache(4_096)
def _ranks_of(key: str) -> tuple[tuple[str, int], ...]:
    """The fields of a name that says more than it must: `jobHref`, `workAreaText`. Any plain name comes
    first.
    """
    bare = _AFFIXES.sub("", key)
    known = _ranks().get(bare, ())
    return tuple((field, rank + LONG_NAME) for field, rank in known if field not in ("id", "title"))


def _text(value: Any) -> str:
    """What a value says: of an object, its name; of a list, everything in it."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, list):
        return "; ".join(dict.fromkeys(text for each in value[:20] if (text := _text(each))))
    if isinstance(value, Mapping):
        named = {_NOT_A_LETTER.sub("", str(key).lower()): each for key, each in value.items()}
        return next((text for name in vocabulary("fields")["named"] if (text := _text(named.get(name)))), "")
    return ""


def _absolute(link: str, url: str) -> str | None:
    if link.startswith("//"):
        return f"https:{link}"
    from_page = link and url and not link.startswith(("http://", "https://"))
    return _joined(url, link) if from_page else link or None


def _joined(url: str, link: str) -> str | None:
    try:
        return ada_url.join_url(url, link)
    except ValueError:
        return None


def _total(beside: Mapping[str, Any]) -> int | None:
    named = {_NOT_A_LETTER.sub("", str(key).lower()): value for key, value in beside.items()}
    counts = (named.get(name) for name in vocabulary("fields")["total"])
    return next((count for count in counts if isinstance(count, int) and not isinstance(count, bool)), None)


def _empty(data: Any, source: str) -> Listing | None:
    """An answer with an empty list of rows and, perhaps, a count: whether it is proof is for the reader to
    decide.
    """
    if not isinstance(data, Mapping):
        return None
    named = {_NOT_A_LETTER.sub("", str(key).lower()): value for key, value in data.items()}
    if any(named.get(name) == [] for name in vocabulary("fields")["rows"]):
        return Listing((), source, rows=0, total=_total(data), proof=_total(data) == 0)
    return None

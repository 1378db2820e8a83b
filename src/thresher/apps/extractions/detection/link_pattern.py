"""The pattern of a list's links: a regular expression made of the addresses themselves.

Examples that stand on a page are compared part by part. What they share is kept, escaped; where they differ,
the narrowest shape that they have in common stands: digits, a number before a name, a name. The pattern
matches every example and none of the page's other links, or there is none. No text of a page is ever part of
it unescaped.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from thresher.core.errors import InvalidUrl
from thresher.core.keys import canonical_url

MAX_EXAMPLES = 1_000
MAX_OTHERS = 3_000
MAX_EXCLUDED = 30  # other links that the pattern may rule out by name
MAX_ALTERNATIVES = 5
MAX_PATTERN = 2_000
FEW = 3  # examples below which a common beginning may be chance
DOMINANT = 0.6  # share of the examples that makes a part constant, and the rest another shape
ANY = "[^/?#&]+"
# The narrowest first: what each part may look like, and how a pattern says so.
_SHAPES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\d+"), r"\d+"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "[0-9a-f-]{36}"),
    (re.compile(r"\d+[-_.,][^/?#&]+"), rf"\d+[-_.,]{ANY}"),
    (re.compile(r"[^/?#&]+[-_.,]\d+"), rf"{ANY}[-_.,]\d+"),
)
_ENDING = re.compile(r"\.[a-z]{2,5}")
_MARKS = "-_."


@dataclass(frozen=True, slots=True)
class Address:
    """An address apart: scheme, host with port, the segments of its path, its query as pairs. `slash`: the
    path ends with one.
    """

    scheme: str
    host: str
    segments: tuple[str, ...]
    query: tuple[tuple[str, str], ...]
    slash: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        return (*self.segments, *(value for _, value in self.query))

    @property
    def skeleton(self) -> tuple[str, int, tuple[str, ...]]:
        """What addresses share that are compared part by part."""
        return self.host, len(self.segments), tuple(name for name, _ in self.query)


def link_pattern(examples: Iterable[str], others: Iterable[str] = ()) -> str | None:
    """The pattern of these addresses, anchored at both ends; None where no pattern tells them from the
    others. Addresses are compared as `canonical_url` spells them.
    """
    wanted = distinct(examples, MAX_EXAMPLES)
    known = set(wanted)
    unwanted = [url for url in distinct(others, MAX_OTHERS) if url not in known]
    clusters = list(_clusters([apart(url) for url in wanted]))
    if not 0 < len(clusters) <= MAX_ALTERNATIVES:
        return None
    pattern = joined(map(_one_shape, clusters))
    hit = [url for url in unwanted if re.fullmatch(pattern, url)]
    found = _without(pattern, hit)
    return found if found is not None and _reproduces(found, wanted, unwanted) else None


def joined(patterns: Iterable[str]) -> str:
    """One anchored pattern that matches whatever one of these anchored ones does."""
    bodies = [pattern.removeprefix("^").removesuffix("$") for pattern in dict.fromkeys(patterns)]
    return f"^{bodies[0]}$" if len(bodies) == 1 else f"^(?:{'|'.join(bodies)})$"


def main_shape(urls: Sequence[str]) -> list[str]:
    """The addresses of the shape that most of these have, in order."""
    spelled = {url: apart(canonical_url(url)) for url in distinct(urls, MAX_EXAMPLES)}
    largest = max(_clusters(list(spelled.values())), key=len, default=[])
    kept = set(largest)
    return [url for url, address in spelled.items() if address in kept]


def matches(pattern: str, url: str) -> bool:
    """Whether an address fits a pattern, in its canonical spelling."""
    try:
        return _compiled(pattern).search(canonical_url(url)) is not None
    except InvalidUrl:
        return False


@lru_cache(256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def distinct(urls: Iterable[str], most: int) -> list[str]:
    """Web addresses in their canonical spelling, each once, in order."""
    found: dict[str, None] = {}
    for url in urls:
        if len(found) >= most:
            break
        try:
            found[canonical_url(url)] = None
        except InvalidUrl:
            continue
    return list(found)


def apart(url: str) -> Address:
    """An address in its canonical spelling, taken apart."""
    parts = urlsplit(url)
    pairs = [pair.partition("=") for pair in parts.query.split("&")] if parts.query else []
    *above, last = parts.path.split("/")[1:] or [""]
    segments = above if last == "" else [*above, last]
    query = tuple((name, value) for name, _, value in pairs)
    return Address(parts.scheme, parts.netloc, tuple(segments), query, slash=last == "")


def _reproduces(pattern: str, wanted: Sequence[str], unwanted: Sequence[str]) -> bool:
    if len(pattern) > MAX_PATTERN:
        return False
    compiled = re.compile(pattern)
    return all(map(compiled.fullmatch, wanted)) and not any(map(compiled.fullmatch, unwanted))


def _clusters(addresses: Sequence[Address]) -> Iterator[list[Address]]:
    """Addresses of one shape each: the same skeleton, and the same word wherever most have the same."""
    by_skeleton: dict[tuple[str, int, tuple[str, ...]], list[Address]] = {}
    for address in addresses:
        by_skeleton.setdefault(address.skeleton, []).append(address)
    for group in by_skeleton.values():
        yield from _divided(group)


def _divided(group: list[Address]) -> Iterator[list[Address]]:
    """A part that is the same in most of a group is what makes its kind: `/course/1`, `/go/2`."""
    for place in range(len(group[0].parts)):
        counted = Counter(address.parts[place] for address in group)
        word, number = counted.most_common(1)[0]
        if DOMINANT * len(group) <= number < len(group):
            yield from _divided([address for address in group if address.parts[place] == word])
            yield from _rest([address for address in group if address.parts[place] != word], place)
            return
    yield group


def _rest(group: list[Address], place: int) -> Iterator[list[Address]]:
    """What differs from most where a word makes the kind: a few other words are as many other kinds."""
    by_word: dict[str, list[Address]] = {}
    for address in group:
        by_word.setdefault(address.parts[place], []).append(address)
    are_words = len(by_word) < MAX_ALTERNATIVES and not any(map(_has_digit, by_word))
    for each in by_word.values() if are_words else (group,):
        yield from _divided(each)


def _has_digit(text: str) -> bool:
    return any(char.isdigit() for char in text)


def _one_shape(group: Sequence[Address]) -> str:
    schemes = {each.scheme for each in group}
    origin = f"{schemes.pop() if len(schemes) == 1 else 'https?'}://{re.escape(group[0].host)}"
    path = "".join(f"/{_part(column)}" for column in zip(*(each.segments for each in group), strict=True))
    pairs = [
        f"{re.escape(column[0][0])}={_part([value for _, value in column])}"
        for column in zip(*(each.query for each in group), strict=True)
    ]
    query = r"\?" + "&".join(pairs) if pairs else ""
    slashes = {each.slash for each in group}
    slash = "/?" if len(slashes) > 1 else "/" if True in slashes else ""
    return f"^{origin}{path}{slash}{query}$"


def _part(values: Sequence[str]) -> str:
    """One segment or value: itself where all are the same, else the shape that they share."""
    if len(set(values)) == 1:
        # The only example says nothing about what may differ, except where it is a number.
        lone = len(values) == 1 and values[0].isascii() and values[0].isdigit()
        return r"\d+" if lone else re.escape(values[0])
    begin, end = _edges(values)
    inner = [value[len(begin) : len(value) - len(end)] for value in values]
    return re.escape(begin) + _shape(inner) + re.escape(end)


def _edges(values: Sequence[str]) -> tuple[str, str]:
    """What all values begin and end with, as whole words: `course-`, `.html`. Two names may begin with the
    same letters by chance.
    """
    begin = _shared(values)
    begin = begin[: max(begin.rfind(mark) for mark in _MARKS) + 1]
    end = _shared([value[len(begin) :][::-1] for value in values])[::-1]
    end = end[min((at for mark in _MARKS if (at := end.find(mark)) >= 0), default=len(end)) :]
    if any(len(value) <= len(begin) + len(end) for value in values):
        return "", ""
    if len(values) < FEW:
        return "", end if _ENDING.fullmatch(end) else ""
    # A number that all happen to begin with, such as a year, is not what makes the kind.
    return ("" if _has_digit(begin) else begin), end


def _shared(values: Sequence[str]) -> str:
    """What all of these begin with."""
    low, high = min(values), max(values)
    same = (at for at, (one, other) in enumerate(zip(low, high, strict=False)) if one != other)
    return low[: next(same, min(len(low), len(high)))]


def _shape(values: Sequence[str]) -> str:
    if not all(values):
        return "[^/?#&]*"
    return next((says for shape, says in _SHAPES if all(map(shape.fullmatch, values))), ANY)


def _without(pattern: str, hit: Sequence[str]) -> str | None:
    """The pattern without a few addresses that look the same and are no examples, such as a menu's."""
    if not hit:
        return pattern
    if len(hit) > MAX_EXCLUDED:
        return None
    ruled_out = "|".join(map(re.escape, sorted(hit)))
    return f"^(?!(?:{ruled_out})$){pattern[1:]}"

"""Which offers are one opening listed again. Pure; `store/offers.py` applies it.

Only offers of one company are compared, and only with canonical ones, that is with those that repost nothing
themselves. An offer reposts another

- if title and description have the same words in the same order (`fingerprint`), or
- if at least 90 % of their words are the same, counted as often as they occur, and the words of one title are
  all in the other. Offers of one company share its boilerplate: what tells two of them apart is the title.

An equal title alone says nothing: two real openings may have it. So an offer is not compared if it has no
description, or one that says too little. Where the opening is plays no part: the same text for another place
is the same need of the same company, as it is the same group to the jobs app.

What is kept of a text is its sketch: every word as a number, with how often it occurs. The rule gives the
same answer on two sketches as on the texts. A signature, 64 small numbers, rules out most pairs before that,
and never a pair that the rule would take.
"""

import hashlib
import struct
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from operator import attrgetter, sub
from typing import NamedTuple
from zlib import crc32

from thresher.apps.queries.signals.words import plain_words, read_words

OVERLAP = 0.90  # share of the words of the longer text that both must have
MIN_WORDS = 10  # of a description: fewer say too little
MIN_CUT_WORDS = 100  # of a description that is cut short: the first words are often the company's
MAX_DISTINCT = 4_000  # words of a sketch; a longer text is known by its fingerprint alone
MAX_COMPARED = 1_000  # offers of one company that an offer is compared with: those that were seen last
BUCKETS = 64
_SKETCH = ">{0}I{0}H"  # so many numbers, then how often each occurs
_CUT = ("…", "...", "[…]", "[...]")


class NotCompared(StrEnum):
    """Why nothing is said about an offer."""

    NO_COMPANY = "not compared: the company is not known"
    NO_DESCRIPTION = "not compared: no description"
    SHORT = "not compared: the description says too little"
    CUT = "not compared: the description is cut short"


@dataclass(frozen=True, slots=True)
class TextPrint:
    """What is kept of a text. `signature` and `sketch` are base64; both are None for a text that is too long
    to be compared word by word.
    """

    fingerprint: str
    size: int
    signature: str | None
    sketch: str | None


class OfferText(NamedTuple):
    """An offer as it is compared. `headline` are the words of its title that tell it from others."""

    posting: str
    company: str
    headline: str
    location: str
    first_seen: int
    posted_on: str
    fingerprint: str
    size: int
    signature: str | None
    sketch: str | None = None

    @property
    def order(self) -> tuple[int, str, str]:
        """The first that was seen is the canonical one, whatever the order in which they come."""
        return (self.first_seen, self.posted_on or "9", self.posting)


# What is looked at first of an offer that may be reposted: its posting, company, headline and size.
ListedOffer = tuple[str, str, str, int]


@dataclass(frozen=True, slots=True)
class Repost:
    """The offer that another one reposts, and why."""

    canonical: str
    why: str


# What is kept of a text


def read_print(title: str, description: str | None) -> TextPrint | NotCompared:
    """What an offer is compared by, or why it is not."""
    words = read_words(description or "").words
    if not words:
        return NotCompared.NO_DESCRIPTION
    if len(words) < MIN_WORDS:
        return NotCompared.SHORT
    if len(words) < MIN_CUT_WORDS and (description or "").rstrip().endswith(_CUT):
        return NotCompared.CUT
    title_words = read_words(title).words
    counts = count_words((*title_words, *words))
    small = len(counts) <= MAX_DISTINCT
    return TextPrint(
        fingerprint(title_words, words),
        sum(counts.values()),
        _text(signature(counts)) if small else None,
        write_sketch(counts) if small else None,
    )


def fingerprint(title: Sequence[str], description: Sequence[str]) -> str:
    """SHA-256 of the words of title and description."""
    said = f"{' '.join(title)}\n{' '.join(description)}"
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()


def count_words(words: Iterable[str]) -> dict[int, int]:
    """How often each word occurs. Words are numbers of 32 bits from here on: two of a text that share one are
    as rare as one pair of long texts in twenty thousand, and make a difference of one word.
    """
    found: dict[int, int] = {}
    for word, times in Counter(words).items():
        number = crc32(word.encode("utf-8", "replace"))
        found[number] = found.get(number, 0) + times
    return found


def write_sketch(counts: Mapping[int, int]) -> str:
    """A sketch as it is stored: the numbers in order, then the counts."""
    numbers = sorted(counts)
    shape = _SKETCH.format(len(numbers))
    return _text(struct.pack(shape, *numbers, *[min(counts[number], 0xFFFF) for number in numbers]))


def read_sketch(text: str) -> dict[int, int]:
    """The way back."""
    data = b64decode(text)
    words = len(data) // struct.calcsize(_SKETCH.format(1))
    found = struct.unpack_from(_SKETCH.format(words), data)
    return dict(zip(found[:words], found[words:], strict=True))


def signature(counts: Mapping[int, int]) -> bytes:
    """How many words fall into each of 64 groups, at most 255. Two texts differ in at least as many words as
    their signatures do.
    """
    found = [0] * BUCKETS
    for number, count in counts.items():
        found[number % BUCKETS] += count
    return bytes([min(each, 255) for each in found])


def _text(data: bytes) -> str:
    return b64encode(data).decode()


# Two texts


def shared_words(one: Mapping[int, int], other: Mapping[int, int]) -> int:
    """How many words two texts have in common, each as often as both have it."""
    few, many = (one, other) if len(one) <= len(other) else (other, one)
    return sum(min(count, many[number]) for number, count in few.items() if number in many)


def is_near(shared: int, sizes: tuple[int, int], permille: int) -> bool:
    """Whether so many words in common are enough."""
    return 1_000 * shared >= permille * max(sizes)


def may_be_near(one: OfferText, other: OfferText, permille: int) -> bool:
    """Whether the rule may take two offers, by what is cheap to look at. Never False where it would."""
    few, many = (one.size, other.size) if one.size < other.size else (other.size, one.size)
    if one.signature is None or other.signature is None or 1_000 * few < permille * many:
        return False
    if not titles_agree(one.headline, other.headline):
        return False
    needed = -(-permille * many // 1_000)
    apart: int = sum(map(abs, map(sub, _bytes(one.signature), _bytes(other.signature))))
    return apart <= few + many - 2 * needed


def agreeing(arrivals: Iterable[OfferText], known: Iterable[ListedOffer], permille: int) -> set[str]:
    """The postings of the known offers that agree with an arrival in title and size. They are few, and only
    of those more needs to be read.
    """
    by_company: dict[str, list[tuple[frozenset[str], int]]] = {}
    for offer in arrivals:
        by_company.setdefault(offer.company, []).append((_words(offer.headline), offer.size))
    found = set()
    for posting, company, headline, size in known:
        title = _words(headline)
        for other, count in by_company.get(company, ()):
            agree = title <= other or other <= title
            if agree and 1_000 * min(size, count) >= permille * max(size, count):
                found.add(posting)
    return found


def titles_agree(one: str, other: str) -> bool:
    """Whether the words of one title are all in the other."""
    words, others = _words(one), _words(other)
    return words <= others or others <= words


@lru_cache(8_192)
def _words(headline: str) -> frozenset[str]:
    return frozenset(plain_words(headline))


@lru_cache(8_192)
def _bytes(text: str) -> bytes:
    return b64decode(text)


@lru_cache(256)
def _sketch(text: str) -> dict[int, int]:
    return read_sketch(text)


# Many offers


@dataclass(slots=True)
class Canonicals:
    """The canonical offers of the companies in question: by company, and by fingerprint."""

    permille: int = round(1_000 * OVERLAP)
    by_company: dict[str, dict[str, OfferText]] = field(default_factory=dict)
    by_print: dict[tuple[str, str], OfferText] = field(default_factory=dict)
    candidates: dict[str, list[OfferText]] = field(default_factory=dict)  # of those that `wanted` looked at

    def add(self, offer: OfferText) -> None:
        self.by_company.setdefault(offer.company, {})[offer.posting] = offer
        same = (offer.company, offer.fingerprint)
        known = self.by_print.get(same)
        if known is None or offer.order < known.order:
            self.by_print[same] = offer

    def wanted(self, arrivals: Iterable[OfferText]) -> set[str]:
        """The known offers whose sketches are needed to decide about these."""
        for offer in arrivals:
            if (offer.company, offer.fingerprint) not in self.by_print:
                self.candidates[offer.posting] = self._near_among(
                    offer, self.by_company.get(offer.company, {}).values()
                )
        return {each.posting for some in self.candidates.values() for each in some}

    def decide(
        self, arrivals: Collection[OfferText], sketches: Mapping[str, str]
    ) -> dict[str, Repost | None]:
        """What each of these reposts; those that repost nothing are canonical for the rest of them."""
        found: dict[str, Repost | None] = {}
        arrived: dict[str, list[OfferText]] = {}  # the canonical ones among them, by company
        self.wanted(each for each in arrivals if each.posting not in self.candidates)
        for offer in sorted(arrivals, key=attrgetter("order")):
            repost = self._same(offer)
            if repost is None:
                others = self._near_among(offer, arrived.get(offer.company, ()))
                candidates = (*self.candidates[offer.posting], *others)
                repost = _nearest(offer, candidates, sketches, self.permille)
            found[offer.posting] = repost
            if repost is None:
                self.add(offer)
                arrived.setdefault(offer.company, []).append(offer)
        return found

    def _near_among(self, offer: OfferText, others: Iterable[OfferText]) -> list[OfferText]:
        return [each for each in others if may_be_near(offer, each, self.permille)]

    def _same(self, offer: OfferText) -> Repost | None:
        known = self.by_print.get((offer.company, offer.fingerprint))
        return Repost(known.posting, f"the same text{_elsewhere(offer, known)}") if known else None


def _nearest(
    offer: OfferText, candidates: Iterable[OfferText], sketches: Mapping[str, str], permille: int
) -> Repost | None:
    """The most similar one, the oldest of equals."""
    best: tuple[int, OfferText] | None = None
    for each in candidates:
        kept = sketches.get(each.posting) or each.sketch
        if kept is None or offer.sketch is None:
            continue
        shared = shared_words(_sketch(offer.sketch), _sketch(kept))
        sizes = (offer.size, each.size)
        if not is_near(shared, sizes, permille):
            continue
        share = 1_000 * shared // max(sizes)
        if best is None or (-share, each.order) < (-best[0], best[1].order):
            best = share, each
    if best is None:
        return None
    share, known = best
    return Repost(known.posting, f"{share // 10} % of the words{_elsewhere(offer, known)}")


def _elsewhere(one: OfferText, other: OfferText) -> str:
    places = {plain_words(one.location), plain_words(other.location)} - {()}
    return ", for another place" if len(places) > 1 else ""

"""What an offer is worth under the rules, and why. Pure, and linear in the text.

Every part of a score says which rule made it, how many points it is, and which words of the offer caused it;
the parts add up to the score, rounding included. A hit that a negation cancels is listed with 0 points.
Points are hundredths.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any

from thresher.apps.queries.signals.rules import Category, Pattern, Phrase, Rules
from thresher.apps.queries.signals.words import Words, read_words

MAX_HITS = 60  # that are listed one by one; the others stand in one line with their sum
MAX_NEGATED = 20
MAX_QUOTE = 200  # characters

TITLE, DESCRIPTION = "title", "description"


class PartKind(StrEnum):
    """What a part of a score comes from."""

    CATEGORY = "category"
    PHRASE = "phrase"
    MORE = "more hits"
    BUCKET_CAP = "bucket cap"
    SYNERGY = "synergy"
    SYNERGY_CAP = "synergy cap"
    NO_CORE = "no core"
    SCALE = "scale"
    ROUNDING = "rounding"


HITS = (PartKind.CATEGORY, PartKind.PHRASE)


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a score, in hundredths of a point. A hit quotes the words that caused it, and says where
    they begin and end in the title or the description; `negated` are the words that cancel it. `name` is the
    category, the phrase, the bucket or the synergy.
    """

    kind: PartKind
    name: str
    points: int
    bucket: str | None = None
    quote: str | None = None
    where: str | None = None
    start: int = 0
    end: int = 0
    negated: str | None = None

    def as_json(self) -> dict[str, Any]:
        """As it is stored and shown; what says nothing is left out."""
        name = "category" if self.kind is PartKind.CATEGORY else "name"
        found: dict[str, Any] = {"kind": str(self.kind), name: self.name, "points": self.points / 100}
        if self.bucket:
            found["bucket"] = self.bucket
        if self.where:
            found |= {"quote": self.quote, "where": self.where, "at": [self.start, self.end]}
        if self.negated:
            found["negated"] = self.negated
        return found


@dataclass(frozen=True, slots=True)
class Score:
    """`points` are whole and on the scale of the rules. `category` is the one that brought most; `categories`
    are all that counted, in the order of the rule file. `hits` are the parts that quote the offer.
    """

    points: int
    strong: bool
    category: str | None
    categories: tuple[str, ...]
    parts: tuple[Part, ...]
    core: bool = False

    @property
    def hits(self) -> tuple[Part, ...]:
        return tuple(part for part in self.parts if part.kind in HITS)


def score_offer(title: str, description: str | None, rules: Rules) -> Score:
    """The score of an offer. One without a description is scored by its title."""
    counted, negated = _hits(title, description or "", rules)
    return _score(counted, negated, rules)


# From the text to hits


class _Node:
    """A step of the patterns: which words may follow, and what ends here."""

    __slots__ = ("ends", "lengths", "next", "starred")

    def __init__(self) -> None:
        self.next: dict[str, _Node] = {}
        self.starred: dict[str, _Node] = {}
        self.lengths: tuple[int, ...] = ()
        self.ends: list[int] = []

    def after(self, word: str) -> Iterator["_Node"]:
        if found := self.next.get(word):
            yield found
        for length in self.lengths:
            if found := self.starred.get(word[:length]):
                yield found

    def child(self, word: str) -> "_Node":
        if not word.endswith("*"):
            return self.next.setdefault(word, _Node())
        made = self.starred.setdefault(word[:-1], _Node())
        self.lengths = tuple(sorted({len(each) for each in self.starred}))
        return made


_NEGATION, _EXCEPTION = -1, -2


@dataclass(frozen=True, slots=True)
class _Matcher:
    """The patterns of a rule file in one tree. An owner is a category, or a phrase behind the last of
    them.
    """

    root: _Node
    owners: tuple[Category | Phrase, ...]


@lru_cache(8)
def _matcher(rules: Rules) -> _Matcher:
    owners: tuple[Category | Phrase, ...] = (*rules.categories, *rules.phrases)
    root = _Node()
    for at, owner in enumerate(owners):
        for words in owner.keywords if isinstance(owner, Category) else (owner.words,):
            _add(root, words, at)
    for words in rules.negation.words:
        _add(root, words, _NEGATION)
    for words in rules.negation.exceptions:
        _add(root, words, _EXCEPTION)
    return _Matcher(root, owners)


def _add(root: _Node, words: Pattern, owner: int) -> None:
    node = root
    for word in words:
        node = node.child(word)
    node.ends.append(owner)


@dataclass(slots=True)
class _Text:
    """One field of an offer: what was found in it. Spans count words; their end is behind the last one."""

    words: Words
    found: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    negations: list[tuple[int, int]] = field(default_factory=list)

    def negated(self, span: tuple[int, int], before: int, after: int) -> tuple[int, int] | None:
        """The negation that cancels a span: the nearest in front of it, else the nearest behind it, in the
        same sentence.
        """
        first, end = span
        sentence = self.words.sentences[first]
        at = bisect_left(self.negations, (first, 0))
        for near in reversed(self.negations[max(0, at - before - 1) : at]):
            if near[1] <= first:
                if first - near[1] < before and self.words.sentences[near[0]] == sentence:
                    return near
                break
        for near in self.negations[at : at + after + end - first]:
            if near[0] >= end:
                if near[0] - end < after and self.words.sentences[near[0]] == sentence:
                    return near
                break
        return None


def _read(text: str, matcher: _Matcher) -> _Text:
    read = _Text(read_words(text))
    words, sentences = read.words.words, read.words.sentences
    excepted: list[tuple[int, int]] = []
    for first, word in enumerate(words):
        nodes = _begun_by(word, matcher.root)
        at = first
        while nodes:
            at += 1
            for node in nodes:
                for owner in node.ends:
                    if owner >= 0:
                        read.found.setdefault(owner, []).append((first, at))
                    else:
                        (read.negations if owner == _NEGATION else excepted).append((first, at))
            if at >= len(words) or sentences[at] != sentences[first]:
                break
            nodes = tuple(follower for node in nodes for follower in node.after(words[at]))
    read.negations = sorted(_without(read.negations, excepted))
    return read


@lru_cache(16_384)
def _begun_by(word: str, root: _Node) -> tuple[_Node, ...]:
    """The patterns that begin with a word. Most words begin none, and most are in every text."""
    return tuple(root.after(word))


def _without(
    spans: Iterable[tuple[int, int]], covers: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """The spans that none of the others cover."""
    covered = {at for first, end in covers for at in range(first, end)}
    return (span for span in spans if not all(at in covered for at in range(*span)))


def _hits(title: str, description: str, rules: Rules) -> tuple[list[Part], list[Part]]:
    """What counts, and what a negation cancels: of each category and phrase the one hit that is worth most,
    and the first that is cancelled.
    """
    matcher = _matcher(rules)
    fields = [(TITLE, title, rules.title), (DESCRIPTION, description, rules.description)]
    read = [(name, text, share, _read(text, matcher)) for name, text, share in fields]
    best: dict[int, Part] = {}
    cancelled: dict[int, Part] = {}
    for name, text, share, found in read:
        for owner, spans in found.found.items():
            rule = matcher.owners[owner]
            points = (rule.points * share + 50) // 100
            counts = owner in best and best[owner].points >= points
            for span in spans:
                if counts and owner in cancelled:
                    break
                near = found.negated(span, rules.negation.before, rules.negation.after)
                if near is not None and owner not in cancelled:
                    cancelled[owner] = _part(rule, 0, name, text, found.words, span, near)
                elif near is None and not counts:
                    best[owner] = _part(rule, points, name, text, found.words, span)
                    counts = True
    return [best[owner] for owner in sorted(best)], [cancelled[owner] for owner in sorted(cancelled)]


def _part(
    rule: Category | Phrase,
    points: int,
    where: str,
    text: str,
    words: Words,
    span: tuple[int, int],
    near: tuple[int, int] | None = None,
) -> Part:
    start, end = words.starts[span[0]], words.ends[span[1] - 1]
    negated = text[words.starts[near[0]] : words.ends[near[1] - 1]] if near else None
    kind, name = (PartKind.CATEGORY, rule.id) if isinstance(rule, Category) else (PartKind.PHRASE, rule.text)
    quote = text[start : min(end, start + MAX_QUOTE)]
    return Part(kind, name, points, rule.bucket, quote, where, start, end, negated and negated[:MAX_QUOTE])


# From hits to the score


def _score(counted: Sequence[Part], negated: Sequence[Part], rules: Rules) -> Score:
    sums = {bucket.id: 0 for bucket in rules.buckets}
    for hit in counted:
        sums[hit.bucket or ""] += hit.points
    core = rules.core is None or sums[rules.core.bucket] >= rules.core.min
    parts = [*_listed(counted), *negated[:MAX_NEGATED], *_capped(sums, rules)]
    if core:
        parts += _synergies(sums, rules)
    total = sum(part.points for part in parts)
    if rules.core and not core and total > rules.core.cap_without:
        parts.append(Part(PartKind.NO_CORE, rules.core.bucket, rules.core.cap_without - total))
        total = rules.core.cap_without
    if total > 100 * rules.scale:
        parts.append(Part(PartKind.SCALE, "max", 100 * rules.scale - total))
        total = 100 * rules.scale
    points = (total + 50) // 100
    if points * 100 != total:
        parts.append(Part(PartKind.ROUNDING, "whole points", points * 100 - total))
    categories = [hit for hit in counted if hit.kind is PartKind.CATEGORY]
    best = max(categories, key=lambda hit: hit.points, default=None)  # the first of equals
    return Score(
        points,
        points >= rules.strong,
        best.name if best else None,
        tuple(hit.name for hit in categories),
        tuple(parts),
        core and rules.core is not None,
    )


def _listed(counted: Sequence[Part]) -> list[Part]:
    """The hits, those that are worth most first. Those beyond the limit stand in one line."""
    ranked = sorted(counted, key=lambda hit: -hit.points)
    more = ranked[MAX_HITS:]
    kept = ranked[:MAX_HITS]
    if more:
        kept.append(Part(PartKind.MORE, f"{len(more)} more", sum(hit.points for hit in more)))
    return kept


def _capped(sums: Mapping[str, int], rules: Rules) -> Iterator[Part]:
    for bucket in rules.buckets:
        if sums[bucket.id] > bucket.cap:
            yield Part(PartKind.BUCKET_CAP, bucket.id, bucket.cap - sums[bucket.id], bucket.id)


def _synergies(sums: Mapping[str, int], rules: Rules) -> list[Part]:
    found = [
        Part(PartKind.SYNERGY, each.id, each.points)
        for each in rules.synergies
        if all(sums[bucket] for bucket in each.buckets)
    ]
    over = sum(part.points for part in found) - rules.max_synergies
    return [*found, Part(PartKind.SYNERGY_CAP, "max", -over)] if over > 0 else found

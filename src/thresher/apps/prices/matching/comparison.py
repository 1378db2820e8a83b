"""What comparing one attribute of an item with one text says, and what is compared: the listing as texts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from thresher.apps.prices.matching.negation import is_denied
from thresher.apps.prices.matching.vocabulary import Mention, Phrases
from thresher.apps.prices.matching.words import Words, folded, read_words
from thresher.apps.prices.model import Listing

MAX_ASPECTS = 60
MAX_ASPECT = 300  # characters of a name and of a value
_NOTHING = frozenset(
    {"", "no", "none", "n/a", "na", "does not apply", "unknown", "not applicable", "nein", "non", "false"}
)
_AFFIRMED = frozenset({"yes", "true", "ja", "oui", "si"})


class Verdict(StrEnum):
    """What a text says about an attribute."""

    MATCHES = "matches"
    DIFFERS = "differs"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class Compared:
    """A verdict with the text that decided it, and what it says in place of what was wanted."""

    verdict: Verdict
    quote: str | None = None
    says: str | None = None


SILENT = Compared(Verdict.SILENT)


def matches(quote: str) -> Compared:
    return Compared(Verdict.MATCHES, quote or None)


def differs(quote: str, says: str | None = None) -> Compared:
    return Compared(Verdict.DIFFERS, quote or None, says or quote)


def strictest(found: Iterable[Compared]) -> Compared:
    """A contradiction before a match, and a match before silence."""
    kept = SILENT
    for each in found:
        if each.verdict is Verdict.DIFFERS:
            return each
        if each.verdict is Verdict.MATCHES and kept is SILENT:
            kept = each
    return kept


@dataclass(frozen=True, slots=True)
class ListingTexts:
    """A listing as matching reads it: its title, its condition, and what its source says of it by name."""

    title: Words
    condition: Words
    aspects: Mapping[str, Words]

    def named(self, names: Iterable[str]) -> list[Words]:
        """What the source says under one of these names."""
        return [self.aspects[name] for name in names if name in self.aspects]

    @property
    def statements(self) -> list[Words]:
        """Every text that may say something of the thing. "Cleaned: yes" says "cleaned", "Cleaned: no"
        nothing.
        """
        return [self.title, self.condition, *self.aspects.values()]


def texts_of(listing: Listing) -> ListingTexts:
    """The texts of a listing, each bounded."""
    aspects = {}
    for name, value in islice(listing.aspects.items(), MAX_ASPECTS):
        plain = folded(" ".join(value[:100].split()))
        if plain in _NOTHING:
            continue
        said = name if plain in _AFFIRMED else value
        aspects[" ".join(read_words(name[:MAX_ASPECT]).words)] = read_words(said[:MAX_ASPECT])
    return ListingTexts(read_words(listing.title), read_words(listing.condition or ""), aspects)


def affirmed(words: Words, phrases: Phrases, alike_phrases: Phrases | None = None) -> list[Mention]:
    """The phrases of a group that a text states, without those that it denies. A negation reaches over those
    of `alike_phrases`; without them over those of the group.
    """
    found = phrases.mentions(words)
    if not found:
        return []
    others = alike_phrases.mentions(words) if alike_phrases is not None else found
    alike = frozenset(at for each in others for at in range(each.start, each.end))
    return [each for each in found if not is_denied(words, each.start, each.end, alike)]


def denied(words: Words, phrases: Phrases, alike_phrases: Phrases | None = None) -> list[Mention]:
    """The phrases of a group that a text denies."""
    stated = affirmed(words, phrases, alike_phrases)
    return [each for each in phrases.mentions(words) if each not in stated]


def quote_of(words: Words, mention: Mention) -> str:
    return words.quote(mention.start, mention.end)

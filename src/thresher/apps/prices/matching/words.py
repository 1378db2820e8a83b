"""The words of a short text as matching compares them: without case and accents, each with its place.

Everything is compared word by word, so that "Charlotte" is no lot and "uncleaned" is not cleaned. A text is
read once; its length is bounded, whatever a stranger writes into a title.
"""

import re
import unicodedata
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

MAX_TEXT = 1_000  # characters of one text that are compared
MAX_WORD = 64

# Initials are one word ("V.D.B."), and so is an amount with its sign ("$20", "5¢") or a fraction.
_WORD = re.compile(
    r"(?:[^\W\d_]\.){2,8}[^\W\d_]?(?![^\W_])|\$\d{1,9}(?:\.\d{1,2})?(?!\d)|\d{1,4}¢|[1-9]/\d{1,2}(?![\d/])|[^\W_]+(?:['’´`][^\W_]+)*",
    re.UNICODE,
)
_PART = re.compile(r"[^\W\d_]+|\d+")


@dataclass(frozen=True, slots=True)
class Part:
    """A run of letters or of digits: "RTX-4090" and "RTX4090" have the same two."""

    text: str
    start: int
    end: int

    @property
    def is_number(self) -> bool:
        return self.text.isdigit()


@dataclass(frozen=True)
class Words:
    """A text and its words as compared; `starts` and `ends` are places in `text`. `memo` keeps what was found
    in it, by who looked: ten attributes ask for the same phrases.
    """

    text: str
    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    memo: dict[object, Any] = field(default_factory=dict, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.words)

    def gap(self, at: int) -> str:
        """What stands between the word at this place and the one before it."""
        return self.text[self.ends[at - 1] : self.starts[at]] if 0 < at < len(self.words) else ""

    def quote(self, start: int, end: int) -> str:
        """The text of the words from `start` to before `end`."""
        return self.text[self.starts[start] : self.ends[end - 1]] if start < end else ""

    def fits(self, at: int, word: str) -> bool:
        """Whether the word at this place is `word`, or its plural."""
        return at < len(self.words) and word in (self.words[at], singular(self.words[at]))

    def has_phrase(self, phrase: tuple[str, ...], at: int) -> bool:
        """Whether these words stand at this place."""
        return all(
            self.fits(at + step, word) if step == len(phrase) - 1 else self.word(at + step) == word
            for step, word in enumerate(phrase)
        )

    def word(self, at: int) -> str:
        """The word at this place; an empty one beyond both ends."""
        return self.words[at] if 0 <= at < len(self.words) else ""

    def places(self, phrase: tuple[str, ...]) -> list[int]:
        """Where these words stand in a row."""
        if not phrase or not self.forms.issuperset(phrase):
            return []
        return [at for at in range(len(self.words)) if self.has_phrase(phrase, at)]

    def at_character(self, place: int) -> int:
        """The number of the first word that begins at this character or behind it."""
        return next((at for at, start in enumerate(self.starts) if start >= place), len(self.words))

    @cached_property
    def forms(self) -> frozenset[str]:
        """The words and their singulars."""
        return frozenset(self.words).union(singular(word) for word in self.words)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The words cut where letters meet digits."""
        return tuple(
            Part(each[0], start + each.start(), start + each.end())
            for start, end in zip(self.starts, self.ends, strict=True)
            for each in _PART.finditer(_lowered(self.text[start:end]))
        )


def read_words(text: str) -> Words:
    """The words of a text, with their places in its plain form."""
    plain = plain_text(text)
    words, starts, ends = [], [], []
    for found in _WORD.finditer(plain):
        words.append(folded(found[0].replace(".", "") if found[0][1:2] == "." else found[0]))
        starts.append(found.start())
        ends.append(found.end())
    return Words(plain, tuple(words), tuple(starts), tuple(ends))


def plain_text(text: str) -> str:
    """A text on one line with the plain forms of its characters: "１９２１" is "1921", "½" is "1/2"."""
    text = text[:MAX_TEXT]
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).replace("⁄", "/")[: 2 * MAX_TEXT]
    return " ".join(text.split())


def phrase_of(text: str) -> tuple[str, ...]:
    """A phrase as it is compared."""
    return read_words(text).words


def singular(word: str) -> str:
    """A word without the s of a plural."""
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] != "s" else word


@lru_cache(maxsize=16_384)
def folded(word: str) -> str:
    """A word without case and accents."""
    word = word[:MAX_WORD].casefold()
    if word.isascii():
        return word.replace("´", "'").replace("`", "'")
    word = word.replace("’", "'").replace("´", "'").replace("¢", "c")
    return "".join(char for char in unicodedata.normalize("NFKD", word) if not unicodedata.combining(char))


def _lowered(word: str) -> str:
    """A word in small letters, of the same length: its parts have places."""
    lower = word.lower()
    return lower if len(lower) == len(word) else word

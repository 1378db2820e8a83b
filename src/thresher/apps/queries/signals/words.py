"""The words of a text as rules compare them: without case and accents, each with its place in the text and
the number of its sentence.

A text is read once, from its beginning to its end. Places are those in the text as it was given, so that a
quote can be found again.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

MAX_TEXT = 60_000  # characters that are read; a stored description has half as many
MAX_WORD = 64  # characters of a word that are compared

# A letter may be written as two characters, of which the second is the accent.
_WORD = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f])*")
# Between two words: a new line, a bullet, or a full stop with a space behind it. "Node.js" has none. What may
# stand between the two is bounded: a page may have a thousand full stops in a row.
_SENTENCE = re.compile(r"[\n\r\u2028\u2029•▪◦·‣]|[.!?;…]['\"”’»)\]]{0,3}\s|[。！？；]")


@dataclass(frozen=True, slots=True)
class Words:
    """`words` as compared; `starts` and `ends` in characters of the text; `sentences` never falls."""

    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    sentences: tuple[int, ...]


def read_words(text: str) -> Words:
    """The words of a text, with their places."""
    text = text[:MAX_TEXT]
    words, starts, ends, sentences = [], [], [], []
    sentence, last = 0, 0
    for found in _WORD.finditer(text):
        start, end = found.span()
        if text[last:start] != " ":
            sentence += _SENTENCE.search(text, last, start) is not None
        words.append(fold(found[0]))
        starts.append(start)
        ends.append(end)
        sentences.append(sentence)
        last = end
    return Words(tuple(words), tuple(starts), tuple(ends), tuple(sentences))


def plain_words(text: str) -> tuple[str, ...]:
    """The words alone."""
    return tuple(fold(word) for word in _WORD.findall(text[:MAX_TEXT]))


def fold(word: str) -> str:
    """One word as it is compared: "Exportación", "EXPORTACION" and "exportacio\u0301n" are the same."""
    return word[:MAX_WORD].lower() if word.isascii() else _folded(word[:MAX_WORD])


@lru_cache(8_192)
def _folded(word: str) -> str:
    return _bare(unicodedata.normalize("NFKD", word.casefold()))


def _bare(chars: Iterable[str]) -> str:
    return "".join(char for char in chars if not unicodedata.combining(char))

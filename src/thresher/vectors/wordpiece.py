"""Texts as numbers that the model was taught: words, or the longest pieces of them that stand in its
vocabulary.

Ours differs from the model's own tokeniser on purpose in one point: a text that says `[SEP]` says three signs
and a word. What a page contains never becomes a mark of the model's.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from thresher.core.errors import ConfigError

# How the characters of a text are read before words are looked up: the rules of the uncased BERT models,
# one character at a time.

IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)
# ASCII signs that Unicode counts as symbols, and the models as punctuation.
SIGNS = frozenset("$+<=>^`|~")
BLANKS = frozenset("\t\n\r")
REPLACEMENT = "\ufffd"
MAX_REMEMBERED = 20_000


class Characters(dict[int, str]):
    """A table for `str.translate` that fills itself; a text of a million different characters cannot make it
    grow for ever.
    """

    def __missing__(self, code: int) -> str:
        read = _read(chr(code))
        if len(self) < MAX_REMEMBERED:
            self[code] = read
        return read


def _read(character: str) -> str:
    if character in BLANKS:
        return " "
    category = unicodedata.category(character)
    if character == REPLACEMENT or category in {"Cc", "Cf", "Co", "Cs"}:
        return ""
    if category[0] == "Z":
        return " "
    plain = "".join(_apart(each) for each in _plain(character))
    return f" {plain} " if _is_ideograph(ord(character)) else plain


def _plain(character: str) -> str:
    """Without its accents, and small. One character at a time, so that a sigma does not depend on where it
    stands.
    """
    parts = unicodedata.normalize("NFD", character)
    return "".join(part.lower() for part in parts if unicodedata.category(part) != "Mn")


def _apart(character: str) -> str:
    return f" {character} " if character in SIGNS or unicodedata.category(character)[0] == "P" else character


def _is_ideograph(code: int) -> bool:
    return any(first <= code <= last for first, last in IDEOGRAPHS)


MAX_TOKENS = 256
# A longer word is unknown to the model as a whole.
MAX_LETTERS = 100
# Enough for as many words as fit, each as long as a word may be. What follows is never looked at.
MAX_CHARACTERS = 32_768
MAX_BYTES = 8 << 20
MARKS = ("[UNK]", "[CLS]", "[SEP]")


@dataclass(frozen=True, slots=True)
class WordPiece:
    """A vocabulary, and the way from a text to places in it."""

    vocabulary: Mapping[str, int]
    longest: int
    unknown: int
    first: int
    last: int
    characters: Characters = field(default_factory=Characters, repr=False, compare=False)

    def encode(self, text: str) -> list[int]:
        """The tokens of a text between the two marks, `MAX_TOKENS` at most."""
        found = [self.first]
        for word in text[:MAX_CHARACTERS].translate(self.characters).split():
            found += self._pieces(word)
            if len(found) >= MAX_TOKENS:
                break
        return [*found[: MAX_TOKENS - 1], self.last]

    def _pieces(self, word: str) -> list[int]:
        whole = self.vocabulary.get(word)
        if whole is not None:
            return [whole]
        if len(word) > MAX_LETTERS:
            return [self.unknown]
        found, start = [], 0
        while start < len(word):
            piece = self._longest(word, start)
            if piece is None:
                return [self.unknown]
            found.append(piece[0])
            start = piece[1]
        return found

    def _longest(self, word: str, start: int) -> tuple[int, int] | None:
        """The longest piece from here on, and where it ends."""
        for end in range(min(len(word), start + self.longest), start, -1):
            piece = f"##{word[start:end]}" if start else word[start:end]
            number = self.vocabulary.get(piece)
            if number is not None:
                return number, end
        return None


def read_vocabulary(path: Path, size: int) -> WordPiece:
    """The vocabulary from its file, one token a line. `size` is how many rows the model has for it."""
    try:
        with path.open("rb") as file:
            words = file.read(MAX_BYTES).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise ConfigError(
            f"the vocabulary of the embeddings cannot be read ({problem}); run: thresher doctor --fix"
        ) from None
    vocabulary = {word: number for number, word in enumerate(words)}
    missing = [mark for mark in MARKS if mark not in vocabulary]
    if missing or len(words) != size:
        found = f"has {len(words)} tokens for {size} vectors" + (
            f" and no {', '.join(missing)}" if missing else ""
        )
        raise ConfigError(
            f"the vocabulary of the embeddings is damaged: {path} {found}; run: thresher doctor --fix"
        )
    unknown, first, last = (vocabulary[mark] for mark in MARKS)
    return WordPiece(vocabulary, max(map(len, vocabulary)), unknown, first, last)

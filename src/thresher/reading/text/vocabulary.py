"""Vocabularies: what people write on pages, in the languages we read, kept as data beside the code.

Each is a file of phrases. `names` asks whether one of them stands in a text as whole words, `is_one` whether
the text is nothing else.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from thresher.reading.structured.yaml_file import read_yaml

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)  # scripts that put no space between words
_LONG_WORD = re.compile(r"\w{5,}")  # shorter ones ("you") stand in every text
_EDGES = " \t\n.,:;!?…·|-–—>»›→*()[]"


class Words:
    """A set of phrases that can be looked for. Case and runs of white space do not matter."""

    __slots__ = ("_pattern", "_sharing", "phrases")

    def __init__(self, phrases: Iterable[str]) -> None:
        self.phrases = frozenset(plain(phrase) for phrase in phrases)
        self._sharing = _sharing(self.phrases)
        ordered = sorted(self.phrases, key=len, reverse=True)
        spaced = "|".join(re.escape(each) for each in ordered if not _UNSPACED.search(each))
        unspaced = "|".join(re.escape(each) for each in ordered if _UNSPACED.search(each))
        parts = [rf"(?<!\w)(?:{spaced})(?!\w)"] if spaced else []
        self._pattern = re.compile("|".join(parts + ([unspaced] if unspaced else [])))

    def quote(self, text: str) -> str | None:
        """The phrase that stands in the text, or None."""
        text = plain(text)
        if not self._may_stand_in(text):
            return None
        found = self._pattern.search(text)
        return found[0] if found else None

    def _may_stand_in(self, text: str) -> bool:
        """Far cheaper than the pattern, and its no is nearly always the answer."""
        for word, phrases in self._sharing:
            if word in text:
                for phrase in phrases:
                    if phrase in text:
                        return True
        return False

    def names(self, text: str) -> bool:
        return self.quote(text) is not None

    def is_one(self, text: str) -> bool:
        return plain(text).strip(_EDGES) in self.phrases


def _sharing(phrases: Iterable[str]) -> list[tuple[str, list[str]]]:
    """The phrases by a word of theirs, one that many share: where it does not stand, none of them does."""
    listed = sorted(phrases)
    common = Counter(word for phrase in listed for word in _LONG_WORD.findall(phrase))
    found: dict[str, list[str]] = {}
    for phrase in listed:
        found.setdefault(
            max(_LONG_WORD.findall(phrase), key=lambda word: common[word], default=phrase), []
        ).append(phrase)
    return list(found.items())


def plain(text: str) -> str:
    """Lower case, one space between words, straight quotes."""
    # The lower case of a Turkish capital is otherwise two characters, an "i" and a dot above it.
    return " ".join(text.replace("’", "'").replace("İ", "i").lower().split())


@cache
def vocabulary(name: str) -> Mapping[str, Any]:
    """A whole file of the vocabulary. A block of text is a list of phrases between semicolons."""
    text = (files("thresher.reading") / "vocabulary" / f"{name}.yaml").read_text("utf-8")
    return {key: _phrases(value) for key, value in read_yaml(text).items()}


def _phrases(value: Any) -> Any:
    if isinstance(value, str):
        return tuple(phrase for piece in value.split(";") if (phrase := " ".join(piece.split())))
    return {key: _phrases(each) for key, each in value.items()} if isinstance(value, dict) else value


@cache
def words(name: str, key: str = "phrases") -> Words:
    """The phrases of one vocabulary."""
    return Words(map(str, vocabulary(name)[key]))

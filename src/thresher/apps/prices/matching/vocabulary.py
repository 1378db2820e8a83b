"""The words of the trade: groups of phrases, each with the names that it is known by, and where they stand in
a text.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from thresher.apps.prices.matching.words import Words, phrase_of, singular
from thresher.reading.structured.checked_yaml import list_at, mapping_of, read_checked, wrong

FILE = "vocabulary.yaml"
_PLURALS = frozenset({"pennies", "halves", "halfpennies"})  # that do not end in a mere s


@dataclass(frozen=True, slots=True)
class Name:
    """One thing with its other names. A `weak` name may mean something else: it can confirm, never
    contradict. `broader` are things of the same group that this one is a kind of.
    """

    label: str
    broader: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mention:
    """A phrase of a group in a text, from one word to before another."""

    name: Name
    start: int
    end: int
    is_weak: bool = False
    is_plural: bool = False

    @property
    def label(self) -> str:
        return self.name.label


@dataclass(frozen=True, slots=True, eq=False)
class Phrases:
    """A group of phrases by their first word, the longest first."""

    by_first: Mapping[str, tuple[tuple[tuple[str, ...], Name, bool], ...]]

    def mentions(self, words: Words) -> list[Mention]:
        """The phrases of the group in a text. Of those that overlap, the longest one that begins first."""
        known: list[Mention] | None = words.memo.get(self)
        if known is None:
            known = words.memo[self] = self._mentions(words)
        return known

    def _mentions(self, words: Words) -> list[Mention]:
        if words.forms.isdisjoint(self.by_first):
            return []
        found = []
        at = 0
        while at < len(words):
            mention = self._at(words, at)
            if mention is not None:
                found.append(mention)
            at = mention.end if mention is not None else at + 1
        return found

    def _at(self, words: Words, at: int) -> Mention | None:
        word = words.words[at]
        known = self.by_first.get(word, ())
        if (one := singular(word)) != word:
            known = (*known, *self.by_first.get(one, ()))
        for phrase, name, is_weak in known:
            if words.has_phrase(phrase, at):
                end = at + len(phrase)
                is_plural = words.words[end - 1] != phrase[-1] or phrase[-1] in _PLURALS
                return Mention(name, at, end, is_weak, is_plural)
        return None


def phrases_of(names: Iterable[tuple[str, Name, bool]]) -> Phrases:
    """A group of phrases, from texts with what they mean and whether they are weak."""
    found: dict[str, list[tuple[tuple[str, ...], Name, bool]]] = {}
    for text, name, is_weak in names:
        phrase = phrase_of(text)
        if phrase:
            found.setdefault(phrase[0], []).append((phrase, name, is_weak))
    return Phrases({first: tuple(sorted(all_, key=_longest_first)) for first, all_ in found.items()})


def _longest_first(entry: tuple[tuple[str, ...], Name, bool]) -> int:
    return -len(entry[0])


@cache
def phrases(group: str) -> Phrases:
    """The phrases of a group of the vocabulary that comes with the app. Raises KeyError for a name that it
    does not have.
    """
    return _groups()[group]


@cache
def word_set(group: str) -> frozenset[str]:
    """A group of single words."""
    return frozenset(phrases(group).by_first)


def group_names() -> frozenset[str]:
    """The groups that there are."""
    return frozenset(_groups())


@cache
def _groups() -> Mapping[str, Phrases]:
    text = files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    return read_checked(text, FILE, _read)


def _read(data: Any) -> Mapping[str, Phrases]:
    groups = mapping_of(data, tuple(data) if isinstance(data, dict) else (), ())
    return {group: phrases_of(_names(said, (group,))) for group, said in groups.items()}


def _names(said: Any, path: tuple[str, ...]) -> list[tuple[str, Name, bool]]:
    if isinstance(said, list):
        return [(str(text), Name(str(text)), False) for text in said]
    if not isinstance(said, dict):
        wrong(path, "must be a list of phrases, or map names to their other names")
    found: list[tuple[str, Name, bool]] = []
    for label, told in said.items():
        entry = (
            {"names": told}
            if isinstance(told, list)
            else mapping_of(told, ("names", "weak", "broader"), (*path, str(label)))
        )
        name = Name(str(label), tuple(map(str, list_at(entry, "broader", (*path, str(label))))))
        weak = {str(text) for text in list_at(entry, "weak", (*path, str(label)))}
        strong = (str(text) for text in (label, *list_at(entry, "names", (*path, str(label)))))
        found += [(text, name, False) for text in strong if text not in weak]
        found += [(text, name, True) for text in weak]
    return found

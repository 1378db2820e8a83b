"""The words of titles, from their file: read once, and checked where a slip would be silent."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from thresher.reading.structured.yaml_file import read_yaml

Words = frozenset[str]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What each field is stands above it in `title.yaml`."""

    levels: Mapping[tuple[str, ...], Words]
    leading: Mapping[str, Words]
    grades: Words
    noise: tuple[tuple[str, ...], ...]
    phrases: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    short: Mapping[str, tuple[str, ...]]
    pairs: Words
    wide: Words
    people: Words
    things: Words
    small: Words
    heads: Mapping[str, str]
    words: Mapping[str, str]
    makers: Words
    spelled: Mapping[str, str]


@cache
def vocabulary() -> Vocabulary:
    """The words of titles."""
    said: Mapping[str, Any] = read_yaml((files("thresher.hiring.title") / "title.yaml").read_text("utf-8"))
    return Vocabulary(
        levels={
            phrase: _listed(said["levels"][" ".join(phrase)])
            for phrase in _longest_first(map(str.split, said["levels"]))
        },
        leading={word: _listed(but) for word, but in said["leading"].items()},
        noise=_longest_first(each.split() for each in _listed(said["noise"])),
        phrases=tuple(
            (each, tuple(said["phrases"][" ".join(each)].split()))
            for each in _longest_first(map(str.split, said["phrases"]))
        ),
        short={short: tuple(long.split()) for short, long in said["short"].items()},
        heads=_leaders(said["same_heads"]),
        words=_leaders(said["same_words"]),
        spelled=said["spelled"],
        **{
            name: _listed(said[name])
            for name in ("grades", "pairs", "wide", "people", "things", "small", "makers")
        },
    )


def _listed(text: str) -> Words:
    return frozenset(word for piece in str(text).split(";") if (word := " ".join(piece.split())))


def _longest_first(phrases: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(sorted(map(tuple, phrases), key=lambda phrase: (-len(phrase), phrase)))


def _leaders(groups: Iterable[str]) -> dict[str, str]:
    """Each word of a group to the first in it."""
    return {word: group.split(";")[0].strip() for group in groups for word in _listed(group)}

"""Affixes: which part of a text is the value, by what stands before and after it on every page.

"Posted by ACME on 3 May" gives ACME where the pages agree on "Posted by " and " on ". Contexts are taken from
all examples at once; one that does not hold on each of them is dropped.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from thresher.learning.wording import one_line, says, word_spans

MAX_CONTEXT = 60
MAX_WAYS = 64
SEPARATORS = (", ", "; ", " | ", " / ", " · ", " • ", " & ", ",", ";", "|", "/")


@dataclass(frozen=True, slots=True)
class Affix:
    """`before` and `after` enclose the value. `start`, `end`: they are all there is on that side. `split`
    parts several values. `optional`: the text may also end with the value, where `after` should stand.
    """

    before: str = ""
    after: str = ""
    start: bool = True
    end: bool = True
    split: str = ""
    optional: bool = False

    @property
    def firm(self) -> bool:
        """Whether the text holds nothing but the value and what is the same on every page."""
        return self.start and self.end

    @property
    def whole(self) -> bool:
        return not (self.before or self.after or self.split)

    def take(self, text: str) -> list[str]:
        """The value in a text, or the values; nothing where the contexts are not there."""
        left = 0
        if self.before:
            found = (
                0
                if self.start and text.startswith(self.before)
                else -1
                if self.start
                else text.find(self.before)
            )
            if found < 0:
                return []
            left = found + len(self.before)
        right = len(text)
        if self.after:
            right = (
                text.find(self.after, left)
                if not self.end
                else len(text) - len(self.after)
                if text.endswith(self.after)
                else -1
            )
            if right < 0 and self.optional:
                right = len(text)
            if right < left:
                return []
        inner = text[left:right]
        pieces = inner.split(self.split) if self.split else [inner]
        return [piece for each in pieces if (piece := each.strip())]


WHOLE = Affix()


def fit(texts: Sequence[str], truths: Sequence[Sequence[Any]]) -> Affix | None:
    """The part of each text that says one of its truths; None where no contexts hold on all."""
    if all(any(says(text, truth) for truth in right) for text, right in zip(texts, truths, strict=True)):
        return WHOLE
    ways = [_ways(text, right) for text, right in zip(texts, truths, strict=True)]
    for chosen in _few(ways):
        part = _around(chosen)
        if part is not None and all(
            _takes(part, text, right) for text, right in zip(texts, truths, strict=True)
        ):
            return part
    return None


def _takes(part: Affix, text: str, right: Sequence[Any]) -> bool:
    taken = part.take(text)
    return len(taken) == 1 and any(says(taken[0], truth) for truth in right)


def fit_list(texts: Sequence[str], truths: Sequence[Sequence[Any]]) -> Affix | None:
    """A part that gives all truths of each text, parted by one separator."""
    for split in SEPARATORS:
        part = Affix(split=split)
        if all(same_values(part.take(text), right) for text, right in zip(texts, truths, strict=True)):
            return part
    return None


def same_values(taken: Sequence[str], truths: Sequence[Any]) -> bool:
    """Whether texts say these values: all of them, and nothing else."""
    return (
        bool(taken)
        and all(any(says(text, truth) for truth in truths) for text in taken)
        and all(any(says(text, truth) for text in taken) for truth in truths)
    )


def _ways(text: str, truths: Sequence[Any]) -> list[tuple[str, str]]:
    line = one_line(text)
    return [(line[:start], line[end:]) for truth in truths for start, end in word_spans(line, truth)]


def _few(ways: list[list[tuple[str, str]]]) -> list[tuple[tuple[str, str], ...]]:
    found = []
    for chosen in product(*(each[:4] for each in ways)):
        found.append(chosen)
        if len(found) >= MAX_WAYS:
            break
    return found


def _around(chosen: Sequence[tuple[str, str]]) -> Affix | None:
    lefts, rights = [left for left, _ in chosen], [right for _, right in chosen]
    start, end = len(set(lefts)) == 1, len(set(rights)) == 1
    before = lefts[0] if start else _shared([left[::-1] for left in lefts])[::-1]
    going_on = [right for right in rights if right]
    optional = not end and len(going_on) < len(rights)
    after = rights[0] if end else _separator(going_on) if optional else _shared(rights)
    if (
        (not start and not before.strip())
        or (not end and not after.strip())
        or max(len(before), len(after)) > MAX_CONTEXT
    ):
        return None
    return Affix(before, after, start, end, optional=optional)


def _separator(contexts: Sequence[str]) -> str:
    """What all contexts begin with, as far as it is no word: a bar or a bracket parts a value from what may
    follow it; a word might be its own.
    """
    shared = _shared(contexts)
    return shared[: next((at for at, char in enumerate(shared) if char.isalnum()), len(shared))]


def _shared(contexts: Sequence[str]) -> str:
    """What all contexts begin with, in whole words: that two words begin alike is chance."""
    shortest = min(contexts, key=len)[:MAX_CONTEXT]
    cut = next(
        (at for at, char in enumerate(shortest) if any(each[at] != char for each in contexts)), len(shortest)
    )
    shared = shortest[:cut]
    if any(len(each) > cut and each[cut].isalnum() for each in contexts):
        while cut and shared[cut - 1].isalnum():
            cut -= 1
    return shared[:cut]

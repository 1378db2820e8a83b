"""A distinction: what tells a value from neighbours that look the same from outside.

Where only the order of some lines or list items says which of them is the value, nothing would show if they
changed places. Unless the value itself shows it: it alone begins with a figure, it alone is a day, or it is
one of a few words that come again from page to page.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from thresher.learning.shape import ValueShape, look
from thresher.learning.wording import squeezed

MAX_WORD = 40  # characters of a value that comes again


@dataclass(frozen=True, slots=True)
class Distinction:
    """`features` are those that every known value has, and none of its neighbours. `words`, where there are
    any, are the only values there are.
    """

    features: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()

    def holds(self, text: str) -> bool:
        return self.features.issubset(_features(text)) and (not self.words or squeezed(text) in self.words)

    def __bool__(self) -> bool:
        return bool(self.features or self.words)


NO_DISTINCTION = Distinction()


def distinction(values: Sequence[str], neighbours: Collection[str]) -> Distinction:
    """What tells the values of the known pages from all their neighbours there; nothing, where nothing
    does.
    """
    own = [frozenset(_features(value)) for value in values]
    others = [frozenset(_features(text)) for text in neighbours]
    if not own or not others:
        return NO_DISTINCTION
    told = frozenset.intersection(*own).difference(*others)
    return Distinction(told) if told else Distinction(words=_recurring(values, neighbours))


def _features(text: str) -> Iterator[str]:
    if text[:1].isdigit():
        yield "begins with a figure"
    if text[-1:].isdigit():
        yield "ends with a figure"
    if (found := look(text)) is not ValueShape.WORDS:
        yield found


def _recurring(values: Sequence[str], neighbours: Collection[str]) -> frozenset[str]:
    """The values, if some come again and no neighbour says one of them. One that is the same on all pages
    tells nothing.
    """
    said = [squeezed(value) for value in values]
    again = 1 < len(set(said)) < len(said) and all(_is_word(value) for value in values)
    apart = set(said).isdisjoint(squeezed(text) for text in neighbours)
    return frozenset(said) if again and apart else frozenset()


def _is_word(value: str) -> bool:
    """Whether a value may be one of a few: a kind, a state. Two days that fall together are chance."""
    return len(value) <= MAX_WORD and not any(map(str.isdigit, value))

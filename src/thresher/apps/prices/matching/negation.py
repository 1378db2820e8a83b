"""Whether a phrase is denied: "not cleaned", "no scratches", "never cleaned or polished", "replica-free"."""

from thresher.apps.prices.matching.vocabulary import word_set
from thresher.apps.prices.matching.words import Words

MAX_BACK = 8  # words between a negation and the last phrase that it denies
_STOPS = frozenset(".!?;:|()[]{}•*~")
_FREE = frozenset({"free", "frei"})
_GIVEN_AWAY = frozenset(
    {"shipping", "ship", "postage", "delivery", "returns", "return", "post", "p", "versand", "gift", "us"}
)


def is_denied(words: Words, start: int, end: int, alike: frozenset[int] = frozenset()) -> bool:
    """Whether the phrase from word `start` to before `end` is denied. `alike` are the places of words of
    other phrases of the same sort: a negation reaches over them where an "or" joins them.
    """
    if words.word(end) in _FREE and words.gap(end) in (" ", "-") and words.word(end + 1) not in _GIVEN_AWAY:
        return True
    joined = commas = False
    for at in range(start - 1, max(-1, start - 1 - MAX_BACK), -1):
        gap = words.gap(at + 1)
        if _STOPS.intersection(gap) or (" " in gap and "-" in gap.strip()):
            return False
        commas = commas or "," in gap
        word = words.words[at]
        if word in word_set("negators") or (word == "w" and _is_without(words, at)):
            return not commas or joined or _joined_behind(words, end, alike)
        joined = joined or word in word_set("or_words")
        if at not in alike and word not in word_set("negation_fillers") and not _is_without(words, at - 1):
            return False
    return False


def _is_without(words: Words, at: int) -> bool:
    return words.word(at) == "w" and words.word(at + 1) == "o" and words.gap(at + 1) == "/"


def _joined_behind(words: Words, end: int, alike: frozenset[int]) -> bool:
    """Whether an "or" and another such phrase follow: "never cleaned, polished or altered"."""
    for at in range(end, min(len(words), end + MAX_BACK)):
        if words.words[at] in word_set("or_words"):
            return at + 1 in alike
        if at not in alike:
            return False
    return False

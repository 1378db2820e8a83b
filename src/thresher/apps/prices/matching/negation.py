"""Whether a phrase is denied: "not cleaned", "no scratches", "free of scratches", "never cleaned or
polished", "replica-free", "scratches: none".
"""

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
    other phrases of the same sort: a negation reaches over them, and over the faults that a thing may have,
    where an "or" joins them.
    """
    if _is_free(words, end, alike):
        return not _is_taken_back(words, start, alike)
    return _is_answered_none(words, end) or _is_negated(words, start, end, alike)


def _is_negated(words: Words, start: int, end: int, alike: frozenset[int]) -> bool:
    """Whether a negation stands before the phrase and reaches it."""
    joined = commas = False
    for at in range(start - 1, max(-1, start - 1 - MAX_BACK), -1):
        if _is_cut(words.gap(at + 1)):
            return False
        commas = commas or "," in words.gap(at + 1)
        word = words.words[at]
        without = _is_free_of(words, at)
        if without or word in word_set("negators") or (word == "w" and _is_without(words, at)):
            if without and _is_taken_back(words, at - 1, frozenset()):
                return False
            return not commas or joined or _joined_behind(words, end, alike)
        joined = joined or word in word_set("or_words")
        passed = (
            word in word_set("negation_fillers") or _is_like(words, at, alike) or _is_without(words, at - 1)
        )
        if not passed:
            return False
    return False


def _is_cut(gap: str) -> bool:
    """Whether what stands between two words ends a statement."""
    return bool(_STOPS.intersection(gap)) or (" " in gap and "-" in gap.strip())


def _is_like(words: Words, at: int, alike: frozenset[int]) -> bool:
    return at in alike or words.words[at] in word_set("faults")


def _is_free(words: Words, end: int, alike: frozenset[int]) -> bool:
    """Whether "free" follows: "scratch-free", "scratch and dent free"; not "scratched, free shipping", nor "a
    dollar free of scratches".
    """
    for at in range(end, min(len(words), end + MAX_BACK)):
        word, gap = words.words[at], words.gap(at)
        if word in _FREE:
            belongs = gap == "-" or (gap == " " and words.word(at + 1) not in word_set("of_words"))
            return belongs and words.word(at + 1) not in _GIVEN_AWAY
        joined = word in word_set("or_words") or gap == "/" or (at > end and _is_like(words, at, alike))
        if not joined or gap not in (" ", "/"):
            return False
    return False


def _is_free_of(words: Words, at: int) -> bool:
    """Whether two words that end here deny what follows them: "free of", "devoid of", "frei von". The "free"
    of "problem-free" belongs to the word before it.
    """
    if words.word(at) not in word_set("of_words") or words.word(at - 1) not in word_set("free_words"):
        return False
    return words.gap(at) == " " and words.gap(at - 1) != "-"


def _is_taken_back(words: Words, at: int, alike: frozenset[int]) -> bool:
    """Whether a denial that begins here is itself denied, or said of most only: "not free of scratches",
    "not scratch-free", "mostly free of scratches".
    """
    before = at - 1
    while before >= 0 and not _is_cut(words.gap(before + 1)):
        word = words.words[before]
        if word in word_set("take_backs"):
            return True
        if word not in word_set("take_back_fillers") and not _is_like(words, before, alike):
            return False
        before -= 1
    return False


def _is_answered_none(words: Words, end: int) -> bool:
    """Whether the phrase is a question that is answered: "scratches: none"."""
    word, gap = words.word(end), words.gap(end).strip()
    if gap not in (":", "=", "-", "–", "?"):
        return False
    if word in word_set("none_words"):
        return True
    closes = end + 1 == len(words) or words.gap(end + 1).strip() in (",", ";", ".", "|", "/")
    return word in word_set("no_words") and closes


def _is_without(words: Words, at: int) -> bool:
    return words.word(at) == "w" and words.word(at + 1) == "o" and words.gap(at + 1) == "/"


def _joined_behind(words: Words, end: int, alike: frozenset[int]) -> bool:
    """Whether an "or" and another such phrase follow: "never cleaned, polished or altered"."""
    for at in range(end, min(len(words), end + MAX_BACK)):
        if words.words[at] in word_set("or_words"):
            return at + 1 < len(words) and _is_like(words, at + 1, alike)
        if not _is_like(words, at, alike):
            return False
    return False

"""What looks like an item and is none: copies, plated pieces, jewellery; a case for a phone, its box."""

from thresher.apps.prices.matching.comparison import ListingTexts, affirmed, quote_of
from thresher.apps.prices.matching.rules import Refusal
from thresher.apps.prices.matching.vocabulary import Mention, phrases, word_set
from thresher.apps.prices.matching.words import Words, singular

ACCESSORY = "accessory"
# A coin from a pendant is a damaged coin, and one out of an album is a coin.
_FORMER = frozenset({"ex", "former", "formerly"})
_OUT_OF = frozenset({"from", "aus"})
MAX_OUT_OF = 3  # words: "from an old album"


def substitute_in(
    groups: tuple[str, ...], texts: ListingTexts, known: frozenset[str], named: frozenset[str]
) -> Refusal | None:
    """What a listing offers in place of the item. `known` are the item's own words; `named` those of its
    brand and model: "for" in front of one makes the rest of the title an accessory.
    """
    for group in groups:
        for words in texts.statements if group != ACCESSORY else [texts.title]:
            for each in affirmed(words, phrases(group)):
                quote = quote_of(words, each)
                if _is_known(words, each, known) or _is_former(words, each.start):
                    continue
                if group == ACCESSORY and _comes_with(words, each.start, named):
                    continue
                return Refusal(f"it is not the thing itself: {each.label} ({quote!r})", quote)
    return _for_it(texts.title, named) if ACCESSORY in groups else None


def _is_former(words: Words, at: int) -> bool:
    before = words.words[max(0, at - MAX_OUT_OF) : at]
    return words.word(at - 1) in _FORMER or not _OUT_OF.isdisjoint(before)


def _is_known(words: Words, mention: Mention, known: frozenset[str]) -> bool:
    return all(
        words.words[at] in known or singular(words.words[at]) in known
        for at in range(mention.start, mention.end)
    )


def _comes_with(words: Words, at: int, named: frozenset[str]) -> bool:
    """Whether the accessory is an extra: "with case", "incl. charger", "and box", behind the item's name. A
    "black and white case" is none.
    """
    begin = next((place for place in range(at) if words.words[place] in named), at)
    if any(words.words[place] in word_set("with_words") for place in range(begin, at)):
        return True
    joined = words.word(at - 1) in word_set("and_words") or bool({"+", "&", ","}.intersection(words.gap(at)))
    return begin < at and joined


def _for_it(words: Words, named: frozenset[str]) -> Refusal | None:
    for each in affirmed(words, phrases("fits")):
        quote = quote_of(words, each)
        return Refusal(f"it is something for the item ({quote!r})", quote)
    for at in range(1, len(words)):
        if words.words[at] not in named:
            continue
        quote = words.quote(at - 1, at + 1)
        if words.words[at - 1] in word_set("for_words"):
            return Refusal(f"it is something for the item ({quote!r})", quote)
        if words.words[at - 1] in word_set("part_words"):
            return Refusal(f"the item is only a part of it ({quote!r})", quote)
    return None

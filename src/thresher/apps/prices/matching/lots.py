"""How many of an item a listing offers: lots, rolls, packs, pairs; or that it does not say.

"Lot of 5" is five; "roll" alone is an unknown number, and a mixed lot has no price of one. "Lot 45" at an
auction is a number of a row, and "lots of luster" no lot.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from thresher.apps.prices.matching.comparison import affirmed, quote_of
from thresher.apps.prices.matching.vocabulary import Mention, phrases, word_set
from thresher.apps.prices.matching.words import Words, folded, singular

MAX_QUANTITY = 10_000
_NUMBER_WORDS = {
    1: "one ein eine un une una",
    2: "two zwei deux dos",
    3: "three drei trois tres",
    4: "four vier quatre cuatro",
    5: "five funf cinq cinco",
    6: "six sechs seis",
    7: "seven sieben sept siete",
    8: "eight acht huit ocho",
    9: "nine neun neuf nueve",
    10: "ten zehn dix diez",
    12: "twelve zwolf douze doce",
    20: "twenty zwanzig vingt veinte",
}
_NUMBERS = {word: number for number, words in _NUMBER_WORDS.items() for word in words.split()}
_DOZENS = frozenset({"dozen", "dutzend", "douzaine", "docena"})
_PAIRS = frozenset({"pair", "paar", "paire", "par"})
_OF = frozenset({"of", "de", "von", "mit", "da", "di", "with", "a"})
_HOLDERS = frozenset(
    {
        "lot",
        "set",
        "pack",
        "packet",
        "box",
        "bundle",
        "group",
        "bag",
        "tube",
        "roll",
        "case",
        "stack",
        "lote",
        "paquet",
        "paquete",
        "juego",
        "rouleau",
        "rollo",
        "rolle",
        "satz",
        "posten",
        "paket",
        "monte",
    }
)
_PIECES = frozenset(
    {
        "pack",
        "pk",
        "pcs",
        "pc",
        "piece",
        "coin",
        "unit",
        "stuck",
        "stk",
        "er",
        "munze",
        "pieza",
        "unidad",
        "qty",
        "item",
    }
)
# "Qty 5" may be the pieces of a lot, or how many of them the seller has.
_SUPPLY = frozenset({"qty", "quantity", "menge", "anzahl", "quantite", "cantidad"})
_ER_PACK = re.compile(r"(\d{1,3})er")
_TIMES_FIRST = re.compile(r"(\d{1,3})x")
_TIMES_LAST = re.compile(r"x(\d{1,3})")
_NO_TIMES = frozenset(
    {
        "zoom",
        "optical",
        "optisch",
        "digital",
        "magnification",
        "magnifier",
        "faster",
        "speed",
        "large",
        "l",
        "lens",
    }
)
_PRAISE = frozenset(
    {
        "luster",
        "lustre",
        "detail",
        "details",
        "eye",
        "shine",
        "wear",
        "toning",
        "life",
        "character",
        "flash",
        "power",
    }
)
_LOT_NUMBER = re.compile(
    r"(?<![^\W_])lot\s*(?:#|no\b\.?|nr\b\.?|number\b|:)\s*\d{1,6}|^\W{0,3}lot\s+\d{1,6}\b(?!\s*(?:x|pcs|coins))",
    re.IGNORECASE,
)
_ORIGINS = frozenset({"from", "ex", "aus", "de", "of", "my"})


@dataclass(frozen=True, slots=True)
class LotSize:
    """How many are offered. `quantity` None: it does not say, and `reason` tells what it says instead."""

    quantity: int | None
    quote: str | None = None
    reason: str | None = None


def lot_size(words: Words, known: frozenset[str], *, is_coin: bool) -> LotSize:
    """How many a title offers. `known` are the item's own words: a "proof set" is no lot of its kind."""
    mixed = [each for each in affirmed(words, phrases("mixed")) if not _is_known(words, each, known)]
    for each in mixed:
        if not _is_origin(words, each):
            quote = quote_of(words, each)
            return LotSize(None, quote, f"it offers different things or a choice ({quote!r})")
    if (supply := _supply(words, known)) is not None:
        return LotSize(None, supply, f"nobody knows whether its price is that of all of them ({supply!r})")
    counts = dict(_counts(words, known, is_coin=is_coin))
    if len(counts) > 1:
        return LotSize(
            None,
            ", ".join(counts.values()),
            f"it names several numbers of things ({', '.join(counts.values())})",
        )
    if counts:
        quantity, quote = next(iter(counts.items()))
        if not 1 <= quantity <= MAX_QUANTITY:
            return LotSize(None, quote, f"a lot of {quantity:,} is not believed ({quote!r})")
        return LotSize(quantity, quote)
    lots = [each for each in affirmed(words, phrases("lot_words")) if not _is_known(words, each, known)]
    plurals = _plurals(words) if is_coin else ()
    for each in (*lots, *(each for each in plurals if words.words[each.end - 1] not in known)):
        if not _is_figure_of_speech(words, each):
            quote = quote_of(words, each)
            return LotSize(None, quote, f"it offers several and does not say how many ({quote!r})")
    return LotSize(1)


def _supply(words: Words, known: frozenset[str]) -> str | None:
    """Where a title says that there are several, as forms do: "Qty: 5"."""
    for at, word in enumerate(words.words):
        if word in _SUPPLY and word not in known and (_number(words.word(at + 1)) or 0) > 1:
            return words.quote(at, at + 2)
    return None


def _plurals(words: Words) -> list[Mention]:
    """The names of coins in the plural."""
    groups = ("denominations", "series")
    return [each for group in groups for each in phrases(group).mentions(words) if each.is_plural]


def _is_known(words: Words, mention: Mention, known: frozenset[str]) -> bool:
    return all(
        singular(words.words[at]) in known or words.words[at] in known
        for at in range(mention.start, mention.end)
    )


def _is_origin(words: Words, mention: Mention) -> bool:
    """Whether it says where one coin comes from: "from an old coin collection"."""
    return "collection" in words.words[mention.start : mention.end] and any(
        words.word(at) in _ORIGINS for at in range(mention.start - 3, mention.start)
    )


def _is_figure_of_speech(words: Words, mention: Mention) -> bool:
    if words.words[mention.start] not in ("lot", "lots"):
        return False
    if words.word(mention.end) == "of" and any(words.word(mention.end + step) in _PRAISE for step in (1, 2)):
        return True
    start = words.starts[mention.start]
    return any(each.start() <= start < each.end() for each in _LOT_NUMBER.finditer(words.text))


def _counts(words: Words, known: frozenset[str], *, is_coin: bool) -> Iterator[tuple[int, str]]:
    """Every number of things that a title names, with its quote."""
    at = 0
    while at < len(words):
        found = _count_at(words, at, known, is_coin=is_coin)
        if found is not None:
            count, end = found
            start = at
            yield count, words.quote(start, end)
            at = end
        else:
            at += 1


def _count_at(words: Words, at: int, known: frozenset[str], *, is_coin: bool) -> tuple[int, int] | None:
    word = words.words[at]
    if word in known:
        return None
    one = singular(word)
    if one in _HOLDERS and words.word(at + 1) in _OF:
        after = _past_article(words, at + 2)
        inner = _number(words.word(after))
        if inner is None and words.word(after) in _DOZENS:
            inner = 12
        if inner is not None and not _is_face(words, after) and not _is_year(words.word(after)):
            outer = _number(words.word(at - 1)) if at else None
            return inner * (outer or 1), after + 1
        return None
    if one in _PAIRS:
        if one == "par" and words.word(at + 1) not in _OF:
            return None
        worn = word_set("worn_in_pairs").intersection(words.words) or word_set("worn_in_pairs") & known
        return None if worn else (2, at + 1)
    if one in _DOZENS:
        half = words.word(at - 1) in ("half", "halbes", "demi", "media")
        times = _number(words.word(at - 1)) or 1
        return (6 if half else 12 * times), at + 1
    return _numbered(words, at, known, is_coin=is_coin)


def _past_article(words: Words, at: int) -> int:
    return at + 1 if words.word(at) in ("a", "approx", "about") else at


def _numbered(words: Words, at: int, known: frozenset[str], *, is_coin: bool) -> tuple[int, int] | None:
    word = words.words[at]
    if found := _ER_PACK.fullmatch(word):
        return int(found[1]), min(len(words), at + 2)
    if found := _TIMES_FIRST.fullmatch(word):
        following = words.word(at + 1)
        fits = at == 0 or words.gap(at).strip() in ("(", "-", "–", ":", ",", "+")
        if fits and following and _is_thing(following) and following not in _NO_TIMES:
            return int(found[1]), at + 1
        return None
    if found := _TIMES_LAST.fullmatch(word):
        is_last = at == len(words) - 1 or words.gap(at + 1).strip() != ""
        return (int(found[1]), at + 1) if is_last and at > 0 else None
    if word == "x" and at and (number := _digits(words.word(at + 1))) is not None and at + 2 == len(words):
        return (number, at + 2) if not words.word(at - 1)[:1].isdigit() else None
    number = _number(word)
    if number is None or (len(word) > 4 and word.isdigit()):
        return None
    following = singular(words.word(at + 1))
    if following in _HOLDERS and words.word(at + 2) in _OF:
        return None  # "3 rolls of 20" is counted at the rolls
    if at == 0 and words.word(1) == "x" and _is_thing(words.word(2)) and words.word(2) not in _NO_TIMES:
        return number, 2
    if following in _PIECES and not _is_year(word) and words.word(at + 1) not in known:
        return number, at + 2
    if is_coin and not _is_year(word) and _leads_many(words, at):
        return number, at + 1
    return None


def _leads_many(words: Words, at: int) -> bool:
    """Whether a number stands in front of a plural: "(5) 1921 Morgan Dollars", "5 Morgan Dollars"."""
    before, after = words.text[: words.starts[at]][-1:], words.text[words.ends[at] :][:1]
    bracketed = before == "(" and after == ")"
    if at and not bracketed:
        return False
    return (bracketed and not at) or (bool(_plurals(words)) and not _is_face(words, at))


def _is_face(words: Words, at: int) -> bool:
    """Whether the number is a face value: "20 dollars"."""
    return any(each.start == at for each in phrases("denominations").mentions(words) if each.end > at + 1)


def _is_thing(word: str) -> bool:
    """Whether a word behind "5x" can begin what is counted: not the other side of "5 x 7"."""
    return not word[:1].isdigit() or re.match(r"1[5-9]\d\d|20\d\d", word) is not None


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdigit() and 1_500 <= int(word) < 2_100


def _number(word: str) -> int | None:
    return _NUMBERS.get(folded(word)) or _digits(word)


def _digits(word: str) -> int | None:
    return int(word) if word.isdigit() and word.isascii() and len(word) <= 5 else None

"""Compare what is said of a product: model, variant, bar code and condition."""

import re
from collections.abc import Sequence

from thresher.apps.prices.gtin import normal_gtin
from thresher.apps.prices.matching.comparison import (
    SILENT,
    Compared,
    ListingTexts,
    affirmed,
    differs,
    matches,
    quote_of,
    strictest,
)
from thresher.apps.prices.matching.negation import is_denied
from thresher.apps.prices.matching.vocabulary import phrases, word_set
from thresher.apps.prices.matching.words import Part, Words, phrase_of, read_words

_CODE = re.compile(r"(?<![\w-])\d(?:[ -]?\d){7,13}(?![\w-])")
_CODE_LABEL = re.compile(r"(?:ean|upc|gtin|isbn)(?:[- ]?1[0-4])?[\s:#]*$", re.IGNORECASE)
_SIZE = re.compile(r"(\d+(?:[.,]\d+)?)\s?(tb|gb|mb)(?![^\W_])", re.IGNORECASE)
_SIZE_IN_MB = {"tb": 1_000_000, "gb": 1_000, "mb": 1}
ENOUGH_SIZES = 3  # as many are a choice between variants


def compare_model(wanted: str, words: Words, known: frozenset[str]) -> Compared:
    """Compare a model. Hyphens, spaces and case do not count; what makes another model of it does: another
    number, "Ti" behind it, "Max" behind "Pro". `known` are the item's own words.
    """
    core = _core(read_words(wanted).parts)
    if not core:
        return SILENT
    parts = words.parts
    same: Compared | None = None
    for at in range(len(parts)):
        if not _alike(parts[at].text, core[0].text) or _is_inside(parts, at):
            continue
        found = _compare_at(core, parts, at, words, known)
        if found is not None and found.says is not None:
            return found
        same = same or found
    return same or SILENT


def _core(parts: Sequence[Part]) -> Sequence[Part]:
    """A model from the letters before its first number on: "GeForce RTX 4090" is known as "RTX 4090"."""
    first = next((at for at, part in enumerate(parts) if part.is_number), 0)
    return parts[max(0, first - 1) :]


def _alike(said: str, wanted: str) -> bool:
    return said == wanted or _canonical(said) == _canonical(wanted)


def _canonical(part: str) -> str:
    """The part as it is compared: "PS5" is a PlayStation 5."""
    known = phrases("same_parts").by_first.get(part)
    return known[0][1].label if known and len(known[0][0]) == 1 else part


def _is_inside(parts: Sequence[Part], at: int) -> bool:
    """Whether the part is the tail of a longer word: the A7 in "RA7"."""
    return at > 0 and parts[at - 1].end == parts[at].start


def _compare_at(
    core: Sequence[Part], parts: Sequence[Part], at: int, words: Words, known: frozenset[str]
) -> Compared | None:
    numbers = False
    for step, wanted in enumerate(core):
        part = parts[at + step] if at + step < len(parts) else None
        if part is not None and _alike(part.text, wanted.text):
            numbers = numbers or part.is_number
            continue
        if step and part is not None and wanted.is_number and part.is_number:
            if not numbers and not _is_glued_as(core, step, parts, at) and len(core[step - 1].text) < 2:
                return None
            if _is_measure(parts, at + step):
                return None
            return _other(words, parts, at, at + step + 1)
        if numbers:
            return _other(words, parts, at, at + step)
        return None
    return _beyond(core, parts, at, words, known)


def _is_glued_as(core: Sequence[Part], step: int, parts: Sequence[Part], at: int) -> bool:
    return core[step - 1].end == core[step].start and parts[at + step - 1].end == parts[at + step].start


def _beyond(
    core: Sequence[Part], parts: Sequence[Part], at: int, words: Words, known: frozenset[str]
) -> Compared:
    """What stands right behind the model may make it another one."""
    end = at + len(core)
    quote = words.text[parts[at].start : parts[end - 1].end]
    after = words.text[parts[end - 1].end : parts[end - 1].end + 2]
    if after[:1] == "+" and not after[1:].strip() and "plus" not in known:
        return differs(quote + "+")
    if end >= len(parts):
        return matches(quote)
    following = parts[end]
    gap = words.text[parts[end - 1].end : following.start]
    if following.text in known and (gap or not following.is_number):
        return matches(quote)
    if not gap:
        return _other(words, parts, at, end + 1)
    if gap not in (" ", "-"):
        return matches(quote)
    if following.text in word_set("model_suffixes") and not _is_measure(parts, end - 1):
        return _other(words, parts, at, end + 1)
    if (
        following.is_number
        and not any(part.is_number for part in core)
        and len(following.text) <= 2
        and not _is_measure(parts, end)
    ):
        return _other(words, parts, at, end + 1)
    return matches(quote)


def _is_measure(parts: Sequence[Part], at: int) -> bool:
    """Whether the number at this place counts something: "24 GB", "2 pack"."""
    return at + 1 < len(parts) and parts[at].is_number and parts[at + 1].text in word_set("units")


def _other(words: Words, parts: Sequence[Part], start: int, end: int) -> Compared:
    return differs(words.text[parts[start].start : parts[min(end, len(parts)) - 1].end])


def compare_variant(wanted: str, words: Words) -> Compared:
    """Compare a variant piece by piece: storage, colour, and other words. One piece that differs decides; it
    matches if all pieces do.
    """
    own = read_words(wanted)
    pieces = [*_storage(own, words), *_colours(own, words), *_other_words(own, words)]
    decided = strictest(pieces)
    if all(piece == SILENT for piece in pieces):
        return SILENT
    return decided if decided.says or SILENT not in pieces else SILENT


def _storage(own: Words, words: Words) -> list[Compared]:
    wanted = [size for size, _ in _sizes(own)]
    said = _sizes(words)
    if not wanted:
        return []
    if len({size for size, _ in said}) >= ENOUGH_SIZES:
        return [differs(", ".join(quote for _, quote in said[:4]), "several variants")]
    by_size = dict(said)
    if all(size in by_size for size in wanted):
        return [matches(by_size[wanted[-1]])]
    larger = [quote for size, quote in said if size * 4 > min(wanted)]  # a phone's memory is no storage
    return [differs(larger[0])] if larger else [SILENT]


def _sizes(words: Words) -> list[tuple[int, str]]:
    return [
        (round(float(each[1].replace(",", ".")[:12]) * _SIZE_IN_MB[each[2].lower()]), each[0])
        for each in _SIZE.finditer(words.text)
    ]


def _colours(own: Words, words: Words) -> list[Compared]:
    wanted = [each.label for each in phrases("colours").mentions(own)]
    if not wanted:
        return []
    said = affirmed(words, phrases("colours"))
    labels = {each.label for each in said}
    if set(wanted) <= labels:
        return [matches(quote_of(words, next(each for each in said if each.label in wanted)))]
    return [differs(quote_of(words, said[0]))] if said else [SILENT]


def _other_words(own: Words, words: Words) -> list[Compared]:
    """The words of a variant that are neither storage nor colour."""
    taken = {at for each in phrases("colours").mentions(own) for at in range(each.start, each.end)}
    for each in _SIZE.finditer(own.text):
        taken |= {at for at, start in enumerate(own.starts) if each.start() <= start < each.end()}
    found = []
    for at, word in enumerate(own.words):
        if at in taken:
            continue
        places = [place for place in words.places((word,)) if not is_denied(words, place, place + 1)]
        other = _other_size(own, at, words)
        found.append(
            matches(words.quote(places[0], places[0] + 1)) if places and not other else other or SILENT
        )
    return found


_SIZE_WORDS = frozenset({"size", "grosse", "gr", "taille", "talla", "str", "maat", "misura"})


def _other_size(own: Words, at: int, words: Words) -> Compared | None:
    """Another size in the place of the one that is wanted: "size 43" is not "size 42"."""
    if own.word(at - 1) not in _SIZE_WORDS:
        return None
    for place in range(len(words) - 1):
        if words.words[place] in _SIZE_WORDS and words.words[place + 1] != own.words[at]:
            return differs(words.quote(place, place + 2))
    return None


def compare_gtin(wanted: str, texts: ListingTexts, aspects: Sequence[str]) -> Compared:
    """Compare a bar code. A number in a title is one only with a right check digit, and contradicts only
    where it is called one.
    """
    own = normal_gtin(wanted) or wanted
    named = [
        matches(code[1]) if code[0] == own else differs(code[1])
        for words in texts.named(aspects)
        for code in _codes(words.text)
    ]
    said = []
    for code, quote, labelled in _titled(texts.title.text):
        if code == own:
            said.append(matches(quote))
        elif labelled:
            said.append(differs(quote))
    same = next((each for each in named if each.says is None), None)
    return strictest([*said, same] if same else [*said, *named])


def _codes(text: str) -> list[tuple[str, str]]:
    return [(code, each[0]) for each in _CODE.finditer(text) if (code := normal_gtin(each[0])) is not None]


def _titled(text: str) -> list[tuple[str, str, bool]]:
    return [
        (code, each[0], _CODE_LABEL.search(text[max(0, each.start() - 12) : each.start()]) is not None)
        for each in _CODE.finditer(text)
        if (code := normal_gtin(each[0])) is not None
    ]


def compare_condition(wanted: str, texts: ListingTexts, aspects: Sequence[str]) -> Compared:
    """Compare the state that a thing is in. What is for parts is no other state, whatever else it says."""
    found = _states(texts, aspects)
    parts = next((each for each in found if each[0] == "parts"), None)
    if parts is not None:
        return matches(parts[1]) if wanted == "parts" else differs(parts[1], "for parts")
    if not found:
        return SILENT
    # "Certified refurbished, like new" is refurbished, and "refurbished" beside "used" as well.
    state, quote = next((each for each in found if each[0] == "refurbished"), None) or next(
        (each for each in found if each[0] == "used"), found[0]
    )
    return matches(quote) if state == wanted else differs(quote, state)


def state_of(texts: ListingTexts, aspects: Sequence[str]) -> tuple[str, str] | None:
    """Whether a thing is for parts, with its quote."""
    return next((each for each in _states(texts, aspects) if each[0] == "parts"), None)


def _states(texts: ListingTexts, aspects: Sequence[str]) -> list[tuple[str, str]]:
    """The states that a listing names. Its own field for it comes first."""
    found = []
    for words in (texts.condition, *texts.named(aspects)):
        stated = affirmed(words, phrases("states")) or affirmed(words, phrases("states_in_field"))
        found += [(each.label, quote_of(words, each)) for each in stated]
    return found + [
        (each.label, quote_of(texts.title, each)) for each in affirmed(texts.title, phrases("states"))
    ]


def compare_brand(wanted: str, words: Words, *, is_field: bool) -> Compared:
    """Compare a brand. A title rarely says that something is of another one; a source's own field does."""
    phrase = phrase_of(wanted)
    for at in words.places(phrase):
        if not is_denied(words, at, at + len(phrase)):
            return matches(words.quote(at, at + len(phrase)))
    if is_field and len(words) and words.words[0] not in ("unbranded", "markenlos", "generic", "no"):
        return differs(words.text)
    return SILENT

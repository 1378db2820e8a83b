"""Judge a listing as evidence about an item: how strongly it matches, what one costs, and why it does not
count.

Each attribute that is said of the item is compared with what the listing says, word by word. What matches
adds its weight to the strength; silence adds nothing; a contradiction of what the item is makes it another
thing, whatever else it says.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from thresher.apps.prices.kinds import NO, YES, Attribute, Comparison, ItemKind, kind_named
from thresher.apps.prices.matching.coins import compare_mint_mark, compare_year
from thresher.apps.prices.matching.comparison import (
    SILENT,
    Compared,
    ListingTexts,
    Verdict,
    affirmed,
    denied,
    differs,
    matches,
    quote_of,
    strictest,
    texts_of,
)
from thresher.apps.prices.matching.grades import CERTIFIED, GradeFound, compare_grade, stated_grade
from thresher.apps.prices.matching.named import Compare, compare_named, compare_variety, compare_words
from thresher.apps.prices.matching.products import (
    compare_brand,
    compare_condition,
    compare_gtin,
    compare_model,
    compare_variant,
    state_of,
)
from thresher.apps.prices.matching.rules import Refusal, excluded_by, refused_by_rules, stated
from thresher.apps.prices.matching.substitutes import substitute_in
from thresher.apps.prices.matching.unit_price import UnitPrice, pieces_of, unit_price
from thresher.apps.prices.matching.vocabulary import Name, Phrases, phrases_of
from thresher.apps.prices.matching.words import MAX_TEXT, read_words, singular
from thresher.apps.prices.model import RAW, WHOLE, Item, JudgedListing, Listing, Signal, SourceRule
from thresher.core.errors import UsageError

KEYWORD_WEIGHT = 5
MAX_KEYWORD_WEIGHT = 15  # of all keywords together
TONING = "toning"  # no damage: it matters only where it is said of the item
NAME_WEIGHT = 10  # of an item of which no attribute is said that has a weight


def judge(listing: Listing, item: Item, rules: Sequence[SourceRule], needed: int) -> JudgedListing:
    """Judge a listing as evidence about an item. `rules` are those of its source, `needed` the strength in
    thousandths that it must have to count. Pure, and bounded in time whatever the listing says.
    """
    kind = _kind_of(item)
    texts = texts_of(listing)
    known = _own_words(item)
    grade = _grade_of(kind, texts)
    signals = [*_attribute_signals(item, kind, texts, known, grade), *_keyword_signals(item, texts)]
    price = _price(listing, item, kind, texts, known)
    strength = _strength(signals, kind)
    refusal = _refusal(listing, item, kind, rules, texts, known, signals, grade, price)
    if refusal is None and strength < needed:
        refusal = Refusal(_too_weak(signals, strength, needed))
    if refusal is not None and refusal.quote is not None and price.reason != refusal.reason:
        signals.append(Signal("refused", "", Verdict.DIFFERS.value, 0, refusal.quote))
    if price.quote is not None:
        signals.append(Signal("quantity", "1", Verdict.SILENT.value, 0, price.quote))
    return JudgedListing(
        listing,
        price.unit,
        price.quantity,
        strength,
        tuple(signals),
        grade.grade if grade is not None and not grade.others else None,
        counts=refusal is None,
        reason=refusal.reason if refusal is not None else None,
    )


def _kind_of(item: Item) -> ItemKind:
    try:
        return kind_named(item.spec.kind)
    except UsageError:  # of a newer release: it is compared by its name
        return ItemKind(item.spec.kind, item.spec.kind, ())


def _own_words(item: Item) -> frozenset[str]:
    """The words that are said of an item: they never make a listing something else."""
    said = " ".join((item.spec.name, *item.spec.attributes.values(), *item.spec.include))
    words = read_words(said)
    return (
        frozenset(words.words)
        | {singular(word) for word in words.words}
        | {part.text for part in words.parts}
    )


def _grade_of(kind: ItemKind, texts: ListingTexts) -> GradeFound | None:
    graded = next((each for each in kind.attributes if each.compare is Comparison.GRADE), None)
    return stated_grade(texts, graded.aspects) if graded is not None else None


def _price(
    listing: Listing, item: Item, kind: ItemKind, texts: ListingTexts, known: frozenset[str]
) -> UnitPrice:
    is_coin = any(each.compare is Comparison.GRADE for each in kind.attributes)
    own = pieces_of(item.spec.attributes.get("variant") or "", is_coin=is_coin)
    return unit_price(listing, texts, known if own == 1 else frozenset(), own, is_coin=is_coin)


def _attribute_signals(
    item: Item, kind: ItemKind, texts: ListingTexts, known: frozenset[str], grade: GradeFound | None
) -> list[Signal]:
    found = []
    for attribute in kind.attributes:
        wanted = item.spec.attributes.get(attribute.name, "")
        if not wanted and not attribute.flag:
            continue
        compared = _compared(kind, attribute, wanted or NO, texts, known, grade)
        if compared is not None:
            weight = attribute.weight if wanted != NO and wanted else 0
            found.append(Signal(attribute.name, wanted or NO, compared.verdict.value, weight, compared.quote))
    if not any(each.weight for each in found):
        found.append(_name_signal(item, texts))
    return found


def _name_signal(item: Item, texts: ListingTexts) -> Signal:
    found = compare_words(item.name, texts.title)
    return Signal("name", item.name, found.verdict.value, NAME_WEIGHT, found.quote)


def _compared(
    kind: ItemKind,
    attribute: Attribute,
    wanted: str,
    texts: ListingTexts,
    known: frozenset[str],
    grade: GradeFound | None,
) -> Compared | None:
    fields = texts.named(attribute.aspects)
    match attribute.compare:
        case Comparison.GRADE:
            return compare_grade(wanted, grade)
        case Comparison.FLAG:
            return _compare_flag(kind, attribute, wanted, texts, known)
        case Comparison.GTIN:
            return compare_gtin(wanted, texts, attribute.aspects)
        case Comparison.CONDITION:
            return compare_condition(wanted, texts, attribute.aspects)
        case Comparison.BRAND:
            return strictest(
                [
                    compare_brand(wanted, texts.title, is_field=False),
                    *(compare_brand(wanted, words, is_field=True) for words in fields),
                ]
            )
        case Comparison.VARIANT:
            return compare_variant(
                wanted, read_words(" | ".join(words.text for words in (texts.title, *fields)))
            )
        case Comparison.MODEL:
            return strictest(compare_model(wanted, words, known) for words in (texts.title, *fields))
        case Comparison.NAMED:
            return strictest(
                compare_named(attribute.names, wanted, words) for words in (texts.title, *fields)
            )
        case Comparison.YEAR | Comparison.MINT_MARK | Comparison.VARIETY | Comparison.WORDS as way:
            return strictest(_BY_TEXT[way](wanted, words) for words in (texts.title, *fields))


# Each text is compared by itself: the title, and what the source says under the attribute's name.
_BY_TEXT: Mapping[Comparison, Compare] = {
    Comparison.YEAR: compare_year,
    Comparison.MINT_MARK: compare_mint_mark,
    Comparison.VARIETY: compare_variety,
    Comparison.WORDS: compare_words,
}


def _compare_flag(
    kind: ItemKind, attribute: Attribute, wanted: str, texts: ListingTexts, known: frozenset[str]
) -> Compared | None:
    """Compare a flag. One that is not said of the item is heard only where the listing states it."""
    group = _flag_phrases(attribute.words)
    flags = _all_flags(kind.name)
    for words in texts.statements:
        for each in affirmed(words, group, flags):
            quote = quote_of(words, each)
            if wanted == YES:
                return matches(quote)
            if not known.issuperset(words.words[each.start : each.end]):
                return differs(quote)
    if wanted != YES:
        return None
    refused = next(
        (quote_of(words, each) for words in texts.statements for each in denied(words, group, flags)),
        None,
    )
    return differs(refused) if refused is not None else SILENT


@lru_cache(maxsize=64)
def _all_flags(kind: str) -> Phrases:
    """The words of all flags: "never cleaned, polished or altered" denies each of them."""
    return _flag_phrases(tuple(word for each in kind_named(kind).attributes for word in each.words))


@lru_cache(maxsize=64)
def _flag_phrases(words: tuple[str, ...]) -> Phrases:
    return phrases_of((text, Name(text), False) for text in words)


def _keyword_signals(item: Item, texts: ListingTexts) -> list[Signal]:
    keywords = item.spec.include
    weight = min(KEYWORD_WEIGHT, MAX_KEYWORD_WEIGHT // len(keywords) or 1) if keywords else 0
    return [_keyword_signal(keyword, weight, stated(keyword, texts)) for keyword in keywords]


def _keyword_signal(keyword: str, weight: int, quote: str | None) -> Signal:
    verdict = Verdict.MATCHES if quote is not None else Verdict.SILENT
    return Signal("keyword", keyword, verdict.value, weight, quote)


def _strength(signals: Sequence[Signal], kind: ItemKind) -> int:
    """The share of the weights that match, in thousandths; 0 where the listing is about another thing."""
    if _contradiction(signals, kind) is not None:
        return 0
    whole = sum(each.weight for each in signals)
    same_code = any(each.name == "gtin" and each.verdict == Verdict.MATCHES for each in signals)
    found = sum(each.weight for each in signals if each.verdict == Verdict.MATCHES)
    if same_code:  # the same bar code is the same thing, whatever the title leaves out
        found = whole - sum(each.weight for each in signals if each.verdict == Verdict.DIFFERS)
    return WHOLE * found // whole if whole else 0


def _contradiction(signals: Iterable[Signal], kind: ItemKind) -> Signal | None:
    deciding = {each.name for each in kind.attributes if each.decides}
    return next((each for each in signals if each.verdict == Verdict.DIFFERS and each.name in deciding), None)


def _refusal(
    listing: Listing,
    item: Item,
    kind: ItemKind,
    rules: Sequence[SourceRule],
    texts: ListingTexts,
    known: frozenset[str],
    signals: Sequence[Signal],
    grade: GradeFound | None,
    price: UnitPrice,
) -> Refusal | None:
    """Why a listing does not count, the most final reason first."""
    if len(listing.title) > MAX_TEXT:
        return Refusal(f"its title has {len(listing.title):,} characters; a title has at most {MAX_TEXT:,}")
    if (signal := _contradiction(signals, kind)) is not None:
        return Refusal(
            f"it says {signal.quote!r}; the item's {_title(kind, signal.name)} is {signal.wanted}",
            signal.quote,
        )
    return (
        substitute_in(kind.never, texts, known, _names_of(item))
        or excluded_by(item.spec.exclude, texts)
        or refused_by_rules(rules, listing, texts)
        or _other_state(item, kind, signals, grade, texts)
        or (Refusal(price.reason, price.quote) if price.reason is not None else None)
    )


def _title(kind: ItemKind, name: str) -> str:
    attribute = kind.attribute(name)
    return attribute.title.lower() if attribute is not None else name


def _names_of(item: Item) -> frozenset[str]:
    """The first words of what the thing is called."""
    said = (item.spec.attributes.get("brand"), item.spec.attributes.get("model"))
    return frozenset(words[0] for each in said if each and (words := read_words(each).words))


def _other_state(
    item: Item, kind: ItemKind, signals: Sequence[Signal], grade: GradeFound | None, texts: ListingTexts
) -> Refusal | None:
    """Why a listing is this item in another state: another grade, cleaned, used."""
    for signal in signals:
        attribute = kind.attribute(signal.name)
        if attribute is None or attribute.decides:
            continue
        if attribute.compare is Comparison.GRADE and (refusal := _other_grade(signal, grade)) is not None:
            return refusal
        if signal.verdict != Verdict.DIFFERS:
            continue
        if attribute.flag:
            if attribute.name == TONING and signal.wanted != YES:
                continue
            if signal.wanted == YES:
                return Refusal(
                    f"it says {signal.quote!r}; the item is not so: {attribute.title.lower()}", signal.quote
                )
            return Refusal(f"it says {signal.quote!r}; that is not said of the item", signal.quote)
        if attribute.compare is not Comparison.GRADE:
            return Refusal(
                f"it says {signal.quote!r}; the item's {attribute.title.lower()} is {signal.wanted}",
                signal.quote,
            )
    return _for_parts(item, kind, texts)


def _other_grade(signal: Signal, grade: GradeFound | None) -> Refusal | None:
    """Grades are not pooled: another grade does not count, and neither does one that is not said, unless the
    item itself is raw.
    """
    if grade is None:
        if signal.wanted.strip().lower() == RAW:
            return None
        return Refusal(f"it does not say its grade; the item's is {signal.wanted}")
    if signal.verdict == Verdict.DIFFERS and grade.grade == CERTIFIED:
        return Refusal(f"it is graded and does not say how; the item's grade is {signal.wanted}", grade.quote)
    if signal.verdict == Verdict.DIFFERS:
        said = " and ".join((grade.grade, *grade.others))
        return Refusal(f"its grade is {said}; the item's is {signal.wanted}", grade.quote)
    return None


def _for_parts(item: Item, kind: ItemKind, texts: ListingTexts) -> Refusal | None:
    """A thing that does not work is no evidence about one of which nothing is said."""
    attribute = next((each for each in kind.attributes if each.compare is Comparison.CONDITION), None)
    if attribute is None or item.spec.attributes.get(attribute.name):
        return None
    found = state_of(texts, attribute.aspects)
    return Refusal(f"it is for parts ({found[1]!r})", found[1]) if found is not None else None


def _too_weak(signals: Sequence[Signal], strength: int, needed: int) -> str:
    silent = ", ".join(each.name for each in signals if each.verdict == Verdict.SILENT and each.weight)
    unsaid = f"; it does not say: {silent}" if silent else ""
    return f"its match strength is {strength / WHOLE:.2f}, and {needed / WHOLE:.2f} is needed{unsaid}"

"""A valuation in plain words: what it rests on, what was left out, and what is missing."""

from collections.abc import Mapping
from decimal import Decimal

from thresher.apps.prices.model import RAW, Bands
from thresher.apps.prices.valuation.comps import OTHERS, Chosen, grade_name
from thresher.reading.values.currency import minor_digits

MAX_REASONS = 8  # that are named; the rest is counted
MAX_REASON = 80  # characters; a reason may quote a listing


def explain(chosen: Chosen, bands: Bands | None, currency: str) -> str:
    """Say what a valuation rests on, or what is missing."""
    said = [_missing(chosen) if bands is None else f"{_rests_on(chosen)}; {_band(bands, currency)}"]
    if chosen.left_out:
        said.append(f"left out: {_left_out(chosen.left_out)}")
    text = "; ".join(said)
    return f"{text[0].upper()}{text[1:]}."


def _rests_on(chosen: Chosen) -> str:
    comps = chosen.comps
    sold = sum(each.is_sold for each in comps)
    kinds = [_count(sold, "sale")] if sold else []
    if len(comps) > sold:
        kinds.append(_count(len(comps) - sold, "ask"))
    sources = _count(len({each.source for each in comps}), "source")
    since = min(each.day for each in comps)
    text = f"{' and '.join(kinds)} from {sources} since {since}"
    if not sold:
        text += ", and nobody is known to have paid a price"
    if not chosen.has_grades:
        return text
    if chosen.is_wanted:
        graded = "none of them graded" if chosen.grade == RAW else f"all of {grade_name(chosen.grade)}"
        return f"{text}, {graded}, as the item"
    return f"{text}, all with {grade_name(chosen.grade)}, the largest group of equal grade"


def _band(bands: Bands, currency: str) -> str:
    low, high = amount(bands.p20, currency), amount(bands.p80, currency)
    middle = amount(bands.median, currency)
    if low == high:
        return f"most of them are at {low}"
    return f"the middle price is {middle}, and about three in five lie between {low} and {high}"


def _missing(chosen: Chosen) -> str:
    if not chosen.left_out:
        return "no price has been found yet"
    if chosen.is_wanted:
        return f"no price counts: none was found for {grade_name(chosen.grade)}"
    return "no price counts"


def _left_out(reasons: Mapping[str, int]) -> str:
    """The reasons, the most frequent first."""
    others = reasons.get(OTHERS, 0)
    said = (each for each in reasons.items() if each[0] != OTHERS)
    ordered = sorted(said, key=lambda each: (-each[1], each[0]))
    named = [f"{_cut(reason)} ({number:,})" for reason, number in ordered[:MAX_REASONS]]
    rest = others + sum(number for _, number in ordered[MAX_REASONS:])
    if rest:
        named.append(f"{OTHERS} ({rest:,})")
    return ", ".join(named)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_REASON else f"{text[: MAX_REASON - 1]}…"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def amount(minor: int, currency: str) -> str:
    """An amount as people read it: 1,234.50 USD."""
    return f"{Decimal(minor).scaleb(-minor_digits(currency)):,} {currency}"
